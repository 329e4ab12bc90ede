package report

import (
	"fmt"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
)

// crossCheck is the table of readings that are ratios to another program's.
const crossCheck = "cross_check"

// lmbenchDetails says how every figure was measured: each mechanism with its spread.
func lmbenchDetails(p *printer, runs []lmbenchRun) {
	var notes footnotes
	var body [][]string
	for _, t := range lmbenchTables() {
		for _, c := range t.columns {
			rows := detailRows(runs, t.name, c.name, &notes)
			if len(rows) > 0 {
				body = append(body, []string{t.name + "/" + c.name, "", "", "", "", "", "", ""})
			}
			body = append(body, rows...)
		}
	}
	if len(body) == 0 {
		return
	}
	p.section("lmbench-style: how each figure was measured")
	p.table([]string{"mechanism (* in the table)", "line", "statistic", "value", "n", "min", "max", "placement"},
		map[int]tw.Align{2: tw.AlignLeft, 7: tw.AlignLeft}, body)
	p.line("")
	notes.print(p)
}

// detailRows are the readings of one figure, the runs of each mechanism below each other.
func detailRows(runs []lmbenchRun, table, name string, notes *footnotes) [][]string {
	var order []string
	rows := map[string][][]string{}
	for i, r := range runs {
		for _, g := range r.readings {
			if g.Table != table || g.Name != name {
				continue
			}
			key := g.Mechanism + "\x00" + g.Placement
			if rows[key] == nil {
				order = append(order, key)
			}
			rows[key] = append(rows[key], detail(g, i+1, notes))
		}
	}
	var out [][]string
	for _, key := range order {
		out = append(out, rows[key]...)
	}
	return out
}

// detail is one reading; the headline has a star.
func detail(g *bench.Reading, line int, notes *footnotes) []string {
	name := "  " + g.Mechanism
	if g.Headline {
		name = "* " + g.Mechanism
	}
	if g.Mechanism == "" {
		name += "not measured"
	}
	for _, why := range []string{g.Deviation, prefixed("n/a: ", g.NA)} {
		if why != "" {
			name += " " + notes.mark(why)
		}
	}
	value := "n/a"
	if g.Value != nil {
		value = digits(*g.Value) + " " + g.Unit
	}
	if g.Unstable != "" {
		value = doubtful + " " + value
	}
	n := "n/a"
	if g.N > 0 {
		n = fmt.Sprint(g.N)
	}
	return []string{name, fmt.Sprint(line), g.Statistic, value, n, orBlank(g.Min), orBlank(g.Max), g.Placement}
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

func orBlank(v *float64) string {
	if v == nil {
		return ""
	}
	return digits(*v)
}

// lmbenchRatios prints how our figures stand to those of the original's programs, measured
// in alternation.
func lmbenchRatios(p *printer, runs []lmbenchRun) {
	var notes footnotes
	var body [][]string
	for _, r := range runs {
		for _, g := range r.readings {
			if g.Table != crossCheck {
				continue
			}
			value := ratioCell(g.Value)
			if g.Value == nil {
				value = "n/a " + notes.mark(g.NA)
			}
			row := []string{g.Name, g.Mechanism, value, ratioCell(g.Min), ratioCell(g.Max), fmt.Sprint(g.N), g.Deviation}
			body = append(body, row)
		}
	}
	if len(body) == 0 {
		return
	}
	p.section("Cross-check: ours by the original's")
	p.table([]string{"figure", "original", "ratio", "min", "max", "pairs", "medians"}, map[int]tw.Align{1: tw.AlignLeft, 6: tw.AlignLeft}, body)
	p.line("")
	p.item("", "Each ratio is the median of those of the pairs, ours and the original measured right after each other, in turns; from 0.9 to 1.1 they agree.")
	notes.print(p)
}

func ratioCell(v *float64) string {
	if v == nil {
		return ""
	}
	return fmt.Sprintf("%.2f", *v)
}
