package cyclictest

import (
	"sync/atomic"
	"syscall"

	"opcycle/record"
	"opcycle/rt"
)

// loop sleeps to the instants of the page's grid until one of: the page's until, loops
// cycles (0: no limit), the stop word. Everything in it is nosplit: a preemption point
// would park the thread for good under a real-time peer (suites.md, R4). hot.
//
//go:nosplit
func loop(p *page, seconds []record.Moments, stop *uint32, interval, loops int64) {
	next, index := p.first, int64(0)
	second, edge := 0, p.first+1e9
	for next < atomic.LoadInt64(&p.until) && atomic.LoadUint32(stop) == 0 {
		if errno := rt.RawNanosleepUntil(next); errno != 0 {
			if errno == syscall.EINTR {
				p.interrupted++
				continue
			}
			p.errno = int64(errno)
			break
		}
		now := rt.Now()
		for next >= edge && second < len(seconds)-1 {
			second, edge = second+1, edge+1e9
		}
		atomic.AddUint32(&p.sequence, 1)
		if now >= next {
			p.add(&seconds[second], index, next, now-next)
		} else {
			p.early++
		}
		next, index = next+interval, index+1
		if now > next {
			next, index = p.skip(next, index, interval, now)
		}
		atomic.AddUint32(&p.sequence, 1)
		if loops > 0 && p.latency.Count >= loops {
			break
		}
	}
	atomic.StoreUint32(&p.ended, 1)
}

// skip counts the instants that were slept over, those within the run only. hot.
//
//go:nosplit
func (p *page) skip(next, index, interval, now int64) (int64, int64) {
	for now > next {
		if next < p.until {
			p.missed++
		}
		next, index = next+interval, index+1
	}
	return next, index
}
