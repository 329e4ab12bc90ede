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

// ticker sleeps to n instants and takes the spinner's last stamp. hot.
//
//go:nosplit
func ticker(b *board, stop *uint32, n int, period int64) (done int, errno syscall.Errno) {
	next := rt.Now() + period
	for i := range n {
		if atomic.LoadUint32(stop) != 0 {
			return i, 0
		}
		if errno := rt.RawNanosleepUntil(next); errno != 0 && errno != syscall.EINTR {
			return i, errno
		}
		b.end[i] = rt.Cycles()
		b.start[i] = atomic.LoadInt64(&b.stamp)
		next += period
		if now := rt.Now(); next < now {
			next = now + period
		}
	}
	return n, 0
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
