package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
)

// print prints the table if a run has a figure of it.
func (t lmbenchTable) print(p *printer, runs []lmbenchRun, published [][]bench.Reference, marks *footnotes) {
	var body [][]string
	any := false
	for _, r := range runs {
		row := []string{r.host, r.os}
		if t.clock {
			row = append(row, clockCell(r))
		}
		for _, c := range t.columns {
			any = any || r.headline(t.name, c.name) != nil
			row = append(row, t.cell(r, c.name, marks))
		}
		body = append(body, row)
	}
	if !any {
		return
	}
	head := []string{"Host\n", "OS\n"}
	if t.clock {
		head = append(head, "Mhz\n")
	}
	for _, c := range t.columns {
		head = append(head, c.head)
	}
	body = append(body, t.publishedRows(len(head), published)...)
	p.line("")
	p.line("%s", t.title)
	p.table(p.heads(head), map[int]tw.Align{1: tw.AlignLeft}, body)
}

// heads are column heads of two lines, or of one where a form has no lines in a cell.
func (p *printer) heads(head []string) []string {
	out := slices.Clone(head)
	if p.form != asText {
		for i, h := range out {
			out[i] = strings.TrimSpace(strings.ReplaceAll(h, "\n", " "))
		}
	}
	return out
}

func clockCell(r lmbenchRun) string {
	if g := r.headline("processor", "clock"); g != nil && g.Value != nil {
		return strconv.FormatFloat(*g.Value, 'f', 0, 64)
	}
	return "n/a"
}

// cell is a figure with at least three digits, and the number of what must be known of it.
func (t lmbenchTable) cell(r lmbenchRun, name string, marks *footnotes) string {
	if name == "guess" {
		return guess(r)
	}
	g := r.headline(t.name, name)
	switch {
	case g == nil:
		return ""
	case g.Value == nil:
		return "n/a " + marks.mark("n/a: "+g.NA)
	case g.Unstable != "":
		return digits(*g.Value) + " " + doubtful
	case r.imported:
		return strconv.FormatFloat(*g.Value, 'f', -1, 64)
	}
	return digits(*g.Value)
}

// digits writes three significant digits or more, never with an exponent.
func digits(v float64) string {
	if v == 0 {
		return "0"
	}
	return strconv.FormatFloat(v, 'f', max(0, 2-int(math.Floor(math.Log10(math.Abs(v))))), 64)
}

// sameLatency is the difference up to which the original's summary takes two levels for
// one (scripts/getsummary: 0.2, where its comment says 10 %).
const sameLatency = 0.2

// guess is the original's word on the caches, from our plateaus.
func guess(r lmbenchRun) string {
	value := func(name string) (float64, bool) {
		g := r.headline("memory_latency", name)
		if g == nil || g.Value == nil {
			return 0, false
		}
		return *g.Value, true
	}
	l1, ok1 := value("l1")
	l2, ok2 := value("l2")
	main, ok := value("main")
	same := func(a, b float64) bool { return math.Abs(a-b)/max(a, b) <= sameLatency }
	switch {
	case !ok || !ok1 || !ok2:
		return ""
	case same(l1, l2):
		return "No L1 cache?"
	case same(l2, main):
		return "No L2 cache?"
	}
	return ""
}

// lmbenchPublished are the published rows, those of one line together.
func lmbenchPublished(refs []bench.Reference) [][]bench.Reference {
	of := slices.DeleteFunc(slices.Clone(refs), func(r bench.Reference) bool { return r.Suite != "lmbench" })
	return groups(of, func(r bench.Reference) string { return r.Vendor + "\x00" + r.Product + "\x00" + r.Run })
}

// publishedRows are the published lines of this table as they were printed.
func (t lmbenchTable) publishedRows(width int, published [][]bench.Reference) [][]string {
	var out [][]string
	for _, line := range published {
		cell := func(series string) (string, bool) {
			for _, r := range line {
				if r.Object == t.name && r.Series == series {
					return r.Value, true
				}
			}
			return "", false
		}
		host, _, _ := strings.Cut(line[0].Run, "/")
		row := []string{host, publishedOS(line[0].Platform)}
		if t.clock {
			mhz, _ := cell("clock")
			row = append(row, mhz)
		}
		has := false
		for _, c := range t.columns {
			v, ok := cell(c.name)
			has = has || ok
			row = append(row, v)
		}
		if !has {
			continue
		}
		if out == nil {
			out = append(out, slices.Repeat([]string{"---"}, width))
		}
		out = append(out, row)
	}
	return out
}

// publishedOS is the system of a platform "machine; system (remark)".
func publishedOS(platform string) string {
	_, os, _ := strings.Cut(platform, "; ")
	os, _, _ = strings.Cut(os, " (")
	return os
}
