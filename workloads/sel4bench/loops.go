package sel4bench

import (
	"sync/atomic"
	"syscall"

	"opcycle/rt"
)

// The loops below are nosplit to their leaves (suites.md, R4: a preemption point would park
// a real-time thread beside its real-time peer for ever), and run in a raw clone too.

// client calls n times. hot.
//
//go:nosplit
func client(b *board, request, reply *link, stop *uint32, n int) (done int, errno syscall.Errno) {
	for i := range n {
		if atomic.LoadUint32(stop) != 0 {
			return i, 0
		}
		b.start[i] = rt.Cycles()
		if errno := request.send(); errno != 0 {
			return i, errno
		}
		if errno := reply.receive(); errno != 0 {
			return i, errno
		}
		b.end[i] = rt.Cycles()
	}
	return n, 0
}

// server answers until it is killed. hot.
//
//go:nosplit
func server(b *board, request, reply *link, n int) {
	for i := 0; ; i++ {
		if request.receive() != 0 {
			return
		}
		at := rt.Cycles()
		if i < n {
			b.middle[i] = at
			b.back[i] = rt.Cycles()
		}
		if reply.send() != 0 {
			return
		}
	}
}

// sender notifies n times. hot.
//
//go:nosplit
func sender(b *board, l *link, stop *uint32, n int) (done int, errno syscall.Errno) {
	for i := range n {
		if atomic.LoadUint32(stop) != 0 {
			return i, 0
		}
		b.start[i] = rt.Cycles()
		if errno := l.send(); errno != 0 {
			return i, errno
		}
		if atomic.LoadUint32(&b.taken) != uint32(i+1) {
			return i, 0 // the waiter did not preempt: the sample is none, and the next would merge with it
		}
	}
	return n, 0
}

// waiter stamps each notification until it is killed. hot.
//
//go:nosplit
func waiter(b *board, l *link, n int) {
	for i := 0; ; i++ {
		if l.receive() != 0 {
			return
		}
		at := rt.Cycles()
		if i < n {
			b.end[i] = at
			atomic.StoreUint32(&b.taken, uint32(i+1))
		}
	}
}

// spinner stamps until it is told to quit. hot.
//
//go:nosplit
func spinner(b *board) {
	for atomic.LoadUint32(&b.quit) == 0 {
		atomic.StoreInt64(&b.stamp, rt.Cycles())
	}
}

// ticker sleeps to instants until it has n samples of an interrupted spinner, for at most
// instants of them; stale are those that it left out. Each instant is still to come when its
// sleep begins, so that a timer interrupt ends it. hot.
//
//go:nosplit
func ticker(b *board, stop *uint32, n, instants int, period int64, hz float64) (done, stale int, errno syscall.Errno) {
	next := rt.Now()
	for done < n && done+stale < instants && atomic.LoadUint32(stop) == 0 {
		if next += period; next < rt.Now()+period/2 {
			next = rt.Now() + period
		}
		errno := rt.RawNanosleepUntil(next)
		at := rt.Cycles()
		stamp := atomic.LoadInt64(&b.stamp)
		late := rt.Now() - next
		switch {
		case errno == syscall.EINTR: // no timer woke it: no sample
		case errno != 0:
			return done, stale, errno
		case isStale(stamp, at, late, hz):
			stale++
		default:
			b.start[done], b.end[done] = stamp, at
			done++
		}
	}
	return done, stale, 0
}

// isStale reports whether the spinner's last stamp is from more than staleBy before the
// timer was due: another thread had its CPU. at is late ns after that instant. hot.
//
//go:nosplit
func isStale(stamp, at, late int64, hz float64) bool {
	due := float64(at) - float64(late)/1e9*hz
	return float64(stamp) < due-float64(staleBy)/1e9*hz
}

// nulls are n system calls that do nothing. hot.
//
//go:nosplit
func nulls(b *board, n int) {
	for i := range n {
		b.start[i] = rt.Cycles()
		rt.RawGetppid()
		b.end[i] = rt.Cycles()
	}
}

// reads are n back-to-back reads of the counter. hot.
//
//go:nosplit
func reads(b *board, n int) {
	for i := range n {
		b.start[i] = rt.Cycles()
		b.end[i] = rt.Cycles()
	}
}
