package report

import (
	"bytes"
	"fmt"
	"html"
	"regexp"
	"strings"
	"time"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"opcycle/bench"
	"opcycle/judge"
)

// The size of a plot in a page: it is scaled to the page's width.
const (
	plotWidth  = 13 * vg.Centimeter
	plotHeight = 7 * vg.Centimeter
	lineWidth  = 27 * vg.Centimeter
)

// pictures are what can be seen of a run: one cycle to scale, histograms, the run over time.
func pictures(p *printer, f *bench.File) {
	boxes(p, f)
	p.section("Histograms" + ofFirst(f))
	p.raw("<div class=\"plots\">")
	for _, r := range plotted() {
		s := judge.FindSeries(f, "", r.series)
		if s == nil || s.Count == 0 {
			continue
		}
		pl, err := histogram(r.label, s)
		if err != nil {
			p.err = err
			return
		}
		p.figure(pl, plotWidth, histogramText(r.label, s))
	}
	p.raw("</div>")
	timelines(p, f)
}

func timelines(p *printer, f *bench.File) {
	p.section("Over the run" + ofFirst(f))
	marks := marksOf(f)
	last := float64(max(f.Phase.Ran, 1)*f.Plan.Period()) / 1e9
	for _, r := range []row{{"Execution time", "execution_time"}, {"Arrival offset", "arrival_offset"}} {
		s := judge.FindSeries(f, "", r.series)
		if s == nil || s.Count == 0 {
			p.line("%s: n/a: no value was measured", r.label)
			continue
		}
		pl, err := timeline(r.label, s, marks, 0, last)
		if err != nil {
			p.err = err
			return
		}
		if pl != nil {
			p.figure(pl, lineWidth, fmt.Sprintf("%s over the run: average and largest of each of %d seconds, and %d marks for missed and late cycles, collector pauses and throttling",
				r.label, len(s.Blocks), len(marks)))
		}
	}
	if f.AbnormalLeftOut > 0 {
		p.line("%s more abnormal cycles are counted, not kept, and not marked here", judge.Group(f.AbnormalLeftOut))
	}
}

// figure puts a plot into the page as SVG, with words for who can't see it.
func (p *printer) figure(pl *plot.Plot, width vg.Length, words string) {
	c := vgsvg.NewWith(vgsvg.UseWH(width, plotHeight))
	pl.Draw(draw.Crop(draw.New(c), vg.Millimeter, -6*vg.Millimeter, vg.Millimeter, -2*vg.Millimeter)) // room for the last number of the axis
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		p.err = fmt.Errorf("draw %s: %w", pl.Title.Text, err)
		return
	}
	p.raw("<figure>" + theme(b.String(), words) + "<figcaption>" + html.EscapeString(words) + "</figcaption></figure>")
}

var (
	prologue = regexp.MustCompile(`(?s)^.*?<svg `)
	absolute = regexp.MustCompile(`^width="[^"]*" height="[^"]*"`)
)

// theme makes a plot part of its page: the page's colours instead of literal ones, its
// width, its font, and a text alternative.
func theme(svg, words string) string {
	svg = prologue.ReplaceAllString(svg, "")
	svg = absolute.ReplaceAllString(svg, "")
	for name, c := range map[string]string{"--ink": "#1B1F24", "--line": "#D1D9E0", "--bar": "#1F6FEB", "--second": "#8250DF", "--bad": "#CF222E", "--warn": "#9A6700"} {
		svg = strings.ReplaceAll(svg, c, "var("+name+")")
	}
	svg = regexp.MustCompile(`font-family:[^;"]*`).ReplaceAllString(svg, "font-family:Liberation Sans,Arial,Helvetica,sans-serif")
	return `<svg role="img" aria-label="` + html.EscapeString(words) + `" ` + strings.TrimSpace(svg)
}

// boxes draws an average and the worst kept cycle to scale, and what is left of the cycle.
func boxes(p *printer, f *bench.File) {
	period := f.Plan.Period()
	if period <= 0 {
		return
	}
	p.section("One cycle, to scale (T = " + judge.Span(f.Plan.Task.Interval) + ")")
	p.raw("<div class=\"plots\">")
	average, ok := averageCycle(f)
	p.cycleFigure("An average cycle", average, ok, "n/a: no cycle was measured", period)
	worst, at, ok := worstCycle(f)
	p.cycleFigure("The worst kept cycle"+at, worst, ok, "n/a: no cycle was kept in full: none was late, missed or slow", period)
	p.raw("</div>")
	for _, statistic := range []string{"p99", "max"} {
		if e := judge.Statistic(seriesOr(f, "execution_time"), statistic); e.OK {
			p.line("Left of the cycle at execution_time.%s: %s of %s (%.1f %%)", statistic,
				figure(float64(period)-e.Value, "ns"), judge.Span(time.Duration(period)), (1-e.Value/float64(period))*100)
		}
	}
}

func seriesOr(f *bench.File, name string) *bench.Series {
	if s := judge.FindSeries(f, "", name); s != nil {
		return s
	}
	return &bench.Series{NA: "not in this result"}
}

// stretch is one part of a cycle, ns from its due time.
type stretch struct {
	name, colour string
	from, to     float64
}

// averageCycle is made of the averages; its parts follow each other as in a cycle.
func averageCycle(f *bench.File) ([]stretch, bool) {
	avg := func(name string) (float64, bool) {
		r := judge.Statistic(seriesOr(f, name), "avg")
		return r.Value, r.OK
	}
	start, ok1 := avg("start_latency")
	work, ok2 := avg("calculation_time")
	done, ok3 := avg("execution_time")
	if !ok1 || !ok2 || !ok3 {
		return nil, false
	}
	return cycleOf(start, start+work, done, float64(f.Plan.Period())), true
}

// worstCycle is the kept cycle that executed the longest.
func worstCycle(f *bench.File) (parts []stretch, at string, ok bool) {
	var worst *bench.Release
	for i := range f.Abnormal {
		r := &f.Abnormal[i]
		if r.Wake != nil && r.End != nil && r.Done != nil && r.Begin != nil && (worst == nil || late(r, f) > late(worst, f)) {
			worst = r
		}
	}
	if worst == nil {
		return nil, "", false
	}
	due := float64((worst.K - f.Phase.First) * f.Plan.Period())
	from := func(v *int64) float64 { return float64(*v) - due }
	return cycleOf(from(worst.Begin), from(worst.End), from(worst.Done), float64(f.Plan.Period())),
		fmt.Sprintf(" (k = %d, at %.2f s, %s)", worst.K, worst.Second, worst.Outcome), true
}

// late is when a release was done, ns after its due time.
func late(r *bench.Release, f *bench.File) int64 {
	return *r.Done - (r.K-f.Phase.First)*f.Plan.Period()
}

func cycleOf(start, calculated, done, period float64) []stretch {
	parts := []stretch{{"start latency", "--warn", 0, start}, {"calculation", "--bar", start, calculated}, {"output and transmit", "--second", calculated, done}}
	if done < period {
		parts = append(parts, stretch{"dead time", "--line", done, period})
	}
	return parts
}

// cycleFigure draws parts as one bar; beyond T it goes on in red.
func (p *printer) cycleFigure(title string, parts []stretch, ok bool, na string, period int64) {
	if !ok {
		p.raw("<figure><figcaption>" + html.EscapeString(title+": "+na) + "</figcaption></figure>")
		return
	}
	end := float64(period)
	var words []string
	for _, s := range parts {
		end = max(end, s.to)
		words = append(words, fmt.Sprintf("%s %s", s.name, figure(s.to-s.from, "ns")))
	}
	said := title + ": " + strings.Join(words, ", ")
	var b strings.Builder
	fmt.Fprintf(&b, `<svg role="img" aria-label="%s" viewBox="0 0 1000 70" xmlns="http://www.w3.org/2000/svg">`, html.EscapeString(said))
	for _, s := range parts {
		fmt.Fprintf(&b, `<rect x="%.2f" y="10" width="%.2f" height="36" style="fill:var(%s)"><title>%s</title></rect>`,
			s.from/end*1000, max((s.to-s.from)/end*1000, 0.5), s.colour, html.EscapeString(s.name))
	}
	at := float64(period) / end * 1000
	fmt.Fprintf(&b, `<line x1="%.2f" x2="%.2f" y1="4" y2="54" style="stroke:var(--bad);stroke-width:3"/><text x="%.2f" y="67" text-anchor="end" style="fill:var(--ink);font-size:14px">T</text></svg>`, at, at, at)
	p.raw("<figure>" + b.String() + "<figcaption>" + html.EscapeString(said) + "</figcaption></figure>")
}
