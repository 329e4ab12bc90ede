package cyclictest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

// farQuantiles are those beyond a report's usual ones, which hours of wake-ups support.
func farQuantiles() []float64 { return []float64{0.99999, 0.999999} }

// result is what was measured so far.
func (m *measurement) result() (bench.SuiteResult, error) {
	out := bench.SuiteResult{Started: m.started, Ended: m.ended, Complete: m.complete}
	if m.ended.IsZero() {
		out.Ended = time.Now()
	}
	if m.before.Runs > 0 {
		out.Resumed = m.before.Runs
	}
	if m.info.PID != 0 {
		m.info.MaxProcs = len(m.order.CPUs) + 1
		m.info.Locked, m.info.LockError = m.answer.LockError == "", m.answer.LockError
		m.info.CState = "held at 0 us"
		if m.answer.CState != "" {
			m.info.CState = "not held: " + m.answer.CState
		}
		out.Processes = append(out.Processes, m.info)
	}
	for i := range m.now.Threads {
		t := &m.now.Threads[i]
		if err := add(&out, t, m.interval); err != nil {
			return out, err
		}
		m.doubt(&out, t)
	}
	m.absent(&out)
	if m.ended.IsZero() || m.text == "" && m.json == "" {
		return out, nil
	}
	return out, m.files(&out)
}

// add puts one CPU's tally into a result.
func add(out *bench.SuiteResult, t *tally, interval time.Duration) error {
	object := fmt.Sprintf("cpu%d", t.CPU)
	blocks := &record.Blocks{Period: int64(interval), Seconds: t.Seconds}
	s, err := bench.Summarize(Name, object, "latency", t.series(), blocks, 0, int64(interval), farQuantiles()...)
	if err != nil {
		return err
	}
	out.Series = append(out.Series, s)
	figure := func(series, statistic, unit string, v int64) {
		f := bench.Figure{Suite: Name, Object: object, Series: series, Statistic: statistic, Unit: unit}
		if v < 0 {
			f.NA = "the kernel did not say"
		} else {
			x := float64(v)
			f.Value = &x
		}
		out.Figures = append(out.Figures, f)
	}
	figure("wake_ups", "interval", "ns", int64(interval))
	figure("wake_ups", "cycles", "1", t.Latency.Count)
	figure("wake_ups", "missed", "1", t.Missed)
	figure("wake_ups", "early", "1", t.Early)
	figure("wake_ups", "interrupted", "1", t.Interrupted)
	for _, w := range t.Worst {
		out.Moments = append(out.Moments, bench.Moment{At: time.Unix(0, w.At).UTC(), Since: w.Since, CPU: t.CPU, Index: w.Index, What: "wake-up", Value: w.Value, Unit: "ns"})
	}
	slices.SortFunc(out.Moments, func(a, b bench.Moment) int { return cmp.Compare(b.Value, a.Value) })
	out.Moments = out.Moments[:min(len(out.Moments), worstKept)]
	return nil
}

// doubt says what must not have happened. The kernel's counts are of the last process only.
func (m *measurement) doubt(out *bench.SuiteResult, t *tally) {
	var held int64
	for _, n := range t.Log {
		held += n
	}
	if held != t.Latency.Count {
		out.Invalid = append(out.Invalid, fmt.Sprintf("CPU %d: the histogram holds %d of %d wake-ups", t.CPU, held, t.Latency.Count))
	}
	if t.Early > 0 {
		out.Invalid = append(out.Invalid, fmt.Sprintf("CPU %d: %d wake-ups came before their instant", t.CPU, t.Early))
	}
	if t.Interrupted > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("CPU %d: %d sleeps were interrupted by a signal and slept again", t.CPU, t.Interrupted))
	}
	for _, a := range m.answer.Threads {
		if a.CPU != t.CPU {
			continue
		}
		for _, k := range []struct {
			series, statistic string
			v                 int64
		}{{"context_switches", "voluntary", a.Usage.Voluntary}, {"context_switches", "involuntary", a.Usage.Involuntary}, {"page_faults", "minor", a.Usage.Minor}, {"page_faults", "major", a.Usage.Major}} {
			f := bench.Figure{Suite: Name, Object: fmt.Sprintf("cpu%d", t.CPU), Series: k.series, Statistic: k.statistic, Unit: "1"}
			if v := float64(k.v); k.v >= 0 {
				f.Value = &v
			} else {
				f.NA = "the kernel did not say"
			}
			out.Figures = append(out.Figures, f)
		}
		if a.Usage.Minor > 0 || a.Usage.Major > 0 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("CPU %d: %d page faults in the measuring loop", t.CPU, a.Usage.Minor+a.Usage.Major))
		}
		if n := t.Latency.Count; m.before.Runs == 0 && math.Abs(float64(a.Usage.Voluntary-n)) > 0.02*float64(n)+16 {
			out.Warnings = append(out.Warnings, fmt.Sprintf("CPU %d: the thread blocked %d times in %d wake-ups", t.CPU, a.Usage.Voluntary, n))
		}
	}
}

// absent is what was asked for and refused.
func (m *measurement) absent(out *bench.SuiteResult) {
	lack := func(what, why string) {
		if why != "" {
			out.Absent = append(out.Absent, bench.Absent{What: what, Why: why})
		}
	}
	for _, t := range m.answer.Threads {
		if t.RTError != "" {
			lack(fmt.Sprintf("SCHED_FIFO %d on CPU %d", m.priority, t.CPU), t.RTError+"; measured at "+t.Policy)
			out.Warnings = append(out.Warnings, "these are wake-ups without a real-time policy: no figures of a real-time system")
		}
	}
	lack("locked memory", m.answer.LockError)
	lack("CPUs kept out of sleep states ("+latencyDevice+")", m.answer.CState)
}
