package judge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat"

	"opcycle/bench"
)

// SpreadOf is what runs of one plan differ by, figure by figure: every series with aim that
// the first run has, and the counts of packets.
func SpreadOf(runs []Run) []bench.Spread {
	if len(runs) == 0 {
		return nil
	}
	var out []bench.Spread
	for i := range runs[0].Series {
		x := &runs[0].Series[i]
		if x.Count == 0 || aimless(x.Name) {
			continue
		}
		s := seriesName{x.Object, x.Name}
		for _, statistic := range append(comparedStatistics(), "max") {
			row, ok := spread(values(runs, s, statistic))
			if !ok {
				continue
			}
			row.Object, row.Series, row.Statistic, row.Unit = s.object, s.name, statistic, x.Unit
			if v, n := within(runs, s); statistic == "avg" && n > 0 {
				v = math.Sqrt(v)
				row.Within = &v
			}
			out = append(out, row)
		}
	}
	for i := range runs[0].Figures {
		g := &runs[0].Figures[i]
		if g.Series != "packets" || g.Unit == "text" {
			continue
		}
		row, ok := spread(figures(runs, g))
		if !ok {
			continue
		}
		row.Object, row.Series, row.Statistic, row.Unit = g.Object, g.Series, g.Statistic, g.Unit
		out = append(out, row)
	}
	return out
}

// spread is the row of a figure's values; none without a value.
func spread(v []float64) (bench.Spread, bool) {
	if len(v) == 0 {
		return bench.Spread{}, false
	}
	row := bench.Spread{Runs: len(v), Min: slices.Min(v), Median: middle(v), Max: slices.Max(v)}
	if len(v) > 1 {
		d := stat.StdDev(v, nil)
		row.Between = &d
	}
	return row, true
}

// figures are the runs' values of g, of those that have one.
func figures(runs []Run, g *bench.Figure) []float64 {
	var out []float64
	for i := range runs {
		for j := range runs[i].Figures {
			x := &runs[i].Figures[j]
			if x.Object == g.Object && x.Series == g.Series && x.Statistic == g.Statistic && x.Value != nil {
				out = append(out, *x.Value)
			}
		}
	}
	return out
}
