package judge

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

// maximaSeries is a series whose seconds have these maxima.
func maximaSeries(maxima []float64) *bench.Series {
	s := &bench.Series{Name: "execution_time", Unit: "ns", Count: int64(len(maxima) * 100)}
	var top int64
	for i, m := range maxima {
		s.Blocks = append(s.Blocks, bench.Block{Second: int64(i), Count: 100, Max: int64(m)})
		top = max(top, int64(m))
	}
	s.Max = &top
	return s
}

// unsorted draws maxima in no order.
func unsorted(g gev, r *rand.Rand, n int) []float64 {
	out := g.draw(r, n)
	r.Shuffle(n, func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func TestTheIntervalHoldsTheTrueLevel(t *testing.T) {
	for name, g := range map[string]gev{
		"exponential": {3.5e6, 4e4, 0},
		"ending":      {3.5e6, 4e4, -0.2},
		"heavier":     {3.5e6, 4e4, 0.15},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(1, 7))
			held, answered := 0, 0
			const rounds = 60
			for range rounds {
				e := EstimateTail(maximaSeries(unsorted(g, r, 300)), 0)
				if !e.OK {
					continue // one in twenty looks dependent, one in twenty ill-fitting
				}
				answered++
				if truth := g.quantile(1 - 1/3000.0); e.Low <= truth && truth <= e.High {
					held++
				}
				if e.Over != 3000*time.Second || e.Blocks != 300 || e.Block != time.Second {
					t.Fatalf("%+v", e)
				}
			}
			if answered < rounds*8/10 || held < answered*85/100 {
				t.Errorf("answered %d of %d, the interval held the true level in %d", answered, rounds, held)
			}
		})
	}
}

func TestTailIsRefused(t *testing.T) {
	fresh := func() *rand.Rand { return rand.New(rand.NewPCG(4, 7)) } // the cases run in no order
	good := gev{3.5e6, 4e4, 0}
	for name, c := range map[string]struct {
		maxima []float64
		over   time.Duration
		want   string
	}{
		"too few":      {unsorted(good, fresh(), 49), 0, "too few maxima"},
		"too far":      {unsorted(good, fresh(), 100), time.Hour, "needs a run of 6"},
		"not beyond":   {unsorted(good, fresh(), 100), 50 * time.Second, "not beyond"},
		"dependent":    {walk(fresh(), 300), 0, "not independent"},
		"constant":     {slicesOf(7, 200), 0, "does not converge"},
		"too heavy":    {unsorted(gev{1e6, 1e5, 0.9}, fresh(), 400), 0, "too heavy"},
		"two causes":   {mixed(fresh(), 400), 0, "several causes"},
		"nothing":      {nil, 0, "no values"},
		"long enough?": {unsorted(good, fresh(), 1200), 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := maximaSeries(c.maxima)
			if len(c.maxima) == 0 {
				s.Max = nil
			}
			e := EstimateTail(s, c.over)
			if e.OK != (c.want == "") || !strings.Contains(e.Why, c.want) {
				t.Errorf("ok %v: %q, not %q", e.OK, e.Why, c.want)
			}
		})
	}
}

func walk(r *rand.Rand, n int) []float64 {
	out, at := make([]float64, n), 1e6
	for i := range out {
		at += 1e4 * r.NormFloat64()
		out[i] = at
	}
	return out
}

func slicesOf(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v
	}
	return out
}

// mixed is quiet but for every other second, which lies far off.
func mixed(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1e6 + 1e3*r.NormFloat64()
		if r.IntN(2) == 0 {
			out[i] = 3e6 + 1e3*r.NormFloat64()
		}
	}
	return out
}

func TestFitGEVFindsItsParameters(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 7))
	for _, want := range []gev{{100, 10, 0}, {100, 10, -0.3}, {100, 10, 0.2}} {
		got, ok := fitGEV(want.draw(r, 20000))
		if !ok || math.Abs(got.location-100) > 0.5 || math.Abs(got.scale-10) > 0.3 || math.Abs(got.shape-want.shape) > 0.03 {
			t.Errorf("%+v fitted as %+v", want, got)
		}
		for _, p := range []float64{0.01, 0.5, 0.999} {
			if q := want.cdf(want.quantile(p)); math.Abs(q-p) > 1e-9 {
				t.Errorf("cdf(quantile(%v)) = %v", p, q)
			}
		}
	}
}
