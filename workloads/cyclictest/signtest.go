package cyclictest

import (
	"math/big"
	"slices"
)

// confidence is of the interval of a cross-check's ratio.
const confidence = 0.95

// fewestPairs is how many pairs the interval needs: of five, not even from the smallest to
// the largest would do.
const fewestPairs = 6

// interval is a confidence interval of a median that assumes nothing of the distribution:
// from the k-th smallest to the k-th largest value, k the largest for which the sign test
// gives at least the wanted confidence (Conover, Practical Nonparametric Statistics, 3.2).
type interval struct {
	Median, Low, High float64
	Coverage          float64 // exact, of the binomial distribution
}

// signInterval is that of values; ok is false of fewer than fewestPairs.
func signInterval(values []float64) (i interval, ok bool) {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	if n == 0 {
		return i, false
	}
	i.Median = (v[(n-1)/2] + v[n/2]) / 2
	k := 0
	for k < n/2 && coverage(n, k+1) >= confidence {
		k++
	}
	if k == 0 {
		return i, false
	}
	i.Low, i.High, i.Coverage = v[k-1], v[n-k], coverage(n, k)
	return i, true
}

// coverage is the probability that the median lies between the k-th smallest and the k-th
// largest of n: 1 − 2·P(B ≤ k−1), B binomial of n and 1/2.
func coverage(n, k int) float64 {
	tail := new(big.Int)
	for j := range k {
		tail.Add(tail, new(big.Int).Binomial(int64(n), int64(j)))
	}
	all := new(big.Int).Lsh(big.NewInt(1), uint(n))
	share, _ := new(big.Rat).SetFrac(tail.Lsh(tail, 1), all).Float64()
	return 1 - share
}
