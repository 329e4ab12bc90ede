package oslat

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
)

// The names of both suites in results.
const (
	Name      = "oslat"
	NameHWLat = "hwlat"
)

const probeName = "spin"

// Suite is oslat's line in workloads.All.
func Suite() bench.Suite {
	return bench.Suite{
		Name:  Name,
		Short: "gaps in which a CPU with nothing else to do did not run its thread: system and hardware",
		Method: `oslat spins at SCHED_FIFO 99, reading the processor's counter, and counts every gap between
two readings: what interrupts, the kernel, a hypervisor or system management took. One CPU
has to stay free: a spinner on each would hang the machine.

Gaps of the threshold or longer are kept with their time: the longest in the result, all of
them in oslat-gaps.csv beside it. A thread that never sleeps meets what limits FIFO time
(RT throttling, the fair server): the result names it, and gaps of that length are counted
as suspected throttling. sysctl kernel.sched_rt_runtime_us=-1 turns the first off.`,
		Asks:   bench.Asks{Lock: true, Spins: true},
		Alone:  "it takes its CPUs whole",
		New:    func() bench.Runner { return newRunner() },
		Probes: map[string]bench.Probe{probeName: probe},
	}
}

type runner struct {
	duration, threshold, preheat time.Duration
	priority                     int
}

func newRunner() *runner {
	return &runner{duration: 10 * time.Second, threshold: 10 * time.Microsecond, preheat: time.Second, priority: 99}
}

// Options are the suite's settings.
func (r *runner) Options() []bench.Option {
	return []bench.Option{
		bench.DurationOption("duration", &r.duration, 10*time.Millisecond, "length of the run"),
		bench.DurationOption("threshold", &r.threshold, 100*time.Nanosecond, "a gap from here on is kept with its time"),
		bench.DurationOption("preheat", &r.preheat, time.Millisecond, "the same loop before, for the bias"),
		bench.IntOption("priority", &r.priority, 1, 99, "SCHED_FIFO priority"),
	}
}

const lastWord = 2 * time.Second

// Run watches the measured CPUs.
func (r *runner) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	for _, c := range job.Measured {
		for _, h := range job.Housekeeping {
			if c == h {
				return bench.SuiteResult{}, fmt.Errorf("oslat spins on CPU %d, which has to do the rest of the work too, and would hang this machine; leave one CPU free with --cpus", c)
			}
		}
	}
	low, high := job.Host.FIFOLimitOf(job.Measured[0]).Gap()
	o := order{Low: low, High: high, CPUs: job.Measured, Require: job.RT == bench.RTRequire, Preheat: r.preheat, Duration: r.duration, Threshold: r.threshold, Root: job.Root}
	if job.RT != bench.RTOff {
		o.Priority = r.priority
	}
	p, err := job.Start(ctx, bench.ProbeOrder{Probe: probeName, Input: o, Shared: pageBytes * len(o.CPUs), MaxProcs: len(o.CPUs) + 1, Limit: r.preheat + r.duration + margin})
	if err != nil {
		return bench.SuiteResult{}, err
	}
	defer p.Close()
	if err := p.Ready(); err != nil {
		return bench.SuiteResult{}, err
	}
	m := measurement{runner: r, job: job, order: o, pages: pages(p.Mem, len(o.CPUs)), wall: rt.ReadWallOffset().Offset}
	if m.list, err = newGapList(&job); err != nil {
		return bench.SuiteResult{}, err
	}
	m.started = time.Now()
	if err := p.Go(); err != nil {
		return bench.SuiteResult{}, err
	}
	info, _ := p.Info() // shown only
	if err := m.wait(ctx, p); err != nil {
		return bench.SuiteResult{}, err
	}
	m.drain()
	return m.result(ctx, info)
}

// measurement is one run under way.
type measurement struct {
	*runner
	job     bench.Job
	order   order
	pages   []*page
	answer  answer
	list    *gapList
	wall    int64
	started time.Time
}

func (m *measurement) wait(ctx context.Context, p *bench.ProbeRun) error {
	answered := make(chan error, 1)
	go func() { answered <- p.Wait(&m.answer) }()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	stop := ctx.Done()
	var limit <-chan time.Time
	for {
		select {
		case err := <-answered:
			return err
		case <-stop:
			p.Stop()
			stop, limit = nil, time.After(lastWord)
		case <-limit:
			p.Kill()
			<-answered
			return errors.New("the probe did not stop when it was told to, and was killed")
		case <-tick.C:
			m.drain()
			m.job.Progress(bench.Progress{Phase: Name, Text: fmt.Sprintf("worst %.0f us", float64(m.list.worst())/1e3), Share: min(time.Since(m.started).Seconds()/(m.preheat+m.duration).Seconds(), 1)})
		}
	}
}

// result turns cycles into time.
func (m *measurement) result(ctx context.Context, info bench.ProcessInfo) (bench.SuiteResult, error) {
	out := bench.SuiteResult{Started: m.started, Ended: time.Now(), Complete: ctx.Err() == nil}
	info.MaxProcs, info.Locked, info.LockError = len(m.order.CPUs)+1, m.answer.LockError == "", m.answer.LockError
	out.Processes = []bench.ProcessInfo{info}
	for i, p := range m.pages {
		if err := m.add(&out, i, m.order.CPUs[i], p); err != nil {
			return out, err
		}
	}
	out.Moments = m.list.longest
	files, err := m.list.close()
	if err != nil {
		return out, err
	}
	out.Files = append(out.Files, files...)
	for i, why := range m.answer.RTErrors {
		if why != "" {
			out.Absent = append(out.Absent, bench.Absent{What: fmt.Sprintf("SCHED_FIFO %d on CPU %d", m.priority, m.order.CPUs[i]), Why: why + "; watched at " + m.answer.Policies[i]})
		}
	}
	if m.answer.LockError != "" {
		out.Absent = append(out.Absent, bench.Absent{What: "locked memory", Why: m.answer.LockError})
	}
	return out, nil
}

func (m *measurement) add(out *bench.SuiteResult, i, cpu int, p *page) error {
	object := fmt.Sprintf("cpu%d", cpu)
	ns := func(cycles int64) int64 { return int64(math.Round(float64(cycles) / m.answer.Hz * 1e9)) }
	var buckets []record.Bucket
	var held int64
	for i, n := range p.buckets {
		if n > 0 {
			from, to := edges(i)
			buckets = append(buckets, record.Bucket{From: ns(from), To: ns(to), Count: n})
			held += n
		}
	}
	moments := record.Moments{Count: p.cycles.Count, Sum: ns(p.cycles.Sum), Min: ns(p.cycles.Min), Max: ns(p.cycles.Max), Squares: squares(p.cycles.Squares, m.answer.Hz)}
	s, err := bench.Summarize(Name, object, "gap", record.FromBuckets(moments, buckets), nil, 0, 1, 0.99999, 0.999999)
	if err != nil {
		return err
	}
	out.Series = append(out.Series, s)
	figure := func(series, statistic, unit string, v float64) {
		out.Figures = append(out.Figures, bench.Figure{Suite: Name, Object: object, Series: series, Statistic: statistic, Unit: unit, Value: &v})
	}
	watched, wall := float64(moments.Sum), float64(p.end-p.begin)
	figure("gaps", "over_threshold", "1", float64(p.over))
	figure("gaps", "lost_time", "ns", float64(p.lost)/m.answer.Hz*1e9)
	figure("gaps", "without_time", "1", float64(p.dropped))
	figure("gaps", "suspected_throttling", "1", float64(p.throttled))
	figure("loop", "time", "ns", float64(p.cycles.Sum-p.lost)/m.answer.Hz*1e9)
	figure("loop", "bias", "ns", float64(p.bias)/m.answer.Hz*1e9)
	figure("watched", "sum", "ns", watched)
	figure("watched", "wall", "ns", wall)
	out.Figures = append(out.Figures, bench.Figure{Suite: Name, Object: object, Series: "thread", Statistic: "policy", Unit: "text", Text: m.answer.Policies[i]})
	if l := m.job.Host.FIFOLimitOf(cpu); l != nil {
		out.Figures = append(out.Figures, bench.Figure{Suite: Name, Object: object, Series: "fifo_limit", Statistic: "by", Unit: "text", Text: l.By},
			bench.Figure{Suite: Name, Object: object, Series: "fifo_limit", Statistic: "why", Unit: "text", Text: l.Why})
	}
	if held != p.cycles.Count {
		out.Invalid = append(out.Invalid, fmt.Sprintf("CPU %d: the histogram holds %d of %d gaps", cpu, held, p.cycles.Count))
	}
	if p.dropped > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("CPU %d: %d gaps are counted but not listed: they came faster than they were read; use a higher --threshold", cpu, p.dropped))
	}
	if p.throttled > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("CPU %d: %d gaps of %s to %s are suspected throttling (%s), no latency of system or hardware", cpu, p.throttled, m.order.Low, m.order.High, m.job.Host.FIFOLimitOf(cpu).Why))
	}
	if p.faults > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("CPU %d: %d page faults in the loop, which are gaps too", cpu, p.faults))
	}
	if math.Abs(watched-wall) > 0.001*wall+1e6 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("CPU %d: the gaps add up to %.6f s, the clock says %.6f s", cpu, watched/1e9, wall/1e9))
	}
	return nil
}

// squares turns a sum of squares from cycles² into ns².
func squares(w record.Wide, hz float64) record.Wide {
	f := (float64(w.Hi)*math.Pow(2, 64) + float64(w.Lo)) / hz / hz * 1e18
	hi := math.Floor(f / math.Pow(2, 64))
	return record.Wide{Hi: uint64(hi), Lo: uint64(max(f-hi*math.Pow(2, 64), 0))}
}
