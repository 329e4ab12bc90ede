package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"opcycle/bench"
	"opcycle/judge"
)

// enginesTable is the table of readings that a cross-check has.
const enginesTable = "cross-check"

// enginesCompared is the comparison of both engines: the suite's proof.
func enginesCompared(p *printer, r *bench.SuiteResult) {
	var body [][]string
	for i := range r.Readings {
		g := &r.Readings[i]
		if g.Table != enginesTable || g.Value == nil || g.Min == nil || g.Max == nil {
			continue
		}
		body = append(body, []string{g.Name + ", " + g.Mechanism, engineCell(*g.Value, g.Unit), engineCell(*g.Min, g.Unit), engineCell(*g.Max, g.Unit), strconv.FormatInt(g.N, 10)})
	}
	if len(body) == 0 {
		return
	}
	p.section(judge.Title(r) + ": our engine against rt-tests' cyclictest, in turns on one CPU")
	p.table([]string{"per slice (µs), per pair (ratio)", "median", "least", "largest", "n"}, nil, body)
	for _, name := range []string{"p50", "average"} {
		engineRatio(p, r, name)
	}
	p.item("", "The check fails only when the interval (sign test, exact) of a ratio's median lies wholly above 1.10. For it, both engines have whole µs, cut off, and a p50 is interpolated within its µs, in both alike; in the tables above ours are of ns, and rt-tests' half a µs lower by that cut.")
}

func engineCell(v float64, unit string) string {
	if unit == "ratio" {
		return strconv.FormatFloat(v, 'f', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// engineRatio is one figure's ratio with its interval and how the pairs are distributed.
func engineRatio(p *printer, r *bench.SuiteResult, name string) {
	figure := func(statistic string) judge.Found { return objectFigure(r, enginesTable, name+"_ratio", statistic) }
	low, high, cover := figure("low"), figure("high"), figure("coverage")
	switch {
	case !low.OK:
		p.item("Ratio of "+name+": ", "its interval is n/a: "+low.NA)
	default:
		word := "passes: the interval reaches down to " + engineCell(low.Value, "ratio")
		if slices.ContainsFunc(r.Failed, func(s string) bool { return strings.Contains(s, "our "+name+" ") }) {
			word = "fails"
		}
		p.item("Ratio of "+name+": ", fmt.Sprintf("median %s, %.1f %% interval %s to %s: %s", engineCell(figure("median").Value, "ratio"), 100*cover.Value,
			engineCell(low.Value, "ratio"), engineCell(high.Value, "ratio"), word))
	}
	if r.Samples == nil {
		return
	}
	column := slices.Index(r.Samples.Columns, name+"_ratio")
	if column < 0 {
		return
	}
	var ratios []float64
	for _, row := range r.Samples.Rows {
		if column < len(row) && row[column] != nil {
			ratios = append(ratios, *row[column])
		}
	}
	slices.Sort(ratios)
	var texts []string
	for _, v := range ratios {
		texts = append(texts, strconv.FormatFloat(v, 'f', 2, 64))
	}
	p.item("  all pairs, sorted: ", strings.Join(texts, " "))
}
