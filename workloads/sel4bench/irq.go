package sel4bench

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// The spinner is an ordinary thread, or the kernel's limit of real-time time would stop it
// (suites.md, 2.2): another ordinary thread can have the CPU when the timer is due, and
// its last stamp is then from before. staleBy tells them apart: a hypervisor may leave the
// guest up to 5 µs before the instant (KVM's lapic_timer_advance), the scheduler gives
// another thread hundreds. Nice helps against threads of the same scheduling group only. The
// ticker goes on for mostInstants times the samples asked for.
const (
	staleBy      = 10 * time.Microsecond
	spinnerNice  = -20
	mostInstants = 4
)

// irq measures from the spinner's last stamp to the sleeper's.
func irq(p *bench.ProbeSide, b *board, o *order, a *answer) (err error) {
	end, tid, err := spin(b, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	policy := fmt.Sprintf("spinner SCHED_OTHER nice %d", spinnerNice)
	if err := rt.SetNice(tid, spinnerNice); err != nil {
		policy, a.NiceError = "spinner SCHED_OTHER", err.Error()
	}
	if err := p.Ready(); err != nil {
		return err
	}
	if err := place(0, highest, o, a); err != nil {
		return err
	}
	a.Policy += ", " + policy
	n, stale, errno := ticker(b, p.Stop, o.N, mostInstants*o.N, int64(tick), a.Hz)
	a.Done, a.Stale, a.Stopped = n, stale, *p.Stop != 0
	if err := errors.Join(ordinary(), fail(errno)); err != nil {
		return err
	}
	for i := range n {
		a.Call = append(a.Call, b.end[i]-b.start[i]-a.Overhead)
	}
	return nil
}

// spin starts the spinner on the CPU, as a thread of this process or as another process.
func spin(b *board, o *order) (end func() error, tid int, err error) {
	if o.Kind == kindIRQOther {
		other, err := spawn(b, nil, nil, o.Kind, 0)
		if err != nil {
			return nil, 0, err
		}
		return func() error { _, err := other.end(); return err }, other.pid, nil
	}
	type start struct {
		tid int
		err error
	}
	begun, ended := make(chan start, 1), make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread() // for good: the thread ends with it
		begun <- start{rt.Gettid(), rt.SetThread(0, rt.Attr{CPUs: []int{o.CPU}})}
		spinner(b)
	}()
	s := <-begun
	end = func() error { atomic.StoreUint32(&b.quit, 1); <-ended; return nil }
	if s.err != nil {
		return nil, 0, errors.Join(s.err, end())
	}
	return end, s.tid, nil
}
