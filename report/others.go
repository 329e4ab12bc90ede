package report

import (
	"slices"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// others prints the figures that stand in no part above: what is counted is printed.
func others(p *printer, f *bench.File) {
	var body [][]string
	for i := range f.Figures {
		g := &f.Figures[i]
		if printed(f, g) {
			continue
		}
		value := g.Text
		if g.Unit != "text" {
			value = found(judge.Known(f, g))
		}
		body = append(body, []string{g.Object, g.Series + "." + g.Statistic, value})
	}
	if len(body) > 0 {
		p.section("Further counters")
		p.table([]string{"object", "figure", "value"}, map[int]tw.Align{1: tw.AlignLeft}, body)
	}
}

// printed tells the figures that another part of the report prints.
func printed(f *bench.File, g *bench.Figure) bool {
	if slices.ContainsFunc(processRows(), func(r row) bool { return r.series == g.Series }) {
		return isProcess(f, g.Object)
	}
	switch g.Series {
	case "writes", "inputs": // named, but in no table above
		return false
	}
	return bench.StatisticUnit(g.Series, g.Statistic) != ""
}
