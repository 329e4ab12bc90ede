package caterpillar

import (
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"gonum.org/v1/gonum/stat"

	"opcycle/bench"
)

// columns are those of the table of samples and of its file, in the order of the vendor's
// program, then ours.
func columns() (names, units []string) {
	return []string{"SampleMin", "SampleMax", "SampleJitter", "SessionMin", "SessionMax", "SessionJitter", "Sample", "SampleSpread", "SampleTime", "Rests", "LeftOut", "Gaps"},
		[]string{"cycles", "cycles", "cycles", "cycles", "cycles", "cycles", "1", "cycles", "ns", "1", "1", "1"}
}

// samplesOf are the rows in the units of a report.
func (m *measurement) samplesOf() ([]sample, session) {
	var s session
	var out []sample
	for i := range m.state.Rows {
		r := &m.state.Rows[i]
		out = append(out, s.next(r, slices.Contains(m.state.Warm, r.Index)))
	}
	return out, s
}

func (s *sample) values() []float64 {
	session := []float64{math.NaN(), math.NaN(), math.NaN()}
	if s.hasSession {
		session = []float64{float64(s.SessionMin), float64(s.SessionMax), s.SessionJitter}
	}
	return append(append([]float64{float64(s.Min), float64(s.Max), s.Jitter}, session...),
		float64(s.Index), float64(s.Spread), s.NS, float64(s.Rests), float64(s.LeftOut), float64(s.Gaps))
}

// result is what was measured so far.
func (m *measurement) result() bench.SuiteResult {
	out := bench.SuiteResult{Started: m.started, Ended: m.ended, Warnings: slices.Clone(m.warn),
		Complete: len(m.state.Rows) >= m.samples || m.job.End != nil && len(m.state.Rows) > 0}
	if m.ended.IsZero() {
		out.Ended = time.Now()
	}
	samples, all := m.samplesOf()
	m.table(&out, samples)
	m.figures(&out, samples, &all)
	if m.lost > 0 {
		out.Invalid = append(out.Invalid, fmt.Sprintf("%d samples were overwritten before they were read", m.lost))
	}
	if m.fault != "" {
		out.Invalid = append(out.Invalid, m.fault+"; the samples before it are kept")
	}
	if gaps := m.throttled(); gaps > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d iteration(s) took 40 to 60 ms: suspected throttling, or a hypervisor; they are in the jitter of their samples, which then says nothing of the memory system", gaps))
	}
	if len(samples) == 0 {
		out.Invalid = append(out.Invalid, "no sample was finished")
	}
	if m.answer.Want != m.answer.Got {
		out.Invalid = append(out.Invalid, fmt.Sprintf("the buffer's checksum is %d, not %d: the workload did not run as written", m.answer.Got, m.answer.Want))
	}
	if m.answer.Faults > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("%d page faults in the measuring loop", m.answer.Faults))
	}
	m.absent(&out)
	m.moments(&out)
	if m.info.PID != 0 {
		m.info.MaxProcs, m.info.LockError, m.info.CState = 2, "not known: the probe has not answered", "not known: the probe has not answered"
		if m.answer.Hz > 0 {
			m.info.Locked, m.info.LockError, m.info.CState = m.answer.LockError == "", m.answer.LockError, "held at 0 us"
			if m.answer.CState != "" {
				m.info.CState = "not held: " + m.answer.CState
			}
		}
		out.Processes = []bench.ProcessInfo{m.info}
	}
	if m.csvOut != nil {
		out.Files = []string{m.csv}
	}
	return out
}

// throttled counts the iterations that look like throttling.
func (m *measurement) throttled() (n int64) {
	for i := range m.state.Rows {
		n += m.state.Rows[i].Gaps
	}
	return n
}

// keptRows is how many samples a result holds; a file beside it has them all.
const keptRows = 10_000

func (m *measurement) table(out *bench.SuiteResult, samples []sample) {
	names, units := columns()
	t := bench.Samples{Columns: names, Units: units, LeftOut: int64(max(len(samples)-keptRows, 0))}
	for i := range samples[:min(len(samples), keptRows)] {
		values := samples[i].values()
		row := make([]*float64, len(values))
		for j := range values {
			if !math.IsNaN(values[j]) { // the first sample has no session yet
				row[j] = &values[j]
			}
		}
		t.Rows = append(t.Rows, row)
	}
	out.Samples = &t
}

// figures are the vendor's three rows and what they rest on.
func (m *measurement) figures(out *bench.SuiteResult, samples []sample, all *session) {
	object := fmt.Sprintf("cpu%d", m.order.CPU)
	add := func(series, statistic, unit string, v float64, na string) {
		f := bench.Figure{Suite: Name, Object: object, Series: series, Statistic: statistic, Unit: unit, NA: na}
		if na == "" {
			f.Value = &v
		}
		out.Figures = append(out.Figures, f)
	}
	text := func(series, statistic, s string) {
		out.Figures = append(out.Figures, bench.Figure{Suite: Name, Object: object, Series: series, Statistic: statistic, Unit: "text", Text: s})
	}
	var jitter []float64
	var rests, leftOut, gaps int64
	warm := 0
	for i := range samples {
		if slices.Contains(m.state.Warm, samples[i].Index) {
			warm++ // it fills the cache: neither in these rows nor in the session
		} else {
			jitter = append(jitter, samples[i].Jitter)
		}
		rests, leftOut, gaps = rests+samples[i].Rests, leftOut+samples[i].LeftOut, gaps+samples[i].Gaps
	}
	none := ""
	if len(jitter) == 0 {
		none, jitter = "needs 2 samples: the first warms up", []float64{0}
	}
	few := none
	if few == "" && len(jitter) < 2 {
		few = "needs 3 samples: the first warms up"
	}
	add("sample_jitter", "min", "cycles", slices.Min(jitter), none)
	add("sample_jitter", "max", "cycles", slices.Max(jitter), none)
	add("sample_jitter", "stddev", "cycles", stat.StdDev(append(jitter, jitter[0])[:max(len(jitter), 2)], nil), few)
	session := ""
	if all.Count == 0 {
		session = "needs 2 samples: the first warms up"
	} else {
		add("session", "jitter", "cycles", deviation(all.Count, all.Sum, all.Squares), "")
	}
	if session != "" {
		add("session", "jitter", "cycles", 0, session)
	}
	add("session", "min", "cycles", float64(all.Min), session)
	add("session", "max", "cycles", float64(all.Max), session)
	add("samples", "count", "1", float64(len(samples)), "")
	add("samples", "iterations", "1", float64(len(samples)*iterations), "")
	add("samples", "warm_up", "1", float64(warm), "")
	add("samples", "rests", "1", float64(rests), "")
	add("samples", "left_out", "1", float64(leftOut), "")
	add("samples", "suspected_throttling", "1", float64(gaps), "")
	hz := ""
	if m.answer.Hz == 0 {
		hz = "the probe has not answered yet"
	}
	add("clock", "rate", "Hz", m.answer.Hz, hz)
	text("clock", "unit", m.answer.Unit)
	if m.order.Buffer > 0 {
		add("buffer", "bytes", "1", float64(m.order.Buffer), "")
		text("buffer", "from", m.from)
	} else {
		add("buffer", "bytes", "1", 0, "the workload compute has none")
	}
	if l := m.job.Host.FIFOLimit; l != nil {
		text("fifo_limit", "by", l.By)
		text("fifo_limit", "why", l.Why)
	} else {
		text("fifo_limit", "by", bench.FIFOUnknown)
	}
	policy := fmt.Sprintf("%s %d", m.answer.Policy, m.answer.Priority)
	if m.answer.Policy == "" {
		policy = "not known: the probe has not answered"
	}
	text("thread", "policy", policy)
}

func (m *measurement) absent(out *bench.SuiteResult) {
	lack := func(what, why string) {
		if why != "" {
			out.Absent = append(out.Absent, bench.Absent{What: what, Why: why})
		}
	}
	if m.answer.RTError != "" {
		lack(fmt.Sprintf("SCHED_FIFO %d on CPU %d", m.priority, m.order.CPU), m.answer.RTError+"; measured at "+m.answer.Policy)
	}
	lack("locked memory", m.answer.LockError)
	lack("CPUs kept out of sleep states ("+latencyDevice+")", m.answer.CState)
	if l := m.job.Host.FIFOLimit; m.noRest && (l == nil || l.By != bench.FIFONone) {
		out.Warnings = append(out.Warnings, "measured without rests although FIFO time may be limited: gaps of 40 to 60 ms are suspected throttling, not the memory system")
	}
}

// moments are the iterations that look like throttling.
func (m *measurement) moments(out *bench.SuiteResult) {
	for _, g := range m.state.Gaps {
		out.Moments = append(out.Moments, bench.Moment{At: time.Unix(0, g.At+m.wall).UTC(), Since: g.At + m.wall - m.started.UnixNano(),
			CPU: m.order.CPU, Index: g.Sample, What: "suspected throttling", Value: g.Cycles, Unit: "cycles"})
	}
}

// openCSV begins the file of samples, with what a resumed run has already.
func (m *measurement) openCSV() error {
	if m.csv == "" || m.job.Create == nil {
		return nil
	}
	var err error
	if m.file, err = m.job.Create(m.csv); err != nil {
		return err
	}
	m.csvOut = csv.NewWriter(m.file)
	names, _ := columns()
	if err := m.csvOut.Write(names); err != nil {
		return fmt.Errorf("write %s: %w", m.csv, err)
	}
	return m.writeCSV(len(m.state.Rows))
}

// writeCSV writes the newest n samples and lets the system have them.
func (m *measurement) writeCSV(n int) error {
	if m.csvOut == nil || n == 0 {
		return nil
	}
	samples, _ := m.samplesOf()
	for _, s := range samples[len(samples)-n:] {
		var line []string
		for _, v := range s.values() {
			cell := ""
			if !math.IsNaN(v) {
				cell = strconv.FormatFloat(v, 'f', -1, 64)
			}
			line = append(line, cell)
		}
		if err := m.csvOut.Write(line); err != nil {
			return fmt.Errorf("write %s: %w", m.csv, err)
		}
	}
	m.csvOut.Flush()
	return m.csvOut.Error()
}

func (m *measurement) closeCSV() error {
	if m.file == nil {
		return nil
	}
	return m.file.Close()
}
