package sel4bench

import (
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"opcycle/bench"
	"opcycle/rt"
)

// The kinds of a probe's work.
const (
	kindIPC       = "ipc"
	kindNotify    = "notify"
	kindIRQThread = "irq, same address space"
	kindIRQOther  = "irq, other address space"
	kindFloor     = "floor"
)

// order is what the conductor asks of a probe.
type order struct {
	Kind    string `json:"kind"`
	Via     string `json:"via"`
	CPU     int    `json:"cpu"`
	RT      bool   `json:"rt"`
	Require bool   `json:"require"`
	N       int    `json:"n"`
	Root    string `json:"root"`
}

// answer is one kind's samples in cycles, overhead subtracted.
type answer struct {
	Call      []int64 `json:"call"` // or the only series of the kind
	Reply     []int64 `json:"reply,omitempty"`
	Overhead  int64   `json:"overhead"`     // least of 110 reads
	Worst     int64   `json:"overhead_max"` // largest
	Null      []int64 `json:"null,omitempty"`
	Done      int     `json:"done"`
	Switches  int64   `json:"switches"` // of this end
	Hz        float64 `json:"hz"`
	Unit      string  `json:"unit"`
	Ratio     float64 `json:"ratio"` // core cycles in one cycle of the counter; 0 unknown
	RatioWhy  string  `json:"ratio_why,omitempty"`
	Policy    string  `json:"policy"`
	RTError   string  `json:"rt_error,omitempty"`
	LockError string  `json:"lock_error,omitempty"`
}

// The priorities: of the page, mapped to Linux's lowest and highest, and of the IPC's ends.
const (
	lowest, highest, equal = 1, 99, 50
	guard                  = 2 * time.Second
	tick                   = 10 * time.Millisecond
	overheadReads          = 110
)

func probe(p *bench.ProbeSide) error {
	var o order
	if err := p.Decode(&o); err != nil {
		return err
	}
	b := (*board)(unsafe.Pointer(&p.Mem[0]))
	clock, err := rt.ReadCycleClock(o.Root)
	if err != nil {
		return err
	}
	a := answer{Hz: clock.Hz, Unit: clock.Unit}
	if err := rt.LockMemory(); err != nil {
		a.LockError = err.Error()
	}
	if o.RT {
		if err := rt.LimitRealTime(guard); err != nil {
			return fmt.Errorf("the guard of real-time threads: %w", err)
		}
	}
	if err := rt.SetAffinity(0, []int{o.CPU}); err != nil {
		return err
	}
	if a.Ratio, err = rt.CoreRatio(20 * time.Millisecond); err != nil {
		a.RatioWhy = err.Error()
	}
	reads(b, overheadReads)
	a.Overhead, a.Worst = spread(b, overheadReads)
	switch o.Kind {
	case kindFloor:
		err = floor(p, b, &o, &a)
	case kindIRQThread, kindIRQOther:
		err = irq(p, b, &o, &a)
	default:
		err = pair(p, b, &o, &a)
	}
	if err != nil {
		return err
	}
	return p.Answer(a)
}

func spread(b *board, n int) (least, most int64) {
	least = b.end[0] - b.start[0]
	for i := range n {
		d := b.end[i] - b.start[i]
		least, most = min(least, d), max(most, d)
	}
	return least, most
}

// place gives a thread or process its policy on the CPU; without the right to it, it says so.
func place(tid, priority int, o *order, a *answer) error {
	attr := rt.Attr{CPUs: []int{o.CPU}}
	if o.RT {
		attr.Policy, attr.Priority, attr.ResetOnFork = rt.FIFO, priority, true
	}
	err := rt.SetThread(tid, attr)
	if err != nil && o.RT && !o.Require {
		a.RTError = err.Error()
		err = rt.SetThread(tid, rt.Attr{CPUs: []int{o.CPU}})
	}
	if err != nil {
		return err
	}
	now, err := rt.ReadThread(tid)
	if a.Policy == "" {
		a.Policy = fmt.Sprintf("%s %d", now.Policy, now.Priority)
	} else {
		a.Policy += fmt.Sprintf(" and %s %d", now.Policy, now.Priority)
	}
	return err
}

// ordinary gives the main thread back: what follows allocates.
func ordinary() error { return rt.SetThread(0, rt.Attr{}) }

// peer clones this process into one that runs body and nothing else. NB: body must be
// nosplit to its leaves and never return to Go's runtime: the function does not return in
// the child.
func peer(b *board, request, reply *link, kind string, n int) (int, error) {
	mask := rt.BlockSignals()
	pid, errno := rt.RawClone()
	if pid == 0 && errno == 0 {
		_ = rt.RawDieWithParent()
		switch kind {
		case kindIPC:
			server(b, request, reply, n)
		case kindNotify:
			waiter(b, request, n)
		default:
			spinner(b)
		}
		rt.RawExit(0)
	}
	rt.SetBlockedSignals(mask)
	if errno != 0 {
		return 0, fmt.Errorf("clone the peer: %w", errno)
	}
	return pid, nil
}

// bury ends a peer and waits for it.
func bury(pid int) {
	rt.RawKill(pid, rt.SignalKill)
	var status int32
	_, _ = rt.RawWait(pid, &status, 0)
}

// pair measures IPC or notifications between two processes.
func pair(p *bench.ProbeSide, b *board, o *order, a *answer) error {
	request, reply, err := links(o.Via, b)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Via, err)
	}
	pid, err := peer(b, request, reply, o.Kind, o.N)
	if err != nil {
		return err
	}
	defer bury(pid)
	theirs, ours := equal, equal
	if o.Kind == kindNotify {
		theirs, ours = highest, lowest
	}
	if err := place(pid, theirs, o, a); err != nil {
		return err
	}
	if err := p.Ready(); err != nil {
		return err
	}
	time.Sleep(20 * time.Millisecond) // the peer waits in its receive
	if err := place(0, ours, o, a); err != nil {
		return err
	}
	before := rt.ThreadUsage()
	var errno error
	if o.Kind == kindIPC {
		n, e := client(b, request, reply, p.Stop, o.N)
		a.Done, errno = n, fail(e)
	} else {
		n, e := sender(b, request, p.Stop, o.N)
		a.Done, errno = n, fail(e)
	}
	after := rt.ThreadUsage()
	if err := errors.Join(ordinary(), errno); err != nil {
		return err
	}
	a.Switches = after.Voluntary + after.Involuntary - before.Voluntary - before.Involuntary
	for i := range a.Done {
		if o.Kind == kindIPC {
			a.Call = append(a.Call, b.middle[i]-b.start[i]-a.Overhead)
			a.Reply = append(a.Reply, b.end[i]-b.back[i]-a.Overhead)
		} else {
			a.Call = append(a.Call, b.end[i]-b.start[i]-a.Overhead)
		}
	}
	return nil
}

func fail(e syscall.Errno) error {
	if e == 0 {
		return nil
	}
	return fmt.Errorf("a system call of the measuring loop: %w", e)
}

// irq measures from the spinner's last stamp to the sleeper's.
func irq(p *bench.ProbeSide, b *board, o *order, a *answer) error {
	if o.Kind == kindIRQOther {
		pid, err := peer(b, nil, nil, o.Kind, 0)
		if err != nil {
			return err
		}
		defer bury(pid)
	} else {
		ready, ended := make(chan error, 1), make(chan struct{})
		go func() {
			defer close(ended)
			runtime.LockOSThread() // for good
			ready <- rt.SetThread(0, rt.Attr{CPUs: []int{o.CPU}})
			spinner(b)
		}()
		if err := <-ready; err != nil {
			return err
		}
		defer func() { atomic.StoreUint32(&b.quit, 1); <-ended }()
	}
	if err := p.Ready(); err != nil {
		return err
	}
	if err := place(0, highest, o, a); err != nil {
		return err
	}
	n, e := ticker(b, p.Stop, o.N, int64(tick))
	a.Done = n
	if err := errors.Join(ordinary(), fail(e)); err != nil {
		return err
	}
	for i := range n {
		a.Call = append(a.Call, b.end[i]-b.start[i]-a.Overhead)
	}
	return nil
}

// floor measures what every figure contains: a system call and a read of the counter.
func floor(p *bench.ProbeSide, b *board, o *order, a *answer) error {
	if err := p.Ready(); err != nil {
		return err
	}
	if err := place(0, equal, o, a); err != nil {
		return err
	}
	nulls(b, o.N)
	err := ordinary()
	for i := range o.N {
		a.Null = append(a.Null, b.end[i]-b.start[i]-a.Overhead)
	}
	reads(b, o.N)
	for i := range o.N {
		a.Call = append(a.Call, b.end[i]-b.start[i])
	}
	a.Done = o.N
	return err
}
