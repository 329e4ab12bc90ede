package sel4bench

import (
	"errors"
	"fmt"
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
	kindIRQThread = "same address space"
	kindIRQOther  = "other address space"
	kindFloor     = "floor"
)

// order is what the conductor asks of a probe.
type order struct {
	Kind string `json:"kind"`
	Via  string `json:"via"`
	CPU  int    `json:"cpu"`
	RT   bool   `json:"rt"`
	// Require ends the probe before it measures when SCHED_FIFO is refused.
	Require bool   `json:"require"`
	N       int    `json:"n"`
	Root    string `json:"root"`
}

// answer is one kind's samples in cycles, overhead subtracted.
type answer struct {
	Call      []int64  `json:"call"` // or the only series of the kind
	Reply     []int64  `json:"reply,omitempty"`
	Null      []int64  `json:"null,omitempty"`
	Overhead  int64    `json:"overhead"`     // least of 110 reads
	Worst     int64    `json:"overhead_max"` // largest
	Done      int      `json:"done"`         // samples taken
	Stale     int      `json:"stale"`        // left out beside them: the spinner was not running when the timer was due
	Stopped   bool     `json:"stopped"`      // by the stop word
	Switches  int64    `json:"switches"`     // of this end, over the samples
	Peer      int64    `json:"peer"`         // of the other end, over its life
	Hz        float64  `json:"hz"`
	Unit      string   `json:"unit"`
	Ratio     *float64 `json:"ratio"` // core cycles in one cycle of the counter
	RatioWhy  string   `json:"ratio_why,omitempty"`
	Policy    string   `json:"policy"`
	RTError   string   `json:"rt_error,omitempty"`
	NiceError string   `json:"nice_error,omitempty"`
	LockError string   `json:"lock_error,omitempty"`
}

// fifo reports whether both ends had the policy that they should have.
func (a *answer) fifo(o order) bool { return o.RT && a.RTError == "" }

// The priorities: of the page, mapped to Linux's lowest and highest, and of the IPC's ends.
const (
	lowest, highest, equal = 1, 99, 50
	guard                  = 2 * time.Second
	tick                   = 10 * time.Millisecond
	overheadReads          = 110
)

// errRefused ends a probe whose order requires SCHED_FIFO. The answer says why.
var errRefused = errors.New("SCHED_FIFO was refused")

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
	if ratio, err := rt.CoreRatio(20 * time.Millisecond); err != nil {
		a.RatioWhy = err.Error()
	} else {
		a.Ratio = &ratio
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
	if err != nil && !errors.Is(err, errRefused) {
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
	if err != nil && o.RT {
		a.RTError = err.Error()
		if o.Require {
			return errRefused
		}
		err = rt.SetThread(tid, rt.Attr{CPUs: []int{o.CPU}})
	}
	if err != nil {
		return err
	}
	now, err := rt.ReadThread(tid)
	if err != nil {
		return err
	}
	word := now.Policy.String()
	if now.Priority > 0 {
		word = fmt.Sprintf("%s %d", now.Policy, now.Priority)
	}
	switch a.Policy {
	case "":
		a.Policy = word
	case word:
		a.Policy = "both " + word
	default:
		a.Policy += " and " + word
	}
	return nil
}

// ordinary gives the main thread back: what follows allocates.
func ordinary() error { return rt.SetThread(0, rt.Attr{}) }

// pair measures IPC or notifications between two processes.
func pair(p *bench.ProbeSide, b *board, o *order, a *answer) (err error) {
	request, reply, err := links(o.Via, b)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Via, err)
	}
	other, err := spawn(b, request, reply, o.Kind, o.N)
	if err != nil {
		return err
	}
	defer func() {
		var ended error
		a.Peer, ended = other.end()
		err = errors.Join(err, ended)
	}()
	theirs, ours := equal, equal
	if o.Kind == kindNotify {
		theirs, ours = highest, lowest
	}
	if err := place(other.pid, theirs, o, a); err != nil {
		return errors.Join(err, p.Ready())
	}
	if err := other.waits(o.Root); err != nil {
		return err
	}
	if err := rt.UnshareFiles(); err != nil { // the peer's descriptors are its own too (R7)
		return err
	}
	if err := p.Ready(); err != nil {
		return err
	}
	if err := place(0, ours, o, a); err != nil {
		return err
	}
	before := rt.ThreadUsage()
	var errno syscall.Errno
	if o.Kind == kindIPC {
		a.Done, errno = client(b, request, reply, p.Stop, o.N)
	} else {
		a.Done, errno = sender(b, request, p.Stop, o.N)
	}
	after := rt.ThreadUsage()
	a.Stopped = *p.Stop != 0
	if err := errors.Join(ordinary(), fail(errno)); err != nil {
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
