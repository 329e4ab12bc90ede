package host

import (
	"fmt"
	"strconv"
	"strings"

	"opcycle/bench"
)

// fifoLimit names what takes a SCHED_FIFO thread off its CPU although it wants to run:
//
//   - RT bandwidth (sched_rt_runtime_us of each sched_rt_period_us): up to Linux 6.11, and
//     since then only with CONFIG_RT_GROUP_SCHED;
//   - the fair server, from Linux 6.12 on, which gives starved ordinary threads
//     debug/sched/fair_server/cpuN/runtime of each period. What it is set to can be seen
//     with debugfs only.
//
// https://docs.kernel.org/scheduler/sched-rt-group.html
// https://docs.kernel.org/scheduler/sched-deadline.html
func (t *tree) fifoLimit(h *bench.Host) *bench.FIFOLimit {
	l := &bench.FIFOLimit{}
	major, minor, ok := release(h.Kernel)
	if !ok {
		return &bench.FIFOLimit{By: bench.FIFOUnknown, Why: fmt.Sprintf("the kernel's release %q is not understood", h.Kernel)}
	}
	server := major > 6 || major == 6 && minor >= 12
	bandwidth := (!server || h.RTGroupSched != nil && *h.RTGroupSched) && (h.RTRuntimeUS == nil || *h.RTRuntimeUS >= 0)
	if bandwidth && (h.RTRuntimeUS == nil || h.RTPeriodUS == nil) {
		return &bench.FIFOLimit{By: bench.FIFOUnknown, Why: "sched_rt_runtime_us is not readable"}
	}
	if bandwidth {
		l.By = bench.FIFOBandwidth
		l.RuntimeNS, l.PeriodNS = *h.RTRuntimeUS*1000, *h.RTPeriodUS*1000
		l.Why = fmt.Sprintf("RT bandwidth: %d of each %d us", *h.RTRuntimeUS, *h.RTPeriodUS)
	}
	if !server {
		return orNone(l)
	}
	taken, period, why := t.fairServer()
	switch {
	case why != "" && bandwidth:
		l.Why += "; and the fair server of Linux 6.12: " + why
	case why != "":
		return &bench.FIFOLimit{By: bench.FIFOUnknown, Why: "the fair server of Linux 6.12: " + why}
	case taken > 0:
		text := fmt.Sprintf("fair server: starved ordinary threads get %d of each %d us", taken/1000, period/1000)
		if bandwidth {
			l.By, l.Why = bench.FIFOBoth, l.Why+"; "+text
		} else {
			l.By, l.Why = bench.FIFOServer, text
		}
		if l.PeriodNS == 0 || l.RuntimeNS*period > (period-taken)*l.PeriodNS {
			l.RuntimeNS, l.PeriodNS = period-taken, period
		}
	}
	return orNone(l)
}

// orNone is l, or the word for no limit.
func orNone(l *bench.FIFOLimit) *bench.FIFOLimit {
	if l.By == "" {
		l.By, l.Why = bench.FIFONone, "neither RT bandwidth nor a fair server is active"
	}
	return l
}

// release is the first two numbers of a kernel's release.
func release(kernel string) (major, minor int, ok bool) {
	parts := strings.SplitN(kernel, ".", 3)
	if len(parts) < 2 {
		return 0, 0, false
	}
	major, err1 := strconv.Atoi(parts[0])
	end := strings.IndexFunc(parts[1], func(r rune) bool { return r < '0' || r > '9' })
	if end >= 0 {
		parts[1] = parts[1][:end]
	}
	minor, err2 := strconv.Atoi(parts[1])
	return major, minor, err1 == nil && err2 == nil
}

// fairServer is the largest share that any CPU's server takes, ns; why says that it can't be
// seen.
func (t *tree) fairServer() (taken, period int64, why string) {
	const dir = "sys/kernel/debug/sched/fair_server"
	cpus := t.entries(dir)
	if len(cpus) == 0 {
		return 0, 0, "unknown: debugfs not readable; mount -t debugfs none /sys/kernel/debug"
	}
	seen := false
	for _, cpu := range cpus {
		r, p := t.number(dir+"/"+cpu+"/runtime"), t.number(dir+"/"+cpu+"/period")
		if r == nil || p == nil || *p <= 0 {
			continue
		}
		seen = true
		if period == 0 || *r*period > taken**p {
			taken, period = *r, *p
		}
	}
	if !seen {
		return 0, 0, "unknown: debugfs has no runtime and period of it"
	}
	return taken, period, ""
}
