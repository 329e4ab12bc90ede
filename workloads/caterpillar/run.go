package caterpillar

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync/atomic"
	"time"
	"unsafe"

	"opcycle/bench"
	"opcycle/rt"
)

// pollEvery is how often the ring is read; lastWord how long a stopped probe may take.
const (
	pollEvery = 100 * time.Millisecond
	lastWord  = 5 * time.Second
	stuck     = 2 * time.Minute // without a sample: the watchdog of a loop that never sleeps
)

// endless is the count of samples of a run that another one ends.
const endless = math.MaxInt64 / 2

// measurement is one run under way. One goroutine owns it.
type measurement struct {
	*runner
	job     bench.Job
	limit   *bench.FIFOLimit // of the measured CPU
	order   order
	from    string // where the buffer's size comes from
	small   string // why the buffer is less than it should be
	out     table
	page    *page
	taken   int64 // rows of this process
	gaps    int64 // of this process that are kept
	state   state
	samples []sample // of state.Rows
	session session
	lost    int64
	unended int64  // iterations of a sample that was not finished
	fault   string // what ended the run before its time
	warn    []string
	answer  answer
	info    bench.ProcessInfo
	wall    int64
	started time.Time
	ended   time.Time
}

// state is a checkpoint: every row, so that a resumed run has the table of both parts.
type state struct {
	Version int    `json:"version"`
	Work    string `json:"work"` // what an iteration is: another one's samples are no part of this run
	Rows    []row  `json:"rows"`
	Parts   []part `json:"parts"` // one a process
	Gaps    []gap  `json:"gaps"`
}

// part is what one process measured.
type part struct {
	First int64   `json:"first"` // index of its first sample, which warms up
	Hz    float64 `json:"hz"`
}

const stateVersion = 2

// Run measures.
func (r *runner) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	m, err := r.measurement(job)
	if err != nil {
		return bench.SuiteResult{}, err
	}
	if m.order.Samples > 0 {
		if err := m.run(ctx); err != nil {
			if len(m.state.Rows) == 0 {
				return bench.SuiteResult{}, err // a file that was begun goes with the folder
			}
			m.fault = err.Error() // what was measured until then stays
		}
	} else {
		m.started, m.ended = time.Now(), time.Now()
	}
	m.out.close()
	return m.result(), nil
}

func (r *runner) measurement(job bench.Job) (*measurement, error) {
	if len(job.Measured) != 1 {
		return nil, fmt.Errorf("caterpillar measures one CPU; name one with --cpus, not %s", bench.CPUList(job.Measured))
	}
	m := &measurement{runner: r, job: job, limit: job.Host.FIFOLimitOf(job.Measured[0])}
	if err := m.plan(); err != nil {
		return nil, err
	}
	m.state = state{Version: stateVersion, Work: m.describe()}
	if err := m.resume(); err != nil {
		return nil, err
	}
	m.order.First, m.order.Samples = int64(len(m.state.Rows)), int64(r.samples-len(m.state.Rows))
	if job.End != nil {
		m.order.Samples = endless
	}
	if err := m.out.open(r.csv, job.Create); err != nil {
		return nil, err
	}
	m.derive()
	return m, nil
}

// resume takes what was measured before.
func (m *measurement) resume() error {
	if m.job.Resume == nil {
		return nil
	}
	var old state
	if err := json.Unmarshal(m.job.Resume, &old); err != nil {
		return fmt.Errorf("the checkpoint: %w", err)
	}
	if old.Version != stateVersion {
		return fmt.Errorf("the checkpoint is of version %d, this program writes %d", old.Version, stateVersion)
	}
	if old.Work != m.state.Work {
		return fmt.Errorf("the checkpoint is of another workload (%s) than this run (%s): start anew", old.Work, m.state.Work)
	}
	m.state = old
	return nil
}

func (m *measurement) run(ctx context.Context) error {
	p, err := m.job.Start(ctx, bench.ProbeOrder{Probe: probeName, Input: m.order, Shared: pageBytes})
	if err != nil {
		return err
	}
	defer p.Close()
	m.page = (*page)(unsafe.Pointer(&p.Mem[0]))
	if err := p.Ready(); err != nil {
		return err
	}
	if m.job.Begin != nil {
		select {
		case <-m.job.Begin:
		case <-ctx.Done(): // nothing was measured, which is no error
			m.started, m.ended = time.Now(), time.Now()
			return nil
		}
	}
	m.wall, m.started = rt.ReadWallOffset().Offset, time.Now()
	m.state.Parts = append(m.state.Parts, part{First: m.order.First, Hz: m.page.hz})
	if err := p.Go(); err != nil {
		return err
	}
	m.info, _ = p.Info() // shown only
	err = m.watch(ctx, p)
	m.ended = time.Now()
	return err
}

// watch reads the ring until the probe has ended.
func (m *measurement) watch(ctx context.Context, p *bench.ProbeRun) error {
	type word struct {
		answer answer
		err    error
	}
	answered := make(chan word, 1)
	go func() { // its own answer: a checkpoint may read m.answer meanwhile
		var w word
		w.err = p.Wait(&w.answer)
		answered <- w
	}()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	kept, alive, seen := time.Now(), time.Now(), len(m.state.Rows)
	stop, end := ctx.Done(), m.job.End
	var limit <-chan time.Time
	for {
		select {
		case w := <-answered:
			m.answer = w.answer
			m.read()
			m.unended = m.page.unfinished
			if ctx.Err() != nil {
				m.checkpoint()
			}
			return w.err
		case <-stop:
			p.Stop()
			stop, limit = nil, time.After(lastWord)
		case <-end:
			p.Stop()
			end, limit = nil, time.After(lastWord)
		case <-limit:
			p.Kill()
			<-answered
			return errors.New("the probe did not stop when it was told to, and was killed")
		case <-tick.C:
			m.read()
			m.report()
			if n := len(m.state.Rows); n > seen {
				seen, alive = n, time.Now()
			} else if time.Since(alive) > stuck {
				p.Kill()
				<-answered
				return fmt.Errorf("the probe finished no sample for %s and was killed: fewer --steps make a shorter iteration", stuck)
			}
			if m.job.Checkpoint != nil && time.Since(kept) >= m.job.CheckpointEvery {
				kept = time.Now()
				m.checkpoint()
			}
		}
	}
}

// read takes new rows, and writes each into the file at once.
func (m *measurement) read() {
	fresh, lost := m.page.take(m.taken)
	m.taken += lost + int64(len(fresh))
	m.lost += lost
	m.state.Rows = append(m.state.Rows, fresh...)
	if n := min(atomic.LoadInt64(&m.page.gaps), gapsKept); n > m.gaps {
		m.state.Gaps = append(m.state.Gaps, m.page.gap[m.gaps:n]...)
		m.gaps = n
	}
	m.derive()
}

// derive makes samples of the rows that have none yet.
func (m *measurement) derive() {
	for i := len(m.samples); i < len(m.state.Rows); i++ {
		r, hz, warm := &m.state.Rows[i], 0.0, false
		for _, p := range m.state.Parts { // few: one a resumption
			if r.Index >= p.First {
				hz, warm = p.Hz, r.Index == p.First
			}
		}
		m.samples = append(m.samples, m.session.next(r, hz, warm))
		m.out.write(&m.samples[i])
	}
}

func (m *measurement) checkpoint() {
	if m.job.Checkpoint == nil {
		return
	}
	data, err := json.Marshal(m.state)
	if err == nil {
		err = m.job.Checkpoint(m.result(), data)
	}
	if err == nil {
		return
	}
	if w := "a checkpoint was not stored: " + err.Error(); !slices.Contains(m.warn, w) {
		m.warn = append(m.warn, w)
	}
}

func (m *measurement) report() {
	n := len(m.state.Rows)
	p := bench.Progress{Phase: Name, Share: float64(n) / float64(m.runner.samples), Text: fmt.Sprintf("%d of %d samples", n, m.runner.samples)}
	if m.job.End != nil {
		p.Share, p.Text = -1, fmt.Sprintf("%d samples", n)
	}
	if n > 0 {
		p.Text += fmt.Sprintf(", worst iteration %d cycles", m.session.worst)
	}
	m.job.Progress(p)
}
