package judge

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// exactMost is up to how many values on both sides together the distribution of U is
// enumerated: 12,870 ways for 8 of 16.
const exactMost = 16

// MannWhitney is the two-sided p-value of the Mann-Whitney U test of two independent
// samples: how often ranks alone, without any difference, would lie as far apart. Up to 16
// values it is exact, by enumeration of every way to deal the ranks out, ties included;
// beyond, normal with tie and continuity correction. Empty samples: 1.
//
// Mann & Whitney, Annals of Mathematical Statistics 18 (1947) 50.
func MannWhitney(a, b []float64) float64 {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return 1
	}
	ranks, ties := midranks(slices.Concat(a, b))
	var w float64
	for _, r := range ranks[:n] {
		w += r
	}
	mean := float64(n*(n+m+1)) / 2
	if n+m <= exactMost {
		return exactP(ranks, n, math.Abs(w-mean), mean)
	}
	total := float64(n + m)
	variance := float64(n*m) / 12 * (total + 1 - ties/(total*(total-1)))
	if variance <= 0 { // all values are the same
		return 1
	}
	z := max(math.Abs(w-mean)-0.5, 0) / math.Sqrt(variance)
	return 2 * distuv.UnitNormal.Survival(z)
}

// exactP is the share of all ways to choose n ranks whose sum lies at least far from mean.
func exactP(ranks []float64, n int, far, mean float64) float64 {
	var beyond, all float64
	g := combin.NewCombinationGenerator(len(ranks), n)
	chosen := make([]int, n)
	for g.Next() {
		g.Combination(chosen)
		var w float64
		for _, i := range chosen {
			w += ranks[i]
		}
		all++
		if math.Abs(w-mean) >= far-1e-9 {
			beyond++
		}
	}
	return beyond / all
}

// midranks are the ranks of v from 1, equal values sharing their mean; ties is the sum of
// t^3 - t over the groups of equal values.
func midranks(v []float64) (ranks []float64, ties float64) {
	order := make([]int, len(v))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		switch {
		case v[i] < v[j]:
			return -1
		case v[i] > v[j]:
			return 1
		}
		return 0
	})
	ranks = make([]float64, len(v))
	for i := 0; i < len(order); {
		j := i
		for j < len(order) && v[order[j]] == v[order[i]] {
			j++
		}
		for k := i; k < j; k++ {
			ranks[order[k]] = float64(i+j+1) / 2
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return ranks, ties
}

// Shift is the Hodges-Lehmann estimate of how far b lies above a: the median of all
// pairwise differences; low and high bound it at Confidence, by the differences whose
// ranks the U distribution leaves out. With so few values that not even the outermost
// differences reach Confidence, ok is false.
//
// Hodges & Lehmann, Annals of Mathematical Statistics 34 (1963) 598.
func Shift(a, b []float64) (shift, low, high float64, ok bool) {
	var d []float64
	for _, x := range a {
		for _, y := range b {
			d = append(d, y-x)
		}
	}
	if len(d) == 0 {
		return 0, 0, 0, false
	}
	slices.Sort(d)
	shift = median(d)
	k := leftOut(len(a), len(b))
	if k < 1 {
		return shift, d[0], d[len(d)-1], false
	}
	return shift, d[k-1], d[len(d)-k], true
}

// leftOut is the largest k with P(U < k) <= (1-Confidence)/2 for samples of n and m without
// ties: the k-th smallest and k-th largest difference bound the shift.
func leftOut(n, m int) int {
	counts := uCounts(n, m)
	var all float64
	for _, c := range counts {
		all += c
	}
	var sum float64
	for k, c := range counts {
		sum += c
		if sum/all > (1-Confidence)/2 {
			return k
		}
	}
	return 0
}

// uCounts are how many of all ways give each value of U, by Mann and Whitney's recursion.
func uCounts(n, m int) []float64 {
	table := make([][][]float64, n+1)
	for i := range table {
		table[i] = make([][]float64, m+1)
		for j := range table[i] {
			c := make([]float64, i*j+1)
			if i == 0 || j == 0 {
				c[0] = 1
			} else {
				for u, x := range table[i-1][j] {
					c[u+j] += x
				}
				for u, x := range table[i][j-1] {
					c[u] += x
				}
			}
			table[i][j] = c
		}
	}
	return table[n][m]
}

// median of sorted values.
func median(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
