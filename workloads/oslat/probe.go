package oslat

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

type order struct {
	CPUs      []int         `json:"cpus"`
	Priority  int           `json:"priority"`
	Require   bool          `json:"require"`
	Preheat   time.Duration `json:"preheat"`
	Duration  time.Duration `json:"duration"` // 0: until the stop word
	Threshold time.Duration `json:"threshold"`
	Low       time.Duration `json:"low"` // from here to High a gap is suspected throttling
	High      time.Duration `json:"high"`
	Root      string        `json:"root"`
}

type answer struct {
	Hz        float64  `json:"hz"`
	Unit      string   `json:"unit"`
	Policies  []string `json:"policies"`
	RTErrors  []string `json:"rt_errors"`
	LockError string   `json:"lock_error"`
}

// margin is what the guard allows beyond the run: the kernel ends a spinner that goes on.
const margin = 5 * time.Second

func probe(p *bench.ProbeSide) error {
	var o order
	if err := p.Decode(&o); err != nil {
		return err
	}
	clock, err := rt.ReadCycleClock(o.Root)
	if err != nil {
		return err
	}
	a := answer{Hz: clock.Hz, Unit: clock.Unit, Policies: make([]string, len(o.CPUs)), RTErrors: make([]string, len(o.CPUs))}
	if err := rt.LockMemory(); err != nil {
		a.LockError = err.Error()
	}
	if o.Priority > 0 && o.Duration > 0 { // the loop never sleeps: the guard is the run's own length
		if err := rt.LimitRealTime(o.Preheat + o.Duration + margin); err != nil {
			return fmt.Errorf("the guard of real-time threads: %w", err)
		}
	}
	all := pages(p.Mem, len(o.CPUs))
	ready, start, done := make(chan error, len(o.CPUs)), make(chan struct{}), make(chan struct{}, len(o.CPUs))
	cycles := int64(math.MaxInt64 / 2)
	if o.Duration > 0 {
		cycles = int64(o.Duration.Seconds() * clock.Hz)
	}
	in := func(d time.Duration) int64 { return int64(d.Seconds() * clock.Hz) }
	l := limits{threshold: in(o.Threshold), low: in(o.Low), high: in(o.High)}
	for i, cpu := range o.CPUs {
		all[i].hz = clock.Hz
		go func() {
			runtime.LockOSThread() // never unlocked: its policy ends with it
			ready <- place(cpu, &o, &a.Policies[i], &a.RTErrors[i])
			<-start
			all[i].bias = preheat(p.Stop, int64(o.Preheat))
			before := rt.ThreadUsage()
			spin(all[i], p.Stop, cycles, &l)
			now := rt.ThreadUsage()
			all[i].faults = now.MinorFaults + now.MajorFaults - before.MinorFaults - before.MajorFaults
			done <- struct{}{}
		}()
	}
	for range o.CPUs {
		if err := <-ready; err != nil {
			return err
		}
	}
	if err := p.Ready(); err != nil {
		return err
	}
	close(start)
	for range o.CPUs {
		<-done
	}
	return p.Answer(a)
}

// place gives the calling thread its CPU and policy, and says what it got.
func place(cpu int, o *order, policy, refused *string) error {
	attr := rt.Attr{CPUs: []int{cpu}}
	if o.Priority > 0 {
		attr.Policy, attr.Priority, attr.ResetOnFork = rt.FIFO, o.Priority, true
	}
	err := rt.SetThread(0, attr)
	if err != nil && o.Priority > 0 && !o.Require {
		*refused = err.Error()
		err = rt.SetThread(0, rt.Attr{CPUs: []int{cpu}})
	}
	if err != nil {
		return fmt.Errorf("the thread on CPU %d: %w", cpu, err)
	}
	now, err := rt.ReadThread(0)
	*policy = fmt.Sprintf("%s %d", now.Policy, now.Priority)
	return err
}
