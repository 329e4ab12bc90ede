package cyclictest

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// order is what the conductor asks of the probe.
type order struct {
	CPUs      []int         `json:"cpus"`
	Interval  time.Duration `json:"interval"`
	Priority  int           `json:"priority"` // 0: no real-time policy is asked for
	Require   bool          `json:"require"`  // what is refused ends the run before it begins
	Histogram int           `json:"histogram"`
	Root      string        `json:"root"`       // below which /dev is
	KeepSlack bool          `json:"keep_slack"` // leave an ordinary thread its timer slack, as rt-tests does
	Left      []int64       `json:"left"`       // instants that each thread still has to measure; nil: until the stop word
	Cycles    []int64       `json:"cycles"`     // wake-ups that each still has to measure; nil: as many as come
	Seconds   int           `json:"seconds"`    // that are kept one by one
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
	Slack    int64  `json:"timer_slack_ns"` // of an ordinary thread; -1 unknown
	RTError  string `json:"rt_error"`
	Usage    usage  `json:"usage"`
	err      error
}

// usage is what the kernel counted for a thread over its loop; -1 unknown.
type usage struct {
	Voluntary   int64 `json:"voluntary"`
	Involuntary int64 `json:"involuntary"`
	Minor       int64 `json:"minor"`
	Major       int64 `json:"major"`
}

// guard is the longest that a thread may run without sleeping before the kernel ends the
// process: a loop gone wrong must not hold its CPU.
const guard = time.Second

// latencyDevice keeps the CPUs out of sleep states while it is held open.
const latencyDevice = "dev/cpu_dma_latency"

// headStart is from the begin to the first instant: enough for the threads to be let go. One
// that comes later all the same begins with the first instant that it can still sleep to.
const headStart = int64(2 * time.Millisecond)

// probe is the measured process: a thread a CPU, all let go at once, on one grid. The main
// thread measures nothing: it is the one that signals to the process go to.
func probe(p *bench.ProbeSide) error {
	var o order
	if err := p.Decode(&o); err != nil {
		return err
	}
	var a answer
	if err := a.prepare(&o, p.Mem); err != nil {
		return err
	}
	var lost []error // of what was asked for
	held, err := rt.HoldCPULatency(filepath.Join(o.Root, latencyDevice), 0)
	if err != nil {
		a.CState = err.Error()
		lost = append(lost, err)
	} else {
		defer held.Close()
	}
	if a.LockError != "" {
		lost = append(lost, errors.New(a.LockError))
	}
	threads, seconds := pages(p.Mem, len(o.CPUs), o.Seconds)
	start, ready, done := make(chan struct{}), make(chan threadAnswer, len(o.CPUs)), make(chan threadAnswer, len(o.CPUs))
	for i, cpu := range o.CPUs {
		go func() {
			runtime.LockOSThread()          // never unlocked: its policy ends with it
			_ = rt.NameThread("cyclictest") // for ps and the tracer only
			t := place(cpu, &o)
			ready <- t
			<-start
			threads[i].begin(&o, i)
			before := rt.ThreadUsage()
			loop(threads[i], seconds[i], p.Stop, int64(o.Interval), of(o.Cycles, i))
			t.Usage = since(before)
			done <- t
		}()
	}
	for range o.CPUs {
		t := <-ready
		if t.err != nil {
			return t.err
		}
		if t.RTError != "" {
			lost = append(lost, errors.New(t.RTError))
		}
	}
	if o.Require && len(lost) > 0 {
		return fmt.Errorf("--rt require: not had, and so nothing was measured: %w", errors.Join(lost...))
	}
	if err := p.Ready(); err != nil {
		return err
	}
	first := rt.Now() + headStart
	for _, t := range threads {
		t.first, t.limit = first, int64(o.Histogram)
	}
	close(start)
	for range o.CPUs {
		a.Threads = append(a.Threads, <-done)
	}
	return p.Answer(a)
}

// of is list[i], 0 of no list.
func of(list []int64, i int) int64 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// prepare locks the memory and sets the guard.
func (a *answer) prepare(o *order, mem []byte) error {
	if err := rt.LockMemory(); err != nil {
		a.LockError = err.Error()
		if err := rt.LockPages(mem); err == nil {
			a.LockError += "; the pages that the loop writes are locked"
		}
	}
	if o.Priority == 0 {
		return nil
	}
	soft, _, err := rt.Rlimit(rt.LimitRTTime)
	if err == nil && soft <= uint64(guard.Microseconds()) {
		return nil // a stricter guard is there
	}
	if err := rt.LimitRealTime(guard); err != nil {
		return fmt.Errorf("the guard of real-time threads: %w", err)
	}
	return nil
}

// begin sets where the page of thread i ends. Its first instant moves to where it can still
// be slept to. warm.
func (p *page) begin(o *order, i int) {
	interval := int64(o.Interval)
	if late := rt.Now() - p.first; late >= 0 {
		p.first += (late/interval + 1) * interval
	}
	until := int64(math.MaxInt64)
	switch {
	case o.Left != nil:
		until = p.first + max(o.Left[i], 0)*interval
	case o.Cycles != nil && o.Cycles[i] <= 0:
		until = p.first // an earlier process measured them all
	}
	atomic.StoreInt64(&p.until, until)
}

// place gives the calling thread its CPU and policy. With a refused policy it measures as it
// is, and says so.
func place(cpu int, o *order) threadAnswer {
	t := threadAnswer{CPU: cpu, TID: rt.Gettid(), Slack: -1}
	attr := rt.Attr{CPUs: []int{cpu}}
	if o.Priority > 0 {
		attr.Policy, attr.Priority, attr.ResetOnFork = rt.FIFO, o.Priority, true
	}
	err := rt.SetThread(0, attr)
	if err != nil && o.Priority > 0 {
		t.RTError = err.Error()
		err = rt.SetThread(0, rt.Attr{CPUs: []int{cpu}})
	}
	if err == nil && (o.Priority == 0 || t.RTError != "") && !o.KeepSlack {
		err = rt.SetTimerSlack(time.Nanosecond)
	}
	now, err2 := rt.ReadThread(0)
	if err == nil {
		err = err2
	}
	if err != nil {
		t.err = fmt.Errorf("the thread on CPU %d: %w", cpu, err)
		return t
	}
	t.Policy, t.Priority = now.Policy.String(), now.Priority
	if slack, err := rt.TimerSlack(); err == nil && !now.Policy.RealTime() {
		t.Slack = int64(slack)
	}
	return t
}

// since is the counters' growth; unknown where the kernel says nothing.
func since(before rt.Usage) usage {
	now := rt.ThreadUsage()
	if before.Voluntary < 0 || now.Voluntary < 0 {
		return unknownUsage()
	}
	return usage{now.Voluntary - before.Voluntary, now.Involuntary - before.Involuntary, now.MinorFaults - before.MinorFaults, now.MajorFaults - before.MajorFaults}
}

func unknownUsage() usage { return usage{-1, -1, -1, -1} }
