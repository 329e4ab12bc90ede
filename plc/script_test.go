package plc

import (
	"testing"
	"unsafe"

	"opcycle/bench"
	"opcycle/record"
)

// script is a machine for one task: the clock stands still but for what is scripted. Each
// slice is used up from its front, once a wake-up or release; when empty, nothing happens.
type script struct {
	now    int64
	stalls []int64               // sleep i ends that much after its time
	spins  []int64               // spin i ends that much after its time
	costs  []int64               // program run i takes that long
	inputs []int64               // input phase i takes that long
	outs   []int64               // output phase i takes that long
	at     map[int]func(*script) // runs in the output phase of executed release i (from 0)
	err    error                 // of SleepUntil

	control  *Control
	ring     *record.Ring
	executed int // output phases so far
	programs int // program runs so far
	armed    int // Arm calls so far; when and for which due time the newest was
	armedAt  int64
	armedDue int64
	held     []int64
	last     int // Stop is set in this executed release
}

func pop(s *[]int64) int64 {
	if len(*s) == 0 {
		return 0
	}
	v := (*s)[0]
	*s = (*s)[1:]
	return v
}

func (s *script) Now() int64 { return s.now }

func (s *script) SleepUntil(t int64) error {
	s.now = max(s.now, t) + pop(&s.stalls)
	return s.err
}

func (s *script) SpinUntil(t int64) int64 {
	s.now = max(s.now, t) + pop(&s.spins)
	return s.now
}

func (s *script) Arm(due int64) {
	s.armed++
	s.armedAt, s.armedDue = s.now, due
}

func (s *script) Read(r *record.Release) { r.CPU, r.RunDelay, r.OnCPU = 7, 11, 3 }

func (s *script) Run(int64) int64 {
	s.programs++
	s.now += pop(&s.costs)
	return 42
}

func (s *script) Inputs(k, _ int64) (int64, record.Flags) {
	s.now += pop(&s.inputs)
	return k - 1, record.FlagStale
}

func (s *script) Outputs(int64, int64) (int64, record.Flags) {
	if f := s.at[s.executed]; f != nil {
		f(s)
	}
	s.now += pop(&s.outs)
	s.executed++
	if s.executed == s.last {
		s.control.Stop.Store(true)
	}
	return 5, record.FlagSlow
}

func newRing(t testing.TB, slots int) *record.Ring {
	t.Helper()
	// Words, not bytes: the ring's header holds 64-bit atomics.
	words := make([]uint64, record.RingBytes(slots)/8)
	ring, err := record.NewRing(unsafe.Slice((*byte)(unsafe.Pointer(&words[0])), len(words)*8), true)
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

// task returns the task of s on the grid origin + k·1000, spin 100, one iteration.
func (s *script) task(t testing.TB, origin, first int64) *Task {
	t.Helper()
	s.control, s.ring = new(Control), newRing(t, 4096)
	s.control.Iterations.Store(1)
	task, err := New(Config{Grid: bench.Grid{Origin: origin, Period: 1000}, First: first, Spin: 100,
		Program: s, IO: s, Clock: s, Meter: s, Ring: s.ring, Control: s.control})
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// releases takes what is in the ring and asserts what holds of all releases.
func releases(t testing.TB, ring *record.Ring, period int64) (all []record.Release) {
	t.Helper()
	ring.Drain(func(r *record.Record) {
		if r.Kind != record.KindRelease {
			t.Fatalf("a record of kind %d; want only releases", r.Kind)
		}
		all = append(all, r.Release())
	})
	before := record.Release{K: -1 << 63, Done: -1 << 63}
	for _, r := range all {
		e := r.Done - r.Due
		if sum := (r.Wake - r.Due) + (r.Begin - r.Wake) + (r.End - r.Begin) + (r.Done - r.End); sum != e {
			t.Errorf("release %d: its parts add up to %d, E is %d", r.K, sum, e)
		}
		if r.K <= before.K {
			t.Errorf("release %d after release %d", r.K, before.K)
		}
		if r.Wake < r.Due || r.Wake >= r.Due+period {
			t.Errorf("release %d, due %d, woke at %d: want within a period after", r.K, r.Due, r.Wake)
		}
		if r.Wake < before.Done || r.Begin < r.Wake || r.End < r.Begin || r.Done < r.End {
			t.Errorf("release %d: instants out of order: %+v after %d", r.K, r, before.Done)
		}
		before = r
	}
	return all
}
