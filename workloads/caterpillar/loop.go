package caterpillar

import (
	"sync/atomic"
	"syscall"

	"opcycle/rt"
)

// The recurrence of workload compute (Knuth's MMIX).
const (
	mul = 6364136223846793005
	inc = 1442695040888963407
)

// work is what an iteration does.
type work struct {
	chain *rt.Caterpillar // nil: compute
	steps int64
	state uint64 // of the recurrence
	done  int64  // its steps so far
}

// once is one iteration. hot.
//
//go:nosplit
func (w *work) once() {
	if w.chain != nil {
		w.chain.Walk(w.steps)
		return
	}
	x := w.state
	for range w.steps {
		x = x*mul + inc
	}
	w.state = x
	w.done += w.steps
}

// turn is how many iterations go once round the chain.
func (w *work) turn() int64 {
	if w.chain == nil {
		return 1
	}
	return (w.chain.Nodes() + w.steps - 1) / w.steps
}

// check is what the work left behind, and what it must be.
func (w *work) check() (got, want uint64) {
	if w.chain != nil {
		return w.chain.Check()
	}
	return w.state, ahead(seed, w.done)
}

// ahead is the recurrence n steps on, by squaring.
func ahead(x uint64, n int64) uint64 {
	a, c := uint64(mul), uint64(inc)
	for ; n > 0; n >>= 1 {
		if n&1 == 1 {
			x = x*a + c
		}
		c += a * c
		a *= a
	}
	return x
}

// pace is when the thread rests.
type pace struct {
	rest     bool
	busy, of int64 // ns: it works for busy and rests until of is over
	turn     int64 // iterations after a rest that are left out: once round the chain,
	refill   int64 // ns: for no longer than this
	low, top int64 // cycles: an iteration in between looks like throttling
}

// measure fills samples rows, from index first on, until the stop word. Everything in it is
// nosplit (suites.md, R4). What the stop word leaves unfinished is counted, not written. hot.
//
//go:nosplit
func measure(p *page, w *work, stop *uint32, first, samples int64, pace *pace) syscall.Errno {
	begin := rt.Now()
	for n := int64(0); n < samples; n++ {
		r := &p.row[n%rows]
		*r = row{Index: first + n, Began: rt.Now()}
		for r.Count < iterations {
			if atomic.LoadUint32(stop) != 0 {
				p.unfinished = r.Count
				return 0
			}
			if pace.rest && rt.Now()-begin >= pace.busy {
				if errno := rest(begin, pace); errno != 0 {
					return errno
				}
				begin = rt.Now()
				w.refill(r, begin, pace)
			}
			c := rt.Cycles()
			w.once()
			c = rt.Cycles() - c
			r.add(c)
			if c >= pace.low && c <= pace.top {
				p.tag(r, c)
			}
		}
		r.Ended = rt.Now()
		atomic.StoreInt64(&p.written, n+1)
	}
	return 0
}

// rest sleeps for what is left of a stretch that began at begin, through signals. A stretch
// that was longer, because of a long iteration, rests for its share too. hot.
//
//go:nosplit
func rest(begin int64, pace *pace) syscall.Errno {
	now := rt.Now()
	t := max(begin+pace.of, now+(now-begin)*(pace.of-pace.busy)/pace.busy)
	for {
		if errno := rt.RawNanosleepUntil(t); errno != syscall.EINTR {
			return errno
		}
	}
}

// refill walks once round the chain, untimed: somebody else may have used the caches during
// the rest, and an iteration alone reaches only a part of the buffer. hot.
//
//go:nosplit
func (w *work) refill(r *row, begin int64, pace *pace) {
	r.Rests++
	for range pace.turn {
		w.once()
		r.LeftOut++
		if rt.Now()-begin > pace.refill {
			return
		}
	}
}

// tag notes an iteration that looks like throttling. hot.
//
//go:nosplit
func (p *page) tag(r *row, cycles int64) {
	r.Gaps++
	if p.gaps < gapsKept {
		p.gap[p.gaps] = gap{At: rt.Now(), Cycles: cycles, Sample: r.Index}
	}
	atomic.AddInt64(&p.gaps, 1)
}
