package lmbench

import (
	"fmt"
	"math"
	"slices"

	"opcycle/bench"
)

// sample is what repetitions of one operation cost.
type sample struct {
	each  []float64 // ns an operation, one a repetition, in their order
	batch int64     // operations in the last repetition
	bytes int64     // moved by one operation; 0: none
	half  float64   // ns an operation at best in intervals of half the length; 0: not known
}

// The statistics that a table may show.
const (
	median  = "median"
	minimum = "minimum_of_tries" // memory latency
	mean    = "mean"
)

// unstableFrom is the interquartile range, as a share of the median, from which the
// statistic says nothing about the machine. Of a minimum it is how far the first quartile
// lies above it: a minimum that a quarter of the repetitions do not come near was luck.
const unstableFrom = 0.25

// linear is how far the cost of an operation in intervals of half the length may be from
// that in whole ones, at best of each: more, and the figure depends on the interval.
const linear = 0.15

// linearity is that cost by that of whole intervals. off: it is too far from 1, and, for
// noise does that too, beyond every whole interval.
func (s sample) linearity() (by float64, off bool) {
	if s.half == 0 {
		return 1, false
	}
	by = s.half / slices.Min(s.each)
	return by, by < 1-linear || by > 1+linear && s.half > slices.Max(s.each)
}

// reading is the sample as a row, in unit. mechanism says how the operation was done.
func (s sample) reading(mechanism, statistic, unit string) bench.Reading {
	r := bench.Reading{Mechanism: mechanism, Statistic: statistic, Unit: unit, N: int64(len(s.each)), Batch: s.batch}
	if len(s.each) == 0 {
		r.NA = "no repetition ended"
		return r
	}
	v, why := s.in(unit)
	if why != "" {
		r.NA = why
		return r
	}
	slices.Sort(v)
	r.Min, r.Max, r.Median = &v[0], &v[len(v)-1], pointer(quantile(v, 0.5))
	average, deviation := moments(v)
	r.Mean = &average
	if len(v) > 1 {
		r.StdDev = &deviation
	}
	switch statistic {
	case minimum:
		r.Value = r.Min
	case mean:
		r.Value = r.Mean
	default:
		r.Value = r.Median
	}
	if *r.Value <= 0 {
		return bench.Reading{Mechanism: mechanism, Statistic: statistic, Unit: unit, N: r.N, Batch: r.Batch, Min: r.Min, Max: r.Max,
			NA: "not more than what was subtracted from it: what is left is within the noise"}
	}
	r.Unstable = unstable(v, statistic)
	if by, off := s.linearity(); off {
		r.Deviation = fmt.Sprintf("not linear: in intervals of half the length an operation costs %.2f times as much", by)
	}
	return r
}

// remark adds to what must be known of a reading.
func remark(r *bench.Reading, text string) {
	if r.Deviation != "" {
		text = r.Deviation + "; " + text
	}
	r.Deviation = text
}

// in converts the repetitions.
func (s sample) in(unit string) (v []float64, why string) {
	v = make([]float64, len(s.each))
	for i, ns := range s.each {
		switch {
		case unit == nanos:
			v[i] = ns
		case unit == micros:
			v[i] = ns / 1e3
		case unit == megabytes && s.bytes > 0 && ns > 0:
			v[i] = float64(s.bytes) / ns * 1e3
		default:
			return nil, fmt.Sprintf("%d bytes in %g ns are no %s", s.bytes, ns, unit)
		}
	}
	return v, ""
}

// less is the sample minus another of the same number of repetitions, rank by rank: its
// median is the difference of the medians, as the original subtracts.
func (s sample) less(o sample) sample {
	return s.ranks(o, func(a, b float64) float64 { return a - b })
}

// meanOf is the mean of two samples of the same number of repetitions, rank by rank.
func meanOf(a, b sample) sample {
	return a.ranks(b, func(a, b float64) float64 { return (a + b) / 2 })
}

// ranks combines the least of both, the second of both, and so on.
func (s sample) ranks(o sample, with func(a, b float64) float64) sample {
	a, b := slices.Sorted(slices.Values(s.each)), slices.Sorted(slices.Values(o.each))
	out := sample{batch: s.batch, bytes: s.bytes}
	for i := range min(len(a), len(b)) {
		out.each = append(out.each, with(a[i], b[i]))
	}
	return out
}

// per is the sample of a part: an operation that was parts of what was timed.
func (s sample) per(parts float64) sample {
	out := sample{batch: s.batch, bytes: s.bytes, half: s.half / parts, each: make([]float64, len(s.each))}
	for i, v := range s.each {
		out.each[i] = v / parts
	}
	return out
}

// least is of the repetitions, ns.
func (s sample) least() float64 { return slices.Min(s.each) }

// median is of the repetitions, ns.
func (s sample) median() float64 { return quantile(slices.Sorted(slices.Values(s.each)), 0.5) }

func pointer(v float64) *float64 { return &v }

// quantile of sorted values, between two by their distance.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

func moments(v []float64) (average, deviation float64) {
	for _, x := range v {
		average += x / float64(len(v))
	}
	for _, x := range v {
		deviation += (x - average) * (x - average)
	}
	return average, math.Sqrt(deviation / float64(max(len(v)-1, 1)))
}

// unstable says why the statistic of sorted values is meaningless; empty: it is not.
func unstable(v []float64, statistic string) string {
	if statistic == minimum {
		if above := (quantile(v, 0.25) - v[0]) / v[0]; above > unstableFrom {
			return fmt.Sprintf("a quarter of the repetitions at best lies %.0f %% above the minimum (more than %.0f %%)", 100*above, 100*unstableFrom)
		}
		return ""
	}
	if share := (quantile(v, 0.75) - quantile(v, 0.25)) / quantile(v, 0.5); share > unstableFrom {
		return fmt.Sprintf("the middle half of the repetitions spreads over %.0f %% of the median (more than %.0f %%)", 100*share, 100*unstableFrom)
	}
	return ""
}
