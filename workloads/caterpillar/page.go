package caterpillar

import (
	"math/bits"
	"sync/atomic"
	"unsafe"
)

// iterations is how many iterations a sample is of.
const iterations = 10_000

// rows is the ring's length: the conductor reads ten times a second, a sample takes long.
const rows = 1024

// gapsKept is how many suspected throttlings are kept with their time.
const gapsKept = 64

// row is one sample in raw numbers: exact integers, turned into floats by the conductor.
type row struct {
	Index     int64  `json:"index"`
	Count     int64  `json:"count"`
	Min       int64  `json:"min"` // cycles
	Max       int64  `json:"max"`
	Sum       int64  `json:"sum"`
	SquaresHi uint64 `json:"sq_hi"`
	SquaresLo uint64 `json:"sq_lo"`
	Began     int64  `json:"began"` // CLOCK_MONOTONIC ns
	Ended     int64  `json:"ended"`
	Rests     int64  `json:"rests"`
	LeftOut   int64  `json:"left_out"` // iterations after a rest
	Gaps      int64  `json:"gaps"`     // iterations that look like throttling
}

// gap is one iteration that looks like throttling.
type gap struct {
	At     int64 `json:"at"` // its end, CLOCK_MONOTONIC ns
	Cycles int64 `json:"cycles"`
	Sample int64 `json:"sample"`
}

// page is what the measuring thread writes, in memory shared with the conductor. Rows come
// in order; written counts them, atomically, after each is whole.
type page struct {
	hz         float64 // of the counter: set before the probe is ready
	written    int64
	unfinished int64 // iterations of the sample that the stop word ended; read after the end
	gaps       int64
	gap        [gapsKept]gap
	row        [rows]row
}

const pageBytes = int(unsafe.Sizeof(page{}))

// add takes one iteration. hot.
//
//go:nosplit
func (r *row) add(cycles int64) {
	if r.Count == 0 || cycles < r.Min {
		r.Min = cycles
	}
	if cycles > r.Max {
		r.Max = cycles
	}
	r.Count++
	r.Sum += cycles
	hi, lo := bits.Mul64(uint64(cycles), uint64(cycles))
	var carry uint64
	r.SquaresLo, carry = bits.Add64(r.SquaresLo, lo, 0)
	r.SquaresHi, _ = bits.Add64(r.SquaresHi, hi, carry)
}

// take returns the rows from the n-th on, and how many were overwritten before they were
// read.
func (p *page) take(n int64) (out []row, lost int64) {
	written := atomic.LoadInt64(&p.written)
	if written-n > rows-1 { // one may be under way
		lost = written - n - (rows - 1)
		n += lost
	}
	for ; n < written; n++ {
		out = append(out, p.row[n%rows])
	}
	return out, lost
}
