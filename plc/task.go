package plc

import (
	"errors"
	"fmt"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

// IO is the process image of a release: the server's subscription engine or the client's
// newest value and Write. Both methods are called on the task's thread and are part of
// the execution time. They must not wait for a socket or a lock.
type IO interface {
	// Inputs takes the input image at the start of release k; now is W(k). input is the
	// grid index of the value that the release runs on (host = client), −1 for none. With
	// publish: start it first sends the values of the release before.
	Inputs(k, now int64) (input int64, flags record.Flags)
	// Outputs hands over the output image at the end of release k; now is C1(k). It
	// returns when the output phase has ended, whether or not a packet left; handled is
	// the number of server requests it served.
	Outputs(k, now int64) (handled int64, flags record.Flags)
}

// Holder is an IO that has something to do in a held release (see Control.Hold), such as
// serving requests; it writes no value.
type Holder interface {
	Held(k, now int64)
}

// Tracer is told of every release that is executed. hot.
type Tracer interface {
	// Released comes right after W(k), late ns after the oldest release was due that had not
	// run: W(k) − S(k), or more when releases before k are skipped.
	Released(k, late int64)
	Finished(k, took int64) // after X(k), which is took ns after S, and after the meter
}

// Config is what a task is made of. All but Program and Tracer is required.
type Config struct {
	Grid    bench.Grid
	First   int64   // first index; when it has passed, the newest that is due
	Spin    int64   // ns before each release that are spun, not slept
	Program Program // nil: an I/O simulator, whatever Control.Iterations says
	IO      IO
	Clock   Clock
	Meter   Meter
	Ring    *record.Ring // the task's thread is its one writer; IO may write into it too
	Control *Control
	Tracer  Tracer // nil: nothing is traced
}

// Task is the one cyclic task of a process.
//
// NB: after Run has begun everything but Control belongs to the thread in Run.
type Task struct {
	Config
	holder  Holder
	release record.Release // here so that handing its address to the meter allocates nothing
}

// New checks cfg and returns its task. cold.
func New(cfg Config) (*Task, error) {
	var errs []error
	complain := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf(format, args...))
		}
	}
	complain(cfg.Grid.Period <= 0, "period %d ns; it must be positive", cfg.Grid.Period)
	complain(cfg.Spin < 0 || cfg.Grid.Period > 0 && cfg.Spin >= cfg.Grid.Period,
		"spin %d ns; it must be from 0 to below the period of %d ns", cfg.Spin, cfg.Grid.Period)
	complain(cfg.IO == nil, "no IO")
	complain(cfg.Clock == nil, "no Clock")
	complain(cfg.Meter == nil, "no Meter")
	complain(cfg.Ring == nil, "no Ring")
	complain(cfg.Control == nil, "no Control")
	if len(errs) > 0 {
		return nil, fmt.Errorf("plc task: %w", errors.Join(errs...))
	}
	if cfg.Program == nil {
		cfg.Program = idle{}
	}
	t := &Task{Config: cfg}
	t.holder, _ = cfg.IO.(Holder)
	t.Control.K.Store(cfg.First - 1)
	t.Control.Origin.Store(cfg.Grid.Origin)
	return t, nil
}

// Run executes releases until Control.Stop; nil is an ordered stop, an error means that
// the clock could not sleep or a calibration failed. hot.
//
// The grid is absolute. After release k comes k+1, late or not, unless k+2 is already
// due when the task wakes: then the newest index that is due is executed, late by less
// than a period, and those between are skipped for ever (gaps in K, and Control.Skipped).
// That one rule covers a late start, a long execution and a stall in the sleep, and it is
// applied to W itself, so that nothing can happen between the decision and the release.
func (t *Task) Run() error {
	c := t.Control
	t.Meter.Read(&t.release) // the readings that the first release counts from
	for k := t.First; !c.Stop.Load(); k++ {
		if err := t.boundary(); err != nil {
			return err
		}
		due := t.Grid.Due(k)
		if err := t.Clock.SleepUntil(due - t.Spin); err != nil {
			return fmt.Errorf("plc task: sleep until release %d: %w", k, err)
		}
		t.Meter.Arm(due)
		wake := t.Clock.SpinUntil(due)
		if c.Stop.Load() {
			return nil
		}
		if newest := t.Grid.Index(wake); newest > k {
			c.Skipped.Add(newest - k)
			k = newest
		}
		if c.Hold.Load() {
			t.hold(k, wake)
		} else {
			t.execute(k, wake, wake-due)
		}
		c.K.Store(k)
	}
	return nil
}

// execute is release k, from W to its record; late is told to the tracer. The meter is read
// after X: what it costs is in nobody's execution time. hot.
func (t *Task) execute(k, wake, late int64) {
	r := &t.release
	*r = record.Release{K: k, Due: t.Grid.Due(k), Wake: wake}
	if t.Tracer != nil {
		t.Tracer.Released(k, late)
	}
	var in, out record.Flags
	r.Input, in = t.IO.Inputs(k, wake)
	n := t.Control.Iterations.Load()
	r.Begin = t.Clock.Now()
	if n > 0 {
		r.Result = t.Program.Run(n)
	}
	r.End = t.Clock.Now()
	r.Inbox, out = t.IO.Outputs(k, r.End)
	r.Done = t.Clock.Now()
	r.Flags = in | out
	t.Meter.Read(r)
	if slot := t.Ring.Next(); slot != nil {
		r.Record(slot)
		t.Ring.Publish()
	}
	if t.Tracer != nil {
		t.Tracer.Finished(k, r.Done-r.Due)
	}
	t.Control.Executed.Add(1)
}

// hold is release k while the floor is measured. hot.
func (t *Task) hold(k, wake int64) {
	if t.holder != nil {
		t.holder.Held(k, wake)
	}
	t.Meter.Read(&t.release)
	t.Control.Held.Add(1)
}

// boundary serves the owner's requests between two releases. hot while there are none.
func (t *Task) boundary() error {
	c := t.Control
	if c.Shift.Load() != 0 {
		t.Grid.Origin += c.Shift.Swap(0)
		c.Origin.Store(t.Grid.Origin)
	}
	target := c.Target.Load()
	if target <= 0 {
		return nil
	}
	n, err := Calibrate(t.Program, time.Duration(target), t.Clock)
	if err != nil {
		return fmt.Errorf("plc task: %w", err)
	}
	c.Iterations.Store(n)
	c.Target.Store(0)
	t.Meter.Read(&t.release)
	return nil
}
