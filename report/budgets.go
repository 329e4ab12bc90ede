package report

import (
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
)

// BudgetSets lists sets of budgets; inFull with the source of each limit.
func BudgetSets(w io.Writer, sets []bench.BudgetSet, inFull bool) error {
	p := &printer{w: w}
	if !inFull {
		var body [][]string
		for _, s := range sets {
			var limits []string
			for _, b := range s.Budgets {
				limits = append(limits, b.Budget.Text)
			}
			body = append(body, []string{s.Name, s.Interval.String(), strings.Join(limits, ", ")})
		}
		p.table([]string{"budgets", "cycle", "limits"}, map[int]tw.Align{2: tw.AlignLeft}, body)
		return p.err
	}
	for _, s := range sets {
		p.line("%s, for a cycle of %s", s.Name, s.Interval)
		for _, b := range s.Budgets {
			p.line("")
			p.line("  %s", b.Budget.Text)
			p.item("    source: ", b.Source)
		}
	}
	return p.err
}
