package host

import (
	"fmt"
	"strconv"
	"strings"

	"opcycle/bench"
)

// share is what one of the kernel's mechanisms lets real-time threads have of a CPU.
type share struct {
	active          *bool // nil: not known
	runtime, period int64 // ns, of an active one
	why             string
}

func limited(runtime, period int64, why string) share {
	yes := true
	return share{active: &yes, runtime: runtime, period: period, why: why}
}

func unlimited() share { return share{active: new(bool)} }

func notKnown(why string) share { return share{why: why} }

// fifoLimits names what takes a SCHED_FIFO thread off its CPU although it wants to run:
//
//   - RT bandwidth (sched_rt_runtime_us of each sched_rt_period_us, and the same of the
//     thread's cgroups): up to Linux 6.11 always, since then in kernels built with
//     CONFIG_RT_GROUP_SCHED only;
//   - the fair server, from Linux 6.12 on, which gives starved ordinary threads
//     debug/sched/fair_server/cpuN/runtime of each period. What it is set to, CPU by CPU,
//     can be seen with debugfs only.
//
// A CPU has a limit of its own where its server is set otherwise than the first CPU's, as
// on a machine that leaves its isolated CPUs without one.
//
// https://docs.kernel.org/scheduler/sched-rt-group.html
// https://docs.kernel.org/scheduler/sched-deadline.html
func (t *tree) fifoLimits(h *bench.Host) {
	major, minor, ok := release(h.Kernel)
	if !ok {
		h.FIFOLimit = &bench.FIFOLimit{By: bench.FIFOUnknown, Why: fmt.Sprintf("the kernel's release %q is not understood", h.Kernel)}
		return
	}
	server := major > 6 || major == 6 && minor >= 12
	bandwidth := t.bandwidth(h, !server)
	if len(h.CPUs) == 0 {
		h.FIFOLimit = bandwidth.with(notKnown("no CPU is known"))
	}
	for i := range h.CPUs {
		l := bandwidth.with(t.fairServer(h.CPUs[i].ID, server))
		if h.FIFOLimit == nil {
			h.FIFOLimit = l
		} else if *l != *h.FIFOLimit {
			h.CPUs[i].FIFOLimit = l
		}
	}
}

// bandwidth is RT throttling. always: this kernel does not need to be built for it.
//
// NB: rt_group_sched=0 at boot takes the cgroups' files away and leaves the throttling
// (update_curr_rt of kernel/sched/rt.c asks for the build only), hence the build.
func (t *tree) bandwidth(h *bench.Host, always bool) share {
	switch {
	case h.RTRuntimeUS != nil && *h.RTRuntimeUS < 0:
		return unlimited()
	case !always && t.groupsBuilt != nil && !*t.groupsBuilt:
		return unlimited()
	case h.RTRuntimeUS == nil || h.RTPeriodUS == nil || *h.RTPeriodUS <= 0:
		return notKnown("sched_rt_runtime_us is not readable")
	case !always && t.groupsBuilt == nil:
		return notKnown("the kernel's configuration is not readable, and with CONFIG_RT_GROUP_SCHED it would limit real-time threads")
	}
	runtime, period, of := *h.RTRuntimeUS, *h.RTPeriodUS, ""
	for _, dir := range t.levels("cpu") {
		r, p := t.small(dir+"/cpu.rt_runtime_us"), t.small(dir+"/cpu.rt_period_us")
		if r > 0 && p > 0 && r*period < runtime*p {
			runtime, period, of = r, p, " (/"+dir+"/cpu.rt_runtime_us)"
		}
	}
	if runtime >= period {
		return unlimited()
	}
	return limited(runtime*1000, period*1000, fmt.Sprintf("%d of each %d us%s", runtime, period, of))
}

// fairServer is one CPU's. due: this kernel has one, so that not to see it is not to know;
// an older one may have it too, from its distributor.
func (t *tree) fairServer(cpu int, due bool) share {
	dir := fmt.Sprintf("sys/kernel/debug/sched/fair_server/cpu%d", cpu)
	if !t.exists(dir) {
		switch {
		case !due:
			return unlimited()
		case t.exists("sys/kernel/debug/sched"):
			return notKnown("debugfs shows none of CPU " + strconv.Itoa(cpu))
		}
		return notKnown("debugfs not readable; mount -t debugfs none /sys/kernel/debug")
	}
	r, p := t.number(dir+"/runtime"), t.number(dir+"/period")
	switch {
	case r == nil || p == nil || *p <= 0:
		return notKnown("debugfs not readable: runtime and period of CPU " + strconv.Itoa(cpu) + ", as under kernel lockdown")
	case *r == 0:
		return unlimited()
	}
	return limited(*p-*r, *p, fmt.Sprintf("starved ordinary threads get %d of each %d us", *r/1000, *p/1000))
}

// with is the limit by both, s being RT bandwidth and f the fair server.
func (s share) with(f share) *bench.FIFOLimit {
	yes := func(x share) bool { return x.active != nil && *x.active }
	l := &bench.FIFOLimit{By: bench.FIFOUnknown}
	switch {
	case yes(s) && yes(f):
		l.By = bench.FIFOBoth
	case yes(s):
		l.By = bench.FIFOBandwidth
	case yes(f):
		l.By = bench.FIFOServer
	case s.active != nil && f.active != nil:
		l.By, l.Why = bench.FIFONone, "neither RT bandwidth nor a fair server is active"
	}
	var why []string
	for _, x := range []struct {
		name string
		share
	}{{bench.FIFOBandwidth, s}, {bench.FIFOServer, f}} {
		switch {
		case x.active == nil:
			why = append(why, x.name+": unknown: "+x.why)
		case *x.active:
			why = append(why, x.name+": "+x.why)
			if l.PeriodNS == 0 || x.runtime*l.PeriodNS < l.RuntimeNS*x.period {
				l.RuntimeNS, l.PeriodNS = x.runtime, x.period
			}
		}
	}
	if l.Why == "" {
		l.Why = strings.Join(why, "; ")
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
