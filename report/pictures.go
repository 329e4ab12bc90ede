package report

import (
	"fmt"
	"math"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// pictures are what can be seen of a run: one cycle to scale, histograms, the run over time.
func pictures(p *printer, f *bench.File) {
	cycleBoxes(p, f)
	capacity(p, f)
	p.section("Histograms" + ofFirst(f))
	p.raw("<div class=\"plots\">")
	for _, r := range plotted() {
		p.histograms(r.label, judge.FindSeries(f, "", r.series))
	}
	p.raw("</div>")
	timelines(p, f)
}

// histograms puts the histogram of a series into the page, and where few values far out
// press the rest into few bars, one of the middle; of a series without values, why.
func (p *printer) histograms(label string, s *bench.Series) {
	switch {
	case p.err != nil || s == nil:
		return
	case s.Count == 0:
		p.line("%s: n/a: %s", label, orNA(s.NA))
		return
	}
	whole, err := histogram(label, s)
	if err != nil {
		p.err = err
		return
	}
	if whole == nil {
		p.line("%s: n/a: its histogram is not in the result", label)
		return
	}
	p.figure(whole, plotWidth, histogramText(label, s))
	buckets, _ := bucketsOf(s) // decoded once already
	low, high, ok := middle(buckets)
	if !ok {
		return
	}
	title := fmt.Sprintf("%s, the middle %.0f %%", label, middleShare*100)
	pl, err := bars(title, binned(buckets, low, high))
	if err != nil {
		p.err = err
		return
	}
	p.figure(pl, plotWidth, fmt.Sprintf("Histogram of the middle %.0f %% of %s, from %s to %s: the same values without the few far out",
		middleShare*100, label, figure(low*1e3, "ns"), figure(high*1e3, "ns")))
}

// capacity is what the cycle has left at each level of execution time: for how much more
// work there would be time.
func capacity(p *printer, f *bench.File) {
	period, s := f.Plan.Period(), seriesOr(f, "execution_time")
	if period <= 0 {
		return
	}
	p.section("Capacity left of the cycle (T = " + judge.Span(f.Plan.Task.Interval) + ")")
	var body [][]string
	var notes footnotes
	for _, statistic := range []string{"avg", "p50", "p99", "p99.9", "max"} {
		e := judge.Statistic(s, statistic)
		if !e.OK {
			body = append(body, []string{"execution_time." + statistic, "n/a " + notes.mark(e.NA), "n/a", "n/a"})
			continue
		}
		left := float64(period) - e.Value
		body = append(body, []string{"execution_time." + statistic, figure(e.Value, "ns"), figure(left, "ns"), fmt.Sprintf("%.1f %%", left/float64(period)*100)})
	}
	p.table([]string{"at", "execution time", "left of T", "share of T"}, nil, body)
	notes.printNA(p)
	p.item("", "Negative is an overrun. The largest observed is of this run and no worst case.")
}

// seriesOr is a series of the file, or one that says that it is not there.
func seriesOr(f *bench.File, name string) *bench.Series {
	if s := judge.FindSeries(f, "", name); s != nil {
		return s
	}
	return &bench.Series{NA: "not in this result"}
}

// seconds is a duration of so many.
func seconds(s float64) time.Duration { return time.Duration(math.Round(s * 1e9)) }
