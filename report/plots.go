package report

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"opcycle/bench"
	"opcycle/judge"
)

// The colours of a plot. In a page each becomes the page's own, light or dark (see theme).
var (
	inkColour    = color.RGBA{0x1b, 0x1f, 0x24, 0xff}
	barColour    = color.RGBA{0x1f, 0x6f, 0xeb, 0xff}
	secondColour = color.RGBA{0x82, 0x50, 0xdf, 0xff}
	badColour    = color.RGBA{0xcf, 0x22, 0x2e, 0xff}
	warnColour   = color.RGBA{0x9a, 0x67, 0x00, 0xff}
)

// sans has the widths of the fonts that a page falls back to (see theme).
const sans = "Sans"

// bins is how many bars a histogram has; countFloor is where a bar of no sample ends, since
// a logarithm has no 0: below the one sample that the lowest bar stands for.
const (
	bins       = 80
	countFloor = 0.5
)

// plotted are the series of the vendor's report, which a page shows as histograms.
func plotted() []row {
	return []row{
		{"Calculation time", "calculation_time"},
		{"Execution time", "execution_time"},
		{"Execution time jitter", "execution_time_jitter"},
		{"Client transmit time", "client_transmit_time"},
		{"Server transmit jitter", "server_transmit_jitter"},
		{"Dead time", "dead_time"},
	}
}

func newPlot(title, x, y string) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text = title, x, y
	p.BackgroundColor = color.Transparent
	p.Title.TextStyle.Color, p.Title.TextStyle.Font.Variant = inkColour, sans
	p.Title.TextStyle.Font.Size = vg.Points(11)
	p.Legend.TextStyle.Color, p.Legend.TextStyle.Font.Variant = inkColour, sans
	p.Legend.TextStyle.Font.Size, p.Legend.Padding = vg.Points(8), vg.Points(2)
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Color, a.Label.TextStyle.Color, a.Tick.Label.Color, a.Tick.Color = inkColour, inkColour, inkColour, inkColour
		a.Label.TextStyle.Font.Variant, a.Tick.Label.Font.Variant = sans, sans
		a.Label.TextStyle.Font.Size, a.Tick.Label.Font.Size = vg.Points(9), vg.Points(8)
	}
	return p
}

// bin is one bar: values in µs from Low to High.
type bin struct{ low, high, count float64 }

// binsOf puts a series' histogram into bars of equal width over its whole range.
func binsOf(s *bench.Series) ([]bin, error) {
	pos, neg, err := s.Histograms()
	if err != nil || s.Min == nil || s.Max == nil {
		return nil, err
	}
	low, high := float64(*s.Min)/1e3, float64(*s.Max)/1e3
	width := math.Max((high-low)/bins, 1e-3)
	out := make([]bin, bins)
	for i := range out {
		out[i] = bin{low: low + float64(i)*width, high: low + float64(i+1)*width}
	}
	add := func(from, to int64, sign float64, n int64) {
		v := sign * (float64(from) + float64(to)) / 2e3
		i := min(max(int((v-low)/width), 0), bins-1)
		out[i].count += float64(n)
	}
	if pos != nil {
		for _, b := range pos.Distribution() {
			if b.Count > 0 {
				add(b.From, b.To, 1, b.Count)
			}
		}
	}
	if neg != nil {
		for _, b := range neg.Distribution() {
			if b.Count > 0 {
				add(b.From, b.To, -1, b.Count)
			}
		}
	}
	return out, nil
}

// histogram draws a series' histogram with a logarithmic count axis.
func histogram(title string, s *bench.Series) (*plot.Plot, error) {
	data, err := binsOf(s)
	if err != nil {
		return nil, err
	}
	p := newPlot(title, "µs", "samples (log)")
	p.Y.Scale, p.Y.Tick.Marker = plot.LogScale{}, plot.LogTicks{Prec: -1}
	top := 1.0
	for _, b := range data {
		top = math.Max(top, b.count)
		if b.count == 0 {
			continue
		}
		bar, err := plotter.NewPolygon(plotter.XYs{{X: b.low, Y: countFloor}, {X: b.low, Y: b.count}, {X: b.high, Y: b.count}, {X: b.high, Y: countFloor}})
		if err != nil {
			return nil, err
		}
		bar.Color, bar.LineStyle.Width = barColour, 0
		p.Add(bar)
	}
	p.Y.Min, p.Y.Max = countFloor, top*1.5
	p.X.Min, p.X.Max = data[0].low, data[len(data)-1].high
	return p, nil
}

// histogramText says in words what a histogram shows, for who can't see it.
func histogramText(title string, s *bench.Series) string {
	return fmt.Sprintf("Histogram of %s, %s samples: minimum %s, median %s, 99th percentile %s, maximum %s",
		title, judge.Group(s.Count), found(judge.Statistic(s, "min")), found(judge.Statistic(s, "p50")),
		found(judge.Statistic(s, "p99")), found(judge.Statistic(s, "max")))
}

// timeline draws a series over the run, the average and the largest of each second, and the
// marks below it.
func timeline(title string, s *bench.Series, marks []mark, first, last float64) (*plot.Plot, error) {
	p := newPlot(title, "seconds into the run", "µs")
	var avg, top plotter.XYs
	for _, b := range s.Blocks {
		if b.Count == 0 {
			continue
		}
		x := float64(b.Second) + float64(b.Length())/2
		avg = append(avg, plotter.XY{X: x, Y: float64(b.Sum) / float64(b.Count) / 1e3})
		top = append(top, plotter.XY{X: x, Y: float64(b.Max) / 1e3})
	}
	if len(top) == 0 {
		return nil, nil
	}
	for i, xy := range []plotter.XYs{top, avg} {
		l, err := plotter.NewLine(xy)
		if err != nil {
			return nil, err
		}
		l.Color = []color.Color{secondColour, barColour}[i]
		p.Add(l)
		p.Legend.Add([]string{"largest of the second", "average"}[i], l)
	}
	p.Legend.Top, p.Legend.YOffs = true, vg.Points(14) // beside the title, above the lines
	floor := p.Y.Min - (p.Y.Max-p.Y.Min)*0.08
	for _, kind := range markKinds() {
		var at plotter.XYs
		for _, m := range marks {
			if m.what == kind.what {
				at = append(at, plotter.XY{X: m.second, Y: floor})
			}
		}
		if len(at) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(at)
		if err != nil {
			return nil, err
		}
		dots.GlyphStyle = draw.GlyphStyle{Color: kind.colour, Radius: vg.Points(3), Shape: kind.shape}
		p.Add(dots)
		p.Legend.Add(fmt.Sprintf("%s (%d)", kind.what, len(at)), dots)
	}
	p.X.Min, p.X.Max = first, last
	return p, nil
}

// mark is something that happened at a second of the run.
type mark struct {
	what   string
	second float64
}

type markKind struct {
	what   string
	colour color.Color
	shape  draw.GlyphDrawer
}

func markKinds() []markKind {
	return []markKind{
		{"missed", badColour, draw.CrossGlyph{}},
		{"late", warnColour, draw.PyramidGlyph{}},
		{"collector pause", secondColour, draw.RingGlyph{}},
		{"throttled", inkColour, draw.BoxGlyph{}},
	}
}

// marksOf are the events of the kept cycles.
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
