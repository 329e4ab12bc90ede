package cyclictest

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
)

// farQuantiles are those beyond a report's usual ones, which hours of wake-ups support.
func farQuantiles() []float64 { return []float64{0.99999, 0.999999} }

// result is what was measured so far.
func (m *measurement) result() (bench.SuiteResult, error) {
	out := bench.SuiteResult{Started: m.started, Ended: m.ended, Complete: m.complete, Warnings: slices.Clone(m.warnings)}
	if m.ended.IsZero() {
		out.Ended = time.Now()
	}
	if m.begun {
		out.Processes = append(out.Processes, m.process())
	}
	if m.fault != nil {
		out.Invalid = append(out.Invalid, m.fault.Error())
	}
	for i := range m.now.Threads {
		t := &m.now.Threads[i]
		if err := add(&out, fmt.Sprintf("cpu%d", t.CPU), t, m.interval, m.now.Width); err != nil {
			return out, err
		}
		out.Figures = append(out.Figures, m.figures(t)...)
		m.doubt(&out, t)
	}
	m.clock(&out)
	m.answer.lacks(&out, m.priority)
	if m.ended.IsZero() || len(m.now.Threads) == 0 {
		return out, nil
	}
	return out, m.files(&out)
}

// process is the probe as it was.
func (m *measurement) process() bench.ProcessInfo {
	p := m.info
	p.Locked, p.LockError, p.CState = m.answer.LockError == "", "", "held at 0 µs"
	if !p.Locked {
		p.LockError = "not locked: " + m.answer.LockError
	}
	if m.answer.CState != "" {
		p.CState = "not held: " + m.answer.CState
	}
	if m.ended.IsZero() || m.fault != nil { // the answer is what says it
		p.Locked, p.LockError, p.CState = false, "not known: the probe has not answered", "not known: the probe has not answered"
	}
	return p
}

// add puts one CPU's latencies into a result, as object.
func add(out *bench.SuiteResult, object string, t *tally, interval time.Duration, width int) error {
	blocks := &record.Blocks{Period: int64(interval), Seconds: t.Seconds}
	if width > 1 {
		blocks.Width = int64(width)
	}
	s, err := bench.Summarize(Name, object, "latency", t.series(), blocks, 0, int64(interval), farQuantiles()...)
	if err != nil {
		return err
	}
	out.Series = append(out.Series, s)
	for _, w := range t.Worst {
		out.Moments = append(out.Moments, bench.Moment{At: time.Unix(0, w.At).UTC(), Since: w.Since, CPU: t.CPU, Index: w.Index, What: "wake-up", Value: w.Value, Unit: "ns"})
	}
	slices.SortStableFunc(out.Moments, func(a, b bench.Moment) int { return cmp.Compare(b.Value, a.Value) })
	out.Moments = out.Moments[:min(len(out.Moments), worstKept)]
	slices.SortStableFunc(out.Moments, func(a, b bench.Moment) int { return a.At.Compare(b.At) })
	return nil
}

// figures are the counters of one CPU: every one that is counted.
func (m *measurement) figures(t *tally) []bench.Figure {
	var out []bench.Figure
	object := fmt.Sprintf("cpu%d", t.CPU)
	number := func(series, statistic, unit string, v int64, na string) {
		f := bench.Figure{Suite: Name, Object: object, Series: series, Statistic: statistic, Unit: unit, NA: na}
		if na == "" {
			x := float64(v)
			f.Value = &x
		}
		out = append(out, f)
	}
	number("wake_ups", "interval", "ns", int64(m.interval), "")
	number("wake_ups", "cycles", "1", t.Latency.Count, "")
	number("wake_ups", "missed", "1", t.Missed, "")
	number("wake_ups", "early", "1", t.Early, "")
	number("wake_ups", "interrupted", "1", t.Interrupted, "")
	if m.histogram > 0 {
		number("histogram", "resolution", "ns", 1000, "")
		number("histogram", "overflow", "1", t.beyond(m.histogram), "")
	}
	na := ""
	if t.Usage.Voluntary < 0 {
		na = "the kernel was not asked: a part of the run was killed, or has not ended"
	}
	number("context_switches", "voluntary", "1", t.Usage.Voluntary, na)
	number("context_switches", "involuntary", "1", t.Usage.Involuntary, na)
	number("page_faults", "minor", "1", t.Usage.Minor, na)
	number("page_faults", "major", "1", t.Usage.Major, na)
	policy := bench.Figure{Suite: Name, Object: object, Series: "thread", Statistic: "policy", Unit: "text", NA: "the probe gave no answer"}
	if a := m.answer.of(t.CPU); a.Policy != "" {
		policy.Text, policy.NA = a.policy(), ""
	}
	return append(out, policy)
}

// policy is the thread's policy as read back.
func (t *threadAnswer) policy() string {
	if t.Priority > 0 {
		return fmt.Sprintf("%s %d", t.Policy, t.Priority)
	}
	if t.Slack > 0 {
		return fmt.Sprintf("%s, timer slack %s", t.Policy, time.Duration(t.Slack))
	}
	return t.Policy
}

// of is what was said of the thread on a CPU; without a policy: nothing.
func (a *answer) of(cpu int) threadAnswer {
	for _, t := range a.Threads {
		if t.CPU == cpu {
			return t
		}
	}
	return threadAnswer{CPU: cpu, Usage: unknownUsage()}
}

// doubt says what must not have happened.
func (m *measurement) doubt(out *bench.SuiteResult, t *tally) {
	invalid := func(format string, a ...any) {
		out.Invalid = append(out.Invalid, fmt.Sprintf("CPU %d: ", t.CPU)+fmt.Sprintf(format, a...))
	}
	warn := func(format string, a ...any) {
		out.Warnings = append(out.Warnings, fmt.Sprintf("CPU %d: ", t.CPU)+fmt.Sprintf(format, a...))
	}
	if n := t.Latency.Count + t.Missed; t.Missed*100 > n {
		warn("%d of %d instants were slept over: they are in no latency and no percentile, which are of the others only", t.Missed, n)
	}
	for name, list := range map[string][]int64{"logarithmic": t.Log, "linear": t.Micro} {
		held := int64(0)
		for _, n := range list {
			held += n
		}
		if name == "linear" {
			held += t.MicroOver
		}
		if held != t.Latency.Count {
			invalid("the %s histogram holds %d of %d wake-ups", name, held, t.Latency.Count)
		}
	}
	if t.Early > 0 {
		invalid("%d wake-ups came before their instant", t.Early)
	}
	if t.Interrupted > 0 {
		warn("%d sleeps were interrupted by a signal and slept again: a signal's handling may be in a latency", t.Interrupted)
	}
	u := t.Usage
	if u.Voluntary < 0 {
		return
	}
	if n := u.Minor + u.Major; n > 0 {
		warn("%d page faults in the measuring loop", n)
	}
	// A thread that blocks less often than it wakes found its instant past when it slept;
	// one that blocks more often was stopped by something else.
	if n := t.instants() - t.Missed + t.Interrupted; math.Abs(float64(u.Voluntary-n)) > 0.02*float64(n)+16 {
		warn("the thread blocked %d times in %d sleeps: fewer, when an instant was past as it slept to it; more, when something else stopped it", u.Voluntary, n)
	}
}

// clock says when the wall clock was set: the times of the worst are by the one at the begin.
func (m *measurement) clock(out *bench.SuiteResult) {
	if !m.begun {
		return
	}
	now := rt.ReadWallOffset()
	if moved := time.Duration(now.Offset - m.wall.Offset); moved.Abs() > time.Duration(now.Bracket+m.wall.Bracket)+time.Millisecond {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the wall clock was set by %s during the run: times of day are by the clock as it was at the begin", moved))
	}
}

// lacks writes down what was asked for and refused.
func (a *answer) lacks(out *bench.SuiteResult, priority int) {
	lack := func(what, why string) {
		if why != "" {
			out.Absent = append(out.Absent, bench.Absent{What: what, Why: why})
		}
	}
	refused := false
	for _, t := range a.Threads {
		if t.RTError != "" {
			refused = true
			lack(fmt.Sprintf("SCHED_FIFO %d on CPU %d", priority, t.CPU), t.RTError+"; measured as "+t.policy())
		}
	}
	if refused {
		out.Warnings = append(out.Warnings, "measured without a real-time policy: no figures of a real-time system")
	}
	lack("locked memory", a.LockError)
	lack("CPUs kept out of sleep states (/"+latencyDevice+")", a.CState)
}
