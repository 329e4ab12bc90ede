package plc

import (
	"runtime"

	"opcycle/rt"
)

// Clock is the task's time, CLOCK_MONOTONIC ns; a script in tests.
type Clock interface {
	// Now is the time.
	Now() int64
	// SleepUntil gives the processor away until about t. When t has passed it returns
	// soon, but must have offered the processor to the rest of the process.
	SleepUntil(t int64) error
	// SpinUntil keeps the processor until t has come and returns the first reading that
	// is not before t.
	SpinUntil(t int64) int64
}

// KernelClock is the Clock of measured processes: a timerfd in the netpoller, then a spin.
//
// NB: one task's; any goroutine may Close.
type KernelClock struct {
	timer *rt.Timer
}

// OpenClock makes the timer. cold.
func OpenClock() (*KernelClock, error) {
	timer, err := rt.NewTimer()
	if err != nil {
		return nil, err
	}
	return &KernelClock{timer: timer}, nil
}

// Now is CLOCK_MONOTONIC. hot.
func (c *KernelClock) Now() int64 { return rt.Now() }

// SleepUntil parks the goroutine until t. hot.
//
// A task whose every release overruns finds t in the past for ever. Under SCHED_FIFO it
// would then never leave its processor: with one processor nothing else of the process
// runs, not even the runtime's own preemption, no order to stop arrives, and RLIMIT_RTTIME
// kills it (tried: FIFO 80 over 45 on one CPU, never stopped; with the yield, at once). So
// it yields: a goroutine that is locked to its thread blocks that thread until the
// scheduler hands it the turn again.
//
// NB: a release that ends within the spin before the next one is also yielded after, or a
// task that is 95 % busy would starve the others the same way; their turn can make the
// next release late, and its start latency says so.
func (c *KernelClock) SleepUntil(t int64) error {
	if rt.Now() >= t {
		runtime.Gosched()
	}
	return c.timer.SleepUntil(t)
}

// SpinUntil reads the clock until t has come. hot.
func (c *KernelClock) SpinUntil(t int64) int64 { return rt.SpinUntil(t) }

// Close ends the timer; Run returns an error that wraps os.ErrClosed. cold.
func (c *KernelClock) Close() error { return c.timer.Close() }
