package report

import (
	"cmp"
	"fmt"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"opcycle/bench"
	"opcycle/judge"
)

// columns is how many stretches a time line is drawn in: more can't be told apart on a page.
// Each keeps the smallest and the largest value of what it stands for.
const columns = 1000

// column is one stretch of a time line: seconds from the start, values in µs.
type column struct{ from, to, low, avg, high float64 }

// columnsOf joins blocks of time to at most columns stretches, of as many blocks each.
func columnsOf(blocks []bench.Block) []column {
	if len(blocks) == 0 {
		return nil
	}
	width := blocks[0].Length()
	span := blocks[len(blocks)-1].Second/width + 1
	per := (span + columns - 1) / columns * width // seconds in a column
	var out []column
	for i := 0; i < len(blocks); {
		at := blocks[i].Second / per
		c := column{from: float64(at * per), to: float64((at + 1) * per), low: math.Inf(1), high: math.Inf(-1)}
		var sum, n float64
		for ; i < len(blocks) && blocks[i].Second/per == at; i++ {
			b := &blocks[i]
			c.low, c.high = min(c.low, float64(b.Min)/1e3), max(c.high, float64(b.Max)/1e3)
			sum, n = sum+float64(b.Sum), n+float64(b.Count)
		}
		if n > 0 {
			c.avg = sum / n / 1e3
			out = append(out, c)
		}
	}
	return out
}

// unitOfTime is in what a time line of so many seconds is labelled.
func unitOfTime(seconds float64) (name string, length float64) {
	switch {
	case seconds <= 600:
		return "seconds", 1
	case seconds <= 3*3600:
		return "minutes", 60
	}
	return "hours", 3600
}

// timeline draws a series over the run: the band from the smallest to the largest value of
// each stretch, the average in it, and the marks below. limit, in µs, is drawn where it is
// near; 0 is none.
func timeline(title string, list []column, marks []mark, last, limit float64) (*plot.Plot, error) {
	name, length := unitOfTime(last)
	p := newPlot(title, name+" into the measuring phase", "µs")
	top, floor := math.Inf(-1), math.Inf(1)
	for begin := 0; begin < len(list); { // a gap in the values is a gap in the line
		end := begin + 1
		for end < len(list) && list[end].from == list[end-1].to {
			end++
		}
		if err := stretchOf(p, list[begin:end], length, last); err != nil {
			return nil, err
		}
		for _, c := range list[begin:end] {
			top, floor = max(top, c.high), min(floor, c.low)
		}
		begin = end
	}
	if limit > 0 && top > limit/2 {
		l, err := plotter.NewLine(plotter.XYs{{X: 0, Y: limit}, {X: last / length, Y: limit}})
		if err != nil {
			return nil, err
		}
		l.Color, l.Dashes = badColour, []vg.Length{vg.Points(4), vg.Points(3)}
		p.Add(l)
		top = max(top, limit)
	}
	step := max(top-floor, 1e-3) * 0.07
	for _, kind := range markKinds() {
		at := kind.positions(marks, last)
		if len(at) == 0 {
			continue
		}
		floor -= step
		xy := make(plotter.XYs, len(at))
		for i, second := range at {
			xy[i] = plotter.XY{X: second / length, Y: floor}
		}
		dots, err := plotter.NewScatter(xy)
		if err != nil {
			return nil, err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: kind.colour, Radius: vg.Points(3), Shape: kind.shape}
		p.Add(dots)
	}
	p.X.Min, p.X.Max = 0, last/length
	p.Y.Max = top + step // room below the title
	return p, nil
}

// stretchOf draws columns that follow each other without a gap.
func stretchOf(p *plot.Plot, list []column, length, last float64) error {
	var upper, lower, avg plotter.XYs
	for _, c := range list {
		from, to := c.from/length, min(c.to, last)/length
		upper = append(upper, plotter.XY{X: from, Y: c.high}, plotter.XY{X: to, Y: c.high})
		lower = append(lower, plotter.XY{X: from, Y: c.low}, plotter.XY{X: to, Y: c.low})
		avg = append(avg, plotter.XY{X: from, Y: c.avg}, plotter.XY{X: to, Y: c.avg})
	}
	for i := len(lower) - 1; i >= 0; i-- {
		upper = append(upper, lower[i])
	}
	band, err := plotter.NewPolygon(upper)
	if err != nil {
		return err
	}
	band.Color, band.LineStyle.Color, band.LineStyle.Width = bandColour, bandColour, vg.Points(0.8) // a line keeps a thin peak visible
	line, err := plotter.NewLine(avg)
	if err != nil {
		return err
	}
	line.Color = barColour
	p.Add(band, line)
	return nil
}

// mark is something that happened at a second of the run.
type mark struct {
	what   string
	second float64
}

// markKind is a kind of mark: its colour, its shape in a plot, and its sign in a text.
type markKind struct {
	what, sign string
	colour     tint
	shape      draw.GlyphDrawer
}

func markKinds() []markKind {
	return []markKind{
		{"missed", "✕", badColour, draw.CrossGlyph{}},
		{"late", "▲", warnColour, draw.PyramidGlyph{}},
		{"collector pause", "○", secondColour, draw.RingGlyph{}},
		{"throttled", "■", inkColour, draw.BoxGlyph{}},
	}
}

// positions are the seconds at which a kind is drawn: one for each column that has any, so
// that every event is to be seen, and 100,000 of them are a line and no page of 30 MB.
func (k markKind) positions(marks []mark, last float64) []float64 {
	var out []float64
	before := math.NaN()
	for _, m := range marks {
		if at := math.Floor(m.second / last * columns); m.what == k.what && at != before {
			out, before = append(out, m.second), at
		}
	}
	return out
}

// marksOf are the events of the kept cycles in order of time.
func marksOf(f *bench.File) []mark {
	var out []mark
	for i := range f.Abnormal {
		r := &f.Abnormal[i]
		for _, m := range []struct {
			what string
			is   bool
		}{{"missed", r.Outcome == bench.Missed}, {"late", r.Outcome == bench.Late},
			{"collector pause", r.Thieves.GC > 0}, {"throttled", r.Thieves.Throttle > 0}} {
			if m.is {
				out = append(out, mark{m.what, r.Second})
			}
		}
	}
	return out
}

// timelines are execution time and arrival offset over the run, with what happened in it.
func timelines(p *printer, f *bench.File) {
	p.section("Over the run" + ofFirst(f))
	marks := marksOf(f)
	last := float64(max(f.Phase.Ran, 1)*f.Plan.Period()) / 1e9
	for _, r := range []row{{"Execution time", "execution_time"}, {"Arrival offset", "arrival_offset"}} {
		s := judge.FindSeries(f, "", r.series)
		if s == nil || s.Count == 0 || len(s.Blocks) == 0 {
			p.line("%s: n/a: %s", r.label, cmp.Or(seriesOr(f, r.series).NA, "its values over time are not in the result"))
			continue
		}
		p.timeline(r.label, s, marks, last, float64(f.Plan.Period())/1e3)
	}
	if f.AbnormalLeftOut > 0 {
		p.line("%s more abnormal cycles are counted, not kept, and not marked here.", judge.Group(f.AbnormalLeftOut))
	}
}

// timeline puts one time line into the page, with its legend and words.
func (p *printer) timeline(label string, s *bench.Series, marks []mark, last, limit float64) {
	list := columnsOf(s.Blocks)
	pl, err := timeline(label, list, marks, last, limit)
	if err != nil {
		p.err = fmt.Errorf("draw %s over the run: %w", label, err)
		return
	}
	each := judge.Span(seconds(list[0].to - list[0].from))
	keys := []string{key("▇", bandColour, "smallest to largest of each "+each), key("━", barColour, "average of each "+each)}
	if top := float64(*s.Max) / 1e3; limit > 0 && top > limit/2 {
		keys = append(keys, key("┅", badColour, "the cycle's end, T = "+judge.Span(seconds(limit/1e6))))
	}
	words := fmt.Sprintf("%s over the run: average %s, from %s to %s", label, found(judge.Statistic(s, "avg")), found(judge.Statistic(s, "min")), found(judge.Statistic(s, "max")))
	for _, kind := range markKinds() {
		n := int64(0)
		for _, m := range marks {
			if m.what == kind.what {
				n++
			}
		}
		if n > 0 {
			keys = append(keys, key(kind.sign, kind.colour, fmt.Sprintf("%s (%s)", kind.what, judge.Group(n))))
			words += fmt.Sprintf("; %s: %s", kind.what, judge.Group(n))
		}
	}
	if len(marks) == 0 {
		words += "; no cycle was missed or late, and no kept one fell into a collector pause or throttling"
	}
	p.figure(pl, lineWidth, words, keys...)
}
