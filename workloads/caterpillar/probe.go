package caterpillar

import (
	"fmt"
	"time"
	"unsafe"

	"opcycle/bench"
	"opcycle/rt"
)

// order is what the conductor asks of the probe.
type order struct {
	CPU      int    `json:"cpu"`
	Priority int    `json:"priority"` // 0: no real-time policy is asked for
	Require  bool   `json:"require"`
	Buffer   int64  `json:"buffer"` // bytes; 0: compute
	Huge     bool   `json:"huge"`
	Steps    int64  `json:"steps"`
	First    int64  `json:"first"`
	Samples  int64  `json:"samples"`
	Rest     bool   `json:"rest"`
	Root     string `json:"root"`
}

// answer is what the probe says when it has ended.
type answer struct {
	Hz        float64 `json:"hz"`
	Unit      string  `json:"unit"`
	Policy    string  `json:"policy"`
	Priority  int     `json:"priority"`
	RTError   string  `json:"rt_error"`
	LockError string  `json:"lock_error"`
	CState    string  `json:"cstates"`
	Got       uint64  `json:"got"`  // the buffer's checksum
	Want      uint64  `json:"want"` // what it must be
	Faults    int64   `json:"faults"`
	Switches  int64   `json:"involuntary"`
}

// The thread works for restBusy of each restOf where it has to rest: 85 % of any of the
// kernel's periods, which are longer.
const (
	restBusy = 85 * time.Millisecond
	restOf   = 100 * time.Millisecond
)

// guard is RLIMIT_RTTIME, µs of FIFO without a sleep: with rests far more than a stretch;
// without, the loop never sleeps and the guard is the run's own limit.
const guard = 2 * time.Second

const latencyDevice = "/dev/cpu_dma_latency"

const seed = 0x9e3779b97f4a7c15 // of the chain's order: the same in every run

func probe(p *bench.ProbeSide) error {
	var o order
	if err := p.Decode(&o); err != nil {
		return err
	}
	clock, err := rt.ReadCycleClock(o.Root)
	if err != nil {
		return err
	}
	a := answer{Hz: clock.Hz, Unit: clock.Unit}
	w := work{steps: o.Steps, state: seed}
	if o.Buffer > 0 {
		if w.chain, err = rt.NewCaterpillar(o.Buffer, seed, o.Huge); err != nil {
			return err
		}
		defer w.chain.Close()
	}
	if err := rt.LockMemory(); err != nil {
		a.LockError = err.Error()
	}
	if held, err := rt.HoldCPULatency(latencyDevice, 0); err != nil {
		a.CState = err.Error()
	} else {
		defer held.Close()
	}
	if err := place(&o, &a); err != nil {
		return err
	}
	pg := (*page)(unsafe.Pointer(&p.Mem[0]))
	pace := pace{rest: o.Rest, busy: int64(restBusy), of: int64(restOf), low: int64(0.04 * clock.Hz), top: int64(0.06 * clock.Hz)}
	if err := p.Ready(); err != nil {
		return err
	}
	before := rt.ThreadUsage()
	errno := measure(pg, &w, p.Stop, o.First, o.Samples, &pace)
	after := rt.ThreadUsage()
	if err := rt.SetThread(0, rt.Attr{}); err != nil { // what follows needs no FIFO, and allocates
		return err
	}
	if errno != 0 {
		return fmt.Errorf("clock_nanosleep of a rest: %w", errno)
	}
	a.Faults = after.MinorFaults - before.MinorFaults + after.MajorFaults - before.MajorFaults
	a.Switches = after.Involuntary - before.Involuntary
	if w.chain != nil {
		a.Got, a.Want = w.chain.Check()
	}
	return p.Answer(a)
}

// place gives the main thread its CPU and policy.
func place(o *order, a *answer) error {
	if o.Priority > 0 && o.Rest { // without rests the loop never blocks: the watchdog is the guard
		if err := rt.LimitRealTime(guard); err != nil {
			return fmt.Errorf("the guard of real-time threads: %w", err)
		}
	}
	attr := rt.Attr{CPUs: []int{o.CPU}}
	if o.Priority > 0 {
		attr.Policy, attr.Priority, attr.ResetOnFork = rt.FIFO, o.Priority, true
	}
	err := rt.SetThread(0, attr)
	if err != nil && o.Priority > 0 && !o.Require {
		a.RTError = err.Error()
		err = rt.SetThread(0, rt.Attr{CPUs: []int{o.CPU}})
	}
	if err != nil {
		return fmt.Errorf("the thread on CPU %d: %w", o.CPU, err)
	}
	now, err := rt.ReadThread(0)
	a.Policy, a.Priority = now.Policy.String(), now.Priority
	return err
}
