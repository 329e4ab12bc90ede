package sel4bench

import (
	"fmt"
	"slices"

	"gonum.org/v1/gonum/stat"

	"opcycle/bench"
)

// ignored are the first samples of each series, as sel4bench ignores them.
const ignored = 10

// The original's numbers of samples: 16 of an IPC, each the last of 16 rounds; 100 of a
// notification.
const (
	formIPC    = 16
	formRounds = 16
	formNotify = 100
)

// tableForm holds the rows that repeat the original's number of samples; they are never a
// headline.
const tableForm = "sel4bench_form"

const analogue = "Linux analogue, not seL4"

// rows are a probe's readings, and what of it shows that the method failed.
func rows(job bench.Job, w work, a answer, err error) (out []bench.Reading, failed []string) {
	add := func(table, name, mechanism, deviation string, samples []int64) {
		r := bench.Reading{Table: table, Name: name, Mechanism: mechanism, Statistic: "mean", Unit: a.Unit,
			Placement: fmt.Sprintf("same CPU %d", job.Measured[0]), Policy: a.Policy, Deviation: deviation}
		if err != nil {
			r.NA = err.Error()
		} else if r.NA = reason(w, &a, samples); r.NA == "" {
			fill(&r, samples, &a)
		}
		out = append(out, r)
	}
	ipc, notify := analogue+": 2 system calls", analogue
	if !a.fifo(order{RT: job.RT != bench.RTOff}) {
		ipc, notify = ipc+"; not real-time", notify+"; not real-time"
	}
	switch w.kind {
	case kindIPC:
		add(Name, "ipc_call", w.via, ipc, after(a.Call))
		add(Name, "ipc_reply", w.via, ipc, after(a.Reply))
		add(tableForm, "ipc_call", w.via, ipc+"; form of the original: 16 samples, each the last of 16 rounds, here of one pair", everyRound(after(a.Call)))
		add(tableForm, "ipc_reply", w.via, ipc+"; form of the original: 16 samples, each the last of 16 rounds, here of one pair", everyRound(after(a.Reply)))
	case kindNotify:
		add(Name, "notify", w.via, notify, after(a.Call))
		add(tableForm, "notify", w.via, notify+"; form of the original: the first 100 samples", first(after(a.Call), formNotify))
	case kindFloor:
		add(Name, "null_system_call", "getppid", "floor: every figure has more than one", after(a.Null))
		add(Name, "counter_read", "two reads", "floor: the overhead, not subtracted here", after(a.Call))
	default:
		add(Name, "irq_invoke", "timer, spinner in the "+w.kind, irqLabel(job, w, &a), after(a.Call))
	}
	if err != nil {
		failed = append(failed, fmt.Sprintf("%s: %v", w, err))
	} else if why := reason(w, &a, after(a.Call)); why != "" && a.fifo(order{RT: job.RT != bench.RTOff}) && w.kind == kindNotify && !a.Stopped {
		failed = append(failed, fmt.Sprintf("%s: %s, although both ends had SCHED_FIFO", w, why))
	}
	return out, failed
}

func irqLabel(job bench.Job, w work, a *answer) string {
	d := analogue + ": timer interrupt to wake-up in user space"
	if job.Host.Hypervisor != "" {
		d += "; virtualised timer"
	}
	if !a.fifo(order{RT: job.RT != bench.RTOff}) {
		d += "; not real-time"
	}
	return d + fmt.Sprintf("; %d of %d instants left out: another thread had the spinner's CPU when the timer was due (its last stamp was more than %v older)", a.Stale, a.Done+a.Stale, staleBy)
}

// after leaves the first samples out.
func after(samples []int64) []int64 { return samples[min(ignored, len(samples)):] }

func first(samples []int64, n int) []int64 { return samples[:min(n, len(samples))] }

// everyRound takes the last sample of every 16 rounds.
func everyRound(samples []int64) []int64 {
	var out []int64
	for i := formRounds - 1; i < len(samples) && len(out) < formIPC; i += formRounds {
		out = append(out, samples[i])
	}
	return out
}

// reason says why samples are no figure; empty: they are.
func reason(w work, a *answer, samples []int64) string {
	bad := 0
	for _, s := range samples {
		if s+a.Overhead <= 0 && w.kind != kindFloor {
			bad++
		}
	}
	switch {
	case a.Done < w.n && a.Stopped:
		return fmt.Sprintf("stopped at sample %d of %d", a.Done, w.n)
	case a.Done < w.n && !w.irq():
		return fmt.Sprintf("the peer did not preempt at sample %d: it needs SCHED_FIFO on one CPU", a.Done)
	case bad > 0:
		return fmt.Sprintf("%d samples end before their start: nobody was preempted", bad)
	case len(samples) < 2:
		return fmt.Sprintf("%d usable samples after the first %d; %d instants were left out because another thread had the spinner's CPU", len(samples), ignored, a.Stale)
	}
	return ""
}

// The spread beyond which a mean is no figure.
const (
	tailFactor = 3.0 // of the median, for the 99th percentile
	devShare   = 0.5 // of the mean, for the standard deviation
	staleShare = 0.1 // of the instants, left out
)

// fill computes a row from its samples in cycles; where the counter is no TSC, in ns.
func fill(r *bench.Reading, samples []int64, a *answer) {
	scale := 1.0
	if a.Unit != cyclesUnit {
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
	switch {
	case float64(a.Stale) > staleShare*float64(a.Done+a.Stale):
		r.Unstable = fmt.Sprintf("%d of %d instants were left out: what is left is of the quieter moments of this CPU", a.Stale, a.Done+a.Stale)
	case *r.P99 > tailFactor**r.Median:
		r.Unstable = "its 99th percentile is beyond three times its median: something else ran; the median stands, the mean does not"
	case dev > devShare*mean:
		r.Unstable = "its standard deviation is beyond half of its mean: a few long samples make it; the median stands, the mean does not"
	}
}

const cyclesUnit = "TSC cycles"

// headlines marks the mechanism with the least median of each figure; of the IRQ's two the
// one of the page, the same address space.
func headlines(readings []bench.Reading) []bench.Reading {
	best := map[string]int{}
	for i, r := range readings {
		if r.Table != Name || r.Name == "irq_invoke" && r.Mechanism != "timer, spinner in the "+kindIRQThread {
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
