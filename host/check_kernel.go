package host

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"opcycle/bench"
)

// kernel judges how the kernel preempts itself.
func (c *checker) kernel() {
	h := &c.f.Host
	f := bench.Finding{
		Key: "preempt_rt", Title: "kernel with PREEMPT_RT", Severity: bench.SeverityFit,
		Seen:   orUnknown(h.Preempt) + " (/proc/sys/kernel/version, build configuration)",
		Source: "https://docs.kernel.org/core-api/real-time/theory.html; the figures: https://www.aut.uni-obuda.hu/es/Linux%20in%20Embedded%20Systems/Tutorials/preempt-rt-latency",
	}
	switch h.Preempt {
	case "PREEMPT_RT":
	case "":
		f.Severity, f.Title = bench.SeverityNote, "kernel's preemption not known"
	default:
		f.Severity, f.Title = c.ifRealTime(bench.SeverityWarning), "kernel without PREEMPT_RT"
		f.Cost = "interrupt handlers and the kernel's spinlock sections run to their end before a FIFO thread does: " +
			"the worst wake-up under load is some ms instead of tens of µs" + c.ofCycle(time.Millisecond)
		f.Remedy = c.onHost(realTimeKernel(c.f))
	}
	c.add(f)
}

// ofCycle says what a delay of d is to the plan's cycle.
func (c *checker) ofCycle(d time.Duration) string {
	if c.n.Interval <= 0 {
		return ""
	}
	return fmt.Sprintf("; 1 ms is %s of this plan's cycle of %s", percent(float64(d)/float64(c.n.Interval)), c.n.Interval)
}

func percent(share float64) string { return fmt.Sprintf("%.3g %%", 100*share) }

// realTimeKernel is how the distribution gives one.
func realTimeKernel(f *Facts) string {
	h, arch := &f.Host, f.Host.Arch
	if f.arm() {
		arch = "arm64" // of the machine that was captured, not of this one
	}
	switch os := strings.ToLower(h.OS); {
	case strings.Contains(os, "red hat"), strings.Contains(os, "centos"), strings.Contains(os, "rocky"), strings.Contains(os, "alma"):
		return "dnf install kernel-rt, then reboot into it (repository rt)"
	case strings.Contains(os, "ubuntu"):
		return "pro enable realtime-kernel, then reboot"
	case strings.Contains(os, "debian"):
		return "apt install linux-image-rt-" + arch + ", then reboot into it"
	}
	return "boot a kernel built with CONFIG_PREEMPT_RT=y (in the mainline kernel from 6.12 on)"
}

func orUnknown(s string) string {
	if s == "" {
		return "n/a"
	}
	return s
}

// limits judges what takes a FIFO thread off its CPU: RT bandwidth and the fair server.
func (c *checker) limits() {
	if len(c.n.Measured) == 0 {
		return
	}
	cpu, l := c.worstLimit()
	if l == nil {
		l = &bench.FIFOLimit{By: bench.FIFOUnknown, Why: "not read"}
	}
	release, _, _ := strings.Cut(c.f.Host.Kernel, " ")
	for _, x := range []struct {
		by, key, title, off, remedy, source string
	}{
		{bench.FIFOBandwidth, "rt_throttling", "RT throttling", "kernel.sched_rt_runtime_us " + limitText(c.f.Host.RTRuntimeUS) + ", kernel " + release + " (from 6.12 on with CONFIG_RT_GROUP_SCHED only)",
			"sysctl -w kernel.sched_rt_runtime_us=-1", "https://docs.kernel.org/scheduler/sched-rt-group.html"},
		{bench.FIFOServer, "fair_server", "fair server", "kernel " + release + " (from 6.12 on), /sys/kernel/debug/sched/fair_server",
			fmt.Sprintf("echo 0 > /sys/kernel/debug/sched/fair_server/cpu%d/runtime", cpu), "https://docs.kernel.org/scheduler/sched-deadline.html"},
	} {
		f := bench.Finding{Key: x.key, Source: x.source, Severity: bench.SeverityFit, Title: "no " + x.title, Seen: fmt.Sprintf("CPU %d: not active: %s", cpu, x.off)}
		part := partOf(l.Why, x.by)
		switch {
		case strings.HasPrefix(part, "unknown"):
			f.Severity, f.Title, f.Seen = bench.SeverityNote, x.title+" not known", fmt.Sprintf("CPU %d: n/a: %s", cpu, strings.TrimPrefix(part, "unknown: "))
		case l.By == x.by || l.By == bench.FIFOBoth:
			f.Title, f.Seen = x.title+" is active", fmt.Sprintf("CPU %d: %s", cpu, part)
			f.Severity, f.Cost = c.throttled(l)
			f.Remedy = c.onHost(x.remedy)
		case l.By == bench.FIFOUnknown && !strings.Contains(l.Why, bench.FIFOBandwidth+": ") && !strings.Contains(l.Why, bench.FIFOServer+": "):
			f.Severity, f.Title, f.Seen = bench.SeverityNote, x.title+" not known", fmt.Sprintf("CPU %d: n/a: %s", cpu, l.Why)
		}
		c.add(f)
	}
}

// partOf is what a limit's reason says of one mechanism: "RT bandwidth: 950000 of …".
func partOf(why, by string) string {
	_, part, ok := strings.Cut(why, by+": ")
	if !ok {
		return ""
	}
	for _, other := range []string{"; " + bench.FIFOServer + ": ", "; " + bench.FIFOBandwidth + ": "} {
		part, _, _ = strings.Cut(part, other)
	}
	return part
}

// worstLimit is the measured CPU with the tightest limit.
func (c *checker) worstLimit() (cpu int, l *bench.FIFOLimit) {
	share := func(l *bench.FIFOLimit) float64 {
		if l == nil || l.PeriodNS == 0 {
			return 1
		}
		return float64(l.RuntimeNS) / float64(l.PeriodNS)
	}
	cpu = slices.Max(c.n.Measured)
	l = c.f.Host.FIFOLimitOf(cpu)
	for _, x := range c.n.Measured {
		if got := c.f.Host.FIFOLimitOf(x); share(got) < share(l) {
			cpu, l = x, got
		}
	}
	return cpu, l
}

// throttled is what an active limit means for the plan: nothing, unless its thread wants
// more than the limit.
func (c *checker) throttled(l *bench.FIFOLimit) (bench.Severity, string) {
	gap := time.Duration(l.PeriodNS - l.RuntimeNS)
	cost := fmt.Sprintf("a real-time thread that has run for %s of a period of %s is kept off its CPU for the rest, up to %s",
		time.Duration(l.RuntimeNS), time.Duration(l.PeriodNS), gap)
	if c.n.Interval > 0 && gap > c.n.Interval {
		cost += fmt.Sprintf(", %d cycles of this plan", int64(gap/c.n.Interval))
	}
	switch allowed := float64(l.RuntimeNS) / float64(l.PeriodNS); {
	case !c.realTime():
		return bench.SeverityNote, cost + "; this plan has none"
	case c.n.Always:
		return bench.SeverityWarning, cost + "; this plan's thread never sleeps and meets it in every period"
	case c.n.Busy > 0 && c.n.Interval > 0 && float64(c.n.Busy) >= allowed*float64(c.n.Interval):
		return bench.SeverityWarning, cost + fmt.Sprintf("; this plan wants %s of each %s, which is more than that", c.n.Busy, c.n.Interval)
	case c.n.Busy > 0 && c.n.Interval > 0:
		return bench.SeverityNote, cost + fmt.Sprintf("; this plan wants %s of each %s and does not come there", c.n.Busy, c.n.Interval)
	}
	return bench.SeverityNote, cost + "; a cyclic thread that sleeps between its cycles does not come there"
}

// groupSched judges CONFIG_RT_GROUP_SCHED: it wants a budget of real time for each control
// group, which the second version of these has no file for.
func (c *checker) groupSched() {
	on, g := c.f.Host.RTGroupSched, &c.f.Cgroup
	f := bench.Finding{Key: "rt_group_sched", Title: "no RT budget of control groups", Severity: bench.SeverityFit,
		Seen: "CONFIG_RT_GROUP_SCHED off", Source: "https://docs.kernel.org/scheduler/sched-rt-group.html"}
	switch {
	case on == nil:
		f.Severity, f.Title, f.Seen = bench.SeverityNote, "RT_GROUP_SCHED not known", "n/a: the kernel's build configuration is not readable; the attempt of SCHED_FIFO decides"
	case !*on:
	default:
		f.Seen = fmt.Sprintf("CONFIG_RT_GROUP_SCHED=y; cgroup v%d, group %s", g.Version, orUnknown(g.Path))
		if g.RTRuntime != nil {
			f.Seen += fmt.Sprintf("; %s is %d", g.RTFile, *g.RTRuntime)
		}
		c.budget(&f)
	}
	c.add(f)
}

// budget judges the group's share on a kernel that wants one.
func (c *checker) budget(f *bench.Finding) {
	g := &c.f.Cgroup
	none := g.Version == 1 && g.RTRuntime != nil && *g.RTRuntime == 0 || g.Version == 2 && !g.Root
	switch {
	case c.had(bench.CallFIFO):
		f.Title = "RT_GROUP_SCHED with a budget: SCHED_FIFO is granted here"
		f.Severity = bench.SeverityNote
		f.Cost = "nothing here; in a control group without a budget of its own SCHED_FIFO would be refused"
	case none:
		f.Title = "RT_GROUP_SCHED without a budget of this control group"
		f.Severity = c.ifRealTime(c.bad())
		f.Cost = "the kernel refuses SCHED_FIFO with EPERM, whatever capability is held: the cycle runs as an ordinary thread, behind all others"
		f.Remedy = c.groupRemedy()
		if g.Version == 2 {
			f.Source = "https://github.com/siderolabs/pkgs/issues/1484"
		}
	default:
		f.Title, f.Severity = "RT_GROUP_SCHED: every control group needs a budget of real time", bench.SeverityNote
		f.Cost = "SCHED_FIFO is refused with EPERM in a group without one"
	}
}

// groupRemedy gives the group a budget, or takes the need of one away.
func (c *checker) groupRemedy() string {
	if g := &c.f.Cgroup; g.Version == 1 {
		return c.onHost("echo 950000 > " + orText(g.RTFile, "cpu.rt_runtime_us of the group") + ", its parents first")
	}
	if major, minor, ok := release(c.f.Host.Kernel); ok && (major > 6 || major == 6 && minor >= 16) {
		return c.onHost("boot with rt_group_sched=0")
	}
	return c.onHost("boot a kernel without CONFIG_RT_GROUP_SCHED: cgroup v2 has no file for a budget")
}

func orText(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
