package caterpillar

import (
	"sync/atomic"
	"syscall"

	"opcycle/rt"
)

// work is what an iteration does.
type work struct {
	chain *rt.Caterpillar // nil: compute
	steps int64
	state uint64 // of the recurrence
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
		x = x*6364136223846793005 + 1442695040888963407
	}
	w.state = x
}

// pace is when the thread rests.
type pace struct {
	rest     bool
	busy, of int64 // ns: it works for busy and rests until of is over
	low, top int64 // cycles: an iteration in between looks like throttling
}

// measure fills samples rows, from index first on, until the stop word. Everything in it is
// nosplit (suites.md, R4). A sample that the stop word ends is not written. hot.
//
//go:nosplit
func measure(p *page, w *work, stop *uint32, first, samples int64, pace *pace) syscall.Errno {
	begin := rt.Now()
	for n := int64(0); n < samples; n++ {
		r := &p.row[n%rows]
		*r = row{Index: first + n, Began: rt.Now()}
		for r.Count < iterations {
			if atomic.LoadUint32(stop) != 0 {
				atomic.StoreUint32(&p.ended, 1)
				return 0
			}
			if pace.rest && rt.Now()-begin >= pace.busy {
				now := rt.Now()
				// An iteration that was longer than the period rests for its share too.
				if errno := rest(max(begin+pace.of, now+(now-begin)*(pace.of-pace.busy)/pace.busy)); errno != 0 {
					atomic.StoreUint32(&p.ended, 1)
					return errno
				}
				begin = rt.Now()
				r.Rests++
				w.once()
				r.LeftOut++
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
	atomic.StoreUint32(&p.ended, 1)
	return 0
}

// rest sleeps until t, through signals. hot.
//
//go:nosplit
func rest(t int64) syscall.Errno {
	for {
		if errno := rt.RawNanosleepUntil(t); errno != syscall.EINTR {
			return errno
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
