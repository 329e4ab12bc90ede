package caterpillar

import (
	"math"
	"math/big"
)

// sample is a row in the units of a report: cycles.
type sample struct {
	Index                  int64
	Min, Max               int64
	Jitter                 float64 // standard deviation of the iterations
	Spread                 int64
	SessionMin, SessionMax int64
	SessionJitter          float64
	Hz                     float64 // cycles a second
	NS                     float64 // how long the sample took, rests included
	Rests, LeftOut, Gaps   int64
	warm, hasSession       bool
}

// session is what has run since the second sample: exact sums over all iterations, so that
// its jitter is the pooled standard deviation, the drift between samples included.
type session struct {
	Count        int64
	Sum, Squares *big.Int
	Min, Max     int64
	worst        int64 // iteration of all, the warm-up included
}

// deviation is the population standard deviation from exact sums.
func deviation(n int64, sum, squares *big.Int) float64 {
	if n == 0 {
		return 0
	}
	count := big.NewInt(n)
	v := new(big.Int).Mul(count, squares)
	v.Sub(v, new(big.Int).Mul(sum, sum))
	f, _ := new(big.Float).SetInt(v).Float64()
	return math.Sqrt(f) / float64(n)
}

func (r *row) squares() *big.Int {
	v := new(big.Int).SetUint64(r.SquaresHi)
	return v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(r.SquaresLo))
}

// next takes a row into the session and returns its sample. The first sample of a process
// warms the caches up: it is shown and kept out of the session (warm).
func (s *session) next(r *row, hz float64, warm bool) sample {
	out := sample{Index: r.Index, Min: r.Min, Max: r.Max, Spread: r.Max - r.Min, Hz: hz, NS: float64(r.Ended - r.Began), warm: warm,
		Jitter: deviation(r.Count, big.NewInt(r.Sum), r.squares()), Rests: r.Rests, LeftOut: r.LeftOut, Gaps: r.Gaps}
	s.worst = max(s.worst, r.Max)
	if !warm {
		s.add(r)
	}
	if s.Count > 0 {
		out.hasSession = true
		out.SessionMin, out.SessionMax = s.Min, s.Max
		out.SessionJitter = deviation(s.Count, s.Sum, s.Squares)
	}
	return out
}

func (s *session) add(r *row) {
	if s.Sum == nil {
		s.Sum, s.Squares = new(big.Int), new(big.Int)
	}
	if s.Count == 0 || r.Min < s.Min {
		s.Min = r.Min
	}
	if r.Max > s.Max {
		s.Max = r.Max
	}
	s.Count += r.Count
	s.Sum.Add(s.Sum, big.NewInt(r.Sum))
	s.Squares.Add(s.Squares, r.squares())
}
