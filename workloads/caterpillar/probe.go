package caterpillar

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"opcycle/bench"
	"opcycle/rt"
)

// order is what the conductor asks of the probe.
type order struct {
	CPU      int           `json:"cpu"`
	Priority int           `json:"priority"` // 0: no real-time policy is asked for
	Require  bool          `json:"require"`
	Buffer   int64         `json:"buffer"` // bytes; 0: compute
	Huge     bool          `json:"huge"`
	Steps    int64         `json:"steps"`
	First    int64         `json:"first"`
	Samples  int64         `json:"samples"`
	Rest     bool          `json:"rest"`
	Busy     time.Duration `json:"busy"` // of each Of
	Of       time.Duration `json:"of"`
	Guard    time.Duration `json:"guard"` // RLIMIT_RTTIME: of FIFO time without a sleep
	Low      time.Duration `json:"low"`   // an iteration from Low to High looks like throttling
	High     time.Duration `json:"high"`
	Root     string        `json:"root"`
}

// answer is what the probe says when it has ended.
type answer struct {
	Hz        float64 `json:"hz"`
	Unit      string  `json:"unit"`
	Policy    string  `json:"policy"`
	Priority  int     `json:"priority"`
	Rested    bool    `json:"rested"` // it was to rest: asked to, and of a real-time policy
	RTError   string  `json:"rt_error"`
	LockError string  `json:"lock_error"`
	CState    string  `json:"cstates"`
	HugeBytes int64   `json:"huge_bytes"` // of the buffer
	Got       uint64  `json:"got"`        // what the work left behind
	Want      uint64  `json:"want"`       // what it must be
	Faults    int64   `json:"faults"`
	Voluntary int64   `json:"voluntary"` // switches of the measuring thread
	Switches  int64   `json:"involuntary"`
}

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
	// On its CPU before it has its buffer, which then is of that CPU's memory node.
	if err := rt.SetThread(0, rt.Attr{CPUs: []int{o.CPU}}); err != nil {
		return fmt.Errorf("the thread on CPU %d: %w", o.CPU, err)
	}
	w, err := newWork(&o, &a)
	if err != nil {
		return err
	}
	if w.chain != nil {
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
	pg.hz = clock.Hz
	pace := pace{rest: a.Rested, busy: int64(o.Busy), of: int64(o.Of), turn: w.turn(), refill: int64(o.Busy / 8),
		low: int64(o.Low.Seconds() * clock.Hz), top: int64(o.High.Seconds() * clock.Hz)}
	if err := p.Ready(); err != nil {
		return err
	}
	before := rt.ThreadUsage()
	errno := measure(pg, w, p.Stop, o.First, o.Samples, &pace)
	after := rt.ThreadUsage()
	if err := rt.SetThread(0, rt.Attr{}); err != nil { // what follows needs no FIFO, and allocates
		return err
	}
	if errno != 0 {
		return fmt.Errorf("clock_nanosleep of a rest: %w", errno)
	}
	a.Faults = after.MinorFaults - before.MinorFaults + after.MajorFaults - before.MajorFaults
	a.Voluntary, a.Switches = after.Voluntary-before.Voluntary, after.Involuntary-before.Involuntary
	a.Got, a.Want = w.check()
	return p.Answer(a)
}

// newWork makes the buffer and tells how much of it is in huge pages.
func newWork(o *order, a *answer) (*work, error) {
	w := &work{steps: o.Steps, state: seed}
	if o.Buffer == 0 {
		return w, nil
	}
	var before int64
	if o.Huge {
		before = hugeBytes(o.Root)
	}
	var err error
	if w.chain, err = rt.NewCaterpillar(o.Buffer, seed, o.Huge); err != nil {
		return nil, err
	}
	if o.Huge {
		a.HugeBytes = hugeBytes(o.Root) - before
	}
	return w, nil
}

// hugeBytes is this process's memory in huge pages; 0 where the kernel does not tell.
//
// https://docs.kernel.org/filesystems/proc.html (smaps_rollup)
func hugeBytes(root string) int64 {
	data, err := os.ReadFile(filepath.Join(root, "proc/self/smaps_rollup"))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(data)) {
		if v, ok := strings.CutPrefix(line, "AnonHugePages:"); ok {
			kb, _ := strconv.ParseInt(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(v), "kB")), 10, 64)
			return kb << 10
		}
	}
	return 0
}

// place gives the main thread its policy.
func place(o *order, a *answer) error {
	attr := rt.Attr{}
	if o.Priority > 0 {
		if err := rt.LimitRealTime(o.Guard); err != nil {
			return fmt.Errorf("the guard of real-time threads: %w", err)
		}
		attr = rt.Attr{Policy: rt.FIFO, Priority: o.Priority, ResetOnFork: true}
	}
	err := rt.SetThread(0, attr)
	if err != nil && o.Priority > 0 && !o.Require {
		a.RTError = err.Error()
		err = rt.SetThread(0, rt.Attr{})
	}
	if err != nil {
		return fmt.Errorf("the thread on CPU %d: %w", o.CPU, err)
	}
	now, err := rt.ReadThread(0)
	a.Policy, a.Priority = now.Policy.String(), now.Priority
	a.Rested = o.Rest && now.Policy.RealTime() // an ordinary thread is not limited
	return err
}
