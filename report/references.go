package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
)

// References lists the published figures by suite and source, every table with its runs
// side by side, the conditions of each run, and the word of comparability with a run of
// ours (for either plc.host where a suite has one): the verb references.
func References(w io.Writer, refs []bench.Reference) error {
	p := &printer{w: w}
	begun := false
	for _, suite := range referenceSuites() {
		of := slices.DeleteFunc(slices.Clone(refs), func(r bench.Reference) bool { return r.Suite != suite })
		for _, source := range groups(of, func(r bench.Reference) string {
			return strings.Join([]string{r.Vendor, r.Product, r.Source, r.Date}, "\x00")
		}) {
			if begun {
				p.line("\n")
			}
			begun = true
			first := source[0]
			p.item(suite+": ", fmt.Sprintf("%s: %s", first.Vendor, first.Product))
			p.item("source: ", fmt.Sprintf("%s; date: %s", first.Source, first.Date))
			var t told
			t.facts(p, source)
			for _, table := range groups(source, func(r bench.Reference) string { return r.Table }) {
				referenceTable(p, table, t)
			}
		}
	}
	return p.err
}

// told are the facts that a list has already printed for all rows below it.
type told struct{ platform, conditions bool }

// facts prints the platform and the conditions where all rows share them, once.
func (t *told) facts(p *printer, rows []bench.Reference) {
	if !t.platform && same(rows, func(r bench.Reference) string { return r.Platform }) {
		p.item("platform: ", rows[0].Platform)
		t.platform = true
	}
	if !t.conditions && same(rows, func(r bench.Reference) string { return r.Conditions }) {
		p.item("conditions: ", rows[0].Conditions)
		t.conditions = true
	}
}

// run is what remains to be said of one run.
func (t told) run(r bench.Reference) string {
	text := r.Run
	if !t.platform {
		text += "; " + r.Platform
	}
	if !t.conditions {
		text += "; " + r.Conditions
	}
	return text
}

// referenceTable prints one published table: its figures as lines, its runs as columns.
func referenceTable(p *printer, table []bench.Reference, t told) {
	runs := groups(table, runKey)
	p.line("")
	p.item("table: ", table[0].Table)
	t.facts(p, table)
	var names []string
	for i, run := range runs {
		names = append(names, fmt.Sprintf("%d = %s", i+1, run[0].Run))
	}
	switch {
	case len(runs) == 1:
		p.item("run: ", t.run(runs[0][0]))
	case t.platform && t.conditions:
		p.item("runs: ", strings.Join(names, ", "))
	default:
		for i, run := range runs {
			p.item(fmt.Sprintf("run %d: ", i+1), t.run(run[0]))
		}
	}
	p.line("")
	matrix(p, table, runs)
}

// matrix prints the values as they were published. The word and the sentence of a figure
// stand at the end of its line; a cell that differs from its line has its own mark.
func matrix(p *printer, table []bench.Reference, runs [][]bench.Reference) {
	topologies := slices.ContainsFunc(table, func(r bench.Reference) bool { return r.ComparableServer != r.ComparableClient })
	head, align := []string{"Row"}, map[int]tw.Align{}
	for i := range runs {
		head = append(head, fmt.Sprint(i+1))
	}
	if len(runs) == 1 {
		head[1] = "value"
	}
	ends := []string{"comparable", "why"}
	if topologies {
		ends = []string{"comparable: server", "client", "why"}
	}
	for _, name := range ends {
		align[len(head)] = tw.AlignLeft
		head = append(head, name)
	}
	var notes footnotes
	var body [][]string
	for _, row := range groups(table, func(r bench.Reference) string { return r.Row }) {
		line := usual(row)
		ends := []string{line.ComparableServer, notes.mark(line.Why)}
		if topologies {
			ends = slices.Insert(ends, 1, line.ComparableClient)
		}
		cells := []string{line.Row + unitOf(line)}
		for _, run := range runs {
			cells = append(cells, referenceCell(row, runKey(run[0]), line, &notes))
		}
		body = append(body, append(cells, ends...))
	}
	p.table(head, align, body)
	p.line("")
	notes.print(p)
}

// referenceCell is the value of one run: n/a where its cell is blank in the source, empty
// where the source has no such cell.
func referenceCell(row []bench.Reference, run string, line bench.Reference, notes *footnotes) string {
	i := slices.IndexFunc(row, func(r bench.Reference) bool { return runKey(r) == run })
	if i < 0 {
		return ""
	}
	r := row[i]
	cell := r.Value
	if cell == "" {
		cell = "n/a"
	}
	if r.ComparableServer != line.ComparableServer || r.ComparableClient != line.ComparableClient || r.Why != line.Why {
		cell += " " + notes.mark(r.ComparableServer+": "+r.Why)
	}
	return cell
}

// usual is the cell of a line whose sentence most of its cells share, the first of equals.
func usual(row []bench.Reference) bench.Reference {
	var best []bench.Reference
	for _, g := range groups(row, func(r bench.Reference) string { return r.Why }) {
		if len(g) > len(best) {
			best = g
		}
	}
	return best[0]
}

// same tells whether all rows have the same text.
func same(rows []bench.Reference, text func(bench.Reference) string) bool {
	return !slices.ContainsFunc(rows, func(r bench.Reference) bool { return text(r) != text(rows[0]) })
}

// unitOf is the unit behind a row's name, as the vendor prints it.
func unitOf(r bench.Reference) string {
	switch {
	case r.Unit == "1", r.Unit == "text", strings.EqualFold(r.Unit, r.Row):
		return ""
	case r.Unit == "us":
		return " (µs)"
	}
	return " (" + r.Unit + ")"
}

func runKey(r bench.Reference) string {
	return strings.Join([]string{r.Run, r.Platform, r.Conditions}, "\x00")
}

// publications groups rows that were published together.
func publications(refs []bench.Reference) [][]bench.Reference {
	return groups(refs, func(r bench.Reference) string {
		return strings.Join([]string{r.Suite, r.Vendor, r.Product, r.Platform, r.Conditions}, "\x00")
	})
}

// groups puts rows with the same key together, in the order of the first of each.
func groups(refs []bench.Reference, key func(bench.Reference) string) [][]bench.Reference {
	var out [][]bench.Reference
	at := map[string]int{}
	for _, r := range refs {
		k := key(r)
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], r)
	}
	return out
}
