package report

import (
	"io"
	"math"
	"strconv"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/judge"
)

// Compare writes a comparison: the verdict's line, every difference of plan and machine
// first, then the effect on every series with its interval.
func Compare(w io.Writer, c judge.Comparison, runs [2]int) error {
	p := &printer{w: w}
	p.line("%s: %s compared with %s (%d and %d run(s)): %s", c.Outcome, c.Other, c.Base, runs[1], runs[0], orNA(c.Why))
	for _, s := range c.LeftOut {
		p.item("left out: ", s)
	}
	p.section("Differences of plan and machine")
	if len(c.Differences) == 0 {
		p.line("none")
	}
	var body [][]string
	for _, d := range c.Differences {
		body = append(body, []string{d.Kind, d.Key, short(d.Base), short(d.Other)})
	}
	if len(body) > 0 {
		left := map[int]tw.Align{1: tw.AlignLeft, 2: tw.AlignLeft, 3: tw.AlignLeft}
		p.table([]string{"kind", "key", c.Base, c.Other}, left, body)
	}
	if len(c.Refused) > 0 {
		p.section("Not compared")
		for _, s := range c.Refused {
			p.item("  - ", s)
		}
		return p.err
	}
	compared(p, &c)
	return p.err
}

func compared(p *printer, c *judge.Comparison) {
	p.section("Effect (other - base; medians of the runs, 95 % interval; µs)")
	var notes footnotes
	var body [][]string
	for i := range c.Rows {
		row := &c.Rows[i]
		name := row.Object + " " + row.Series + "." + row.Statistic
		if row.Primary {
			name = "* " + name
		}
		test := ""
		if row.P != nil {
			test = strconv.FormatFloat(*row.P, 'g', 2, 64)
		}
		word := string(row.Outcome)
		if row.Why != "" {
			word += " " + notes.mark(row.Why)
		}
		body = append(body, []string{name, micros(row.Base, 1), micros(row.Other, 1), signed(micros(row.Effect, 1)), percent(row), interval(row), test, word})
	}
	p.table([]string{"series", "base", "other", "effect", "", "interval", "p", "outcome"}, map[int]tw.Align{7: tw.AlignLeft}, body)
	notes.print(p)
	p.item("", "* the outcome rests on these; with five or more runs a side, Mann-Whitney on the runs, corrected by Holm over them. "+
		"The others are shown with their own p and count for nothing. A maximum grows with the length of a run and is not compared; nor are signed deviations, whose mean is 0 by definition.")
}

// short is a value that fits into a table.
func short(s string) string {
	const most = 60
	if r := []rune(s); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return s
}

func percent(row *judge.ComparedRow) string {
	if row.Base == 0 {
		return ""
	}
	return signed(strconv.FormatFloat(row.Effect/math.Abs(row.Base)*100, 'f', 1, 64)) + " %"
}

func interval(row *judge.ComparedRow) string {
	if math.IsInf(row.Low, 0) || math.IsInf(row.High, 0) {
		return "not known"
	}
	return signed(micros(row.Low, 1)) + " to " + signed(micros(row.High, 1))
}
