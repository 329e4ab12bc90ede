package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
)

// curveRow is a load's latency with one working set, ns: the least of a result's runs.
type curveRow struct{ bytes, stride, random float64 }

// The curve's bars: characters for each doubling of the latency, and at most.
const (
	barOctave = 4
	barMost   = 40
)

// curveColumns are the columns of the samples that are a curve.
func curveColumns() []string { return []string{"run", "working_set", "stride_128", "random"} }

// lmbenchCurve prints the latency of a load by the working set, for each result that
// measured it: where it rises is a cache's end.
func lmbenchCurve(p *printer, results []*bench.SuiteResult) {
	for _, r := range results {
		rows, runs := curveOf(r)
		why := curveMissing(r)
		if len(rows) == 0 && why == "" {
			continue
		}
		title := "Memory load latency by working set, in nanoseconds: " + suiteWord(r, "host")
		if r.Label != "" {
			title += ", " + r.Label
		}
		p.section(title)
		if len(rows) == 0 {
			p.item("", "n/a: "+why)
			continue
		}
		var body [][]string
		for _, c := range rows {
			body = append(body, []string{bytesCell(c.bytes), digits(c.stride), digits(c.random), bar(c.random, rows)})
		}
		p.table([]string{"working set", "stride 128", "random", "random, double every " + fmt.Sprint(barOctave)}, map[int]tw.Align{3: tw.AlignLeft}, body)
		p.line("")
		of := ""
		if runs > 1 {
			of = fmt.Sprintf(", of %d runs", runs)
		}
		p.item("", "Minima of short intervals"+of+"; ordinary pages. Stride 128 is lmbench's order, which prefetchers foresee; random is what a pointer costs.")
	}
}

// curveOf are the points of a result's samples by size, and of how many runs.
func curveOf(r *bench.SuiteResult) (rows []curveRow, runs int) {
	if r.Samples == nil || !slices.Equal(r.Samples.Columns, curveColumns()) {
		return nil, 0
	}
	seen := map[float64]bool{}
	for _, row := range r.Samples.Rows {
		if len(row) != 4 || slices.Contains(row, nil) {
			continue
		}
		seen[*row[0]] = true
		c := curveRow{*row[1], *row[2], *row[3]}
		if i := slices.IndexFunc(rows, func(had curveRow) bool { return had.bytes == c.bytes }); i >= 0 {
			rows[i].stride, rows[i].random = min(rows[i].stride, c.stride), min(rows[i].random, c.random)
			continue
		}
		rows = append(rows, c)
	}
	slices.SortFunc(rows, func(a, b curveRow) int { return cmp.Compare(a.bytes, b.bytes) })
	return rows, len(seen)
}

// curveMissing is why a curve that was asked for is not there.
func curveMissing(r *bench.SuiteResult) string {
	for i := range r.Readings {
		if g := &r.Readings[i]; g.Table == "memory_latency" && g.Name == "curve" && g.NA != "" {
			return g.NA
		}
	}
	return ""
}

// curveRows are the points in the long form, each run's.
func curveRows(r *bench.SuiteResult) [][]string {
	if r.Samples == nil || !slices.Equal(r.Samples.Columns, curveColumns()) {
		return nil
	}
	var out [][]string
	for _, row := range r.Samples.Rows {
		if len(row) != 4 || slices.Contains(row, nil) {
			continue
		}
		g := bench.Reading{Run: fmt.Sprint(*row[0]), Mechanism: fmt.Sprintf("working set of %.0f bytes", *row[1])}
		for i, name := range []string{"stride_128", "random"} {
			out = append(out, []string{r.Suite, object(r, &g), "curve_" + name, "minimum_of_tries", plain(row[2+i]), r.Samples.Units[2+i]})
		}
	}
	return out
}

// bar grows by barOctave characters whenever the latency doubles, from one at the least.
func bar(ns float64, rows []curveRow) string {
	least := ns
	for _, c := range rows {
		least = min(least, c.random)
	}
	if least <= 0 {
		return ""
	}
	return strings.Repeat("#", min(barMost, 1+int(math.Round(barOctave*math.Log2(ns/least)))))
}

// bytesCell is a size in the largest binary unit that it is a whole number of.
func bytesCell(bytes float64) string {
	n, units := int64(bytes), []string{"", "K", "M", "G"}
	i := 0
	for ; n >= 1024 && n%1024 == 0 && i < len(units)-1; i++ {
		n /= 1024
	}
	return fmt.Sprintf("%d%s", n, units[i])
}
