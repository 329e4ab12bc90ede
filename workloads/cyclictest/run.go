package cyclictest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
)

// Limits of a run.
const (
	mostSeconds = 200_000                // seconds that are kept one by one: more than two days
	pollEvery   = 100 * time.Millisecond // progress, and what ends a run
	lastWord    = 2 * time.Second        // a stopped probe must answer within
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
	job     bench.Job
	order   order
	before  state // what earlier processes of a resumed run measured
	probe   *bench.ProbeRun
	pages   []*page
	seconds [][]record.Moments
	wall    int64

	now       state // before and what this process measured
	answer    answer
	info      bench.ProcessInfo
	started   time.Time
	ended     time.Time
	complete  bool
	cut       bool // the run ended before its plan's end, with every sample read
	instants  int64
	processes int
}

// state is a checkpoint.
type state struct {
	Version  int           `json:"version"`
	Runs     int           `json:"runs"`     // processes that measured
	Measured time.Duration `json:"measured"` // by all of them
	Threads  []tally       `json:"threads"`
}

// stateVersion is the form of state.
const stateVersion = 1

func (r *runner) measurement(job bench.Job) (*measurement, error) {
	m := &measurement{runner: r, job: job}
	if job.Resume != nil {
		if err := json.Unmarshal(job.Resume, &m.before); err != nil {
			return nil, fmt.Errorf("the checkpoint: %w", err)
		}
		if m.before.Version != stateVersion || len(m.before.Threads) != len(job.Measured) {
			return nil, fmt.Errorf("the checkpoint is of version %d with %d threads, this run of version %d with %d", m.before.Version, len(m.before.Threads), stateVersion, len(job.Measured))
		}
	}
	left := max(r.length()-m.before.Measured, 0)
	m.order = order{CPUs: job.Measured, Interval: r.interval, Length: left, Require: job.RT == bench.RTRequire,
		Seconds: min(int(left/time.Second)+3, mostSeconds)}
	if job.RT != bench.RTOff {
		m.order.Priority = r.priority
	}
	switch {
	case job.End != nil:
		m.order.Length, m.order.Seconds = 0, mostSeconds
	case r.loops > 0:
		m.order.Length, m.order.Loops = 0, int64(r.loops)
		for _, t := range m.before.Threads[:min(1, len(m.before.Threads))] {
			m.order.Loops -= t.Latency.Count
		}
	}
	return m, nil
}

// run starts the probe, waits for its end and keeps what it measured.
func (m *measurement) run(ctx context.Context) error {
	m.now = m.before
	if m.loops > 0 && m.order.Loops <= 0 || m.loops == 0 && m.job.End == nil && m.order.Length <= 0 {
		m.complete, m.started, m.ended = true, time.Now(), time.Now()
		return nil // the checkpoint was the end
	}
	var err error
	m.probe, err = m.job.Start(ctx, bench.ProbeOrder{Probe: probeName, Input: m.order, Shared: sharedBytes(len(m.order.CPUs), m.order.Seconds), MaxProcs: len(m.order.CPUs) + 1})
	if err != nil {
		return err
	}
	defer m.probe.Close()
	m.pages, m.seconds = pages(m.probe.Mem, len(m.order.CPUs), m.order.Seconds)
	if err := m.probe.Ready(); err != nil {
		return err
	}
	if m.job.Begin != nil {
		select {
		case <-m.job.Begin:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.wall = rt.ReadWallOffset().Offset
	m.started = time.Now()
	if err := m.probe.Go(); err != nil {
		return err
	}
	m.info, _ = m.probe.Info() // shown only: a process that has ended already is in the answer
	err = m.watch(ctx)
	m.ended = time.Now()
	return err
}

// watch follows the probe to its end: progress, checkpoints, and what stops it.
func (m *measurement) watch(ctx context.Context) error {
	answered := make(chan error, 1)
	go func() { answered <- m.probe.Wait(&m.answer) }()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	kept := time.Now()
	stop, end := ctx.Done(), m.job.End
	var limit <-chan time.Time
	for {
		select {
		case err := <-answered:
			if err != nil {
				return err
			}
			m.read()
			m.complete = ctx.Err() == nil || m.reached()
			return m.sleepFailed()
		case <-stop:
			m.cutShort()
			stop, limit = nil, time.After(lastWord)
		case <-end:
			m.cutShort()
			end, limit = nil, time.After(lastWord)
		case <-limit:
			m.probe.Kill()
			<-answered
			return errors.New("the probe did not stop when it was told to, and was killed")
		case <-tick.C:
			m.read()
			m.report()
			if m.job.Checkpoint != nil && time.Since(kept) >= m.checkpointEvery() {
				kept = time.Now()
				if err := m.checkpoint(); err != nil {
					m.probe.Kill()
					<-answered
					return err
				}
			}
		}
	}
}

// checkpointEvery is a hundredth of the run, at least 0.2 s and at most half a minute.
func (m *measurement) checkpointEvery() time.Duration {
	return min(max(m.length()/100, 200*time.Millisecond), 30*time.Second)
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

// reached is true when every instant of the plan was measured although something stopped
// the run.
func (m *measurement) reached() bool {
	return m.order.Length > 0 && rt.Now() >= m.pages[0].first+int64(m.order.Length) && m.now.Measured >= m.length()
}

// read takes what the pages hold behind what was there before.
func (m *measurement) read() {
	m.now = state{Version: stateVersion, Runs: m.before.Runs + 1, Measured: m.before.Measured}
	for i, p := range m.pages {
		s := p.snapshot()
		t := tallyOf(m.order.CPUs[i], &s, m.seconds[i], m.wall)
		if i == 0 {
			m.now.Measured += time.Duration(t.Latency.Count+t.Missed+t.Early) * m.interval
		}
		if i < len(m.before.Threads) {
			sum := m.before.Threads[i]
			sum.add(t)
			t = sum
		}
		m.now.Threads = append(m.now.Threads, t)
	}
}

func (m *measurement) sleepFailed() error {
	for i, p := range m.pages {
		if p.errno != 0 {
			return fmt.Errorf("clock_nanosleep on CPU %d failed with errno %d", m.order.CPUs[i], p.errno)
		}
	}
	return nil
}

func (m *measurement) report() {
	share := -1.0
	if l := m.length(); m.job.End == nil && l > 0 {
		share = min(float64(m.now.Measured)/float64(l), 1)
	}
	var worst int64
	for i := range m.now.Threads {
		worst = max(worst, m.now.Threads[i].Latency.Max)
	}
	m.job.Progress(bench.Progress{Phase: fmt.Sprintf("cyclictest, worst %.0f us", float64(worst)/1e3), Share: share})
}

func (m *measurement) checkpoint() error {
	data, err := json.Marshal(m.now)
	if err != nil {
		return fmt.Errorf("the checkpoint: %w", err)
	}
	so, err := m.result()
	if err != nil {
		return err
	}
	return m.job.Checkpoint(so, data)
}
