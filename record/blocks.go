package record

import "slices"

// Blocks are the exact moments of a series, second by second of the measuring phase.
// Second i holds the grid indices whose due time lies in [i s, i+1 s) after the first.
//
// NB: one owner; memory is taken by NewBlocks for the whole phase.
type Blocks struct {
	First   int64 // first grid index of the measuring phase
	Period  int64 // T, ns
	Seconds []Moments
	// Width is how many seconds each of Seconds holds; 0 is one. Add fills seconds of one.
	Width int64
}

// NewBlocks returns blocks for n indices from first on, period ns apart.
func NewBlocks(first, n, period int64) *Blocks {
	s := (n*period + 1e9 - 1) / 1e9
	return &Blocks{First: first, Period: period, Seconds: make([]Moments, max(s, 1))}
}

// Add takes value v of grid index k; indices outside the phase are refused. hot.
func (b *Blocks) Add(k, v int64) bool {
	if k < b.First {
		return false
	}
	i := (k - b.First) * b.Period / 1e9
	if i >= int64(len(b.Seconds)) {
		return false
	}
	b.Seconds[i].Add(v)
	return true
}

// Shift returns the blocks of the same values with by added to each. cold.
func (b *Blocks) Shift(by int64) *Blocks {
	out := &Blocks{First: b.First, Period: b.Period, Width: b.Width, Seconds: make([]Moments, len(b.Seconds))}
	for i, m := range b.Seconds {
		out.Seconds[i] = m.Shift(by)
	}
	return out
}

// Fold returns the same values in at most most blocks, each of so many neighbours joined
// that they suffice: nothing is lost but when in a block a value fell. cold.
func (b *Blocks) Fold(most int) *Blocks {
	per := (len(b.Seconds) + most - 1) / most
	if per <= 1 {
		return b
	}
	out := &Blocks{First: b.First, Period: b.Period, Width: max(b.Width, 1) * int64(per)}
	for some := range slices.Chunk(b.Seconds, per) {
		var m Moments
		for _, s := range some {
			m = m.With(s)
		}
		out.Seconds = append(out.Seconds, m)
	}
	return out
}
