package caterpillar

import (
	"fmt"
	"slices"
	"time"

	"gonum.org/v1/gonum/stat"

	"opcycle/bench"
)

// result is what was measured so far.
func (m *measurement) result() bench.SuiteResult {
	out := bench.SuiteResult{Started: m.started, Ended: m.ended, Warnings: slices.Clone(m.warn),
		Complete: len(m.samples) >= m.runner.samples || m.job.End != nil && len(m.samples) > 0}
	if m.ended.IsZero() {
		out.Ended = time.Now()
	}
	out.Samples = samplesOf(m.samples)
	f := figures{object: fmt.Sprintf("cpu%d", m.order.CPU)}
	m.jitter(&f)
	m.sessions(&f)
	m.counts(&f)
	m.setting(&f)
	out.Figures = f.all
	m.invalid(&out)
	m.doubts(&out)
	m.absent(&out)
	m.moments(&out)
	m.process(&out)
	if m.out.csv != nil && m.out.err == nil {
		out.Files = []string{m.csv}
	}
	return out
}

// figures collects figures of one CPU.
type figures struct {
	object string
	all    []bench.Figure
}

func (f *figures) number(series, statistic, unit string, v float64, na string) {
	g := bench.Figure{Suite: Name, Object: f.object, Series: series, Statistic: statistic, Unit: unit, NA: na}
	if na == "" {
		g.Value = &v
	}
	f.all = append(f.all, g)
}

func (f *figures) text(series, statistic, s string) {
	f.all = append(f.all, bench.Figure{Suite: Name, Object: f.object, Series: series, Statistic: statistic, Unit: "text", Text: s})
}

// cycles adds a figure in cycles and in ns. The series of the latter is called _time.
func (m *measurement) cycles(f *figures, series, statistic string, v float64, na string) {
	f.number(series, statistic, "cycles", v, na)
	hz := m.hz()
	if na == "" && hz <= 0 {
		na = noRate
	}
	f.number(series+"_time", statistic, "ns", v/max(hz, 1)*1e9, na)
}

const noRate = "the counter's rate is not known: no probe was ready"

// hz is the counter's rate; 0: not known.
func (m *measurement) hz() float64 {
	if n := len(m.state.Parts); n > 0 {
		return m.state.Parts[n-1].Hz
	}
	return 0
}

// jitter adds the vendor's three rows: of all samples but those that warm up.
func (m *measurement) jitter(f *figures) {
	var v []float64
	for i := range m.samples {
		if !m.samples[i].warm {
			v = append(v, m.samples[i].Jitter)
		}
	}
	none, few := "", ""
	if len(v) < 2 {
		few = "needs 3 samples: the first warms up"
	}
	if len(v) == 0 {
		none, v = "needs 2 samples: the first warms up", []float64{0}
	}
	deviation := 0.0
	if few == "" {
		deviation = stat.StdDev(v, nil)
	}
	m.cycles(f, "sample_jitter", "min", slices.Min(v), none)
	m.cycles(f, "sample_jitter", "max", slices.Max(v), none)
	m.cycles(f, "sample_jitter", "stddev", deviation, few)
}

// sessions adds what all samples but the first are together.
func (m *measurement) sessions(f *figures) {
	s, none := &m.session, ""
	if s.Count == 0 {
		none = "needs 2 samples: the first warms up"
	}
	m.cycles(f, "session", "min", float64(s.Min), none)
	m.cycles(f, "session", "max", float64(s.Max), none)
	m.cycles(f, "session", "jitter", deviation(s.Count, s.Sum, s.Squares), none)
}

// counts adds what was counted, the left out included.
func (m *measurement) counts(f *figures) {
	var rests, leftOut, warm int64
	for i := range m.samples {
		s := &m.samples[i]
		rests, leftOut = rests+s.Rests, leftOut+s.LeftOut
		if s.warm {
			warm++
		}
	}
	count := func(statistic string, n int64) { f.number("samples", statistic, "1", float64(n), "") }
	count("count", int64(len(m.samples)))
	count("iterations", int64(len(m.samples))*iterations)
	count("warm_up", warm)
	count("rests", rests)
	count("left_out", leftOut)
	count("suspected_throttling", m.throttled())
	count("unfinished_iterations", m.unended)
}

// setting adds what the figures rest on.
func (m *measurement) setting(f *figures) {
	silent := ""
	if m.answer.Hz == 0 {
		silent = "the probe has not answered"
	}
	rate := ""
	if m.hz() <= 0 {
		rate = noRate
	}
	f.number("clock", "rate", "Hz", m.hz(), rate)
	f.text("clock", "unit", m.answer.Unit)
	f.text("workload", "name", m.runner.workload)
	f.number("workload", "steps", "1", float64(m.order.Steps), "")
	if m.order.Buffer > 0 {
		f.number("buffer", "bytes", "1", float64(m.order.Buffer), "")
		f.text("buffer", "from", m.from)
	} else {
		f.number("buffer", "bytes", "1", 0, "the workload compute has none")
	}
	switch {
	case silent != "":
		f.text("workload", "checksum", "n/a: "+silent)
	case m.answer.Got == m.answer.Want:
		f.text("workload", "checksum", "ok")
	default:
		f.text("workload", "checksum", "wrong")
	}
	if m.limit != nil {
		f.text("fifo_limit", "by", m.limit.By)
		f.text("fifo_limit", "why", m.limit.Why)
	} else {
		f.text("fifo_limit", "by", bench.FIFOUnknown)
	}
	policy := fmt.Sprintf("%s %d", m.answer.Policy, m.answer.Priority)
	if silent != "" {
		policy = "not known: " + silent
	}
	f.text("thread", "policy", policy)
	f.text("thread", "pace", m.pace())
	f.number("thread", "voluntary_switches", "1", float64(m.answer.Voluntary), silent)
	f.number("thread", "involuntary_switches", "1", float64(m.answer.Switches), silent)
}

// pace says when the thread rests.
func (m *measurement) pace() string {
	switch {
	case !m.order.Rest && m.noRest:
		return "without rests, as asked for"
	case !m.order.Rest:
		return "without rests: nothing limits FIFO time"
	case m.answer.Hz > 0 && !m.answer.Rested:
		return "without rests: no real-time thread"
	}
	return fmt.Sprintf("rests %s of every %s", m.order.Of-m.order.Busy, m.order.Of)
}

// throttled counts the iterations that look like throttling.
func (m *measurement) throttled() (n int64) {
	for i := range m.samples {
		n += m.samples[i].Gaps
	}
	return n
}

// process is the probe.
func (m *measurement) process(out *bench.SuiteResult) {
	if m.info.PID == 0 {
		return
	}
	m.info.MaxProcs, m.info.LockError, m.info.CState = 2, "not known: the probe has not answered", "not known: the probe has not answered"
	if m.answer.Hz > 0 {
		m.info.Locked, m.info.LockError, m.info.CState = m.answer.LockError == "", m.answer.LockError, "held at 0 us"
		if m.answer.CState != "" {
			m.info.CState = "not held: " + m.answer.CState
		}
	}
	out.Processes = []bench.ProcessInfo{m.info}
}

// moments are the iterations that look like throttling.
func (m *measurement) moments(out *bench.SuiteResult) {
	for _, g := range m.state.Gaps {
		out.Moments = append(out.Moments, bench.Moment{At: time.Unix(0, g.At+m.wall).UTC(), Since: g.At + m.wall - m.started.UnixNano(),
			CPU: m.order.CPU, Index: g.Sample, What: "suspected throttling", Value: g.Cycles, Unit: "cycles"})
	}
}
