package report

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"

	"opcycle/bench"
	"opcycle/judge"
)

// sans has the widths of the fonts that a page falls back to (see theme).
const sans = "Sans"

// bins is how many bars a histogram has; countFloor is where a bar of no sample ends, since
// a logarithm has no 0: below the one sample that the lowest bar stands for.
const (
	bins       = 80
	countFloor = 0.5
)

// A histogram of the middle is drawn beside the whole one where that many times fewer bars
// would be left for it: few values far out press all others into one bar.
const (
	middleShare  = 0.99
	middleBeyond = 6
)

// plotted are the series of the vendor's report, which a page shows as histograms.
func plotted() []row {
	return []row{
		{"Control cycle period", "control_cycle_period"},
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
		a.Tick.Marker = plot.TickerFunc(ticks)
	}
	return p
}

// ticks are some five round numbers of an axis; the library's own are two or three.
func ticks(low, high float64) []plot.Tick {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/4)))
	for _, f := range []float64{5, 2} {
		if (high-low)/(step*f) >= 4 {
			step *= f
			break
		}
	}
	var out []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		v := i*step + 0 // never "-0"
		out = append(out, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(math.Log10(step)))), 64)})
	}
	return out
}

// bin is one bar, or a bucket before it became one: values in µs from low to high.
type bin struct{ low, high, count float64 }

// bucketsOf are the buckets of a series' histograms, ascending, held within its exact
// minimum and maximum.
func bucketsOf(s *bench.Series) ([]bin, error) {
	pos, neg, err := s.Histograms()
	if err != nil || s.Min == nil || s.Max == nil {
		return nil, err
	}
	low, high := float64(*s.Min)/1e3, float64(*s.Max)/1e3
	var out []bin
	add := func(from, to, n float64) {
		out = append(out, bin{min(max(from/1e3, low), high), max(min(to/1e3, high), low), n})
	}
	if pos != nil {
		for _, b := range pos.Distribution() {
			if b.Count > 0 {
				add(float64(b.From), float64(b.To), float64(b.Count))
			}
		}
	}
	if neg != nil {
		for _, b := range neg.Distribution() {
			if b.Count > 0 {
				add(-float64(b.To), -float64(b.From), float64(b.Count))
			}
		}
	}
	slices.SortFunc(out, byLow)
	return out, nil
}

func byLow(a, b bin) int { return cmp.Compare(a.low, b.low) }

// binned are bars of equal width from low to high; what is beyond is left out.
func binned(buckets []bin, low, high float64) []bin {
	width := math.Max((high-low)/bins, 1e-3)
	out := make([]bin, bins)
	for i := range out {
		out[i] = bin{low: low + float64(i)*width, high: low + float64(i+1)*width}
	}
	for _, b := range buckets {
		if v := (b.low + b.high) / 2; v >= low && v <= high {
			out[min(max(int((v-low)/width), 0), bins-1)].count += b.count
		}
	}
	return out
}

// middle is the range of the middle values, without half of what middleShare leaves on
// either side; ok says that it is worth a picture of its own.
func middle(buckets []bin) (low, high float64, ok bool) {
	if len(buckets) == 0 {
		return 0, 0, false
	}
	var all, sum float64
	for _, b := range buckets {
		all += b.count
	}
	low, high = buckets[0].low, buckets[len(buckets)-1].high
	whole, found := high-low, false
	for _, b := range buckets {
		sum += b.count
		if !found && sum > all*(1-middleShare)/2 {
			low, found = b.low, true
		}
		if sum >= all*(1+middleShare)/2 {
			high = b.high
			break
		}
	}
	return low, high, high > low && (high-low)*middleBeyond < whole
}

// histogram draws a series' histogram with a logarithmic count axis.
func histogram(title string, s *bench.Series) (*plot.Plot, error) {
	buckets, err := bucketsOf(s)
	if err != nil || len(buckets) == 0 {
		return nil, err
	}
	return bars(title, binned(buckets, float64(*s.Min)/1e3, float64(*s.Max)/1e3))
}

func bars(title string, data []bin) (*plot.Plot, error) { return barsOf(title, data, barColour) }

func barsOf(title string, data []bin, colour tint) (*plot.Plot, error) {
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
		bar.Color, bar.LineStyle.Width = colour, 0
		p.Add(bar)
	}
	p.Y.Min, p.Y.Max = countFloor, top*1.5
	p.X.Min, p.X.Max = data[0].low, data[len(data)-1].high
	return p, nil
}

// histogramText says in words what a histogram shows, for who can't see it.
func histogramText(title string, s *bench.Series) string {
	out := ""
	if n := s.Underflow + s.Overflow; n > 0 {
		out = fmt.Sprintf("; %s beyond ±10 min are in no bar", judge.Group(n))
	}
	return fmt.Sprintf("Histogram of %s, %s samples: minimum %s, median %s, 99th percentile %s, maximum %s%s",
		title, judge.Group(s.Count), found(judge.Statistic(s, "min")), found(judge.Statistic(s, "p50")),
		found(judge.Statistic(s, "p99")), found(judge.Statistic(s, "max")), out)
}
