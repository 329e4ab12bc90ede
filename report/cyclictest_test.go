package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/judge"
	"opcycle/record"
)

// wakeUpSeries are latencies around 20 µs and a few long ones, the longest of high ns.
func wakeUpSeries(t *testing.T, object string, n, high int64) bench.Series {
	t.Helper()
	m := record.Moments{}
	var buckets []record.Bucket
	add := func(v, count int64) {
		buckets = append(buckets, record.Bucket{From: v, To: v, Count: count})
		for range count {
			m.Add(v)
		}
	}
	for i := range int64(10) {
		add(15_000+i*1500, n/10-i)
	}
	add(80_000, 44)
	add(high, 1)
	blocks := &record.Blocks{Period: 250_000, Seconds: []record.Moments{{Count: n, Max: 30_000}, {Count: 45, Max: high}, {Count: 1, Max: 20_000}}}
	s, err := bench.Summarize("cyclictest", object, "latency", record.FromBuckets(m, buckets), blocks, 0, 250_000, 0.99999, 0.999999)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func cyclictestFile(t *testing.T) bench.File {
	begin := time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)
	number := func(object, series, statistic, unit string, v float64) bench.Figure {
		return bench.Figure{Suite: "cyclictest", Object: object, Series: series, Statistic: statistic, Unit: unit, Value: &v}
	}
	phase := func(i int, label string, high int64) bench.SuiteResult {
		at := begin.Add(time.Duration(i) * 30 * time.Hour)
		s := wakeUpSeries(t, "cpu3", 20_000, high)
		r := bench.SuiteResult{Suite: "cyclictest", Label: label, Role: bench.RoleMeasured, Started: at, Ended: at.Add(24 * time.Hour), Complete: true,
			Series: []bench.Series{s},
			Figures: []bench.Figure{number("cpu3", "wake_ups", "interval", "ns", 250_000), number("cpu3", "wake_ups", "cycles", "1", float64(s.Count)),
				number("cpu3", "wake_ups", "missed", "1", 2), number("cpu3", "wake_ups", "early", "1", 0), number("cpu3", "wake_ups", "interrupted", "1", 0),
				number("cpu3", "histogram", "overflow", "1", 1),
				{Suite: "cyclictest", Object: "cpu3", Series: "context_switches", Statistic: "voluntary", Unit: "1", NA: "the kernel was not asked: a part of the run was killed, or has not ended"},
				{Suite: "cyclictest", Object: "cpu3", Series: "thread", Statistic: "policy", Unit: "text", Text: "SCHED_FIFO 99"}},
			Processes: []bench.ProcessInfo{{Name: "cyclictest/wake-up", Locked: true, CState: "held at 0 µs", Threads: []bench.ThreadInfo{
				{Role: "runtime", Policy: "SCHED_OTHER", CPUs: []int{0, 1, 2}}, {Role: "measuring", Policy: "SCHED_FIFO", Priority: 99, CPUs: []int{3}}}}},
			Moments: []bench.Moment{
				{At: at.Add(time.Second), Since: 1e9, CPU: 3, Index: 4000, What: "wake-up", Value: 80_000, Unit: "ns"},
				{At: at.Add(3 * time.Second), Since: 3e9, CPU: 3, Index: 12_000, What: "wake-up", Value: high, Unit: "ns"}}}
		return r
	}
	without, with := phase(0, "without CAT", 1_234_500), phase(1, "with CAT", 300_000)
	with.CAT = &bench.CAT{Applied: true, Groups: []string{"opcycle: CPUs 3, L3:0=f0"}}
	return bench.File{Schema: bench.Schema, Tool: bench.Tool{Name: "opcycle", Version: "v0"}, Suite: "cyclictest", Started: begin, Ended: with.Ended, Complete: true,
		Host: bench.Host{Name: "there", Kernel: "6.18"}, Suites: []bench.SuiteResult{without, with}}
}

func TestCyclictestGolden(t *testing.T) {
	f := cyclictestFile(t)
	golden(t, "cyclictest.txt", []byte(text(t, f)))
	var md bytes.Buffer
	if err := Markdown(&md, f, judge.Judge(f), shipped(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "cyclictest.md", md.Bytes())
}

// crossFile is a cross-check of six pairs whose p50 is above, and whose average is not.
func crossFile(t *testing.T) bench.File {
	f := cyclictestFile(t)
	f.Suites = f.Suites[:1]
	r := &f.Suites[0]
	r.Label, r.Moments, r.Figures = "", nil, nil
	r.Series = []bench.Series{wakeUpSeries(t, "opcycle", 5000, 99_000), wakeUpSeries(t, "rt-tests", 5000, 90_000)}
	r.Series[1].StdDev = nil
	r.Samples = &bench.Samples{Columns: []string{"pair", "p50_ratio", "average_ratio"}, Units: []string{"1", "ratio", "ratio"}}
	value := func(v float64) *float64 { return &v }
	for i := range 6 {
		r.Samples.Rows = append(r.Samples.Rows, []*float64{value(float64(i + 1)), value(1.2 - float64(i)/100), value(0.9 + float64(i)/20)})
	}
	for _, x := range []struct {
		name      string
		low, high float64
	}{{"p50", 1.15, 1.2}, {"average", 0.9, 1.15}} {
		for _, y := range []struct {
			name, mechanism, unit string
			v                     float64
		}{{x.name, "opcycle", "us", 20}, {x.name, "rt-tests", "us", 18}, {x.name + "_ratio", "opcycle / rt-tests, pair by pair", "ratio", (x.low + x.high) / 2}} {
			r.Readings = append(r.Readings, bench.Reading{Table: "cross-check", Name: y.name, Mechanism: y.mechanism, Unit: y.unit, Statistic: "median", Value: &y.v, Min: value(y.v * 0.9), Max: value(y.v * 1.1), N: 6})
		}
		for s, v := range map[string]float64{"median": (x.low + x.high) / 2, "low": x.low, "high": x.high, "coverage": 0.96875} {
			r.Figures = append(r.Figures, bench.Figure{Suite: "cyclictest", Object: "cross-check", Series: x.name + "_ratio", Statistic: s, Unit: "ratio", Value: &v})
		}
	}
	r.Failed = []string{"our p50 is above rt-tests': the ratio is 1.175, 96.9 % interval 1.150 to 1.200, which lies wholly above 1.10"}
	return f
}

func TestCrossCheckGolden(t *testing.T) { golden(t, "crosscheck.txt", []byte(text(t, crossFile(t)))) }

// Nothing of a result that has nothing makes a report panic, and no number comes of it.
func TestCyclictestOfNothing(t *testing.T) {
	f := cyclictestFile(t)
	f.Suites = []bench.SuiteResult{{Suite: "cyclictest", Role: bench.RoleMeasured}, {Suite: "cyclictest", Series: []bench.Series{{Name: "latency", Object: "cpu1", Unit: "ns", NA: "no value was measured"}}}}
	got := text(t, f)
	if !strings.Contains(got, "n/a: no value was measured") || !strings.Contains(got, "ended before its plan's end") {
		t.Error(got)
	}
}

// Every wake-up is in one step of the picture.
func TestTheHistogramHoldsEveryWakeUp(t *testing.T) {
	for _, ns := range []float64{1, 999, 1000, 1258, 1259, 19_999, 1e6, 1e9} {
		i := stepOf(ns)
		var low, high float64
		if _, err := fmt.Sscan(edge(i)+" "+edge(i+1), &low, &high); err != nil {
			t.Fatal(err)
		}
		if us := ns / 1e3; us < low*0.995-0.001 || us > high*1.005+0.001 {
			t.Errorf("%g ns is in the step from %s to %s us", ns, edge(i), edge(i+1))
		}
	}
}
