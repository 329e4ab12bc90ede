package caterpillar

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
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
	order   order
	from    string // where the buffer's size comes from
	file    io.WriteCloser
	csvOut  *csv.Writer
	page    *page
	taken   int64 // rows of this process
	gaps    int64 // of this process that are kept
	state   state
	lost    int64
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
	Version int     `json:"version"`
	Rows    []row   `json:"rows"`
	Warm    []int64 `json:"warm"` // indices that are the first of a process
	Gaps    []gap   `json:"gaps"`
}

const stateVersion = 1

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
	return m.result(), m.closeCSV()
}

func (r *runner) measurement(job bench.Job) (*measurement, error) {
	if len(job.Measured) != 1 {
		return nil, fmt.Errorf("caterpillar measures one CPU; name one with --cpus, not %s", bench.CPUList(job.Measured))
	}
	m := &measurement{runner: r, job: job, state: state{Version: stateVersion}}
	if job.Resume != nil {
		if err := json.Unmarshal(job.Resume, &m.state); err != nil {
			return nil, fmt.Errorf("the checkpoint: %w", err)
		}
		if m.state.Version != stateVersion {
			return nil, fmt.Errorf("the checkpoint is of version %d, this program writes %d", m.state.Version, stateVersion)
		}
	}
	limit := job.Host.FIFOLimit
	m.order = order{CPU: job.Measured[0], Huge: r.huge, Steps: int64(r.steps), First: int64(len(m.state.Rows)),
		Samples: int64(r.samples - len(m.state.Rows)), Require: job.RT == bench.RTRequire, Root: job.Root,
		Rest: !r.noRest && (limit == nil || limit.By != bench.FIFONone)}
	if job.RT != bench.RTOff {
		m.order.Priority = r.priority
	}
	if job.End != nil {
		m.order.Samples = endless
	}
	if r.workload == workMemory {
		var err error
		if m.order.Buffer, m.from, err = r.bufferOf(&job.Host, job.Measured[0]); err != nil {
			return nil, err
		}
	}
	if r.noRest && m.order.Priority > 0 && len(job.Housekeeping) == 1 && job.Housekeeping[0] == job.Measured[0] {
		return nil, errors.New("--no-rest at SCHED_FIFO on the only CPU would hang this machine; leave it away, or use --rt off")
	}
	return m, m.openCSV()
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
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	m.wall, m.started = rt.ReadWallOffset().Offset, time.Now()
	m.state.Warm = append(m.state.Warm, m.order.First)
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
	answered := make(chan error, 1)
	go func() { answered <- p.Wait(&m.answer) }()
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	kept, alive, seen := time.Now(), time.Now(), len(m.state.Rows)
	stop, end := ctx.Done(), m.job.End
	var limit <-chan time.Time
	for {
		select {
		case err := <-answered:
			err = errors.Join(err, m.read())
			if ctx.Err() != nil {
				m.checkpoint()
			}
			return err
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
			if err := m.read(); err != nil {
				p.Kill()
				<-answered
				return err
			}
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
func (m *measurement) read() error {
	fresh, lost := m.page.take(m.taken)
	m.taken += lost + int64(len(fresh))
	m.lost += lost
	m.state.Rows = append(m.state.Rows, fresh...)
	if n := min(atomic.LoadInt64(&m.page.gaps), gapsKept); n > m.gaps {
		m.state.Gaps = append(m.state.Gaps, m.page.gap[m.gaps:n]...)
		m.gaps = n
	}
	return m.writeCSV(len(fresh))
}

func (m *measurement) checkpoint() {
	if m.job.Checkpoint == nil {
		return
	}
	data, err := json.Marshal(m.state)
	if err == nil {
		err = m.job.Checkpoint(m.result(), data)
	}
	if err != nil {
		m.warn = append(m.warn, "a checkpoint was not stored: "+err.Error())
	}
}

func (m *measurement) report() {
	n := len(m.state.Rows)
	p := bench.Progress{Phase: Name, Share: float64(n) / float64(m.samples), Text: fmt.Sprintf("%d of %d samples", n, m.samples)}
	if m.job.End != nil {
		p.Share, p.Text = -1, fmt.Sprintf("%d samples", n)
	}
	if n > 0 {
		worst := int64(0)
		for i := range m.state.Rows {
			worst = max(worst, m.state.Rows[i].Max)
		}
		p.Text += fmt.Sprintf(", worst iteration %d cycles", worst)
	}
	m.job.Progress(p)
}
