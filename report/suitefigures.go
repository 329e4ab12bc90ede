package report

import (
	"opcycle/bench"
	"opcycle/judge"
)

// suiteFigure is a figure of a suite's result; of several objects the first.
func suiteFigure(r *bench.SuiteResult, series, statistic string) judge.Found {
	for i := range r.Figures {
		g := &r.Figures[i]
		if g.Series != series || g.Statistic != statistic {
			continue
		}
		if g.Value == nil {
			return judge.Found{Unit: g.Unit, NA: orNA(g.NA)}
		}
		return judge.Found{Value: *g.Value, Unit: g.Unit, OK: true}
	}
	return judge.Found{NA: notInResult}
}

// figureText is a figure that is a text.
func figureText(r *bench.SuiteResult, series, statistic string) string {
	for i := range r.Figures {
		if g := &r.Figures[i]; g.Series == series && g.Statistic == statistic && g.Text != "" {
			return g.Text
		}
	}
	return "n/a"
}

// columnHeads are the heads of results that stand beside each other: their labels, or
// "this run".
func columnHeads(results []*bench.SuiteResult) []string {
	var out []string
	for _, r := range results {
		head := r.Label
		if head == "" {
			head = "this run"
		}
		out = append(out, head)
	}
	return out
}

// vendorColumn is one column of a vendor's table: a platform and a run of it.
type vendorColumn struct {
	head, platform, conditions, source string
	cells                              map[string]bench.Reference // by row
}

// vendorColumns are the published columns of a suite, in their order.
func vendorColumns(refs []bench.Reference, suite string) []vendorColumn {
	var out []vendorColumn
	at := map[string]int{}
	for _, r := range refs {
		if r.Suite != suite {
			continue
		}
		key := r.Table + "\x00" + r.Run
		i, ok := at[key]
		if !ok {
			i = len(out)
			at[key] = i
			out = append(out, vendorColumn{head: r.Run, platform: r.Platform, conditions: r.Conditions, source: r.Source, cells: map[string]bench.Reference{}})
		}
		out[i].cells[r.Series+"."+r.Statistic] = r
	}
	return out
}
