package host

import (
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// initialTimeNS is the inode of the first time namespace (PROC_TIME_INIT_INO of
// include/linux/proc_ns.h).
const initialTimeNS = 0xEFFFFFFA

// clock judges the clock that everything is stamped with.
func (c *checker) clock() {
	name := c.f.Host.ClockSource
	f := bench.Finding{Key: "clock_source", Severity: bench.SeverityFit, Title: "clock source " + orUnknown(name),
		Seen:   name + " of " + strings.Join(c.f.Clocks, ", ") + " (/sys/devices/system/clocksource/clocksource0)",
		Source: "https://docs.kernel.org/timers/timekeeping.html"}
	switch name {
	case "":
		f.Severity, f.Title, f.Seen = bench.SeverityUnknown, "clock source not known", "n/a: /sys/devices/system/clocksource is not readable"
	case "jiffies":
		f.Severity = bench.SeverityUnfit
		f.Cost = "the clock moves in steps of 1 to 10 ms: no figure of a run would mean anything"
		f.Remedy = c.onHost(c.otherClock())
	case "hpet", "acpi_pm", "refined-jiffies":
		f.Severity = bench.SeverityWarning
		f.Cost = "every reading of the clock is a system call and a device access of about 1 µs, instead of about 20 ns: the loop and its spin measure their own clock"
		f.Remedy = c.onHost(c.otherClock())
	case "xen":
		f.Severity = bench.SeverityNote
		f.Cost = "a reading of the clock may be a system call"
	}
	c.add(f)
	c.tsc()
	c.namespace()
}

func (c *checker) otherClock() string {
	if slices.Contains(c.f.Clocks, "tsc") {
		return "echo tsc > /sys/devices/system/clocksource/clocksource0/current_clocksource"
	}
	return "read why the kernel gave the TSC up: dmesg | grep -i tsc"
}

// tsc judges the processor's counter: cycles are of use only when it counts evenly.
func (c *checker) tsc() {
	f := bench.Finding{Key: "tsc", Severity: bench.SeverityFit, Source: "https://docs.kernel.org/virt/kvm/x86/timekeeping.html"}
	switch {
	case c.f.arm():
		f.Title, f.Seen = "the counter runs evenly", "arm64: CNTVCT has a fixed frequency by its architecture"
	case len(c.f.Flags) == 0:
		f.Severity, f.Title, f.Seen = bench.SeverityNote, "invariance of the TSC not known", "n/a: no flags in /proc/cpuinfo"
	case c.f.hasFlag("constant_tsc") && c.f.hasFlag("nonstop_tsc"):
		f.Title, f.Seen = "the TSC is invariant", "constant_tsc and nonstop_tsc (/proc/cpuinfo)"
	default:
		f.Severity, f.Title = bench.SeverityWarning, "the TSC is not invariant"
		f.Seen = fmt.Sprintf("constant_tsc %t, nonstop_tsc %t (/proc/cpuinfo)", c.f.hasFlag("constant_tsc"), c.f.hasFlag("nonstop_tsc"))
		f.Cost = "its rate follows frequency or idle states: figures in cycles (sel4bench, caterpillar, oslat) are no durations"
		if c.f.Host.Hypervisor != "" {
			f.Remedy = "give the virtual machine the host's processor (KVM: -cpu host,+invtsc)"
		}
	}
	c.add(f)
}

// namespace judges the time namespace and the timer slack of this process.
func (c *checker) namespace() {
	f := bench.Finding{Key: "time_namespace", Severity: bench.SeverityFit, Title: "the machine's own clock", Source: "https://man7.org/linux/man-pages/man7/time_namespaces.7.html",
		Seen: fmt.Sprintf("time:[%d] (/proc/self/ns/time)", c.f.Host.TimeNS)}
	switch c.f.Host.TimeNS {
	case 0:
		f.Title, f.Seen = "no time namespaces", "the kernel has none (/proc/self/ns/time)"
	case initialTimeNS:
	default:
		f.Severity, f.Title = bench.SeverityNote, "a time namespace of its own"
		f.Cost = "CLOCK_MONOTONIC is shifted against that of processes outside: with the other end there, transmit times are n/a; server and client of one run share it"
		f.Remedy = "start both ends in one time namespace (no unshare -T)"
	}
	c.add(f)
	s := bench.Finding{Key: "timer_slack", Severity: bench.SeverityFit, Title: "timer slack", Seen: "n/a (/proc/self/timerslack_ns)",
		Source: "https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html"}
	if c.f.Slack != nil {
		s.Seen = fmt.Sprintf("%d ns (/proc/self/timerslack_ns)", *c.f.Slack)
	}
	s.Seen += "; a SCHED_FIFO thread has none, and measured threads of SCHED_OTHER set it to 1 ns"
	c.add(s)
}

// clocks judges how the clocks of two machines are kept together.
func (c *checker) clocks() {
	f := bench.Finding{Key: "ptp", Severity: bench.SeverityFit, Title: "one machine, one clock: no PTP needed", Seen: "both ends run here",
		Source: "https://docs.kernel.org/driver-api/ptp.html"}
	if c.n.Remote {
		f.Seen = fmt.Sprintf("hardware clocks %s; running: %s", orUnknown(strings.Join(c.f.PTP, ", ")), orText(strings.Join(c.f.running("ptp4l", "phc2sys", "chronyd", "ntpd"), ", "), "none seen of ptp4l, phc2sys, chronyd, ntpd"))
		if len(c.f.running("ptp4l")) > 0 && len(c.f.running("phc2sys")) > 0 {
			f.Title = "clocks are kept by PTP"
		} else {
			f.Severity, f.Title = bench.SeverityNote, "the other end's clock is not kept by PTP"
			f.Cost = "one-way times are estimated, with half of the fastest round trip as their bound; loop time, the main figure, needs no common clock"
			f.Remedy = c.onHost("systemctl enable --now ptp4l phc2sys, on both machines")
		}
	}
	c.add(f)
}
