package cyclictest

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
)

// Limits of a run.
const (
	mostSeconds = 200_000                // seconds that are kept of a run whose end is not known: more than two days
	allSeconds  = 4 * mostSeconds        // of all CPUs together: 38 MB
	pollEvery   = 200 * time.Millisecond // progress, and what ends a run
	lastWord    = 2 * time.Second        // a stopped probe must answer within, and an interval
	grace       = time.Minute            // beyond its plan, after which a probe hangs
)

// Run measures with the chosen engine, or compares both.
func (r *runner) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	if err := r.check(job); err != nil {
		return bench.SuiteResult{}, err
	}
	switch {
	case r.crossCheck:
		return r.compareEngines(ctx, job)
	case r.engine == engineRTTests:
		return r.real(ctx, job)
	}
	m, err := r.measurement(job)
	if err != nil {
		return bench.SuiteResult{}, err
	}
	if err := m.run(ctx); err != nil {
		return bench.SuiteResult{}, err
	}
	return m.result()
}

// measurement is one run of our own engine. One goroutine owns it.
type measurement struct {
	*runner
	job    bench.Job
	order  order
	before state // what earlier processes of a resumed run measured

	probe   *bench.ProbeRun
	pages   []*page
	seconds [][]record.Moments
	copies  []page             // of pages, as of the last read
	kept    [][]record.Moments // of seconds, likewise
	wall    rt.WallOffset      // at the begin

	now      state // before and what this process measured
	answer   answer
	info     bench.ProcessInfo
	started  time.Time
	ended    time.Time
	begun    bool
	complete bool
	fault    error // how the probe died; what it measured is kept
	warnings []string
}

func (r *runner) measurement(job bench.Job) (*measurement, error) {
	m := &measurement{runner: r, job: job, started: time.Now()}
	if job.Resume != nil {
		if err := m.before.resume(job.Resume, r, job.Measured); err != nil {
			return nil, fmt.Errorf("the checkpoint: %w", err)
		}
	}
	m.order = order{CPUs: job.Measured, Interval: r.interval, Histogram: max(r.histogram, 1), Root: job.Root, Require: job.RT == bench.RTRequire,
		Seconds: min(mostSeconds, allSeconds/max(len(job.Measured), 1))}
	if job.RT != bench.RTOff {
		m.order.Priority = r.priority
	}
	if job.End != nil {
		return m, nil
	}
	left := make([]int64, len(job.Measured))
	for i := range left {
		left[i] = r.planned()
		if i < len(m.before.Threads) {
			left[i] -= r.done(&m.before.Threads[i])
		}
	}
	if r.loops > 0 {
		m.order.Cycles = left
	} else {
		m.order.Left = left
		m.order.Seconds = min(int(time.Duration(slices.Max(left))*r.interval/time.Second)+2, m.order.Seconds)
	}
	return m, nil
}

// run starts the probe, waits for its end and keeps what it measured.
func (m *measurement) run(ctx context.Context) error {
	m.now = m.before
	if left := slices.Concat(m.order.Left, m.order.Cycles); len(left) > 0 && slices.Max(left) <= 0 {
		m.complete, m.ended = true, time.Now()
		return nil // the checkpoint was the end
	}
	n := len(m.order.CPUs)
	var err error
	m.probe, err = m.job.Start(ctx, bench.ProbeOrder{Probe: probeName, Input: m.order, Shared: sharedBytes(n, m.order.Seconds), MaxProcs: n + 1, Limit: m.limit()})
	if err != nil {
		return err
	}
	defer m.probe.Close()
	m.pages, m.seconds = pages(m.probe.Mem, n, m.order.Seconds)
	m.copies, m.kept = make([]page, n), make([][]record.Moments, n)
	if err := m.probe.Ready(); err != nil {
		return err
	}
	if m.job.Begin != nil {
		select {
		case <-m.job.Begin:
		case <-ctx.Done():
			m.ended = time.Now()
			return nil
		}
	}
	m.wall, m.started = rt.ReadWallOffset(), time.Now()
	if err := m.probe.Go(); err != nil {
		return err
	}
	m.begun = true
	m.info, _ = m.probe.Info() // shown only: of a process that has ended already, the answer tells
	err = m.watch(ctx)
	m.ended = time.Now()
	return err
}

// limit is what the run may take; 0 without a plan. A throttled thread comes late, and needs
// longer for its cycles, but not for its instants.
func (m *measurement) limit() time.Duration {
	switch {
	case m.order.Left != nil:
		return time.Duration(slices.Max(m.order.Left))*m.interval + grace
	case m.order.Cycles != nil:
		return 4*time.Duration(slices.Max(m.order.Cycles))*m.interval + grace
	}
	return 0
}

// watch follows the probe to its end: progress, checkpoints, and what stops it. Its error
// means that nothing was measured.
func (m *measurement) watch(ctx context.Context) error {
	answered := make(chan ending, 1)
	go func() {
		var e ending
		e.err = m.probe.Wait(&e.answer)
		answered <- e
	}()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	kept := time.Now()
	stop, end := ctx.Done(), m.job.End
	var limit <-chan time.Time
	for {
		select {
		case e := <-answered:
			return m.over(ctx, e)
		case <-stop:
			m.cutShort()
			stop, end, limit = nil, nil, time.After(lastWord+m.interval)
		case <-end:
			m.cutShort()
			end, limit = nil, time.After(lastWord+m.interval)
		case <-limit:
			m.probe.Kill()
			e := <-answered
			e.err = fmt.Errorf("the probe did not end within %s of being told to, and was killed", lastWord+m.interval)
			return m.over(ctx, e)
		case <-tick.C:
			m.glance()
			if m.job.Checkpoint != nil && time.Since(kept) >= m.job.CheckpointEvery {
				kept = time.Now()
				m.checkpoint()
			}
		}
	}
}

// ending is the probe's end: its answer, or how it died.
type ending struct {
	answer answer
	err    error
}

// over takes what there is after the probe's end.
func (m *measurement) over(ctx context.Context, e ending) error {
	m.answer, m.fault = e.answer, e.err
	if !m.read() {
		m.warn("a thread died while it wrote: its last wake-up may be counted in part")
	}
	for i, p := range m.pages {
		if p.errno != 0 && m.fault == nil {
			m.fault = fmt.Errorf("clock_nanosleep on CPU %d failed with errno %d", m.order.CPUs[i], p.errno)
		}
	}
	if m.fault != nil && slices.ContainsFunc(m.now.Threads, func(t tally) bool { return t.Latency.Count == 0 }) {
		return m.fault
	}
	m.complete = m.fault == nil && m.reached(ctx)
	if ctx.Err() != nil && m.job.Checkpoint != nil {
		m.checkpoint()
	}
	return nil
}

// reached tells whether the plan was measured to its end.
func (m *measurement) reached(ctx context.Context) bool {
	if m.job.End != nil {
		return ctx.Err() == nil
	}
	return !slices.ContainsFunc(m.now.Threads, func(t tally) bool { return m.done(&t) < m.planned() })
}

// cutShort lets no instant after now count.
func (m *measurement) cutShort() {
	now := rt.Now()
	for _, p := range m.pages {
		if atomic.LoadInt64(&p.until) > now {
			atomic.StoreInt64(&p.until, now)
		}
	}
	m.probe.Stop()
}

// warn says a thing once.
func (m *measurement) warn(text string) {
	if !slices.Contains(m.warnings, text) {
		m.warnings = append(m.warnings, text)
	}
}
