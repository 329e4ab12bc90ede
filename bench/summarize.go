package bench

import (
	"fmt"
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"opcycle/record"
)

// SamplesBeyond is how many samples must lie beyond a quantile before it is printed.
const SamplesBeyond = 10

const secondNS = int64(1e9)

// BlocksMost is how many blocks of time a series of a result has at most: an hour has its
// seconds, 48 hours blocks of 48 s. With the seconds of 48 hours in it a result would be half
// a gigabyte; what happened when is in the abnormal cycles.
const BlocksMost = 3600

// NeedsSamples is the smallest count at which SamplesBeyond samples lie beyond quantile q.
func NeedsSamples(q float64) int64 {
	// A little less, rounded up: 10/(1−0.99) is 999.999… in binary, 10/(1−0.99999) is
	// 1000000.0000066, and the answers are 1000 and 1000000.
	return int64(math.Ceil(SamplesBeyond / (1 - q) * (1 - 1e-9)))
}

// Summarize is s as a result holds it: exact moments, the reported quantiles with what
// they stand on, the histograms and the seconds that have values, joined where there are
// more than BlocksMost. Grid index first is the start of the measuring phase and period is
// T in ns; b may be nil, then there are no seconds, and bursts are unknown (0) once s is no
// longer exact. more are further quantiles. Only a histogram export that fails is an error, which does not happen with the
// histograms of record. cold.
func Summarize(suite, object, name string, s *record.Series, b *record.Blocks, first, period int64, more ...float64) (Series, error) {
	out := Series{Suite: suite, Object: object, Name: name, Unit: "ns",
		Count: s.Count, Sum: s.Sum, Squares: s.Squares.Big().String(),
		Underflow: s.Underflow, Overflow: s.Overflow, Blocks: []Block{}}
	var seconds []Block // bursts are told apart by these
	if b != nil {
		seconds, out.Blocks = secondsOf(b), secondsOf(b.Fold(BlocksMost))
	}
	if s.Count == 0 {
		out.NA = "no value was measured"
	} else {
		low, high := s.Min, s.Max
		out.Min, out.Max = &low, &high
	}
	if v, ok := s.Average(); ok {
		out.Avg = &v
	}
	if v, ok := s.StdDev(); ok {
		out.StdDev = &v
	}
	for _, q := range append(ReportedQuantiles(), more...) {
		out.Quantiles = append(out.Quantiles, quantileOf(s, seconds, q, first, period))
	}
	pos, neg := s.Histograms()
	var err error
	if out.Positive, err = exportHistogram(pos); err != nil {
		return out, fmt.Errorf("series %s: export the histogram of values from 0 on: %w", name, err)
	}
	if out.Negative, err = exportHistogram(neg); err != nil {
		return out, fmt.Errorf("series %s: export the histogram of negative values: %w", name, err)
	}
	return out, nil
}

func exportHistogram(h *hdrhistogram.Histogram) (string, error) {
	if h.TotalCount() == 0 {
		return "", nil
	}
	e, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return string(e), err
}

func secondsOf(b *record.Blocks) []Block {
	out := []Block{}
	for i := range b.Seconds {
		if m := &b.Seconds[i]; m.Count > 0 {
			out = append(out, Block{Second: int64(i) * max(b.Width, 1), Width: b.Width, Count: m.Count, Sum: m.Sum,
				Squares: m.Squares.Big().String(), Min: m.Min, Max: m.Max})
		}
	}
	return out
}

func quantileOf(s *record.Series, blocks []Block, q float64, first, period int64) Quantile {
	out := Quantile{Q: q, Beyond: s.Beyond(q), Exact: s.Exact()}
	if out.Beyond < SamplesBeyond {
		out.NA = fmt.Sprintf("needs %d samples", NeedsSamples(q))
		return out
	}
	v, _ := s.Quantile(q)
	out.Value = &v
	if out.Exact {
		out.Bursts = sampleBursts(s.Samples(), v, first, period)
	} else {
		out.Bursts = blockBursts(blocks, v)
	}
	return out
}

// sampleBursts is the number of separate stretches that the samples above v fall into.
// Ties: when v is also the maximum, the samples equal to it are those beyond.
func sampleBursts(samples []record.Sample, v, first, period int64) int {
	var at []int64
	begin, end := int64(math.MaxInt64), int64(math.MinInt64)
	least := v + 1
	if !slices.ContainsFunc(samples, func(e record.Sample) bool { return e.Value > v }) {
		least = v
	}
	for _, e := range samples {
		t := (e.K - first) * period
		begin, end = min(begin, t), max(end, t)
		if e.Value >= least {
			at = append(at, t)
		}
	}
	slices.Sort(at)
	return stretches(at, 0, end-begin)
}

// blockBursts is sampleBursts where only the seconds' maxima are left: a gap is certain
// where a whole block has no sample above v.
func blockBursts(blocks []Block, v int64) int {
	var at []int64
	least := v + 1
	if !slices.ContainsFunc(blocks, func(b Block) bool { return b.Max > v }) {
		least = v
	}
	for _, b := range blocks {
		if b.Max >= least {
			at = append(at, b.Second*secondNS)
		}
	}
	if len(blocks) == 0 {
		return 0
	}
	span := (blocks[len(blocks)-1].Second - blocks[0].Second + blocks[0].Length()) * secondNS
	return stretches(at, blocks[0].Length()*secondNS, span)
}

// stretches counts the groups of ascending instants between which lie gaps of a second or
// more; each instant stands for width ns.
//
// NB: where the groups together fill half of the span or more, the samples beyond are the
// run's everyday (of a median, half of all cycles) and not a few events: then each second
// so filled counts as one. Without that, every p50 at 10 ms would be one burst as long as
// the run.
func stretches(at []int64, width, span int64) int {
	if len(at) == 0 {
		return 0
	}
	n, filled, begin := 1, int64(0), at[0]
	for i := 1; i < len(at); i++ {
		if at[i]-at[i-1]-width >= secondNS {
			filled += at[i-1] - begin + width
			begin = at[i]
			n++
		}
	}
	filled += at[len(at)-1] - begin + width
	if filled > 0 && 2*filled >= span {
		n = max(n, int((filled+secondNS-1)/secondNS))
	}
	return n
}
