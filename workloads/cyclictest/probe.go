package cyclictest

import (
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// order is what the conductor asks of the probe.
type order struct {
	CPUs     []int         `json:"cpus"`
	Interval time.Duration `json:"interval"`
	Priority int           `json:"priority"` // 0: no real-time policy is asked for
	Require  bool          `json:"require"`  // a refused policy ends the run
	Length   time.Duration `json:"length"`   // 0: until the stop word
	Loops    int64         `json:"loops"`
	Seconds  int           `json:"seconds"`
}

// answer is what the probe says when it has ended.
type answer struct {
	Threads   []threadAnswer `json:"threads"`
	LockError string         `json:"lock_error"`
	CState    string         `json:"cstates"` // "" held, else why not
}

// threadAnswer is one thread as it was.
type threadAnswer struct {
	CPU      int    `json:"cpu"`
	TID      int    `json:"tid"`
	Policy   string `json:"policy"`
	Priority int    `json:"priority"`
	RTError  string `json:"rt_error"`
	Usage    usage  `json:"usage"`
	err      error
}

// guard is the longest that a thread may run without sleeping before the kernel ends the
// process: a loop gone wrong must not hold its CPU.
const guard = time.Second

// latencyDevice keeps the CPUs out of sleep states while it is held open.
const latencyDevice = "/dev/cpu_dma_latency"

// probe is the measured process: a thread a CPU, all let go at once.
func probe(p *bench.ProbeSide) error {
	var o order
	if err := p.Decode(&o); err != nil {
		return err
	}
	var a answer
	if err := rt.LockMemory(); err != nil {
		a.LockError = err.Error()
	}
	held, err := rt.HoldCPULatency(latencyDevice, 0)
	if err != nil {
		a.CState = err.Error()
	} else {
		defer held.Close()
	}
	if o.Priority > 0 {
		if err := rt.LimitRealTime(guard); err != nil {
			return fmt.Errorf("the guard of real-time threads: %w", err)
		}
	}
	threads, seconds := pages(p.Mem, len(o.CPUs), o.Seconds)
	start, ready, done := make(chan struct{}), make(chan threadAnswer, len(o.CPUs)), make(chan threadAnswer, len(o.CPUs))
	for i, cpu := range o.CPUs {
		go func() {
			runtime.LockOSThread() // never unlocked: its policy ends with it
			t := place(cpu, &o)
			ready <- t
			<-start
			before := rt.ThreadUsage()
			loop(threads[i], seconds[i], p.Stop, int64(o.Interval), o.Loops)
			t.Usage = since(before)
			done <- t
		}()
	}
	for range o.CPUs {
		if t := <-ready; t.err != nil {
			return t.err
		}
	}
	if err := p.Ready(); err != nil {
		return err
	}
	first := rt.Now() + int64(2*o.Interval) + int64(time.Millisecond)
	for _, t := range threads {
		t.first = first
		if o.Length > 0 {
			atomic.StoreInt64(&t.until, first+int64(o.Length))
		} else {
			atomic.StoreInt64(&t.until, math.MaxInt64)
		}
	}
	close(start)
	for range o.CPUs {
		a.Threads = append(a.Threads, <-done)
	}
	return p.Answer(a)
}

// place gives the calling thread its CPU and policy. A refused policy is an error only when
// it is required; else the thread measures as it is, and says so.
func place(cpu int, o *order) threadAnswer {
	t := threadAnswer{CPU: cpu, TID: rt.Gettid()}
	attr := rt.Attr{CPUs: []int{cpu}}
	if o.Priority > 0 {
		attr.Policy, attr.Priority, attr.ResetOnFork = rt.FIFO, o.Priority, true
	}
	err := rt.SetThread(0, attr)
	if err != nil && o.Priority > 0 && !o.Require {
		t.RTError = err.Error()
		err = rt.SetThread(0, rt.Attr{CPUs: []int{cpu}})
	}
	if err != nil {
		t.err = fmt.Errorf("the thread on CPU %d: %w", cpu, err)
		return t
	}
	now, err := rt.ReadThread(0)
	if err != nil {
		t.err = err
		return t
	}
	t.Policy, t.Priority = now.Policy.String(), now.Priority
	return t
}

func since(before rt.Usage) usage {
	now := rt.ThreadUsage()
	return usage{now.Voluntary - before.Voluntary, now.Involuntary - before.Involuntary, now.MinorFaults - before.MinorFaults, now.MajorFaults - before.MajorFaults}
}
