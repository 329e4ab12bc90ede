package judge

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMannWhitney(t *testing.T) {
	five := []float64{1, 2, 3, 4, 5}
	for name, c := range map[string]struct {
		a, b []float64
		want float64
	}{
		"apart":         {five, []float64{6, 7, 8, 9, 10}, 2.0 / 252}, // 2 of C(10,5)
		"apart, turned": {[]float64{6, 7, 8, 9, 10}, five, 2.0 / 252},
		"interleaved":   {[]float64{1, 3}, []float64{2, 4}, 4.0 / 6},
		"all the same":  {[]float64{1, 1, 1}, []float64{1, 1, 1}, 1},
		"one a side":    {[]float64{1}, []float64{2}, 1},
		"nothing":       {nil, five, 1},
	} {
		t.Run(name, func(t *testing.T) {
			if got := MannWhitney(c.a, c.b); math.Abs(got-c.want) > 1e-12 {
				t.Errorf("p = %v, want %v", got, c.want)
			}
		})
	}
}

// Beyond the enumeration the normal form must continue it.
func TestMannWhitneyNormalFormContinuesTheExactOne(t *testing.T) {
	a := []float64{1, 2, 4, 7, 8, 11, 13, 15}
	b := []float64{3, 5, 6, 9, 10, 12, 14, 16}
	exact := MannWhitney(a, b)
	many := MannWhitney(append(a, 8.5), b) // 17 values
	if math.Abs(exact-many) > 0.15 {
		t.Errorf("exact %v, normal with one value more %v", exact, many)
	}
}

func TestMannWhitneyKeepsItsLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	found, rounds := 0, 2000
	for range rounds {
		var a, b []float64
		for range 5 {
			a, b = append(a, r.NormFloat64()), append(b, r.NormFloat64())
		}
		if MannWhitney(a, b) <= 0.05 {
			found++
		}
	}
	if share := float64(found) / float64(rounds); share > 0.05 {
		t.Errorf("%v of the comparisons of equals are significant at 0.05", share)
	}
}

func TestShift(t *testing.T) {
	shift, low, high, ok := Shift([]float64{1, 2, 3, 4, 5}, []float64{11, 12, 13, 14, 15})
	if shift != 10 || !ok || low > 10 || high < 10 || low < 6 || high > 14 {
		t.Errorf("shift %v in [%v, %v] %v", shift, low, high, ok)
	}
	if _, _, _, ok := Shift([]float64{1, 2}, []float64{3, 4}); ok {
		t.Error("two a side bound nothing at 95 %")
	}
	r, inside, rounds := rand.New(rand.NewPCG(3, 4)), 0, 1000
	for range rounds {
		var a, b []float64
		for range 6 {
			a, b = append(a, r.ExpFloat64()), append(b, r.ExpFloat64()+2)
		}
		if _, low, high, _ := Shift(a, b); low <= 2 && 2 <= high {
			inside++
		}
	}
	if share := float64(inside) / float64(rounds); share < Confidence-0.02 {
		t.Errorf("the interval holds the shift in %v of the cases", share)
	}
}
