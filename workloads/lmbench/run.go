package lmbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// mostRuns bounds the runs that a result beside another suite keeps, which goes on for as
// long as that one: later ones are counted only.
const mostRuns = 64

// killAfter is how long a probe that was told to stop may go on.
const killAfter = 2 * time.Second

// Run measures all chosen figures, each in a probe of its own, so many times as asked for,
// or again and again until End.
func (r *runner) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	todo, err := choose(r.only)
	if err != nil {
		return bench.SuiteResult{}, err
	}
	if r.cross != "" && job.End != nil {
		return bench.SuiteResult{}, errors.New("a cross-check has an end of its own: it can't run beside another suite; run it alone")
	}
	m := measurement{runner: r, job: job, todo: todo}
	if job.Begin != nil {
		select {
		case <-job.Begin:
		case <-ctx.Done():
		}
	}
	until, release := untilEnd(ctx, job.End)
	defer release()
	m.begin()
	for run := 1; run <= r.runs || job.End != nil; run++ {
		ended, err := m.once(until, run)
		if err != nil {
			return m.out, err
		}
		if !ended {
			break
		}
		m.runs = run
	}
	if r.cross != "" && until.Err() == nil {
		if err := m.crossCheck(until); err != nil && until.Err() == nil {
			return m.out, err
		}
	}
	m.end(ctx)
	return m.out, nil
}

// untilEnd is ctx, which also ends when end is closed. release waits for what it started.
func untilEnd(ctx context.Context, end <-chan struct{}) (until context.Context, release func()) {
	until, cancel := context.WithCancel(ctx)
	if end == nil {
		return until, cancel
	}
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-end:
			cancel()
		case <-until.Done():
		}
	}()
	return until, func() { cancel(); <-watched }
}

// measurement is one Run under way. One goroutine owns it.
type measurement struct {
	*runner
	job   bench.Job
	todo  []figure
	out   bench.SuiteResult
	clock bench.Reading
	runs  int     // that went to their end
	curve []point // of the run under way
	// dynamic is the program that figures execute; empty: theirs.
	dynamic string
}

// once measures every figure once. ended is false when ctx ended before.
func (m *measurement) once(ctx context.Context, run int) (ended bool, err error) {
	readings := []bench.Reading{}
	for i, f := range m.todo {
		m.job.Progress(m.progress(run, i))
		got, err := m.figure(ctx, f, readings)
		if err != nil && ctx.Err() == nil {
			return false, err
		}
		if ctx.Err() != nil {
			m.keep(run, readings)
			return false, nil
		}
		readings = append(readings, got...)
	}
	m.keep(run, readings)
	return true, nil
}

func (m *measurement) progress(run, i int) bench.Progress {
	n := len(m.todo)
	p := bench.Progress{Phase: fmt.Sprintf("figure %d of %d: %s", i+1, n, m.todo[i].key()), Share: float64(i) / float64(n)}
	switch {
	case m.job.End != nil:
		p.Phase = fmt.Sprintf("run %d, %s", run, p.Phase)
		p.Share = -1
	case m.runner.runs > 1:
		p.Phase = fmt.Sprintf("run %d of %d, %s", run, m.runner.runs, p.Phase)
		p.Share = (float64(run-1) + p.Share) / float64(m.runner.runs)
	}
	return p
}

// keep takes a run's readings into the result.
func (m *measurement) keep(run int, readings []bench.Reading) {
	curve := m.curve
	m.curve = nil
	if run > mostRuns {
		return
	}
	m.out.Samples = curveSamples(run, curve, m.out.Samples)
	readings = append([]bench.Reading{m.clock}, readings...)
	for i := range readings {
		readings[i].Run = strconv.Itoa(run)
	}
	m.out.Readings = append(m.out.Readings, readings...)
}

// tsc is the rate of the cycle counter, which stands where the original has a clock rate
// that it measures by a loop.
func tsc(root string) bench.Reading {
	r := bench.Reading{Table: tableProcessor, Name: "clock", Headline: true, Mechanism: "time stamp counter against CLOCK_MONOTONIC", Statistic: median, Unit: "MHz"}
	c, err := rt.ReadCycleClock(root)
	if err != nil {
		r.NA = err.Error()
		return r
	}
	r.Mechanism, r.N = c.Unit+" against CLOCK_MONOTONIC", 1
	r.Value = pointer(c.Hz / 1e6)
	return r
}

// figure measures one figure. so are the readings of this run until now.
func (m *measurement) figure(ctx context.Context, f figure, so []bench.Reading) ([]bench.Reading, error) {
	if f.copies != "" {
		for _, g := range so {
			if g.Table == f.copies && g.Name == f.name && g.Headline {
				g.Table = f.table
				return []bench.Reading{g}, nil
			}
		}
	}
	p, err := m.job.Start(ctx, bench.ProbeOrder{Probe: probeFigure, Input: m.order(f), Limit: m.limit(f)})
	if err != nil {
		return nil, err
	}
	defer m.sweep(p.PID)
	defer p.Close()
	if err := p.Ready(); err != nil {
		return nil, err
	}
	if len(m.out.Processes) == 0 {
		if info, err := p.Info(); err == nil {
			m.out.Processes = append(m.out.Processes, info)
		}
	}
	defer context.AfterFunc(ctx, func() {
		select {
		case <-p.Done:
		case <-time.After(killAfter):
			p.Kill()
		}
	})()
	if err := p.Go(); err != nil {
		return nil, err
	}
	var a answer
	err = p.Wait(&a)
	switch {
	case err != nil:
		return f.na(err.Error()), nil
	case a.NA != "":
		return f.na(a.NA), nil
	case len(a.Readings) == 0:
		return f.na("the probe was stopped, or measured nothing"), nil
	}
	m.curve = append(m.curve, a.Curve...)
	return a.Readings, nil
}

// sweep removes what a probe that had to be killed left behind.
func (m *measurement) sweep(pid int) {
	for _, dir := range []string{m.folder(), memoryFolder} {
		if dir != "" {
			_ = os.RemoveAll(scratch(dir, pid)) // most often there is nothing
		}
	}
}

// na is a figure without a number.
func (f figure) na(why string) []bench.Reading {
	r := bench.Reading{Table: f.table, Name: f.name, Headline: true, Statistic: median, Unit: micros, NA: why}
	switch f.table {
	case tableBandwidth:
		r.Unit = megabytes
	case tableMemory:
		r.Unit, r.Statistic = nanos, minimum
	}
	return []bench.Reading{r}
}

// limit is the watchdog's: what the figure may take with intervals of the default length,
// and more in proportion for longer ones.
func (m *measurement) limit(f figure) time.Duration {
	limit := f.limit
	if limit == 0 {
		limit = figureLimit
	}
	if enough, _ := m.lengths(); enough > defaultEnough {
		limit = time.Duration(float64(limit) * float64(enough) / float64(defaultEnough))
	}
	return limit
}

func (m *measurement) order(f figure) order {
	o := order{Figure: f.key(), Quick: m.quick, CPU: noCPU, Other: noCPU, Dir: m.folder(), Root: m.job.Root, Dynamic: m.dynamic}
	if cpu, ok := m.job.Host.CPUByID(m.job.Measured[0]); ok {
		o.Caches = cpu.Caches
	}
	o.Enough, o.Tries = m.lengths()
	if m.unpinned {
		return o
	}
	o.CPU = m.job.Measured[0]
	others := slices.Concat(m.job.Measured[1:], m.job.Housekeeping)
	if i := slices.IndexFunc(others, func(cpu int) bool { return cpu != o.CPU }); i >= 0 {
		o.Other = others[i]
	}
	return o
}

// folder is where files are made; empty: there is none.
func (m *measurement) folder() string {
	dir := m.dir
	if dir == "" {
		dir = m.job.Dir
	}
	if abs, err := filepath.Abs(dir); dir != "" && err == nil {
		return abs
	}
	return dir
}

func (m *measurement) begin() {
	text := func(series, text string) bench.Figure {
		return bench.Figure{Suite: suiteName, Object: "host", Series: series, Statistic: "text", Unit: "text", Text: text}
	}
	kernel, _, _ := strings.Cut(m.job.Host.Kernel, " ")
	m.clock = tsc(m.job.Root)
	m.out = bench.SuiteResult{Started: time.Now(), Figures: []bench.Figure{text("host", m.job.Host.Name), text("os", "Linux "+kernel)}}
	if m.job.RT == bench.RTRequire {
		m.out.Absent = append(m.out.Absent, bench.Absent{What: "a real-time policy",
			Why: "lmbench measures what an ordinary process pays; cyclictest and sel4bench measure real-time threads"})
	}
}

// end closes the result. ctx is that of the whole run.
func (m *measurement) end(ctx context.Context) {
	m.out.Ended = time.Now()
	m.out.Complete = ctx.Err() == nil && (m.job.End != nil || m.runs == m.runner.runs)
	if m.runs > mostRuns {
		m.out.Warnings = append(m.out.Warnings, fmt.Sprintf("%d runs were measured; the readings of the first %d are kept", m.runs, mostRuns))
	}
}
