package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"slices"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"opcycle/judge"
)

// compareHTML writes comparisons as one page that needs nothing beside it.
func compareHTML(w io.Writer, pairs []Pair) error {
	p := newPage(w, toolName+": comparison")
	for i := range pairs {
		x := &pairs[i]
		p.raw(fmt.Sprintf("<div class=\"verdict %s\" role=\"status\"><b>%s</b>: %s</div>", outcomeClass(x.Is.Outcome), html.EscapeString(string(x.Is.Outcome)), html.EscapeString(outcomeText(x))))
		comparison(p, &x.Is)
		if len(x.Is.Refused) > 0 {
			continue
		}
		compared(p, &x.Is)
		overlays(p, x)
	}
	return p.endPage()
}

// outcomeClass is the page's colour of an outcome; the word beside it says the same.
func outcomeClass(c judge.Compared) string {
	switch c {
	case judge.Better, judge.Same:
		return "pass"
	case judge.Worse:
		return "fail"
	}
	return ""
}

// overlays are the histograms of both sides over each other, of every compared series: those
// that the outcome rests on first.
func overlays(p *printer, x *Pair) {
	var first, rest []string // object and name, joined
	for i := range x.Is.Rows {
		row := &x.Is.Rows[i]
		name := row.Object + "\x00" + row.Series
		switch {
		case row.Primary && !slices.Contains(first, name):
			first = append(first, name)
		case !row.Primary && !slices.Contains(rest, name):
			rest = append(rest, name)
		}
	}
	rest = slices.DeleteFunc(rest, func(s string) bool { return slices.Contains(first, s) })
	p.section("Histograms over each other")
	p.raw("<div class=\"plots\">")
	for _, name := range append(first, rest...) {
		for i := range x.Is.Rows {
			if row := &x.Is.Rows[i]; row.Object+"\x00"+row.Series == name {
				p.overlay(x, row.Object, row.Series)
				break
			}
		}
	}
	p.raw("</div>")
}

// overlay is one of them, and where few values far out press the rest into few bars, one of
// the middle.
func (p *printer) overlay(x *Pair, object, series string) {
	if p.err != nil {
		return
	}
	label := object + " " + series
	base, err := sideBuckets(&x.Base, object, series)
	if err != nil {
		p.err = err
		return
	}
	other, err := sideBuckets(&x.Other, object, series)
	if err != nil {
		p.err = err
		return
	}
	if len(base) == 0 || len(other) == 0 {
		p.line("%s: n/a: the histogram of a side is not in its result", label)
		return
	}
	both := slices.Concat(base, other)
	slices.SortFunc(both, byLow)
	low, high := both[0].low, both[0].high
	for _, b := range both {
		high = max(high, b.high)
	}
	keys := []string{key("■", bandColour, fmt.Sprintf("%s, filled (%d run(s))", x.Is.Base, len(x.Base.Runs))), key("―", secondColour, fmt.Sprintf("%s, line (%d run(s))", x.Is.Other, len(x.Other.Runs)))}
	words := fmt.Sprintf("Histograms of %s over each other: %s; %s", label, overlayWords(x, object, series, "p50"), overlayWords(x, object, series, "p99"))
	p.both(label, base, other, low, high, words, keys)
	if low, high, ok := middle(both); ok {
		title := fmt.Sprintf("%s, the middle %.0f %%", label, middleShare*100)
		p.both(title, base, other, low, high, fmt.Sprintf("The middle %.0f %% of both, from %s to %s: the same values without the few far out",
			middleShare*100, figure(low*1e3, "ns"), figure(high*1e3, "ns")), keys)
	}
}

// overlayWords says a statistic of both sides for who can't see it.
func overlayWords(x *Pair, object, series, statistic string) string {
	for i := range x.Is.Rows {
		if r := &x.Is.Rows[i]; r.Object == object && r.Series == series && r.Statistic == statistic {
			return fmt.Sprintf("%s %s of %s, %s of %s", statistic, figure(r.Base, "ns"), x.Is.Base, figure(r.Other, "ns"), x.Is.Other)
		}
	}
	return statistic + " n/a"
}

// sideBuckets are the buckets of all runs of a side, ascending.
func sideBuckets(s *judge.Side, object, series string) ([]bin, error) {
	var out []bin
	for i := range s.Runs {
		for j := range s.Runs[i].Series {
			x := &s.Runs[i].Series[j]
			if x.Object != object || x.Name != series || x.Count == 0 {
				continue
			}
			buckets, err := bucketsOf(x)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", s.Runs[i].Name, err)
			}
			out = append(out, buckets...)
		}
	}
	slices.SortFunc(out, byLow)
	return out, nil
}

// both draws two histograms on one pair of axes: the base filled, the other as a line.
func (p *printer) both(title string, base, other []bin, low, high float64, words string, keys []string) {
	under, over := binned(base, low, high), binned(other, low, high)
	pl, err := barsOf(title, under, bandColour)
	if err != nil {
		p.err = err
		return
	}
	line, err := plotter.NewLine(outline(over))
	if err != nil {
		p.err = err
		return
	}
	line.Color, line.Width = secondColour, vg.Points(1.2)
	pl.Add(line)
	for _, b := range over {
		pl.Y.Max = math.Max(pl.Y.Max, b.count*1.5)
	}
	p.figure(pl, plotWidth, words, keys...)
}

// outline is the upper edge of bars; where there are none it lies on the floor.
func outline(data []bin) plotter.XYs {
	var out plotter.XYs
	for _, b := range data {
		y := math.Max(b.count, countFloor)
		out = append(out, plotter.XY{X: b.low, Y: y}, plotter.XY{X: b.high, Y: y})
	}
	return out
}
