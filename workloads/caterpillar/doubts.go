package caterpillar

import (
	"fmt"

	"opcycle/bench"
)

// invalid says what makes the result none.
func (m *measurement) invalid(out *bench.SuiteResult) {
	add := func(format string, a ...any) { out.Invalid = append(out.Invalid, fmt.Sprintf(format, a...)) }
	if m.lost > 0 {
		add("%d samples were overwritten before they were read", m.lost)
	}
	if m.fault != "" {
		add("%s; the samples before it are kept", m.fault)
	}
	if len(m.samples) == 0 {
		add("no sample was finished")
	}
	if m.answer.Want != m.answer.Got {
		add("the workload's checksum is %d, not %d: it did not run as written", m.answer.Got, m.answer.Want)
	}
}

// doubts says what a reader has to mind.
func (m *measurement) doubts(out *bench.SuiteResult) {
	add := func(format string, a ...any) { out.Warnings = append(out.Warnings, fmt.Sprintf(format, a...)) }
	if gaps := m.throttled(); gaps > 0 {
		other := "; other real-time threads of this CPU use the same time up"
		if !m.order.Rest {
			other = ""
		}
		add("%d iteration(s) took %s to %s: suspected throttling, or a hypervisor%s; they are in the jitter of their samples, which then says nothing of the memory system",
			gaps, m.order.Low, m.order.High, other)
	}
	if m.noRest && m.order.Priority > 0 && m.order.High > 0 {
		add("measured without rests although FIFO time may be limited: gaps of %s to %s are suspected throttling, not the memory system", m.order.Low, m.order.High)
	}
	if m.small != "" {
		add("%s", m.small)
	}
	if m.answer.Faults > 0 {
		add("%d page faults in the measuring loop", m.answer.Faults)
	}
}

// absent says what was asked for and not had.
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
	if m.huge && m.answer.Hz > 0 && m.answer.HugeBytes < m.order.Buffer {
		lack("huge pages", fmt.Sprintf("the kernel gave them for %d of %d bytes: /sys/kernel/mm/transparent_hugepage/enabled, and whole multiples of 2M", m.answer.HugeBytes, m.order.Buffer))
	}
	if m.out.err != nil {
		lack("the file of samples", m.out.err.Error()+"; the result has the samples too")
	}
}
