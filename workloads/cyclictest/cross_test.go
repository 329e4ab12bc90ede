package cyclictest

import (
	"math"
	"math/bits"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

// Of all sequences of signs, the share in which the median lies within: counted one by one.
func TestCoverageIsExact(t *testing.T) {
	for n := 1; n <= 14; n++ {
		for k := 1; k <= n/2; k++ {
			within := 0
			for signs := range uint(1) << n {
				if above := bits.OnesCount(signs); above >= k && n-above >= k {
					within++
				}
			}
			if want := float64(within) / float64(uint(1)<<n); math.Abs(coverage(n, k)-want) > 1e-12 {
				t.Errorf("coverage(%d, %d) is %g, want %g", n, k, coverage(n, k), want)
			}
		}
	}
}

func TestSignInterval(t *testing.T) {
	upTo := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[(i*7+3)%n] = float64(i + 1) // in no order: 7 divides none of the n below
		}
		return v
	}
	for _, c := range []struct {
		n                           int
		median, low, high, coverage float64
		ok                          bool
	}{
		{0, 0, 0, 0, 0, false},
		{1, 1, 0, 0, 0, false},
		{5, 3, 0, 0, 0, false}, // 1 to 5 would be 93.75 %
		{6, 3.5, 1, 6, 0.96875, true},
		{20, 10.5, 6, 15, 0.958610534667969, true}, // as in the tables of the sign test
		{41, 21, 14, 28, 0.97247, true},
	} {
		got, ok := signInterval(upTo(c.n))
		if ok != c.ok || got.Median != c.median || got.Low != c.low || got.High != c.high || math.Abs(got.Coverage-c.coverage) > 1e-4 {
			t.Errorf("of %d: %+v, %v, want %+v", c.n, got, ok, c)
		}
	}
}

func TestGroupedMedian(t *testing.T) {
	for name, c := range map[string]struct {
		h    []int64
		n    int64
		want float64 // NaN: an error
	}{
		"one bucket":             {[]int64{0, 0, 4}, 4, 2.5},
		"a quarter into it":      {[]int64{1, 4, 1}, 6, 1.5},
		"at an edge":             {[]int64{2, 2}, 4, 1},
		"across an empty one":    {[]int64{2, 0, 2}, 4, 1},
		"overflow above":         {[]int64{0, 6}, 10, 1 + 5.0/6},
		"it lies in no bucket":   {[]int64{0, 4}, 10, math.NaN()},
		"nothing was measured":   {nil, 0, math.NaN()},
		"the half by all but 1 ": {[]int64{3, 0, 0, 1}, 4, 2.0 / 3},
	} {
		got, err := groupedMedian(c.h, c.n)
		if math.IsNaN(c.want) != (err != nil) || err == nil && math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v, %v, want %v", name, got, err, c.want)
		}
	}
}

// A ratio fails when its whole interval lies above 1.10, and only then.
func TestTheCrossCheckFailsWhenTheIntervalLiesAbove(t *testing.T) {
	for name, c := range map[string]struct {
		ratios []float64
		failed bool
	}{
		"equal":                    {[]float64{1, 1, 1, 1, 1, 1}, false},
		"twice":                    {[]float64{2, 2, 2, 2, 2, 2}, true},
		"one reaches down":         {[]float64{2, 2, 2, 2, 2, 1.1}, false},
		"just above":               {[]float64{1.101, 1.2, 1.2, 1.2, 1.2, 1.2}, true},
		"too few for an interval":  {[]float64{2, 2, 2, 2, 2}, false},
		"faster":                   {[]float64{0.5, 0.5, 0.5, 0.5, 0.5, 0.5}, false},
		"a median above, not all ": {[]float64{1.2, 1.2, 1.2, 1.2, 1.0, 1.0}, false},
	} {
		k := cross{runner: newRunner(), job: bench.Job{Measured: []int{1}, Host: bench.Host{}}}
		for _, r := range c.ratios {
			k.pairs = append(k.pairs, pair{first: engineOwn, ours: slice{10 * r, 20 * r}, their: slice{10, 20}})
		}
		k.figure("p50", func(s slice) float64 { return s.p50 })
		if got := len(k.out.Failed) > 0; got != c.failed {
			t.Errorf("%s: failed %v, want %v: %q", name, got, c.failed, k.out.Failed)
		}
		if len(k.out.Readings) != 3 || k.out.Readings[2].Unit != "ratio" || len(k.out.Figures) != 4 {
			t.Errorf("%s: %d readings, %d figures", name, len(k.out.Readings), len(k.out.Figures))
		}
	}
}

func TestArgumentsOfTheRealCyclictest(t *testing.T) {
	two := bench.Job{Measured: []int{2, 3}, Housekeeping: []int{0, 1}}
	shared := bench.Job{Measured: []int{0}, Housekeeping: []int{0}, RT: bench.RTOff}
	for _, c := range []struct {
		set    func(r *runner)
		job    bench.Job
		length time.Duration
		want   string
	}{
		{func(*runner) {}, two, time.Minute, "-q -m -a 2-3 -t 2 -i 250 -p 99 --mainaffinity 0-1 -h 400 -D 60 --json=/dev/fd/3"},
		{func(r *runner) { r.histogram = 0 }, two, time.Minute, "-q -m -a 2-3 -t 2 -i 250 -p 99 -d 0 --mainaffinity 0-1 -D 60 --json=/dev/fd/3"},
		{func(r *runner) { r.priority = 80 }, shared, 1500 * time.Millisecond, "-q -m -a 0 -t 1 -i 250 --policy other -h 400 -l 6000 --json=/dev/fd/3"},
		{func(r *runner) { r.loops = 4000 }, shared, time.Second, "-q -m -a 0 -t 1 -i 250 --policy other -h 400 -l 4000 --json=/dev/fd/3"},
	} {
		r := newRunner()
		c.set(r)
		if got, err := r.arguments(c.job, c.length); err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%q, %v, want %q", strings.Join(got, " "), err, c.want)
		}
	}
	r := newRunner()
	r.interval = 1500 * time.Nanosecond
	if _, err := r.arguments(two, time.Second); err == nil || !strings.Contains(err.Error(), "whole number of microseconds") {
		t.Errorf("1.5 us: %v", err)
	}
}

func TestTheRealCyclictestThatIsNotThere(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	for _, set := range []func(r *runner){func(r *runner) { r.engine = engineRTTests }, func(r *runner) { r.crossCheck = true }} {
		r := newRunner()
		set(r)
		_, err := r.Run(t.Context(), bench.Job{Measured: []int{0}, Progress: func(bench.Progress) {}})
		if err == nil || !strings.Contains(err.Error(), "apt install rt-tests") || !strings.Contains(err.Error(), "dnf install realtime-tests") {
			t.Errorf("%v", err)
		}
	}
}
