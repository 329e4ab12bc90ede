package main

import (
	"maps"
	"slices"

	"opcycle/bench"

	"github.com/prometheus/client_golang/prometheus"
)

// exposition turns the newest copy of a run into Prometheus' metrics: seconds instead of ns,
// names after https://prometheus.io/docs/practices/naming/. What is not known yet is absent,
// never 0.
type exposition struct {
	plan   bench.Plan
	newest func() *bench.Live

	info, cycle, phase, progress, due *prometheus.Desc
	packets, missed, late             *prometheus.Desc
	series, least, most               map[string]*prometheus.Desc
}

// exposedSeries are the series that a dashboard of a control cycle needs.
func exposedSeries() []string {
	return []string{"calculation_time", "execution_time", "response_time", "dead_time", "start_latency", "arrival_offset", "server_transmit_time", "loop_time"}
}

// exposedBounds are the upper bounds of the histograms' buckets, ns: 0 for what is negative
// (a dead time below it is an overrun), 1-2-5 steps from 10 µs to 1 s, and the tenths of
// the cycle, so that the cycle itself is a bound.
func exposedBounds(cycle int64) []int64 {
	out := []int64{0}
	for decade := int64(10_000); decade <= 100_000_000; decade *= 10 {
		out = append(out, decade, 2*decade, 5*decade)
	}
	out = append(out, 1_000_000_000)
	for i := int64(1); i <= 10; i++ {
		out = append(out, i*cycle/10)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

func newExposition(plan bench.Plan, newest func() *bench.Live) *exposition {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("opcycle_"+name, help, labels, nil)
	}
	e := &exposition{plan: plan, newest: newest,
		info:     desc("build_info", "The program; always 1.", "version", "commit", "go"),
		cycle:    desc("cycle_period_seconds", "The control cycle T as configured."),
		phase:    desc("phase", "1 for the phase that the run is in, else 0.", "phase"),
		progress: desc("phase_progress_ratio", "Share of the phase that has passed, 0 to 1."),
		due:      desc("packets_due_total", "Grid indices of the measuring phase that have come due."),
		packets:  desc("packets_total", "Grid indices decided: every one is on time, late or missed.", "client", "outcome"),
		missed:   desc("packets_missed_total", "Grid indices whose value never arrived, by their one cause.", "client", "cause"),
		late:     desc("packets_late_total", "Grid indices whose value arrived after the deadline, by their one cause.", "client", "cause"),
		series:   map[string]*prometheus.Desc{}, least: map[string]*prometheus.Desc{}, most: map[string]*prometheus.Desc{},
	}
	for _, name := range exposedSeries() {
		e.series[name] = desc(name+"_seconds", "Series "+name+" of the measuring phase so far; a value counts at the upper edge of a bucket of three digits.")
		e.least[name] = desc(name+"_min_seconds", "Least "+name+" of the measuring phase so far, exact.")
		e.most[name] = desc(name+"_max_seconds", "Greatest "+name+" of the measuring phase so far, exact.")
	}
	return e
}

// Describe implements prometheus.Collector.
func (e *exposition) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{e.info, e.cycle, e.phase, e.progress, e.due, e.packets, e.missed, e.late} {
		out <- d
	}
	for _, group := range []map[string]*prometheus.Desc{e.series, e.least, e.most} {
		for d := range maps.Values(group) {
			out <- d
		}
	}
}

// Collect implements prometheus.Collector.
func (e *exposition) Collect(out chan<- prometheus.Metric) {
	put := func(d *prometheus.Desc, kind prometheus.ValueType, v float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, kind, v, labels...)
	}
	t := tool()
	put(e.info, prometheus.GaugeValue, 1, t.Version, t.Commit, t.Go)
	put(e.cycle, prometheus.GaugeValue, e.plan.Task.Interval.Seconds())
	now := e.newest()
	if now == nil {
		return
	}
	for _, name := range bench.Phases() {
		in := 0.0
		if name == now.Phase {
			in = 1
		}
		put(e.phase, prometheus.GaugeValue, in, name)
	}
	if now.Share >= 0 {
		put(e.progress, prometheus.GaugeValue, now.Share)
	}
	if len(now.Clients) == 0 {
		return // nothing is measured yet
	}
	put(e.due, prometheus.CounterValue, float64(now.Due))
	for _, c := range now.Clients {
		for _, o := range []bench.Outcome{bench.OnTime, bench.Late, bench.Missed} {
			put(e.packets, prometheus.CounterValue, float64(c.Outcomes[o]), c.Object, string(o))
		}
		for _, cause := range bench.MissedCauses() {
			put(e.missed, prometheus.CounterValue, float64(c.Missed[cause]), c.Object, string(cause))
		}
		for _, cause := range bench.LateCauses() {
			put(e.late, prometheus.CounterValue, float64(c.Late[cause]), c.Object, string(cause))
		}
	}
	for _, s := range now.Series {
		e.one(out, s)
	}
}

// one is a series as a histogram, with its exact extremes beside it.
func (e *exposition) one(out chan<- prometheus.Metric, s bench.LiveSeries) {
	buckets := map[float64]uint64{}
	for i, b := range exposedBounds(int64(e.plan.Task.Interval)) {
		buckets[seconds(b)] = uint64(s.AtMost[i])
	}
	out <- prometheus.MustNewConstHistogram(e.series[s.Name], uint64(s.Count), seconds(s.Sum), buckets)
	out <- prometheus.MustNewConstMetric(e.least[s.Name], prometheus.GaugeValue, seconds(s.Min))
	out <- prometheus.MustNewConstMetric(e.most[s.Name], prometheus.GaugeValue, seconds(s.Max))
}

func seconds(ns int64) float64 { return float64(ns) / 1e9 }
