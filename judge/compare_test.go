package judge

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"opcycle/bench"
)

// aRun is a run whose series have the given level, disturbed as a run differs from the next.
func aRun(r *rand.Rand, level, spread float64) Run {
	run := Run{Name: "a run", Suite: bench.SuiteOPCUA, Valid: true, Plan: map[string]string{"task.iterations": "10001"}, Host: map[string]string{}}
	for _, name := range []string{"execution_time", "server_transmit_time", "start_latency", "dead_time", "server_transmit_jitter"} {
		mid := level * (1 + spread*r.NormFloat64())
		s := bench.Series{Object: "task", Name: name, Unit: "ns", Count: 6000, Avg: &mid}
		for _, q := range []float64{0.5, 0.99} {
			v := int64(mid * (1 + (q-0.5)/2))
			s.Quantiles = append(s.Quantiles, bench.Quantile{Q: q, Value: &v})
		}
		for i := range 10 {
			s.Blocks = append(s.Blocks, bench.Block{Second: int64(i), Count: 100, Sum: int64(100 * mid)})
		}
		run.Series = append(run.Series, s)
	}
	return run
}

func side(r *rand.Rand, name string, n int, level, spread float64) Side {
	s := Side{Name: name}
	for range n {
		s.Runs = append(s.Runs, aRun(r, level, spread))
	}
	return s
}

func TestEqualsAreNotToldApart(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	told := 0
	for range 100 {
		c := Compare(side(r, "a", 5, 3.5e6, 0.01), side(r, "b", 5, 3.5e6, 0.01), Rules{Same: DefaultSame})
		if c.Outcome == Better || c.Outcome == Worse {
			told++
		}
	}
	if told > 5 {
		t.Errorf("%d of 100 comparisons of equals say better or worse", told)
	}
}

func TestThreePerCentMoreWorkIsFound(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	found := 0
	for range 20 {
		if c := Compare(side(r, "a", 6, 3.5e6, 0.005), side(r, "b", 6, 3.5e6*1.03, 0.005), Rules{Same: DefaultSame}); c.Outcome == Worse {
			found++
		}
	}
	if found < 18 {
		t.Errorf("found in %d of 20", found)
	}
}

func TestOneRunASideNeedsHistory(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	a, b := side(r, "a", 1, 3.5e6, 0.002), side(r, "b", 1, 4.5e6, 0.002)
	c := Compare(a, b, Rules{Same: DefaultSame})
	if c.Outcome != CantTell || !strings.Contains(c.Why, "one run a side") {
		t.Errorf("%s: %s", c.Outcome, c.Why)
	}
	history := side(r, "h", 6, 3.5e6, 0.002).Runs
	if c := Compare(a, b, Rules{Same: DefaultSame, History: history}); c.Outcome != Worse {
		t.Errorf("with a history: %s: %s", c.Outcome, c.Why)
	}
}

func TestMoreDeadTimeIsBetter(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	c := Compare(side(r, "a", 6, 1e6, 0.001), side(r, "b", 6, 2e6, 0.001), Rules{Same: DefaultSame})
	for _, row := range c.Rows {
		want := Worse
		if row.Series == "dead_time" {
			want = Better
		}
		if row.Outcome != want {
			t.Errorf("%s.%s is %s", row.Series, row.Statistic, row.Outcome)
		}
		if row.Series == "server_transmit_jitter" {
			t.Error("a signed deviation is compared")
		}
	}
}

func TestOnlyComparableRunsAreCompared(t *testing.T) {
	r := rand.New(rand.NewPCG(13, 14))
	for name, change := range map[string]func(*Run){
		"another plan": func(r *Run) { r.Plan = map[string]string{"task.iterations": "10301"} },
		"invalid":      func(r *Run) { r.Valid, r.Why = false, "a ring overran" },
	} {
		t.Run(name, func(t *testing.T) {
			a, b := side(r, "a", 5, 1e6, 0.01), side(r, "b", 5, 1e6, 0.01)
			change(&b.Runs[3])
			if c := Compare(a, b, Rules{}); len(c.Refused) != 1 || c.Outcome != CantTell || len(c.Rows) > 0 {
				t.Errorf("%+v", c)
			}
		})
	}
	a, b := side(r, "a", 5, 1e6, 0.01), side(r, "b", 5, 1e6, 0.01)
	b.Runs[0].Plan = map[string]string{"task.iterations": "10301"}
	c := Compare(a, b, Rules{Ignore: []string{"task.iterations"}})
	if len(c.Refused) > 0 || len(c.Differences) != 1 {
		t.Errorf("ignored: %v, differences %v", c.Refused, c.Differences)
	}
}

func TestADifferenceOfTheMachineIsSaid(t *testing.T) {
	var f bench.File
	f.Suite, f.Complete = bench.SuiteOPCUA, true
	f.Host = bench.Host{Kernel: "6.1", Governor: "performance", BootID: "x", CPUs: []bench.CPU{{ID: 0, IRQs: 7}}}
	g := f
	g.Host = bench.Host{Kernel: "6.1", Governor: "powersave", BootID: "y", CPUs: []bench.CPU{{ID: 0, IRQs: 9}}}
	a, err := RunsOf("a", f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := RunsOf("b", g)
	if err != nil {
		t.Fatal(err)
	}
	c := Compare(Side{Name: "a", Runs: a}, Side{Name: "b", Runs: b}, Rules{})
	if got := fmt.Sprint(c.Differences); got != "[{machine governor performance powersave}]" {
		t.Errorf("differences %s", got)
	}
	if f.Host.CPUs[0].IRQs != 7 {
		t.Error("the file was changed")
	}
}
