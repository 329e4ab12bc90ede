package plc

import (
	"reflect"
	"testing"
	"time"

	"opcycle/bench"
)

func indices(t *testing.T, s *script) (ks []int64) {
	for _, r := range releases(t, s.ring, 1000) {
		ks = append(ks, r.K)
	}
	return ks
}

// stopper sets Stop in a chosen sleep.
type stopper struct {
	*script
	sleeps int
}

func (s *stopper) SleepUntil(t int64) error {
	if s.sleeps--; s.sleeps == 0 {
		s.control.Stop.Store(true)
	}
	return s.script.SleepUntil(t)
}

func TestStop(t *testing.T) {
	t.Run("before the start", func(t *testing.T) {
		s := &script{now: -500}
		task := s.task(t, 0, 0)
		s.control.Stop.Store(true)
		if err := task.Run(); err != nil || s.executed != 0 || s.now != -500 {
			t.Errorf("error %v, %d executed, clock %d; want none and no sleep", err, s.executed, s.now)
		}
	})
	t.Run("in a release", func(t *testing.T) {
		s := &script{now: -500, costs: []int64{100, 100}, last: 2}
		if err := s.task(t, 0, 0).Run(); err != nil {
			t.Fatal(err)
		}
		if got := indices(t, s); !reflect.DeepEqual(got, []int64{0, 1}) || s.now != 1100 {
			t.Errorf("executed %v until %d; want 0 and 1, and no sleep after", got, s.now)
		}
	})
	t.Run("in a sleep", func(t *testing.T) {
		s := &script{now: -500}
		task := s.task(t, 0, 0)
		task.Clock = &stopper{s, 3}
		if err := task.Run(); err != nil {
			t.Fatal(err)
		}
		if got := indices(t, s); !reflect.DeepEqual(got, []int64{0, 1}) {
			t.Errorf("executed %v; want 0 and 1", got)
		}
	})
}

// holder is an IO with something to do in held releases; it ends the hold at index 4.
type holder struct{ *script }

func (h holder) Held(k, now int64) {
	h.held = append(h.held, k)
	if k == 4 {
		h.control.Hold.Store(false)
	}
}

func TestHold(t *testing.T) {
	s := &script{now: -500, last: 4, at: map[int]func(*script){1: func(s *script) { s.control.Hold.Store(true) }}}
	task := s.task(t, 0, 0)
	task.holder = holder{s}
	if err := task.Run(); err != nil {
		t.Fatal(err)
	}
	if got := indices(t, s); !reflect.DeepEqual(got, []int64{0, 1, 5, 6}) || s.programs != 4 {
		t.Errorf("executed %v, program ran %d times; want 0 1 5 6 and 4", got, s.programs)
	}
	if !reflect.DeepEqual(s.held, []int64{2, 3, 4}) {
		t.Errorf("held %v; want 2 3 4", s.held)
	}
	assertCounters(t, s.control, 6, 0, 4, 3)
}

// TestHoldWithoutHolder: an IO that has nothing to do then is not called at all, and the
// task takes a Holder only from its IO.
func TestHoldWithoutHolder(t *testing.T) {
	s := &script{now: -500}
	task := s.task(t, 0, 0)
	s.control.Hold.Store(true)
	task.Clock = &stopper{s, 5}
	if err := task.Run(); err != nil {
		t.Fatal(err)
	}
	if s.executed != 0 || s.programs != 0 || s.ring.Written() != 0 || task.holder != nil {
		t.Errorf("%d outputs, %d programs, %d records; want none", s.executed, s.programs, s.ring.Written())
	}
	assertCounters(t, s.control, 3, 0, 0, 4)
	cfg := task.Config
	cfg.IO = holder{s}
	if with, err := New(cfg); err != nil || with.holder == nil {
		t.Errorf("New with an IO that is a Holder: error %v, holder %v", err, with.holder)
	}
}

func TestNoIterationsNoProgram(t *testing.T) {
	s := &script{now: -500, costs: []int64{300, 300, 300}, last: 3, at: map[int]func(*script){
		0: func(s *script) { s.control.Iterations.Store(0) },
		1: func(s *script) { s.control.Iterations.Store(9) },
	}}
	if err := s.task(t, 0, 0).Run(); err != nil {
		t.Fatal(err)
	}
	all := releases(t, s.ring, 1000)
	if s.programs != 2 || all[1].End != all[1].Begin || all[1].Result != 0 || all[2].Result != 42 {
		t.Errorf("program ran %d times: %+v; want not in the second release", s.programs, all)
	}
}

func TestShift(t *testing.T) {
	for _, c := range []struct {
		name    string
		shifts  []int64 // all in release 1
		wantK   []int64
		wantDue []int64
	}{
		{"none", nil, []int64{0, 1, 2, 3}, []int64{0, 1000, 2000, 3000}},
		{"later", []int64{300}, []int64{0, 1, 2, 3}, []int64{0, 1000, 2300, 3300}},
		{"later by periods", []int64{5000}, []int64{0, 1, 2, 3}, []int64{0, 1000, 7000, 8000}},
		{"earlier", []int64{-300}, []int64{0, 1, 2, 3}, []int64{0, 1000, 1700, 2700}},
		{"earlier than now", []int64{-950}, []int64{0, 1, 2, 3}, []int64{0, 1000, 1050, 2050}},
		{"earlier by periods", []int64{-3000}, []int64{0, 1, 4, 5}, []int64{0, 1000, 1000, 2000}},
		{"they add up", []int64{500, -300}, []int64{0, 1, 2, 3}, []int64{0, 1000, 2200, 3200}},
		{"they cancel", []int64{500, -500}, []int64{0, 1, 2, 3}, []int64{0, 1000, 2000, 3000}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{now: -500, costs: []int64{100, 100, 100, 100}, last: 4, at: map[int]func(*script){1: func(s *script) {
				for _, d := range c.shifts {
					s.control.Shift.Add(d)
				}
			}}}
			if err := s.task(t, 0, 0).Run(); err != nil {
				t.Fatal(err)
			}
			var ks, dues []int64
			for _, r := range releases(t, s.ring, 1000) {
				ks, dues = append(ks, r.K), append(dues, r.Due)
			}
			if !reflect.DeepEqual(ks, c.wantK) || !reflect.DeepEqual(dues, c.wantDue) {
				t.Errorf("got %v due %v, want %v due %v", ks, dues, c.wantK, c.wantDue)
			}
			var sum int64
			for _, d := range c.shifts {
				sum += d
			}
			if s.control.Origin.Load() != sum || s.control.Shift.Load() != 0 {
				t.Errorf("origin %d, shift %d; want %d and 0", s.control.Origin.Load(), s.control.Shift.Load(), sum)
			}
		})
	}
}

// machine is a clock and a program whose iteration takes 330 ns; it is interrupted for
// 5 ms in each third run.
type machine struct{ script }

func (m *machine) Run(n int64) int64 {
	m.now += 200 + 330*n
	if m.programs++; m.programs%3 == 0 {
		m.now += 5e6
	}
	return 0
}

func TestCalibrate(t *testing.T) {
	for _, target := range []time.Duration{time.Microsecond, 50 * time.Microsecond, 3305 * time.Microsecond, time.Second} {
		m := new(machine)
		got, err := Calibrate(m, target, m)
		want := (int64(target) - 200) / 330
		if err != nil || got < want-want/1000-2 || got > want+want/1000+2 {
			t.Errorf("%v: %d iterations, error %v; want %d within 0.1 %%", target, got, err, want)
		}
	}
	m := new(machine)
	if n, err := Calibrate(m, 1, m); n != 1 || err != nil {
		t.Errorf("1 ns: %d iterations, error %v; want 1", n, err)
	}
	if _, err := Calibrate(m, 0, m); err == nil {
		t.Error("no error for target 0")
	}
	if _, err := Calibrate(idle{}, time.Millisecond, m); err == nil {
		t.Error("no error for a program that takes no time")
	}
}

// TestTarget: a running task calibrates between two releases and goes on on its grid.
func TestTarget(t *testing.T) {
	m := new(machine)
	task := m.task(t, 0, 0)
	task.Grid = bench.Grid{Period: 1e7}
	task.Program, m.last = m, 3
	m.at = map[int]func(*script){0: func(s *script) { s.control.Target.Store(3305000) }}
	if err := task.Run(); err != nil {
		t.Fatal(err)
	}
	all := releases(t, m.ring, 1e7)
	if n := m.control.Iterations.Load(); n < 10000 || n > 10030 || m.control.Target.Load() != 0 {
		t.Errorf("%d iterations, target %d; want about 10014 and 0", n, m.control.Target.Load())
	}
	assertCounters(t, m.control, all[2].K, 0, 3, 0)
	if m.control.Skipped.Load() == 0 {
		t.Error("nothing skipped while calibrating")
	}
	m = new(machine)
	task = m.task(t, 0, 0)
	task.Program = idle{}
	m.control.Target.Store(1)
	if err := task.Run(); err == nil {
		t.Error("no error for a target without a program")
	}
}
