package report

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/judge"
)

// Pair is a comparison with its two sides.
type Pair struct {
	Is          judge.Comparison
	Base, Other judge.Side
}

// CompareFormat is one form of comparisons.
type CompareFormat struct {
	Name  string
	What  string // one line
	Write func(w io.Writer, pairs []Pair) error
}

// CompareFormats are the forms of comparisons, in the order of the help text.
func CompareFormats() []CompareFormat {
	return []CompareFormat{
		{"text", "outcome, differences, effects", compareAs(asText)},
		{"html", "one page with both sides' histograms over each other", compareHTML},
		{"markdown", "the text as GitHub-flavoured Markdown", compareAs(asMarkdown)},
		{"json", "everything, times in ns, null where not known", compareJSON},
		{"csv", "one effect a line, times in ns, empty where not known", compareCSV},
	}
}

// CompareFormatNames are the names of CompareFormats.
func CompareFormatNames() []string {
	var out []string
	for _, f := range CompareFormats() {
		out = append(out, f.Name)
	}
	return out
}

// FindCompareFormat is the form of that name.
func FindCompareFormat(name string) (CompareFormat, error) {
	for _, f := range CompareFormats() {
		if f.Name == name {
			return f, nil
		}
	}
	return CompareFormat{}, noFormat(name, CompareFormatNames())
}

// compareAs writes comparisons one below the other: the outcome's line, every difference of
// plan and machine first, then the effect on every series with its interval.
func compareAs(f form) func(io.Writer, []Pair) error {
	return func(w io.Writer, pairs []Pair) error {
		p := &printer{w: w, form: f}
		for i := range pairs {
			if i > 0 {
				p.line("")
			}
			p.line("%s", outcomeLine(&pairs[i]))
			comparison(p, &pairs[i].Is)
			if len(pairs[i].Is.Refused) == 0 {
				compared(p, &pairs[i].Is)
			}
		}
		return p.err
	}
}

// outcomeLine is one line, however long: scripts read it.
func outcomeLine(x *Pair) string {
	return fmt.Sprintf("%s: %s", x.Is.Outcome, outcomeText(x))
}

func outcomeText(x *Pair) string {
	return fmt.Sprintf("%s compared with %s (%d and %d run(s)): %s", x.Is.Other, x.Is.Base, len(x.Other.Runs), len(x.Base.Runs), orNA(x.Is.Why))
}

// comparison writes what is said first: what was left out, what differs, and why nothing is
// compared.
func comparison(p *printer, c *judge.Comparison) {
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
	}
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
