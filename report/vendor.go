package report

import (
	"fmt"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// vendor prints the vendor's table of the file's suite: his rows in his order and units,
// this run and him side by side, and a difference only where both measured the same thing.
func vendor(p *printer, f *bench.File, refs []bench.Reference) {
	for _, group := range publications(refs) {
		first := group[0]
		if first.Suite != f.Suite {
			continue
		}
		p.section(fmt.Sprintf("Beside the vendor (%s, %s)", first.Vendor, first.Product) + ofFirst(f))
		conditions(p, f, group)
		p.line("")
		var notes footnotes
		body := vendorRows(f, group, &notes)
		p.table([]string{"Row", "this run", "vendor", "difference"}, map[int]tw.Align{3: tw.AlignLeft}, body)
		p.line("")
		notes.print(p)
		p.item("Source: ", first.Source+".")
	}
}

func vendorRows(f *bench.File, group []bench.Reference, notes *footnotes) [][]string {
	var body [][]string
	for _, b := range judge.Comparable(*f, group) {
		body = append(body, []string{b.Reference.Row + unitOf(b.Reference), ourCell(b, notes), b.Reference.Value, differenceCell(b, notes)})
	}
	return body
}

// ourCell is this run's figure in the vendor's unit, whole as he prints it.
func ourCell(b judge.Beside, notes *footnotes) string {
	switch {
	case !b.Found.OK:
		return "n/a " + notes.mark("n/a: "+b.Found.NA)
	case b.Found.Unit == "ns":
		return micros(b.Found.Value, 0)
	}
	return figureWhole(b.Found.Value)
}

// figureWhole writes a count without separators, as the vendor does.
func figureWhole(v float64) string { return fmt.Sprintf("%.0f", v) }

func differenceCell(b judge.Beside, notes *footnotes) string {
	if b.Word != judge.Yes {
		return b.Word + " " + notes.mark(b.Word+": "+b.Why)
	}
	switch b.Unit {
	case "ns":
		return signed(micros(b.Difference, 0))
	case "share":
		return fmt.Sprintf("%s points (%.1f %% - %.1f %% of T)",
			signed(points(b)), b.Ours*100, b.Theirs*100)
	}
	return signed(figureWhole(b.Difference))
}

// points is the difference of the two shares as they are printed beside it.
func points(b judge.Beside) string {
	v := round1(b.Ours*100) - round1(b.Theirs*100)
	return fmt.Sprintf("%.1f", round1(v)+0)
}
