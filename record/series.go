package record

import (
	"math"
	"math/big"
	"math/bits"
	"sort"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// ExactSamples is how many samples a series keeps as they are; up to here its quantiles
// are exact, beyond they are the upper edge of a histogram bucket.
const ExactSamples = 100_000

// The histograms hold 1 ns to 10 minutes in three significant digits; what lies beyond is
// counted as overflow and still in sum, minimum and maximum.
const (
	histogramMax    = int64(600e9)
	histogramDigits = 3
)

// Wide is an unsigned 128-bit sum: squares of nanoseconds over days do not fit 64 bits.
type Wide struct{ Hi, Lo uint64 }

// AddSquare adds v·v. hot.
func (w *Wide) AddSquare(v int64) {
	u := uint64(v)
	if v < 0 {
		u = uint64(-v)
	}
	hi, lo := bits.Mul64(u, u)
	var c uint64
	w.Lo, c = bits.Add64(w.Lo, lo, 0)
	w.Hi, _ = bits.Add64(w.Hi, hi, c)
}

// Add adds another sum.
func (w *Wide) Add(o Wide) {
	var c uint64
	w.Lo, c = bits.Add64(w.Lo, o.Lo, 0)
	w.Hi, _ = bits.Add64(w.Hi, o.Hi, c)
}

// Big returns w as an integer of any size.
func (w Wide) Big() *big.Int {
	b := new(big.Int).SetUint64(w.Hi)
	return b.Add(b.Lsh(b, 64), new(big.Int).SetUint64(w.Lo))
}

// Sample is one value of a series and the grid index it belongs to.
type Sample struct{ K, Value int64 }

// Moments are the exact figures of a set of values: nothing here is rounded.
type Moments struct {
	Count   int64
	Sum     int64
	Squares Wide
	Min     int64 // meaningless while Count is 0
	Max     int64
}

// Add takes one value. hot.
func (m *Moments) Add(v int64) {
	if m.Count == 0 || v < m.Min {
		m.Min = v
	}
	if m.Count == 0 || v > m.Max {
		m.Max = v
	}
	m.Count++
	m.Sum += v
	m.Squares.AddSquare(v)
}

// With are the moments of m's values and o's together. cold.
func (m Moments) With(o Moments) Moments {
	switch {
	case m.Count == 0:
		return o
	case o.Count == 0:
		return m
	}
	m.Squares.Add(o.Squares)
	m.Count, m.Sum, m.Min, m.Max = m.Count+o.Count, m.Sum+o.Sum, min(m.Min, o.Min), max(m.Max, o.Max)
	return m
}

// Average is the exact mean, rounded once; ok is false without a value.
func (m *Moments) Average() (float64, bool) {
	if m.Count == 0 {
		return 0, false
	}
	return float64(m.Sum) / float64(m.Count), true
}

// StdDev is the population standard deviation from the exact sums; ok is false with
// fewer than two values.
func (m *Moments) StdDev() (float64, bool) {
	if m.Count < 2 {
		return 0, false
	}
	n := big.NewInt(m.Count)
	v := new(big.Int).Mul(n, m.Squares.Big())
	s := big.NewInt(m.Sum)
	v.Sub(v, s.Mul(s, s))
	f, _ := new(big.Float).SetInt(v).Float64()
	return math.Sqrt(f) / float64(m.Count), true
}

// Series is one measured quantity: exact moments, two histograms (HdrHistogram has no
// negative values) and, up to ExactSamples, the samples themselves.
//
// NB: one owner; nothing allocates after NewSeries.
type Series struct {
	Moments
	Underflow, Overflow int64 // outside ±10 min: in the moments, not in the histograms
	pos, neg            *hdrhistogram.Histogram
	exact               []Sample
	sorted              []int64
}

// NewSeries returns an empty series with all its memory, every page of it touched: a first
// touch later would be a page fault on a CPU that may be measured.
func NewSeries() *Series {
	s := &Series{
		pos:   hdrhistogram.New(1, histogramMax, histogramDigits),
		neg:   hdrhistogram.New(1, histogramMax, histogramDigits),
		exact: make([]Sample, ExactSamples),
	}
	for i := range s.exact {
		s.exact[i].K = -1
	}
	s.exact = s.exact[:0]
	s.pos.Reset()
	s.neg.Reset()
	return s
}

// Add takes value v (ns) of grid index k. hot.
func (s *Series) Add(k, v int64) {
	s.Moments.Add(v)
	if len(s.exact) < cap(s.exact) {
		s.exact = append(s.exact, Sample{k, v})
	}
	switch {
	case v > histogramMax:
		s.Overflow++
	case v < -histogramMax:
		s.Underflow++
	case v >= 0:
		_ = s.pos.RecordValue(v) // in range by the cases above
	default:
		_ = s.neg.RecordValue(-v)
	}
}

// Exact reports whether quantiles are exact: every sample is still held.
func (s *Series) Exact() bool { return s.Count == int64(len(s.exact)) }

// Samples are the samples held, in the order they came; all of them while Exact.
func (s *Series) Samples() []Sample { return s.exact }

// Histograms returns the non-negative and the negated negative histogram.
func (s *Series) Histograms() (pos, neg *hdrhistogram.Histogram) { return s.pos, s.neg }

// Quantile is the smallest value that at least the share q (0 < q ≤ 1) of all values does
// not exceed: exact while Exact, else the upper edge of its bucket held within [Min, Max].
// ok is false for an empty series. cold.
func (s *Series) Quantile(q float64) (v int64, ok bool) {
	if s.Count == 0 {
		return 0, false
	}
	rank := rankOf(q, s.Count)
	if s.Exact() {
		if len(s.sorted) != len(s.exact) {
			s.sorted = make([]int64, len(s.exact))
			for i, e := range s.exact {
				s.sorted[i] = e.Value
			}
			sort.Slice(s.sorted, func(i, j int) bool { return s.sorted[i] < s.sorted[j] })
		}
		return s.sorted[rank-1], true
	}
	return min(max(s.bucketAt(rank), s.Min), s.Max), true
}

// Beyond is the number of samples that lie above the one at quantile q.
func (s *Series) Beyond(q float64) int64 {
	if s.Count == 0 {
		return 0
	}
	return s.Count - rankOf(q, s.Count)
}

func rankOf(q float64, n int64) int64 {
	// The product is nudged down so that 0.99·1000 is rank 990 and not 991.
	r := int64(math.Ceil(q*float64(n) - 1e-9*float64(n)/1000 - 1e-12))
	return min(max(r, 1), n)
}

// bucketAt walks both histograms from the most negative value up to the given rank.
func (s *Series) bucketAt(rank int64) int64 {
	seen := s.Underflow
	if rank <= seen {
		return s.Min
	}
	neg := s.neg.Distribution()
	for i := len(neg) - 1; i >= 0; i-- {
		if neg[i].Count == 0 {
			continue
		}
		if seen += neg[i].Count; rank <= seen {
			return -neg[i].From
		}
	}
	for _, b := range s.pos.Distribution() {
		if b.Count == 0 {
			continue
		}
		if seen += b.Count; rank <= seen {
			return b.To
		}
	}
	return s.Max
}

// Shift returns a new series with by added to every value: moments and samples exactly,
// histograms by their buckets once the samples are no longer all held. cold.
func (s *Series) Shift(by int64) *Series {
	out := NewSeries()
	if s.Exact() {
		for _, e := range s.exact {
			out.Add(e.K, e.Value+by)
		}
		return out
	}
	for _, b := range s.pos.Distribution() {
		out.repeat(b.To+by, b.Count)
	}
	for _, b := range s.neg.Distribution() {
		out.repeat(-b.From+by, b.Count)
	}
	out.Moments, out.Underflow, out.Overflow = s.Moments.Shift(by), s.Underflow, s.Overflow
	return out
}

// repeat records n values v in the histograms only.
func (s *Series) repeat(v, n int64) {
	h := s.pos
	if v < 0 {
		h, v = s.neg, -v
	}
	if n > 0 && v <= histogramMax {
		_ = h.RecordValues(v, n) // in range by the check
	}
}

// Shift returns the moments of the same values with by added to each.
func (m Moments) Shift(by int64) Moments {
	if m.Count == 0 {
		return m
	}
	// Σ(v+by)² = Σv² + 2·by·Σv + n·by²
	sq := m.Squares.Big()
	b := big.NewInt(by)
	t := new(big.Int).Mul(big.NewInt(2*m.Sum), b)
	sq.Add(sq, t)
	t.Mul(big.NewInt(m.Count), b)
	sq.Add(sq, t.Mul(t, b))
	out := m
	out.Sum, out.Min, out.Max = m.Sum+m.Count*by, m.Min+by, m.Max+by
	lo := new(big.Int).And(sq, new(big.Int).SetUint64(math.MaxUint64))
	out.Squares = Wide{Hi: new(big.Int).Rsh(sq, 64).Uint64(), Lo: lo.Uint64()}
	return out
}

// Bucket is how many values lie from From to To, both included.
type Bucket struct{ From, To, Count int64 }

// FromBuckets is a series of values that somebody else has counted: exact moments, and
// buckets for its quantiles, each counted at its upper edge. Values of the moments that no
// bucket holds are overflow. cold.
func FromBuckets(m Moments, buckets []Bucket) *Series {
	s := NewSeries()
	s.exact = nil
	var held int64
	for _, b := range buckets {
		s.repeat(b.To, b.Count)
		if b.To <= histogramMax {
			held += b.Count
		}
	}
	s.Moments, s.Overflow = m, m.Count-held
	return s
}
