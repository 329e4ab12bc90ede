package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// percentiles are the quantiles of each column, and every counter.
func percentiles(p *printer, columns []wakeUps) {
	if len(columns) == 0 {
		return
	}
	p.section("Percentiles in µs, and every counter")
	head := []string{""}
	for _, c := range columns {
		head = append(head, c.head)
	}
	var notes footnotes
	var body [][]string
	bursts := false
	row := func(name string, of func(c *wakeUps) judge.Found) {
		line, known := []string{name}, false
		for i := range columns {
			f := of(&columns[i])
			if f.NA == notInResult {
				line = append(line, "")
				continue
			}
			cell := latencyCell(f, &notes)
			if q := judge.FindQuantile(columns[i].series, name); q != nil && f.OK && q.Bursts > 0 && q.Bursts < fewBursts {
				cell, bursts = "~"+cell, true
			}
			line, known = append(line, cell), true
		}
		if known {
			body = append(body, line)
		}
	}
	for _, s := range []string{"p50", "p90", "p99", "p99.9", "p99.99", "p99.999", "p99.9999"} {
		row(s, func(c *wakeUps) judge.Found { return judge.Statistic(c.series, s) })
	}
	row("standard deviation", func(c *wakeUps) judge.Found {
		if c.series.StdDev == nil && c.series.Count > 1 {
			return judge.Found{NA: "the histogram does not hold every latency"}
		}
		return judge.Statistic(c.series, "stddev")
	})
	for _, g := range [][3]string{
		{"missed instants (overruns)", "wake_ups", "missed"}, {"wake-ups before their instant", "wake_ups", "early"},
		{"sleeps interrupted by a signal", "wake_ups", "interrupted"}, {"beyond the histogram of --histogram", "histogram", "overflow"},
		{"voluntary context switches", "context_switches", "voluntary"}, {"involuntary context switches", "context_switches", "involuntary"},
		{"minor page faults", "page_faults", "minor"}, {"major page faults", "page_faults", "major"},
	} {
		row(g[0], func(c *wakeUps) judge.Found { return objectFigure(c.result, c.series.Object, g[1], g[2]) })
	}
	p.table(head, nil, body)
	notes.printNA(p)
	if bursts {
		p.line("~: the samples beyond it came in fewer than %d bursts; it would differ in another run", fewBursts)
	}
}

// objectFigure is a figure of one object of a suite's result.
func objectFigure(r *bench.SuiteResult, object, series, statistic string) judge.Found {
	for i := range r.Figures {
		g := &r.Figures[i]
		switch {
		case g.Object != object || g.Series != series || g.Statistic != statistic:
		case g.Value == nil:
			return judge.Found{Unit: g.Unit, NA: orNA(g.NA)}
		default:
			return judge.Found{Value: *g.Value, Unit: g.Unit, OK: true}
		}
	}
	return judge.Found{NA: notInResult}
}

// notInResult is why a figure that a result does not have is n/a.
const notInResult = "not in this result"

// worstWakeUps are the longest, in the order of time.
func worstWakeUps(p *printer, r *bench.SuiteResult) {
	if len(r.Moments) == 0 {
		return
	}
	p.section(fmt.Sprintf("%s: the worst %d wake-ups, in the order of time", judge.Title(r), len(r.Moments)))
	var body [][]string
	for _, m := range r.Moments {
		body = append(body, []string{m.At.UTC().Format("2006-01-02 15:04:05.000000"), strconv.FormatFloat(time.Duration(m.Since).Seconds(), 'f', 6, 64),
			strconv.Itoa(m.CPU), strconv.FormatInt(m.Index, 10), micros(float64(m.Value), 1)})
	}
	p.table([]string{"due (UTC)", "s since begin", "CPU", "instant", "latency µs"}, nil, body)
}

// barWidth is the length of the longest bar of a histogram.
const barWidth = 40

// wakeUpHistogram is a coarse picture of a column: ten steps a decade, bars by the logarithm
// of the count, so that a single wake-up is still seen beside a million.
func wakeUpHistogram(p *printer, c *wakeUps) {
	h, _, err := c.series.Histograms()
	if err != nil || h == nil {
		return
	}
	counts := map[int]int64{}
	low, high, most := math.MaxInt, math.MinInt, int64(0)
	for _, b := range h.Distribution() {
		if b.Count == 0 {
			continue
		}
		i := stepOf(min(float64(b.To), float64(*c.series.Max)))
		counts[i] += b.Count
		low, high, most = min(low, i), max(high, i), max(most, counts[i])
	}
	var text strings.Builder
	for i := low; i <= high; i++ {
		n := counts[i]
		bar := 0
		if n > 0 {
			bar = 1
			if most > 1 {
				bar += int(math.Round(math.Log10(float64(n)) / math.Log10(float64(most)) * (barWidth - 1)))
			}
		}
		fmt.Fprintf(&text, "%s\n", strings.TrimRight(fmt.Sprintf("%10s to %9s %11s  %s", edge(i), edge(i+1), judge.Group(n), strings.Repeat("#", bar)), " "))
	}
	if c.series.Overflow > 0 {
		fmt.Fprintf(&text, "%-23s %11s\n", "    not in the histogram", judge.Group(c.series.Overflow))
	}
	p.section(fmt.Sprintf("Histogram in µs, %s (the bars are logarithms of the counts)", c.head))
	p.pre(text.String())
}

// stepsADecade divides each decade of a histogram.
const stepsADecade = 10

func stepOf(ns float64) int {
	return int(math.Floor(math.Log10(max(ns, 1))*stepsADecade + 1e-9))
}

// edge is the lower edge of a step in µs, three digits of it.
func edge(i int) string {
	us := math.Pow(10, float64(i)/stepsADecade) / 1e3
	decimals := max(0, 2-int(math.Floor(math.Log10(us)+1e-9)))
	return strconv.FormatFloat(us, 'f', min(decimals, 3), 64)
}
