package host

import (
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// virtual judges the hypervisor and what it took.
func (c *checker) virtual() {
	f := bench.Finding{Key: "virtual", Severity: bench.SeverityFit, Title: "no hypervisor", Seen: "neither DMI nor the processor's flags show one (/sys/class/dmi/id, /proc/cpuinfo)",
		Source: "https://man7.org/linux/man-pages/man5/proc_stat.5.html"}
	var steal []string
	worst := 0.0
	for _, s := range c.f.Steal {
		if slices.Contains(c.n.Measured, s.CPU) {
			steal = append(steal, fmt.Sprintf("CPU %d %s", s.CPU, percent(s.Share)))
			worst = max(worst, s.Share)
		}
	}
	if h := c.f.Host.Hypervisor; h != "" {
		f.Severity, f.Title = c.ifRealTime(bench.SeverityWarning), "a virtual machine"
		f.Seen = "hypervisor: " + h + "; steal time since boot: " + orText(strings.Join(steal, ", "), "n/a") + " (/proc/stat)"
		f.Cost = "a virtual CPU that its host does not run stands still, and nothing in here can prevent it or see it but as steal time, in steps of 10 ms"
		f.Remedy = "on the hypervisor's host: pin each virtual CPU to an isolated CPU of its own (libvirt: <vcpupin>, <vcpusched scheduler='fifo'>)"
	}
	c.add(f)
}

// smi judges system management interrupts, which no kernel can see.
func (c *checker) smi() {
	f := bench.Finding{Key: "smi", Severity: bench.SeverityNote, Source: "https://docs.redhat.com/en/documentation/red_hat_enterprise_linux_for_real_time/7/html/reference_guide/system_management_interrupts",
		Title: "system management interrupts not known"}
	failed, tried := c.tried(bench.CallSMI)
	switch {
	case c.f.arm():
		f.Severity, f.Title, f.Seen = bench.SeverityFit, "no system management interrupts", "arm64 has none (secure firmware may take time all the same)"
	case !tried:
		f.Seen = "n/a: /dev/cpu/*/msr is not there"
		f.Remedy = c.onHost("modprobe msr, or measure the gaps themselves: opcycle suite hwlat")
		if c.f.Host.Hypervisor != "" {
			f.Seen += "; in a virtual machine it would not show the host's"
			f.Remedy = "measure the gaps themselves: opcycle suite oslat"
		}
	case len(failed) > 0:
		f.Seen = "n/a: " + failed[0].What + ": " + failed[0].Errno
		f.Remedy = "measure the gaps themselves: opcycle suite hwlat"
	default:
		for _, a := range c.f.Attempts {
			if a.Call == bench.CallSMI {
				f.Title, f.Seen = fmt.Sprintf("%d system management interrupt(s) since reset", a.Value), a.What
				if a.Value == 0 {
					f.Severity = bench.SeverityFit
				}
			}
		}
		if f.Severity != bench.SeverityFit {
			f.Cost = "each stops every CPU for tens of µs, a badly written one for ms; opcycle suite hwlat shows whether they come now"
			f.Remedy = "switch off what causes them in the firmware (legacy USB, power capping), never the thermal ones"
		}
	}
	c.add(f)
}

// cache judges cache allocation by what the plan asks of it.
func (c *checker) cache() {
	f := bench.Finding{Key: "resctrl", Severity: bench.SeverityNote, Source: "https://docs.kernel.org/filesystems/resctrl.html"}
	able := c.f.hasFlag("cat_l3") || c.f.hasFlag("cat_l2")
	asked := c.n.CAT != "" && c.n.CAT != "off"
	switch {
	case c.f.Resctrl:
		f.Severity, f.Title, f.Seen = bench.SeverityFit, "cache allocation can be had", "/sys/fs/resctrl is mounted"
		c.add(f)
		return
	case able:
		f.Title, f.Seen = "cache allocation is not mounted", "cat_l3 or cat_l2 (/proc/cpuinfo), no /sys/fs/resctrl/info"
		f.Remedy = c.onHost("mount -t resctrl resctrl /sys/fs/resctrl")
	default:
		f.Title, f.Seen = "no cache allocation", "neither cat_l3 nor cat_l2 (/proc/cpuinfo), no /sys/fs/resctrl/info"
	}
	f.Cost = "neighbours empty the measured CPUs' share of the last-level cache"
	if !asked {
		f.Cost += "; this plan asks for none"
	} else {
		f.Severity = bench.SeverityWarning
		if c.n.CAT == "require" {
			f.Severity = bench.SeverityUnfit
		}
	}
	c.add(f)
}

// tuned judges the profile of tuned.
func (c *checker) tuned() {
	f := bench.Finding{Key: "tuned", Severity: bench.SeverityNote, Source: "https://docs.redhat.com/en/documentation/red_hat_enterprise_linux_for_real_time/9/html/optimizing_rhel_9_for_real_time_for_low_latency_operation/"}
	switch p := c.f.Tuned; {
	case p == "" && c.contained():
		f.Title, f.Seen = "profile of tuned not known", "n/a: a container does not see its host's /etc/tuned"
	case p == "":
		f.Title, f.Seen = "no tuned", "/etc/tuned/active_profile is not there"
	case strings.Contains(p, "realtime"), strings.Contains(p, "cpu-partitioning"), strings.Contains(p, "openshift-node-performance"):
		f.Severity, f.Title, f.Seen = bench.SeverityFit, "tuned profile "+p, "/etc/tuned/active_profile; isolated_cores "+orUnknown(c.f.TunedVars)
		if c.f.TunedVars != "" {
			c.tunedCPUs(&f)
		}
	default:
		f.Title, f.Seen = "tuned profile "+p, "/etc/tuned/active_profile"
		f.Cost = "a profile for throughput or power saving sets governor, C-states and scheduler tunables against a cycle"
		f.Severity = c.ifRealTime(bench.SeverityWarning)
		f.Remedy = c.onHost("set isolated_cores in /etc/tuned/realtime-variables.conf, tuned-adm profile realtime, reboot")
	}
	c.add(f)
}

// tunedCPUs compares what tuned was told with what the plan measures.
func (c *checker) tunedCPUs(f *bench.Finding) {
	cpus, err := bench.ParseCPUList(c.f.TunedVars)
	if err != nil || len(outside(c.n.Measured, cpus)) == 0 {
		return
	}
	f.Severity, f.Cost = bench.SeverityWarning, "measured "+cpuWords(outside(c.n.Measured, cpus))+", not among the cores that the profile isolates"
	f.Remedy = "choose CPUs of " + cpuText(cpus) + " (--server-cpus, --client-cpus), or change isolated_cores and reboot"
}
