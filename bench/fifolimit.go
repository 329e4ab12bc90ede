package bench

import "time"

// What limits a SCHED_FIFO thread's time.
const (
	FIFONone      = "none"
	FIFOBandwidth = "RT bandwidth"
	FIFOServer    = "fair server"
	FIFOBoth      = "RT bandwidth and fair server"
	FIFOUnknown   = "unknown"
)

// FIFOLimit is what the kernel lets a SCHED_FIFO thread run at most, beside others that
// want its CPU.
type FIFOLimit struct {
	By        string `json:"by"`         // one of the words above
	Why       string `json:"why"`        // where it comes from, or why it is not known
	RuntimeNS int64  `json:"runtime_ns"` // of each PeriodNS; 0: not known, or no limit
	PeriodNS  int64  `json:"period_ns"`
}

// Gap is how long a thread that has used its time up is kept off its CPU, give or take a
// fifth: what such a gap looks like. Where that is not known it is the kernel's default,
// 50 ms; 0, 0: nothing limits it. l may be nil, for not known.
func (l *FIFOLimit) Gap() (least, most time.Duration) {
	gap := 50 * time.Millisecond
	switch {
	case l == nil:
	case l.By == FIFONone:
		return 0, 0
	case l.PeriodNS > l.RuntimeNS && l.RuntimeNS > 0:
		gap = time.Duration(l.PeriodNS - l.RuntimeNS)
	}
	return gap * 4 / 5, gap * 6 / 5
}

// Cache is one cache of a CPU.
type Cache struct {
	Level  int    `json:"level"`
	Type   string `json:"type"` // "Data", "Instruction" or "Unified"
	Bytes  int64  `json:"bytes"`
	Line   int64  `json:"line_bytes"` // 0: not known
	Ways   int    `json:"ways"`       // 0: not known
	ID     int    `json:"id"`         // the kernel's, −1: not known
	Shared []int  `json:"shared_cpus"`
}

// DataCache is the CPU's cache of that level that holds data.
func (c *CPU) DataCache(level int) (Cache, bool) {
	for _, k := range c.Caches {
		if k.Level == level && k.Type != "Instruction" {
			return k, true
		}
	}
	return Cache{}, false
}

// CPUByID finds an online CPU.
func (h *Host) CPUByID(id int) (CPU, bool) { return h.cpu(id) }

// FIFOLimitOf is what limits FIFO time on a CPU; nil: the result is of an older version.
func (h *Host) FIFOLimitOf(cpu int) *FIFOLimit {
	if c, ok := h.cpu(cpu); ok && c.FIFOLimit != nil {
		return c.FIFOLimit
	}
	return h.FIFOLimit
}
