package plc

import (
	"opcycle/record"
	"opcycle/rt"
)

// Meter reads what the kernel knows of the task's thread. Neither method allocates.
type Meter interface {
	// Arm is called between sleep and spin: the last moment outside the release that is
	// due at due.
	Arm(due int64)
	// Read is called after X: it fills CPU, RunDelay, Minor, Major, Switches and OnCPU of
	// r, whose instants are set, counting from the Read before.
	Read(r *record.Release)
}

// armMargin is how long before a release, ns, Arm must come to read the thread's CPU time:
// several times what the reading takes, so that it never moves W.
const armMargin = 3000

// ThreadMeter is the Meter of measured processes.
//
// NB: it reads the thread that opened it; open it on the task's thread.
type ThreadMeter struct {
	stat  *rt.Schedstat // nil: not readable
	cpu   int64         // thread CPU time at the last Read
	delay int64         // run delay at the last Read, −1 unknown
	usage rt.Usage      // counters at the last Read
	base  int64         // thread CPU time when at was read
	at    int64         // an instant before the release; 0: Arm came too late to read
	due   int64         // of the release that Arm announced
}

// OpenMeter opens the accounts of the calling thread; root is where proc is mounted
// below, "/" outside tests. An error means that RunDelay will be −1, unknown; the meter
// is good for everything else and never nil. cold.
func OpenMeter(root string) (*ThreadMeter, error) {
	stat, err := rt.OpenSchedstat(root)
	if err != nil {
		stat = nil
	}
	return &ThreadMeter{stat: stat, delay: -1}, err
}

// Arm reads the thread's CPU time, so that what the spin uses can be told from what the
// release uses. When it comes late there is no spin, and reading would be part of the
// release: the CPU time then counts from the last Read, which is too much by the few µs
// that parking takes. hot.
func (m *ThreadMeter) Arm(due int64) {
	m.base, m.at, m.due = m.cpu, 0, due
	if rt.Now() < due-armMargin {
		m.base = rt.ThreadCPU()
		m.at = rt.Now()
	}
}

// Read fills r's account. CPU is that from Wake to Done, held within 0 and Done − Wake.
// The spin uses the processor up to the due time and no longer, whenever it is resumed.
// What another task took out of it before that is not known: it counts as taken out of
// the release, so CPU may be low by up to the spin, never by the length of a stall. hot.
func (m *ThreadMeter) Read(r *record.Release) {
	cpu := rt.ThreadCPU()
	used := cpu - m.base
	if m.at != 0 {
		used -= min(r.Wake, m.due) - m.at
	}
	r.CPU = min(max(used, 0), r.Done-r.Wake)
	if cpu < 0 || m.base < 0 {
		r.CPU = -1
	}
	m.cpu = cpu

	delay := int64(-1)
	if m.stat != nil {
		if _, d, _, ok := m.stat.Read(); ok {
			delay = d
		}
	}
	r.RunDelay = since(m.delay, delay)
	m.delay = delay

	u := rt.ThreadUsage()
	r.Minor = since(m.usage.MinorFaults, u.MinorFaults)
	r.Major = since(m.usage.MajorFaults, u.MajorFaults)
	r.Switches = since(m.usage.Involuntary, u.Involuntary)
	m.usage = u
	r.OnCPU = int64(rt.CPU())
}

// since is what a counter gained, −1 when one of the readings is unknown. hot.
func since(before, now int64) int64 {
	if before < 0 || now < 0 {
		return -1
	}
	return now - before
}

// Close closes the accounts. cold.
func (m *ThreadMeter) Close() error {
	if m.stat == nil {
		return nil
	}
	return m.stat.Close()
}
