package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// caterpillarFile is a run without and one with CAT, on a counter of that name and rate.
func caterpillarFile(unit string, hz float64) bench.File {
	begin := time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)
	phase := func(i int, label string, low, high, deviation float64) bench.SuiteResult {
		at := begin.Add(time.Duration(i) * 3 * time.Hour)
		r := bench.SuiteResult{Suite: "caterpillar", Label: label, Role: bench.RoleMeasured, Started: at, Ended: at.Add(3 * time.Hour), Complete: true}
		number := func(series, statistic, unit string, v float64) {
			r.Figures = append(r.Figures, bench.Figure{Suite: "caterpillar", Object: "cpu3", Series: series, Statistic: statistic, Unit: unit, Value: &v})
		}
		text := func(series, statistic, s string) {
			r.Figures = append(r.Figures, bench.Figure{Suite: "caterpillar", Object: "cpu3", Series: series, Statistic: statistic, Unit: "text", Text: s})
		}
		cycles := func(series, statistic string, v float64) {
			number(series, statistic, "cycles", v)
			number(series+"_time", statistic, "ns", v/hz*1e9)
		}
		cycles("sample_jitter", "min", low)
		cycles("sample_jitter", "max", high)
		cycles("sample_jitter", "stddev", deviation)
		cycles("session", "min", 240_000)
		cycles("session", "max", 460_000)
		cycles("session", "jitter", (low+high)/2)
		for statistic, n := range map[string]float64{"count": 7200, "iterations": 72e6, "warm_up": 1, "rests": 108_000, "left_out": 864_000, "suspected_throttling": 0, "unfinished_iterations": 0} {
			number("samples", statistic, "1", n)
		}
		number("clock", "rate", "Hz", hz)
		text("clock", "unit", unit)
		text("workload", "name", "memory")
		number("workload", "steps", "1", 4096)
		text("workload", "checksum", "ok")
		number("buffer", "bytes", "1", 1920<<10)
		text("buffer", "from", "1.5 x L2 of 1280 KiB")
		text("fifo_limit", "by", bench.FIFOServer)
		text("fifo_limit", "why", "fair server: starved ordinary threads get 50000 of each 1000000 us")
		text("thread", "policy", "SCHED_FIFO 99")
		text("thread", "pace", "rests 14.5ms of every 100ms")
		return r
	}
	with := phase(1, "with CAT", 900, 1300, 20.5)
	with.CAT = &bench.CAT{Applied: true, Groups: []string{"opcycle-rt: CPUs 3, L3:0=f0"}}
	short := phase(2, "one sample", 0, 0, 0)
	for i := range short.Figures {
		if f := &short.Figures[i]; strings.HasPrefix(f.Series, "sample_jitter") || strings.HasPrefix(f.Series, "session") {
			f.Value, f.NA = nil, "needs 2 samples: the first warms up"
		}
	}
	return bench.File{Schema: bench.Schema, Suite: "caterpillar", Started: begin, Ended: begin.Add(9 * time.Hour), Complete: true,
		Suites: []bench.SuiteResult{phase(0, "without CAT", 2100, 2900, 61.25), with, short}}
}

func TestCaterpillar(t *testing.T) {
	for name, c := range map[string]struct {
		unit string
		hz   float64
		says string
	}{
		"caterpillar.txt":       {"TSC cycles", 1.8e9, "TSC cycles @ 1.800 GHz (reference cycles, not core cycles)"},
		"caterpillar-arm64.txt": {"CNTVCT ticks", 25e6, "ns (CNTVCT ticks of 40.00 ns)"},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			f := caterpillarFile(c.unit, c.hz)
			if err := Text(&out, f, judge.Judge(f), shipped(t)); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(out.String(), "caterpillar-style, own workload: sample jitter in "+c.says) {
				t.Errorf("the unit is not %q", c.says)
			}
			golden(t, name, out.Bytes())
		})
	}
}
