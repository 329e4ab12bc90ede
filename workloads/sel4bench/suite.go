package sel4bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"opcycle/bench"
)

// Name is the suite's name in results.
const Name = "sel4bench"

const probeName = "pair"

// ignored are the first samples of each series, as sel4bench ignores them.
const ignored = 10

// watchdog ends a probe that hangs.
const watchdog = 60 * time.Second

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
		bench.IntOption("samples", &r.samples, 100, mostSamples, "samples of each IPC and notify row"),
		bench.IntOption("irq-samples", &r.irqSamples, 20, 6000, "samples of each IRQ row, 10 ms each"),
		bench.SwitchOption("quick", &r.quick, "500 samples, 30 of the IRQ rows: for form, not for figures"),
	}
}

// work is one probe's share of a run.
type work struct {
	kind, via string
	n         int
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
	if job.Begin != nil {
		select {
		case <-job.Begin:
		case <-ctx.Done():
			return bench.SuiteResult{}, ctx.Err()
		}
	}
	out := bench.SuiteResult{Started: time.Now(), Complete: true}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if job.End != nil {
		go func() {
			select {
			case <-job.End:
				cancel()
			case <-ctx.Done():
			}
		}()
	}
	for round := 0; ; round++ {
		readings, ended, err := r.round(ctx, job, &out)
		if err != nil {
			return out, err
		}
		if !ended {
			out.Complete = job.End != nil && round > 0
		}
		if ended || round == 0 {
			out.Readings = readings // beside another suite: of the last whole round
		}
		if !ended || job.End == nil {
			break
		}
	}
	out.Ended = time.Now()
	return out, nil
}

// round measures all rows once. ended is false when ctx ended before.
func (r *runner) round(ctx context.Context, job bench.Job, out *bench.SuiteResult) (readings []bench.Reading, ended bool, err error) {
	all := r.works()
	out.Figures = nil
	for i, w := range all {
		job.Progress(bench.Progress{Phase: Name, Share: float64(i) / float64(len(all)), Text: fmt.Sprintf("%s %s, %d of %d", w.kind, w.via, i+1, len(all))})
		a, err := r.measure(ctx, job, w)
		if ctx.Err() != nil {
			return headlines(readings), false, nil
		}
		readings = append(readings, rows(job, w, a, err)...)
		if err == nil {
			note(out, job, w, a)
		}
	}
	return headlines(readings), true, nil
}

func (r *runner) measure(ctx context.Context, job bench.Job, w work) (answer, error) {
	var a answer
	o := order{Kind: w.kind, Via: w.via, CPU: job.Measured[0], RT: job.RT != bench.RTOff, Require: job.RT == bench.RTRequire, N: w.n, Root: job.Root}
	p, err := job.Start(ctx, bench.ProbeOrder{Probe: probeName, Input: o, Shared: boardBytes, MaxProcs: 3, Limit: watchdog})
	if err != nil {
		return a, err
	}
	defer p.Close()
	if err := errors.Join(p.Ready(), p.Go()); err != nil {
		return a, err
	}
	return a, p.Wait(&a)
}

// note keeps what concerns the whole result.
func note(out *bench.SuiteResult, job bench.Job, w work, a answer) {
	add := func(series, statistic, unit string, v float64) {
		out.Figures = append(out.Figures, bench.Figure{Suite: Name, Object: fmt.Sprintf("cpu%d", job.Measured[0]), Series: series, Statistic: statistic, Unit: unit, Value: &v})
	}
	if w.kind == kindFloor {
		add("clock", "rate", "Hz", a.Hz)
		out.Figures = append(out.Figures, bench.Figure{Suite: Name, Series: "clock", Statistic: "unit", Unit: "text", Text: a.Unit})
		f := bench.Figure{Suite: Name, Series: "clock", Statistic: "core_ratio", Unit: "ratio", NA: a.RatioWhy}
		if a.Ratio > 0 {
			f.Value, f.NA = &a.Ratio, ""
		}
		out.Figures = append(out.Figures, f)
		add("overhead", "min", "cycles", float64(a.Overhead))
		add("overhead", "max", "cycles", float64(a.Worst))
	}
	if a.RTError != "" && !slices.ContainsFunc(out.Absent, func(x bench.Absent) bool { return x.What == "SCHED_FIFO" }) {
		out.Absent = append(out.Absent, bench.Absent{What: "SCHED_FIFO", Why: a.RTError})
	}
	if a.LockError != "" && !slices.ContainsFunc(out.Absent, func(x bench.Absent) bool { return x.What == "locked memory" }) {
		out.Absent = append(out.Absent, bench.Absent{What: "locked memory", Why: a.LockError})
	}
	if w.kind == kindIPC && math.Abs(float64(a.Switches)-float64(a.Done)) > 0.02*float64(a.Done)+16 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%s over %s: the client's thread was switched %d times in %d calls: not every call switched once", w.kind, w.via, a.Switches, a.Done))
	}
}

// rows are a probe's readings.
func rows(job bench.Job, w work, a answer, err error) []bench.Reading {
	base := bench.Reading{Table: Name, Mechanism: w.via, Statistic: "mean", Unit: a.Unit, Placement: fmt.Sprintf("same CPU %d", job.Measured[0]),
		Policy: a.Policy, Deviation: "Linux analogue, not seL4"}
	type series struct {
		name, mechanism, deviation string
		samples                    []int64
	}
	var all []series
	switch w.kind {
	case kindIPC:
		all = []series{{"ipc_call", w.via, "Linux analogue, not seL4: 2 system calls", a.Call}, {"ipc_reply", w.via, "Linux analogue, not seL4: 2 system calls", a.Reply}}
	case kindNotify:
		all = []series{{"notify", w.via, base.Deviation, a.Call}}
	case kindFloor:
		all = []series{{"null_system_call", "getppid", "floor: in every figure at least once", a.Null}, {"counter_read", "two reads", "floor: the overhead, not subtracted here", a.Call}}
	default:
		d := "Linux analogue, not seL4: timer interrupt to wake-up in user space"
		if job.Host.Hypervisor != "" {
			d += "; virtualised timer"
		}
		all = []series{{"irq_invoke", w.kind, d, a.Call}}
	}
	var out []bench.Reading
	for _, s := range all {
		r := base
		r.Name, r.Mechanism, r.Deviation = s.name, s.mechanism, s.deviation
		fill(&r, s.samples, a, w, err)
		out = append(out, r)
	}
	return out
}

// fill computes a row from its samples in cycles; on arm64, whose counter is coarse, in ns.
func fill(r *bench.Reading, samples []int64, a answer, w work, err error) {
	if err != nil {
		r.NA = err.Error()
		return
	}
	if len(samples) > ignored {
		samples = samples[ignored:]
	}
	bad := 0
	for _, s := range samples {
		if s <= -a.Overhead {
			bad++
		}
	}
	switch {
	case a.Done < w.n:
		r.NA = fmt.Sprintf("the peer did not preempt at sample %d: it needs SCHED_FIFO on one CPU", a.Done)
	case bad > 0:
		r.NA = fmt.Sprintf("%d samples end before their start: nobody was preempted", bad)
	case len(samples) < 2:
		r.NA = "too few samples"
	}
	if r.NA != "" {
		return
	}
	scale := 1.0
	if a.Unit != "TSC cycles" {
		scale, r.Unit = 1e9/a.Hz, "ns"
	}
	v := make([]float64, len(samples))
	for i, s := range samples {
		v[i] = float64(s) * scale
	}
	slices.Sort(v)
	mean, dev := stat.MeanStdDev(v, nil)
	at := func(q float64) *float64 { x := stat.Quantile(q, stat.Empirical, v, nil); return &x }
	r.Value, r.Mean, r.StdDev = &mean, &mean, &dev
	r.N, r.Min, r.Max, r.Median, r.P99 = int64(len(v)), &v[0], &v[len(v)-1], at(0.5), at(0.99)
	if *r.P99 > 3**r.Median {
		r.Unstable = "its 99th percentile is beyond three times its median: something else ran; the median stands, the mean does not"
	}
}

// headlines marks the mechanism with the least median of each figure; of the IRQ's two the
// one of the page, the same address space.
func headlines(readings []bench.Reading) []bench.Reading {
	best := map[string]int{}
	for i, r := range readings {
		if r.Name == "irq_invoke" && r.Mechanism != kindIRQThread {
			continue
		}
		at, ok := best[r.Name]
		if !ok || r.Median != nil && (readings[at].Median == nil || *r.Median < *readings[at].Median) {
			best[r.Name] = i
		}
	}
	for _, i := range best {
		readings[i].Headline = true
	}
	return readings
}
