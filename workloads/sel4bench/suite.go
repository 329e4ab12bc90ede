package sel4bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync/atomic"
	"time"

	"opcycle/bench"
)

// Name is the suite's name in results.
const Name = "sel4bench"

const probeName = "pair"

// margin is what a probe may need beside its samples before it counts as hung.
const margin = 15 * time.Second

// Suite is the suite's line in workloads.All.
func Suite() bench.Suite {
	return bench.Suite{
		Name:  Name,
		Short: "interrupt, IPC call, IPC reply and notification in cycles: Linux's counterparts of seL4's four figures",
		Method: `sel4bench measures what Linux has in the place of seL4's four figures, in cycles of the
processor's counter: IRQ invoke (timer interrupt to wake-up in user space), IPC call and
reply between two processes on one CPU, and notify from priority 1 to 99. Each is measured
over futex, eventfd and pipe, and the one with the least median is the headline. They are
analogues, not seL4: a Linux IPC is two system calls.

The table has the published rows of seL4 beneath, default and MCS, with their build data.`,
		Asks:   bench.Asks{FIFO: 99, Lock: true, Counters: true},
		New:    func() bench.Runner { return &runner{samples: 5000, irqSamples: 110} },
		Probes: map[string]bench.Probe{probeName: probe},
	}
}

type runner struct {
	samples, irqSamples int
	quick               bool
}

// Options are the suite's settings.
func (r *runner) Options() []bench.Option {
	return []bench.Option{
		bench.IntOption("samples", &r.samples, 300, mostSamples, "samples of each IPC and notify row"),
		bench.IntOption("irq-samples", &r.irqSamples, 20, 1500, "samples of each IRQ row, 10 ms each; on a busy CPU up to four times that"),
		bench.SwitchOption("quick", &r.quick, "500 samples, 30 of the IRQ rows: for form, not for figures"),
	}
}

// work is one probe's share of a run.
type work struct {
	kind, via string
	n         int
}

func (w work) String() string {
	switch {
	case w.via != "":
		return w.kind + " over " + w.via
	case w.kind == kindFloor:
		return w.kind
	}
	return "irq, " + w.kind
}

func (w work) irq() bool { return w.kind == kindIRQThread || w.kind == kindIRQOther }

// limit is the watchdog: no loop but the ticker's takes seconds.
func (w work) limit() time.Duration {
	if w.irq() {
		return margin + 2*mostInstants*time.Duration(w.n)*tick
	}
	return margin
}

func (r *runner) works() []work {
	n, irqs := r.samples, r.irqSamples
	if r.quick {
		n, irqs = 500, 30
	}
	out := []work{{kindFloor, "", n}, {kindIRQThread, "", irqs}, {kindIRQOther, "", irqs}}
	for _, kind := range []string{kindIPC, kindNotify} {
		for _, via := range mechanisms() {
			out = append(out, work{kind, via, n})
		}
	}
	return out
}

// Run measures every row, each in a probe of its own; beside another suite again and again.
func (r *runner) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	if len(job.Measured) != 1 {
		return bench.SuiteResult{}, fmt.Errorf("sel4bench measures one CPU, both ends on it; name one with --cpus, not %s", bench.CPUList(job.Measured))
	}
	if slices.Equal(job.Measured, job.Housekeeping) && job.RT != bench.RTOff {
		return bench.SuiteResult{}, errors.New("sel4bench at SCHED_FIFO needs a CPU beside the measured one; use --rt off on a machine with one")
	}
	out := bench.SuiteResult{Started: time.Now()}
	if job.Begin != nil {
		select {
		case <-job.Begin:
		case <-ctx.Done():
			out.Ended = time.Now()
			return out, nil
		}
		out.Started = time.Now()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var atEnd atomic.Bool
	if job.End != nil {
		go func() {
			select {
			case <-job.End:
				atEnd.Store(true)
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	last, err := r.round(ctx, job)
	whole := err == nil && last.complete
	for job.End != nil && err == nil && ctx.Err() == nil {
		var next round
		if next, err = r.round(ctx, job); next.complete {
			last = next // beside another suite: of the last whole round
		}
	}
	if err != nil {
		return bench.SuiteResult{}, err
	}
	out.Ended = time.Now()
	out.Complete = whole && (job.End == nil || atEnd.Load())
	out.Readings, out.Figures = headlines(last.readings), append(host(job), last.figures...)
	out.Absent, out.Warnings, out.Failed = last.absent, last.warnings, last.failed
	return out, nil
}

// round is what one pass over all rows gave.
type round struct {
	readings []bench.Reading
	figures  []bench.Figure
	absent   []bench.Absent
	warnings []string
	failed   []string
	complete bool // false: ctx ended before
}

// round measures all rows once.
func (r *runner) round(ctx context.Context, job bench.Job) (out round, err error) {
	all := r.works()
	for i, w := range all {
		job.Progress(bench.Progress{Phase: Name, Share: float64(i) / float64(len(all)), Text: fmt.Sprintf("%s, %d of %d", w, i+1, len(all))})
		a, err := r.measure(ctx, job, w)
		if ctx.Err() != nil {
			return out, nil
		}
		if err == nil && a.RTError != "" && job.RT == bench.RTRequire {
			return out, fmt.Errorf("--rt require: %s", a.RTError)
		}
		readings, failed := rows(job, w, a, err)
		out.readings = append(out.readings, readings...)
		out.failed = append(out.failed, failed...)
		if err == nil {
			out.note(job, w, a)
		}
	}
	out.complete = true
	return out, nil
}

func (r *runner) measure(ctx context.Context, job bench.Job, w work) (answer, error) {
	var a answer
	o := order{Kind: w.kind, Via: w.via, CPU: job.Measured[0], RT: job.RT != bench.RTOff, Require: job.RT == bench.RTRequire, N: w.n, Root: job.Root}
	p, err := job.Start(ctx, bench.ProbeOrder{Probe: probeName, Input: o, Shared: boardBytes, MaxProcs: 3, Limit: w.limit()})
	if err != nil {
		return a, err
	}
	defer p.Close()
	if err := errors.Join(p.Ready(), p.Go()); err != nil {
		return a, err
	}
	return a, p.Wait(&a)
}

// host is what the table says of the machine.
func host(job bench.Job) []bench.Figure {
	isa := map[string]string{"amd64": "x86_64", "arm64": "Armv8a"}[runtime.GOARCH]
	if isa == "" {
		isa = runtime.GOARCH
	}
	return []bench.Figure{
		{Suite: Name, Object: "host", Series: "isa", Statistic: "text", Unit: "text", Text: isa},
		{Suite: Name, Object: "host", Series: "cpu", Statistic: "text", Unit: "text", Text: job.Host.CPUModel},
	}
}

// note keeps what concerns the whole result.
func (out *round) note(job bench.Job, w work, a answer) {
	add := func(object, series, statistic, unit string, v float64) {
		out.figures = append(out.figures, bench.Figure{Suite: Name, Object: object, Series: series, Statistic: statistic, Unit: unit, Value: &v})
	}
	if w.kind == kindFloor {
		cpu := fmt.Sprintf("cpu%d", job.Measured[0])
		add(cpu, "clock", "rate", "Hz", a.Hz)
		out.figures = append(out.figures, bench.Figure{Suite: Name, Object: cpu, Series: "clock", Statistic: "unit", Unit: "text", Text: a.Unit},
			bench.Figure{Suite: Name, Object: cpu, Series: "clock", Statistic: "core_ratio", Unit: "ratio", Value: a.Ratio, NA: a.RatioWhy})
		add(cpu, "overhead", "min", "cycles", float64(a.Overhead))
		add(cpu, "overhead", "max", "cycles", float64(a.Worst))
	}
	out.lacks("SCHED_FIFO", a.RTError)
	out.lacks("locked memory", a.LockError)
	out.lacks(fmt.Sprintf("nice %d of the spinner", spinnerNice), a.NiceError)
	if w.kind != kindIPC && w.kind != kindNotify {
		return
	}
	add(w.String(), "samples", "count", "1", float64(a.Done))
	add(w.String(), "switches", "own", "1", float64(a.Switches))
	add(w.String(), "switches", "peer", "1", float64(a.Peer))
	if !a.fifo(order{RT: job.RT != bench.RTOff}) || a.Stopped {
		return
	}
	for _, end := range []struct {
		name string
		n    int64
	}{{"this end", a.Switches}, {"the peer", a.Peer}} {
		if math.Abs(float64(end.n)-float64(a.Done)) > 0.02*float64(a.Done)+16 {
			out.warnings = append(out.warnings, fmt.Sprintf("%s: %s was switched %d times in %d samples: not every one switched once", w, end.name, end.n, a.Done))
		}
	}
}

func (out *round) lacks(what, why string) {
	if why != "" && !slices.ContainsFunc(out.absent, func(x bench.Absent) bool { return x.What == what }) {
		out.absent = append(out.absent, bench.Absent{What: what, Why: why})
	}
}
