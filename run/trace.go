package run

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// traceName is the file of the trace beside a result.
const traceName = "trace.txt"

// traceEvents are what a breach is explained by.
func traceEvents() []string {
	return []string{"sched/sched_switch", "sched/sched_waking", "irq/irq_handler_entry", "irq/irq_handler_exit", "irq/softirq_entry", "irq/softirq_exit",
		"irq_vectors/local_timer_entry", "irq_vectors/local_timer_exit"}
}

// tracer is the tracing of a run.
type tracer struct {
	fs      *rt.Tracefs
	result  bench.SuiteResult
	cost    int64         // of one mark, ns, on the conductor's CPU
	above   time.Duration // that stops it; 0: nothing does
	stopped bool          // by a breach
	timer   *time.Timer
	on      chan error // what switching it on at the timer's time said
}

// traceLead is how long before the measuring phase the tracer is switched on.
const traceLead = 2 * time.Millisecond

// markTries is how many marks the cost is the average of.
const markTries = 200

// openTrace makes the tracer's instance before the processes start: the plan takes its
// place to them. What is not to be had is in the result; the run goes on without.
func (s *session) openTrace() {
	if s.Plan.Trace == nil {
		return
	}
	t := &tracer{above: s.Plan.Trace.StopAbove, result: bench.SuiteResult{Suite: "trace", Role: bench.RoleBeside}}
	s.trace = t
	fs, missing, err := rt.OpenTracefs(s.Root, traceEvents())
	if err != nil {
		t.lack("tracing", err.Error())
		s.warn("tracing was asked for and not had: " + err.Error())
		return
	}
	t.fs = fs
	for _, e := range missing {
		t.lack("the event "+e, "this kernel does not have it, or not for instances")
	}
	if s.Remote != nil && s.Plan.Task.Host == bench.HostServer {
		t.lack("a mark a cycle, and a stop at a breach", "the task runs in a server that was started by hand; opcycle run starts both")
	}
	trace := *s.Plan.Trace
	trace.Dir = fs.Dir
	s.Plan.Trace = &trace
	if err := t.measureCost(); err != nil {
		s.warn("tracing: " + err.Error())
	}
}

func (t *tracer) lack(what, why string) {
	t.result.Absent = append(t.result.Absent, bench.Absent{What: what, Why: why})
}

// measureCost times marks with the tracer on.
func (t *tracer) measureCost() error {
	m, err := rt.OpenMarker(t.fs.Dir)
	if err != nil {
		return err
	}
	defer m.Close()
	if err := t.fs.On(true); err != nil {
		return err
	}
	begin := rt.Now()
	for i := range int64(markTries) {
		m.Mark("cost", i, 0)
	}
	t.cost = (rt.Now() - begin) / markTries
	return errors.Join(t.fs.On(false), t.fs.Clear())
}

// frame switches the tracer on for the phase that begins at an instant, CLOCK_MONOTONIC ns:
// a breach before it would stop the tracer for nothing.
func (t *tracer) frame(begin int64) {
	if t == nil || t.fs == nil {
		return
	}
	fs, on, in := t.fs, make(chan error, 1), time.Duration(begin-rt.Now())
	t.on, t.result.Started = on, time.Now().Add(in)
	t.timer = time.AfterFunc(in-traceLead, func() { on <- fs.On(true) })
}

// end stops the tracer, unless a breach has.
func (t *tracer) end() {
	if t == nil || t.fs == nil {
		return
	}
	if t.timer == nil || t.timer.Stop() {
		return // the phase never came
	}
	t.result.Ended, t.result.Complete = time.Now(), true
	if err := <-t.on; err != nil {
		t.result.Invalid = append(t.result.Invalid, err.Error())
		return
	}
	if on, err := t.fs.Running(); err == nil {
		t.stopped = !on
	}
	if err := t.fs.On(false); err != nil {
		t.result.Warnings = append(t.result.Warnings, err.Error())
	}
}

// collect saves the buffer beside the result and says what it shows. The instance is gone
// when it returns.
func (t *tracer) collect(folder *Folder) bench.SuiteResult {
	if t.fs == nil {
		return t.result
	}
	number := func(series, statistic, unit string, v int64) {
		x := float64(v)
		f := bench.Figure{Suite: "trace", Object: "tracer", Series: series, Statistic: statistic, Unit: unit, Value: &x}
		if v < 0 {
			f.Value, f.NA = nil, "the kernel did not say"
		}
		t.result.Figures = append(t.result.Figures, f)
	}
	lost := t.fs.Lost()
	sum, err := t.save(folder)
	if err != nil {
		t.result.Invalid = append(t.result.Invalid, err.Error())
	}
	number("events", "kept", "1", sum.Events)
	number("events", "overwritten", "1", lost)
	number("marks", "count", "1", sum.Marks)
	number("marks", "cost", "ns", t.cost)
	t.result.Summary = append(t.result.Summary, sum.Text...)
	switch {
	case sum.Breach:
		t.result.Moments = append(t.result.Moments, bench.Moment{CPU: sum.CPU, Index: sum.K, What: sum.What, Value: sum.Took, Unit: "ns"})
	case t.stopped:
		t.result.Warnings = append(t.result.Warnings, "the tracer was stopped, but no breach is in its buffer: somebody else stopped it")
	case !t.result.Complete:
		t.result.Warnings = append(t.result.Warnings, "nothing was traced: the run ended before its measuring phase")
	case sum.Marks == 0:
		t.result.Warnings = append(t.result.Warnings, "the task marked no cycle: whether one began too late or overran is not in the trace, which is of the end of the run")
	case t.above == 0:
		t.result.Summary = append(t.result.Summary, "nothing was to stop the tracer: the trace is of the end of the run")
	default:
		t.result.Summary = append(t.result.Summary, "no release began too late or overran its cycle: the trace is of the end of the run")
	}
	if err := t.fs.Close(); err != nil {
		t.result.Warnings = append(t.result.Warnings, err.Error())
	}
	t.fs = nil
	return t.result
}

// save copies the buffer into the result's folder and reads it on the way.
func (t *tracer) save(folder *Folder) (traceSummary, error) {
	in, err := os.Open(filepath.Join(t.fs.Dir, "trace"))
	if err != nil {
		return traceSummary{}, fmt.Errorf("save the trace: %w", err)
	}
	defer in.Close()
	if folder == nil {
		return readTrace(in)
	}
	out, err := folder.Create(traceName)
	if err != nil {
		return traceSummary{}, err
	}
	sum, err := readTrace(io.TeeReader(in, out))
	if err == nil {
		err = out.Close()
	}
	if err != nil {
		return sum, fmt.Errorf("save the trace: %w", err)
	}
	t.result.Files = append(t.result.Files, traceName)
	return sum, nil
}
