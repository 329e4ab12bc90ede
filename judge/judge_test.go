package judge

import (
	"math"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/mathext"

	"opcycle/bench"
)

// testFile is a valid, complete result of n cycles of 10 ms of which the given indices of
// the phase were skipped, with just what a verdict reads.
func testFile(n int64, skipped ...int64) bench.File {
	f := bench.File{Schema: bench.Schema, Suite: "opcua", Complete: true,
		Phase: bench.Phase{N: n, Ran: n},
		Plan: bench.Plan{Cycles: n, Task: bench.Task{Host: bench.HostServer, Interval: 10 * time.Millisecond, Workload: "FLOAT"},
			OPCUA: bench.OPCUA{PublishingInterval: 10 * time.Millisecond, QueueSize: 10}},
		Attained: bench.Attained{PublishingInterval: 10, QueueSize: 10}}
	set(&f, "packets", "expected", "1", float64(n))
	set(&f, "packets", "on_time", "1", float64(n)-float64(len(skipped)))
	set(&f, "packets", "late", "1", 0)
	set(&f, "packets", "missed", "1", float64(len(skipped)))
	for _, c := range bench.MissedCauses() {
		set(&f, "missed", string(c), "1", 0)
	}
	set(&f, "missed", "skipped_release", "1", float64(len(skipped)))
	for _, k := range skipped {
		f.Abnormal = append(f.Abnormal, bench.Release{K: k, Outcome: bench.Missed, Cause: bench.SkippedRelease})
	}
	low, high, avg, p99 := int64(4_524_000), int64(7_000_000), 4_546_000.0, int64(6_900_000)
	f.Series = append(f.Series, bench.Series{Suite: "opcua", Object: "task", Name: "dead_time", Unit: "ns", Count: n - int64(len(skipped)),
		Min: &low, Max: &high, Avg: &avg, Quantiles: []bench.Quantile{{Q: 0.99, Value: &p99, Beyond: n / 100}, {Q: 0.999, NA: "needs 10000 samples"}}})
	return f
}

// set replaces a figure, or adds it.
func set(f *bench.File, series, statistic, unit string, v float64) {
	for i := range f.Figures {
		if g := &f.Figures[i]; g.Series == series && g.Statistic == statistic {
			g.Value = &v
			return
		}
	}
	f.Figures = append(f.Figures, bench.Figure{Suite: "opcua", Object: "item", Series: series, Statistic: statistic, Unit: unit, Value: &v})
}

func TestUpperBound(t *testing.T) {
	// One-sided 95 % bounds; the values with events are qbeta(0.95, k+1, n-k) of R.
	for _, tt := range []struct {
		events, trials int64
		want           float64
	}{
		{0, 10, 0.2588656}, {1, 10, 0.3941633}, {2, 10, 0.5069013}, {9, 10, 0.9948838}, {10, 10, 1}, {0, 0, 1},
		{0, 6000, 4.991629e-4}, {0, 1_000_000, 2.995728e-6}, {5, 100, 0.1022534},
	} {
		if got := UpperBound(tt.events, tt.trials); math.Abs(got/tt.want-1) > 1e-5 {
			t.Errorf("UpperBound(%d, %d) = %.7g, want %.7g", tt.events, tt.trials, got, tt.want)
		}
	}
}

// The bound is where the binomial probability of no more events is 5 %, up to 48 h at 250 µs.
func TestUpperBoundIsTheQuantile(t *testing.T) {
	for _, n := range []int64{20, 6000, 17_280_000, 691_200_000} {
		for _, k := range []int64{1, 2, 5, 10} {
			if got := mathext.RegIncBeta(float64(k)+1, float64(n-k), UpperBound(k, n)); math.Abs(got-Confidence) > 1e-6 {
				t.Errorf("%d of %d: the bound stands at %v, want %v", k, n, got, Confidence)
			}
		}
	}
	if UpperBound(1, 6000) <= UpperBound(0, 6000) {
		t.Error("an event must raise the bound")
	}
}

func TestVerdictLine(t *testing.T) {
	thieves := func(f *bench.File) {
		set(f, "thieves", "run_queue", "ns", 12.3e6)
		set(f, "thieves", "rest", "ns", 2.7e6)
	}
	tests := []struct {
		name string
		file func() bench.File
		want string
	}{
		{"the example of metrics.md", func() bench.File { return testFile(6000) },
			"0 late or missed of 6,000 in 60 s: at most 1 in 2,000 cycles (95 %, if cycles fail independently); for 1 in a million run 8.3 h"},
		{"long enough for one in a million", func() bench.File { return testFile(3_000_000) },
			"0 late or missed of 3,000,000 in 8.3 h: at most 1 in 1,000,000 cycles (95 %, if cycles fail independently)"},
		{"two bursts and a thief", func() bench.File { f := testFile(6000, 100, 101, 4000); thieves(&f); return f },
			"3 late or missed of 6,000 in 60 s (3 skipped in 2 bursts): at most 1 in 953 cycles begins a burst (95 %, if bursts are independent); most of the lost time went to run_queue (12 ms of 15 ms)"},
		{"events one by one", func() bench.File { return testFile(6000, 100, 200) },
			"2 late or missed of 6,000 in 60 s (2 skipped): at most 1 in 953 cycles (95 %, if cycles fail independently)"},
		{"events that are not all in the file", func() bench.File { f := testFile(6000, 1, 2); f.Abnormal = nil; return f },
			"2 late or missed of 6,000 in 60 s (2 skipped): at most 1 in 953 cycles (95 %, if cycles fail independently)"},
		{"a late one", func() bench.File {
			f := testFile(6000)
			set(&f, "packets", "on_time", "1", 5999)
			set(&f, "packets", "late", "1", 1)
			set(&f, "late", "network", "1", 1)
			return f
		}, "1 late or missed of 6,000 in 60 s (1 late by network): at most 1 in 1,260 cycles (95 %, if cycles fail independently)"},
		{"invalid", func() bench.File { f := testFile(6000); f.Invalid = []string{"suspended", "stolen"}; return f },
			"invalid: suspended (and 1 more); 6,000 of 6,000 on time, no claim beyond these"},
		{"incomplete", func() bench.File { f := testFile(1234); f.Complete, f.Phase.N = false, 6000; return f },
			"incomplete: ended after 1,234 of 6,000 cycles; 1,234 of 1,234 on time, no claim beyond these"},
		{"nothing", func() bench.File { f := testFile(0); f.Complete, f.Phase.N = false, 6000; return f },
			"invalid: no cycle was measured; incomplete: ended after 0 of 6,000 cycles"},
	}
	for _, tt := range tests {
		if got := Judge(tt.file()).Text; got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

func TestExitCodes(t *testing.T) {
	with := func(change func(f *bench.File)) bench.File { f := testFile(6000); change(&f); return f }
	negative := int64(-1)
	tests := []struct {
		name    string
		file    bench.File
		outcome Outcome
		exit    int
	}{
		{"valid and all pass", testFile(6000), Pass, 0},
		{"a missed packet", testFile(6000, 5), Fail, 1},
		{"an overrun", with(func(f *bench.File) { f.Series[0].Min = &negative }), Fail, 1},
		{"a budget of the plan fails", with(func(f *bench.File) { f.Plan.Budgets = []string{"dead_time.p99 >= 70%"} }), Fail, 1},
		{"a budget of the plan passes", with(func(f *bench.File) { f.Plan.Budgets = []string{"task/dead_time.p99 >= 6ms"} }), Pass, 0},
		{"a quantile that is n/a", with(func(f *bench.File) { f.Plan.Budgets = []string{"dead_time.p99.9 >= 1ms"} }), Inconclusive, 2},
		{"n/a beside a failure", with(func(f *bench.File) {
			f.Plan.Budgets = []string{"dead_time.p99.9 >= 1ms", "dead_time.p99 >= 7ms"}
		}), Fail, 1},
		{"a failure before n/a", with(func(f *bench.File) {
			f.Plan.Budgets = []string{"dead_time.p99 >= 7ms", "dead_time.p99.9 >= 1ms"}
		}), Fail, 1},
		{"a budget that is none", with(func(f *bench.File) { f.Plan.Budgets = []string{"nonsense"} }), Inconclusive, 2},
		{"a figure that is not there", with(func(f *bench.File) { f.Plan.Budgets = []string{"loop_time.max <= 1ms"} }), Inconclusive, 2},
		{"invalid", with(func(f *bench.File) { f.Invalid = []string{"suspend"} }), Inconclusive, 2},
		{"invalid and missed", with(func(f *bench.File) { f.Invalid = []string{"suspend"}; set(f, "packets", "missed", "1", 3) }), Inconclusive, 2},
		{"incomplete", with(func(f *bench.File) { f.Complete = false }), Inconclusive, 2},
		{"nothing measured", bench.File{}, Inconclusive, 2},
	}
	for _, tt := range tests {
		v := Judge(tt.file)
		if v.Outcome != tt.outcome || v.ExitCode() != tt.exit {
			t.Errorf("%s: %s, exit %d; want %s, %d (%s)", tt.name, v.Outcome, v.ExitCode(), tt.outcome, tt.exit, v.Text)
		}
		for _, b := range v.Budgets {
			if (!v.Valid || !v.Complete) && b.Outcome != Inconclusive {
				t.Errorf("%s: %s was decided: %s", tt.name, b.Budget.Text, b.Outcome)
			}
		}
	}
}

func TestDefaultBudgetsStay(t *testing.T) {
	f := testFile(6000, 1)
	f.Plan.Budgets = []string{"packets.missed <= 5", "dead_time.p99 >= 1ms"}
	var got []string
	for _, b := range Judge(f).Budgets {
		got = append(got, b.Budget.Text)
	}
	want := "packets.late <= 0|dead_time.min >= 0|packets.missed <= 5|dead_time.p99 >= 1ms"
	if strings.Join(got, "|") != want {
		t.Errorf("budgets %q, want %q", got, want)
	}
}

func TestBudgetMarginAndDuration(t *testing.T) {
	f := testFile(6000)
	f.Plan.Budgets = []string{"dead_time.p99 <= 60%", "dead_time.min >= 4ms", "dead_time.p99.9 >= 1ms"}
	b := Judge(f).Budgets
	if got := b[len(b)-3]; got.Outcome != Fail || got.Margin != -900_000 {
		t.Errorf("p99 against 60 %%: %+v", got)
	}
	if got := b[len(b)-2]; got.Outcome != Pass || got.Margin != 524_000 {
		t.Errorf("min: %+v", got)
	}
	if got := b[len(b)-1]; got.Needs != 100*time.Second || got.Why != "n/a (needs 10000 samples): decided by a run of 100 s" {
		t.Errorf("p99.9: %+v", got)
	}
}

func TestReasons(t *testing.T) {
	tests := []struct {
		name   string
		change func(f *bench.File)
		want   string
	}{
		{"recorded", func(f *bench.File) { f.Invalid = []string{"suspended for 3 s"} }, "suspended for 3 s"},
		{"nothing measured", func(f *bench.File) { f.Figures = nil }, "no cycle was measured"},
		{"nothing measured, and why", func(f *bench.File) { f.Figures, f.Invalid = nil, []string{"no connection"} }, "no connection"},
		{"counts", func(f *bench.File) { set(f, "packets", "on_time", "1", 5998) }, "do not add up: on time 5998"},
		{"causes", func(f *bench.File) { set(f, "missed", "unknown", "1", 1) }, "causes do not add up: 1 of 0 missed"},
	}
	if r := Reasons(testFile(6000)); len(r) != 0 {
		t.Fatalf("a clean run is invalid: %q", r)
	}
	for _, tt := range tests {
		f := testFile(6000)
		tt.change(&f)
		if r := Reasons(f); len(r) != 1 || !strings.Contains(r[0], tt.want) {
			t.Errorf("%s: %q, want one with %q", tt.name, r, tt.want)
		}
	}
}

func TestBursts(t *testing.T) {
	for _, tt := range []struct {
		name    string
		skipped []int64
		want    int64
	}{
		{"none", nil, 0}, {"one", []int64{5}, 1}, {"a run", []int64{5, 6, 7}, 1},
		{"99 cycles are less than a second", []int64{0, 99}, 1}, {"100 cycles are a second", []int64{0, 100}, 2},
		{"not in order", []int64{500, 0, 1}, 2},
	} {
		if got, ok := Bursts(testFile(6000, tt.skipped...)); got != tt.want || !ok {
			t.Errorf("%s: %d bursts, %v; want %d", tt.name, got, ok, tt.want)
		}
	}
}

func TestLookup(t *testing.T) {
	f := testFile(6000)
	f.Figures = append(f.Figures, bench.Figure{Object: "server", Series: "gc_pause", Statistic: "max", Unit: "ns", NA: "no pause"},
		bench.Figure{Series: "run", Statistic: "note", Unit: "text", Text: "x"})
	tests := []struct {
		object, series, statistic string
		value                     float64
		unit, na                  string
	}{
		{"", "packets", "expected", 6000, "1", ""},
		{"item", "packets", "expected", 6000, "1", ""},
		{"task", "packets", "expected", 0, "", notMeasured},
		{"", "dead_time", "min", 4_524_000, "ns", ""},
		{"task", "dead_time", "avg", 4_546_000, "ns", ""},
		{"", "dead_time", "count", 6000, "1", ""},
		{"", "dead_time", "stddev", 0, "ns", "needs 2 samples"},
		{"", "dead_time", "p99", 6_900_000, "ns", ""},
		{"", "dead_time", "p99.9", 0, "ns", "needs 10000 samples"},
		{"", "dead_time", "p12", 0, "", notMeasured},
		{"", "no_such", "min", 0, "", notMeasured},
		{"server", "gc_pause", "max", 0, "ns", "no pause"},
		{"", "run", "note", 0, "text", "a text, not a number"},
	}
	for _, tt := range tests {
		v, unit, na, ok := Lookup(f, tt.object, tt.series, tt.statistic)
		if v != tt.value || unit != tt.unit || na != tt.na || ok != (tt.na == "") {
			t.Errorf("%s/%s.%s = %v %q %q %v, want %v %q %q", tt.object, tt.series, tt.statistic, v, unit, na, ok, tt.value, tt.unit, tt.na)
		}
	}
}

func TestSpanAndOneIn(t *testing.T) {
	for d, want := range map[time.Duration]string{0: "0 ns", 150 * time.Microsecond: "150 µs", 1500: "1.5 µs", 60 * time.Second: "60 s",
		10 * time.Minute: "10 min", 48 * time.Hour: "48 h", 100 * time.Hour: "4.2 days", -2 * time.Second: "-2 s"} {
		if got := Span(d); got != want {
			t.Errorf("Span(%d) = %q, want %q", int64(d), got, want)
		}
	}
	for p, want := range map[float64]string{1: "1 in 1", 1 / 333.8: "1 in 333", 1 / 2003.4: "1 in 2,000", 1e-6: "1 in 1,000,000", 1 / 12999.0: "1 in 12,900"} {
		if got := oneIn(p); got != want {
			t.Errorf("oneIn(%v) = %q, want %q", p, got, want)
		}
	}
}

// A run that a budget ended has failed, not been interrupted: what failed stays failed, and
// what held until then has not been shown to hold.
func TestARunThatABudgetEnded(t *testing.T) {
	f := testFile(1234)
	f.Complete, f.Phase.N = false, 6000
	f.Plan.Budgets = []string{"dead_time.min >= 9ms"}
	f.Aborted = &bench.Aborted{Budget: "dead_time.min >= 9ms", Object: "task", Value: 4524000, K: 99}
	v := Judge(f)
	if v.Outcome != Fail || v.ExitCode() != 1 || !v.Valid || v.Complete {
		t.Errorf("%+v", v)
	}
	if !strings.HasPrefix(v.Text, "dead_time.min >= 9ms was broken for good: 4.5 ms at task, seen at index 99; incomplete: ended after 1,234 of 6,000") {
		t.Error(v.Text)
	}
	for _, b := range v.Budgets {
		if b.Outcome == Pass {
			t.Errorf("%s passes", b.Budget)
		}
	}
	f.Invalid = []string{"a ring overran"}
	if v := Judge(f); v.Outcome != Inconclusive || v.ExitCode() != 2 {
		t.Errorf("invalid: %s", v.Outcome)
	}
}
