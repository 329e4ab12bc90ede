package cyclictest

import (
	"sync/atomic"
	"syscall"

	"opcycle/record"
	"opcycle/rt"
)

// loop sleeps to the instants of the page's grid until one of: the page's until, cycles
// wake-ups (0: no limit), the stop word. Everything in it is nosplit: a preemption point
// would park the thread for good under a real-time peer (suites.md, R4). What is after the
// read of the clock is not in any latency. hot.
//
//go:nosplit
func loop(p *page, seconds []record.Moments, stop *uint32, interval, cycles int64) {
	next, index, edge := p.first, int64(0), p.first+1e9
	for next < atomic.LoadInt64(&p.until) && atomic.LoadUint32(stop) == 0 {
		errno := rt.RawNanosleepUntil(next)
		now := rt.Now()
		if errno == syscall.EINTR {
			p.interrupted++
			continue
		}
		if errno != 0 {
			p.errno = int64(errno)
			return
		}
		if next >= atomic.LoadInt64(&p.until) {
			return // the end was moved to before this instant while it slept
		}
		atomic.AddUint32(&p.sequence, 1)
		for next >= edge && p.second < int64(len(seconds))-1 {
			p.second, edge = p.second+1, edge+1e9
		}
		if now >= next {
			p.add(&seconds[p.second], index, next, now-next)
		} else {
			p.early++
		}
		next, index = next+interval, index+1
		if now > next {
			next, index = p.skip(next, index, interval, now)
		}
		atomic.AddUint32(&p.sequence, 1)
		if cycles > 0 && p.latency.Count >= cycles {
			return
		}
	}
}

// skip goes on to the first instant that is not before now, and counts those between that
// lie within the run. hot.
//
//go:nosplit
func (p *page) skip(next, index, interval, now int64) (int64, int64) {
	n := (now-next-1)/interval + 1
	if until := atomic.LoadInt64(&p.until); until > next {
		p.missed += min(n, (until-next-1)/interval+1)
	}
	return next + n*interval, index + n
}
