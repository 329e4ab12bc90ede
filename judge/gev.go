package judge

import (
	"math"
	"math/rand/v2"
	"slices"
)

// gev is the generalized extreme value distribution of block maxima: location, scale, and
// shape, negative for a tail that ends, 0 for Gumbel, positive for a heavy one.
//
// Coles, An Introduction to Statistical Modeling of Extreme Values (2001), 3.1.3.
type gev struct{ location, scale, shape float64 }

// nearGumbel is a shape below which the Gumbel form is exact enough.
const nearGumbel = 1e-6

// quantile is the value that a maximum exceeds with probability 1-p.
func (g gev) quantile(p float64) float64 {
	y := -math.Log(p)
	if math.Abs(g.shape) < nearGumbel {
		return g.location - g.scale*math.Log(y)
	}
	return g.location + g.scale/g.shape*(math.Pow(y, -g.shape)-1)
}

func (g gev) cdf(x float64) float64 {
	z := (x - g.location) / g.scale
	if math.Abs(g.shape) < nearGumbel {
		return math.Exp(-math.Exp(-z))
	}
	t := 1 + g.shape*z
	if t <= 0 {
		if g.shape < 0 {
			return 1 // beyond the end of the tail
		}
		return 0
	}
	return math.Exp(-math.Pow(t, -1/g.shape))
}

func (g gev) draw(r *rand.Rand, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = g.quantile(1 - r.Float64()) // in (0, 1]: never log 0
	}
	slices.Sort(out)
	return out
}

// fitGEV fits by probability-weighted moments, which for few maxima err less than maximum
// likelihood and need no search. sorted ascending; ok is false when there is no such fit.
//
// Hosking, Wallis & Wood, Technometrics 27 (1985) 251.
func fitGEV(sorted []float64) (g gev, ok bool) {
	n := float64(len(sorted))
	var b0, b1, b2 float64
	for i, x := range sorted {
		j := float64(i)
		b0 += x / n
		b1 += j / (n - 1) * x / n
		b2 += j * (j - 1) / ((n - 1) * (n - 2)) * x / n
	}
	l2 := 2*b1 - b0
	if !(l2 > 0) || 3*b2-b0 == 0 {
		return g, false
	}
	c := l2/(3*b2-b0) - math.Ln2/math.Log(3)
	k := 7.8590*c + 2.9554*c*c
	if math.Abs(k) < nearGumbel {
		g = gev{scale: l2 / math.Ln2}
		g.location = b0 - 0.5772156649015329*g.scale
		return g, true
	}
	gamma := math.Gamma(1 + k)
	g.shape, g.scale = -k, l2*k/(gamma*(1-math.Pow(2, -k)))
	g.location = b0 + g.scale*(gamma-1)/k
	ok = g.scale > 0 && k > -1 && !math.IsNaN(g.location+g.scale) && !math.IsInf(g.location+g.scale, 0)
	return g, ok
}

// andersonDarling is A² of sorted values against g: the distance that weighs the tails.
func (g gev) andersonDarling(sorted []float64) float64 {
	n := len(sorted)
	const least = 1e-300
	var sum float64
	for i := range sorted {
		low := math.Max(g.cdf(sorted[i]), least)
		high := math.Max(1-g.cdf(sorted[n-1-i]), least)
		sum += float64(2*i+1) * (math.Log(low) + math.Log(high))
	}
	return -float64(n) - sum/float64(n)
}
