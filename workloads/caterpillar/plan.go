package caterpillar

import (
	"errors"
	"fmt"
	"time"

	"opcycle/bench"
)

// guard is RLIMIT_RTTIME, FIFO time without a sleep: with rests far more than a stretch.
// Without them the loop never sleeps, and the guard is what its samples may take at most.
const (
	guard       = 2 * time.Second
	noRestGuard = 100 * time.Hour
)

// plan makes the order, but for the count of samples.
func (m *measurement) plan() error {
	r, job, cpu := m.runner, &m.job, m.job.Measured[0]
	m.order = order{CPU: cpu, Huge: r.huge, Steps: int64(r.steps), Require: job.RT == bench.RTRequire, Root: job.Root}
	if job.RT != bench.RTOff {
		m.order.Priority = r.priority
	}
	if r.workload == workMemory {
		var err error
		if m.order.Buffer, m.from, m.small, err = r.bufferOf(&job.Host, cpu); err != nil {
			return err
		}
	}
	only := len(job.Housekeeping) == 1 && job.Housekeeping[0] == cpu
	if r.noRest && m.order.Priority > 0 && only {
		return errors.New("--no-rest at SCHED_FIFO on the only CPU would hang this machine; leave it away, or use --rt off")
	}
	// Where nothing limits FIFO time, only a machine with no other CPU needs the rests.
	m.order.Rest = !r.noRest && (m.limit == nil || m.limit.By != bench.FIFONone || only)
	m.order.Busy, m.order.Of = paceOf(m.limit)
	m.order.Low, m.order.High = m.limit.Gap()
	m.order.Guard = guard
	if !m.order.Rest {
		m.order.Guard = min(time.Duration(r.samples)*stuck, noRestGuard)
	}
	return nil
}

// describe says what an iteration is.
func (m *measurement) describe() string {
	if m.order.Buffer == 0 {
		return fmt.Sprintf("%s, %d steps", workCompute, m.order.Steps)
	}
	return fmt.Sprintf("%s, %d steps, %d bytes, huge pages %t", workMemory, m.order.Steps, m.order.Buffer, m.huge)
}

// The thread works for a stretch and rests until its period is over: a tenth of the
// kernel's, at most 100 ms, of which it works for 90 % of what the kernel would let it run.
const longestPeriod = 100 * time.Millisecond

// paceOf is how long the thread works (busy) of how long (of). Of a limit that is not known
// it takes the kernel's default, 95 % of a second.
func paceOf(l *bench.FIFOLimit) (busy, of time.Duration) {
	runtime, period := 950*time.Millisecond, time.Second
	if l != nil && l.RuntimeNS > 0 && l.PeriodNS >= l.RuntimeNS {
		runtime, period = time.Duration(l.RuntimeNS), time.Duration(l.PeriodNS)
	}
	of = max(min(period/10, longestPeriod), time.Microsecond)
	return max(time.Duration(float64(of)*0.9*float64(runtime)/float64(period)), 1), of
}
