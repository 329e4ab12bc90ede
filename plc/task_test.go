package plc

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"opcycle/record"
)

// TestGrid is the rule of late releases: period 1000, release k due at k·1000, spin 100.
// Instants in the table are relative to the origin.
func TestGrid(t *testing.T) {
	type wake struct{ K, Wake int64 }
	for _, c := range []struct {
		name   string
		start  int64
		first  int64
		stalls []int64
		spins  []int64
		costs  []int64
		want   []wake
	}{
		{name: "on time", start: -500, costs: []int64{300, 300}, want: []wake{{0, 0}, {1, 1000}, {2, 2000}}},
		{name: "long before the first", start: -9e9, want: []wake{{0, 0}, {1, 1000}}},
		{name: "first is not 0", start: 0, first: 7, want: []wake{{7, 7000}, {8, 8000}}},
		{name: "negative first", start: -5000, first: -3, want: []wake{{-3, -3000}, {-2, -2000}}},
		{name: "start exactly when due", start: 0, want: []wake{{0, 0}, {1, 1000}}},
		{name: "late start, before the next", start: 999, want: []wake{{0, 999}, {1, 1000}}},
		{name: "late start, first has passed", start: 2500, want: []wake{{2, 2500}, {3, 3000}}},
		{name: "ends in the spin before the next", start: -500, costs: []int64{950}, want: []wake{{0, 0}, {1, 1000}}},
		{name: "ends exactly when the next is due", start: -500, costs: []int64{1000}, want: []wake{{0, 0}, {1, 1000}}},
		{name: "a little over 1 period", start: -500, costs: []int64{1001}, want: []wake{{0, 0}, {1, 1001}, {2, 2000}}},
		{name: "just under 2 periods", start: -500, costs: []int64{1999}, want: []wake{{0, 0}, {1, 1999}, {2, 2000}}},
		{name: "exactly 2 periods", start: -500, costs: []int64{2000}, want: []wake{{0, 0}, {2, 2000}, {3, 3000}}},
		{name: "over 2 periods", start: -500, costs: []int64{2400}, want: []wake{{0, 0}, {2, 2400}, {3, 3000}}},
		{name: "5 periods", start: -500, costs: []int64{5100}, want: []wake{{0, 0}, {5, 5100}, {6, 6000}}},
		{name: "every release over 1 period", start: -500, costs: []int64{1500, 1500, 1500},
			want: []wake{{0, 0}, {1, 1500}, {3, 3000}, {4, 4500}}},
		{name: "stall in the sleep, within the spin", start: -500, stalls: []int64{0, 60}, want: []wake{{0, 0}, {1, 1000}, {2, 2000}}},
		{name: "stall in the sleep, late", start: -500, stalls: []int64{0, 400}, want: []wake{{0, 0}, {1, 1300}, {2, 2000}}},
		{name: "stall in the sleep, exactly to the next", start: -500, stalls: []int64{0, 1100}, want: []wake{{0, 0}, {2, 2000}, {3, 3000}}},
		{name: "stall in the sleep, 3 periods", start: -500, stalls: []int64{0, 3200}, want: []wake{{0, 0}, {4, 4100}, {5, 5000}}},
		{name: "stall in the spin", start: -500, spins: []int64{0, 999, 1000}, want: []wake{{0, 0}, {1, 1999}, {3, 3000}}},
		{name: "stall before the first", start: -500, stalls: []int64{2100}, want: []wake{{2, 2000}, {3, 3000}}},
	} {
		for _, origin := range []int64{0, -77, 12345, 1 << 62} {
			t.Run(fmt.Sprintf("%s, origin %d", c.name, origin), func(t *testing.T) {
				s := &script{now: origin + c.start, stalls: c.stalls, spins: c.spins, costs: c.costs, last: len(c.want)}
				if err := s.task(t, origin, c.first).Run(); err != nil {
					t.Fatal(err)
				}
				var got []wake
				for _, r := range releases(t, s.ring, 1000) {
					got = append(got, wake{r.K, r.Wake - origin})
				}
				if !reflect.DeepEqual(got, c.want) {
					t.Errorf("got %v, want %v", got, c.want)
				}
				last := c.want[len(c.want)-1].K
				assertCounters(t, s.control, last, c.first, int64(len(c.want)), 0)
			})
		}
	}
}

func assertCounters(t *testing.T, c *Control, k, first, executed, held int64) {
	t.Helper()
	if c.K.Load() != k || c.Executed.Load() != executed || c.Held.Load() != held || c.Skipped.Load() != k-first+1-executed-held {
		t.Errorf("K %d, executed %d, held %d, skipped %d; want %d, %d, %d, %d", c.K.Load(), c.Executed.Load(), c.Held.Load(),
			c.Skipped.Load(), k, executed, held, k-first+1-executed-held)
	}
}

// TestRelease pins the place of every instant and member of a record.
func TestRelease(t *testing.T) {
	s := &script{now: -500, spins: []int64{13}, inputs: []int64{20}, costs: []int64{300}, outs: []int64{50}, last: 1}
	if err := s.task(t, 0, 0).Run(); err != nil {
		t.Fatal(err)
	}
	want := []record.Release{{Flags: record.FlagStale | record.FlagSlow, K: 0, Due: 0, Wake: 13, Begin: 33, End: 333, Done: 383,
		CPU: 7, RunDelay: 11, OnCPU: 3, Input: -1, Inbox: 5, Result: 42}}
	if got := releases(t, s.ring, 1000); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if s.armed != 1 || s.armedAt != -100 || s.armedDue != 0 {
		t.Errorf("meter armed %d times, last at %d for %d; want once, at -100 for 0: after the sleep, before the spin", s.armed, s.armedAt, s.armedDue)
	}
}

// traced is a Tracer that keeps what it was told.
type traced struct{ released, finished [][2]int64 }

func (t *traced) Released(k, late int64) { t.released = append(t.released, [2]int64{k, late}) }
func (t *traced) Finished(k, took int64) { t.finished = append(t.finished, [2]int64{k, took}) }

// A stall over whole periods ends a moment after a release was due: that one is punctual,
// those before it are lost. The tracer hears how long the task really stood still.
func TestTheTracerHearsOfSkippedReleases(t *testing.T) {
	s := &script{now: -500, stalls: []int64{0, 2110, 0}, costs: []int64{300, 300, 1400}, last: 4}
	task, tr := s.task(t, 0, 0), new(traced)
	task.Tracer = tr
	if err := task.Run(); err != nil {
		t.Fatal(err)
	}
	if want := [][2]int64{{0, 0}, {3, 2010}, {4, 0}, {5, 400}}; !reflect.DeepEqual(tr.released, want) {
		t.Errorf("released %v, want %v", tr.released, want)
	}
	if want := [][2]int64{{0, 300}, {3, 310}, {4, 1400}, {5, 400}}; !reflect.DeepEqual(tr.finished, want) {
		t.Errorf("finished %v, want %v", tr.finished, want)
	}
}

// TestAnySchedule throws random stalls, costs and shifts at the task: no index
// twice, none before its time, none more than a period late, every index in one counter.
func TestAnySchedule(t *testing.T) {
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		series := func(most int64) (v []int64) {
			for range 60 {
				if rng.IntN(3) == 0 {
					v = append(v, rng.Int64N(most))
				} else {
					v = append(v, rng.Int64N(300))
				}
			}
			return v
		}
		s := &script{now: rng.Int64N(20000) - 10000, last: 50, at: map[int]func(*script){},
			stalls: series(5000), spins: series(2500), costs: series(6000), inputs: series(1200), outs: series(1200)}
		origin, first := rng.Int64N(1e12), rng.Int64N(100)-50
		s.now += origin
		task := s.task(t, origin, first)
		origins := [51]int64{origin} // in force at executed release i
		var shifts [51]int64
		for i := range 49 {
			switch rng.IntN(8) {
			case 0:
				shifts[i+1] = rng.Int64N(9000) - 4500
				s.at[i] = func(s *script) { s.control.Shift.Add(shifts[i+1]) }
			case 1:
				s.at[i] = func(s *script) { s.control.Iterations.Store(rng.Int64N(2)) }
			}
		}
		if err := task.Run(); err != nil {
			t.Fatal(err)
		}
		all := releases(t, s.ring, 1000)
		for i, r := range all {
			if i > 0 {
				origins[i] = origins[i-1] + shifts[i]
			}
			if want := origins[i] + r.K*1000; r.Due != want {
				t.Errorf("release %d is due at %d; want %d", r.K, r.Due, want)
			}
		}
		assertCounters(t, s.control, all[len(all)-1].K, first, 50, 0)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func TestReleaseAllocatesNothing(t *testing.T) {
	s := &script{now: -500}
	task := s.task(t, 0, 0)
	allocs := testing.AllocsPerRun(20, func() {
		s.executed, s.last = 0, 100
		s.control.Stop.Store(false)
		task.First = s.control.K.Load() + 1
		if err := task.Run(); err != nil {
			t.Fatal(err)
		}
	})
	if allocs != 0 || s.control.Executed.Load() != 2100 {
		t.Errorf("%v allocations in 100 releases, %d executed; want 0 and 2100", allocs, s.control.Executed.Load())
	}
}

// TestFullRing: the ring counts what it cannot take; the task goes on.
func TestFullRing(t *testing.T) {
	s := &script{now: -500, last: 5000}
	if err := s.task(t, 0, 0).Run(); err != nil {
		t.Fatal(err)
	}
	if s.ring.Written() != 4096 || s.ring.Lost() != 904 {
		t.Errorf("%d written, %d lost; want 4096 and 904", s.ring.Written(), s.ring.Lost())
	}
}

func TestSleepFails(t *testing.T) {
	s := &script{now: -500, err: errors.New("no timer")}
	err := s.task(t, 0, 3).Run()
	if !errors.Is(err, s.err) || !strings.Contains(err.Error(), "release 3") {
		t.Errorf("error %v; want one that wraps %q and names release 3", err, s.err)
	}
}

func TestNewComplainsOfEverything(t *testing.T) {
	_, err := New(Config{Spin: -1})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"period 0 ns", "spin -1 ns", "no IO", "no Clock", "no Meter", "no Ring", "no Control"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not say %q", err, want)
		}
	}
}
