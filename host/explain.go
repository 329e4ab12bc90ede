package host

import (
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// cause is one line of the decision table: why a call came back with an error.
type cause struct {
	name   string // of the row, for tests
	call   string
	errno  string // empty: any
	when   func(*checker, bench.Attempt) bool
	say    func(*checker, bench.Attempt) (because, remedy string)
	source string
}

// explained is a cause that was found.
type explained struct{ name, because, remedy, source string }

// explain finds the first row that fits.
func (c *checker) explain(a bench.Attempt) explained {
	for _, k := range causes() {
		if k.call == a.Call && (k.errno == "" || k.errno == a.Errno) && (k.when == nil || k.when(c, a)) {
			because, remedy := k.say(c, a)
			return explained{k.name, because, remedy, k.source}
		}
	}
	return explained{name: "unknown", because: "no reason is known for it", remedy: "strace -f opcycle check, and dmesg"}
}

const (
	manSched    = "https://man7.org/linux/man-pages/man7/sched.7.html"
	manAffinity = "https://man7.org/linux/man-pages/man2/sched_setaffinity.2.html"
	manMlockall = "https://man7.org/linux/man-pages/man2/mlockall.2.html"
	manLimit    = "https://man7.org/linux/man-pages/man2/getrlimit.2.html"
	manPerf     = "https://man7.org/linux/man-pages/man2/perf_event_open.2.html"
	docQoS      = "https://docs.kernel.org/power/pm_qos_interface.html"
	docResctrl  = "https://docs.kernel.org/filesystems/resctrl.html"
	docFtrace   = "https://docs.kernel.org/trace/ftrace.html"
	docSeccomp  = "https://docs.podman.io/en/latest/markdown/podman-run.1.html"
	docSELinux  = "https://docs.redhat.com/en/documentation/red_hat_enterprise_linux/9/html/using_selinux/"
	docLockdown = "https://man7.org/linux/man-pages/man7/kernel_lockdown.7.html"
)

// causes is the decision table, the most specific row of a call first.
func causes() []cause {
	return slices.Concat(schedulingCauses(), memoryCauses(), fileCauses())
}

func holds(name string) func(*checker, bench.Attempt) bool {
	return func(c *checker, _ bench.Attempt) bool {
		return slices.Contains(c.f.Host.Capabilities, name) && !c.rootless()
	}
}

// mayPriority is whether capability or limit allows the priority that was asked for.
func mayPriority(c *checker, a bench.Attempt) bool {
	return holds("SYS_NICE")(c, a) || c.f.Host.Limits.RTPrio < 0 || c.f.Host.Limits.RTPrio >= a.Value
}

func both(a, b func(*checker, bench.Attempt) bool) func(*checker, bench.Attempt) bool {
	return func(c *checker, x bench.Attempt) bool { return a(c, x) && b(c, x) }
}

func seccomp(c *checker, _ bench.Attempt) bool { return c.f.Rights.Seccomp == "2" }

func enforcing(c *checker, _ bench.Attempt) bool { return c.f.Rights.SELinux == "enforcing" }

func fixed(because, remedy string) func(*checker, bench.Attempt) (string, string) {
	return func(*checker, bench.Attempt) (string, string) { return because, remedy }
}

func sayEnforcing(c *checker, _ bench.Attempt) (string, string) {
	return "SELinux is enforcing and the label " + orUnknown(c.f.Rights.Label) + " may not",
		c.onHost("ausearch -m avc -ts recent names the rule; --security-opt label=disable lifts it for one container")
}

// sayPriority is how a missing privilege is given where this process runs.
func sayPriority(c *checker, a bench.Attempt) (string, string) {
	h := &c.f.Host
	because := fmt.Sprintf("no CAP_SYS_NICE, and RLIMIT_RTPRIO is %s", limitText(&h.Limits.RTPrio))
	if c.rootless() && slices.Contains(h.Capabilities, "SYS_NICE") {
		because = fmt.Sprintf("CAP_SYS_NICE of a user namespace does not count, and RLIMIT_RTPRIO is %s", limitText(&h.Limits.RTPrio))
	}
	switch hard := c.f.Rights.RTPrioHard; {
	case hard != nil && (*hard < 0 || *hard >= a.Value):
		return because, fmt.Sprintf("ulimit -r %d before the start (the hard limit allows it)", a.Value)
	case h.Container == "kubernetes":
		return because, "securityContext: capabilities: add: [SYS_NICE]"
	case c.rootless():
		return because, "for the user, outside of its namespace: LimitRTPRIO=99 in a drop-in of user@.service (systemctl edit user@.service), or 'rtprio 99' in /etc/security/limits.d; log in anew; no --ulimit is needed"
	case c.contained():
		return because, "--cap-add SYS_NICE --ulimit rtprio=99"
	}
	return because, "echo 'USER - rtprio 99' > /etc/security/limits.d/opcycle.conf, log in anew; or run as root"
}

func schedulingCauses() []cause {
	fifo, eperm := bench.CallFIFO, "EPERM"
	groups := func(c *checker, _ bench.Attempt) bool { return c.f.Host.RTGroupSched != nil && *c.f.Host.RTGroupSched }
	budget := func(version int) func(*checker, bench.Attempt) bool {
		return func(c *checker, a bench.Attempt) bool {
			g := &c.f.Cgroup
			return groups(c, a) && g.Version == version && (version == 2 || g.RTRuntime == nil || *g.RTRuntime == 0)
		}
	}
	return []cause{
		{"no privilege", fifo, eperm, func(c *checker, a bench.Attempt) bool { return !mayPriority(c, a) }, sayPriority, manSched},
		{"no RT budget, cgroup v1", fifo, eperm, both(mayPriority, budget(1)), func(c *checker, _ bench.Attempt) (string, string) {
			if c.f.Cgroup.RTRuntime == nil {
				return "the privilege is there, so most likely RT_GROUP_SCHED: the control group " + orUnknown(c.f.Cgroup.Path) + " has no budget (its cpu.rt_runtime_us can't be seen here)", c.groupRemedy()
			}
			return "RT_GROUP_SCHED: the control group " + orUnknown(c.f.Cgroup.Path) + " has no budget (" + c.f.Cgroup.RTFile + " is 0)", c.groupRemedy()
		}, "https://systemd.io/MY_SERVICE_CANT_GET_REALTIME/"},
		{"no RT budget, cgroup v2", fifo, eperm, both(mayPriority, budget(2)), func(c *checker, _ bench.Attempt) (string, string) {
			return "RT_GROUP_SCHED: the control group " + orUnknown(c.f.Cgroup.Path) + " has no budget, and cgroup v2 has no file to give it one", c.groupRemedy()
		}, "https://github.com/siderolabs/pkgs/issues/1484"},
		{"perhaps no RT budget", fifo, eperm, func(c *checker, _ bench.Attempt) bool {
			return c.f.Host.RTGroupSched == nil && !seccomp(c, bench.Attempt{})
		},
			fixed("the privilege is there, so most likely RT_GROUP_SCHED without a budget of this control group (the kernel's configuration is not readable)",
				"zgrep RT_GROUP_SCHED /proc/config.gz /boot/config-$(uname -r)"), "https://systemd.io/MY_SERVICE_CANT_GET_REALTIME/"},
		{"seccomp", fifo, eperm, seccomp, fixed("the privilege is there: a seccomp filter of the container refuses the call", "--security-opt seccomp=PROFILE that allows sched_setattr"), docSeccomp},
		{"SELinux", fifo, "EACCES", enforcing, sayEnforcing, docSELinux},
		{"hard limit of the guard", bench.CallRTTime, eperm, nil, func(c *checker, _ bench.Attempt) (string, string) {
			return "the hard limit RLIMIT_RTTIME is " + limitText(c.f.Rights.RTTimeHard) + " µs and can't be raised", "start with a higher one: prlimit --rttime=unlimited, podman run --ulimit rttime=-1"
		}, manLimit},
		{"CPU outside the cpuset", bench.CallAffinity, "EINVAL", func(c *checker, a bench.Attempt) bool {
			return c.f.Host.Cpuset != nil && len(outside(a.CPUs, c.f.Host.Cpuset)) > 0
		}, func(c *checker, a bench.Attempt) (string, string) {
			out := outside(a.CPUs, c.f.Host.Cpuset)
			remedy := "AllowedCPUs= of the unit, or choose CPUs of " + cpuText(c.f.Host.Cpuset) + " (--server-cpus, --client-cpus)"
			switch {
			case c.f.Host.Container == "kubernetes":
				remedy = "more whole CPUs in the pod's limits, or choose CPUs of " + cpuText(c.f.Host.Cpuset)
			case c.contained():
				remedy = "--cpuset-cpus with " + cpuText(out) + ", or choose CPUs of " + cpuText(c.f.Host.Cpuset)
			}
			return cpuWords(out) + " outside of the cpuset " + cpuText(c.f.Host.Cpuset), remedy
		}, manAffinity},
		{"CPU offline", bench.CallAffinity, "EINVAL", nil, fixed("a CPU is offline or outside of the cpuset", "echo 1 > /sys/devices/system/cpu/cpuN/online, or choose other CPUs"), manAffinity},
		{"seccomp", bench.CallAffinity, eperm, nil, fixed("a seccomp filter refuses the call", "--security-opt seccomp=PROFILE that allows sched_setaffinity"), docSeccomp},
		{"CPU unknown", bench.CallAffinity, "?", nil, fixed("there is no such CPU", "choose online CPUs"), manAffinity},
	}
}

// sayMemlock is how locked memory is allowed where this process runs.
func sayMemlock(c *checker, _ bench.Attempt) (string, string) {
	because := "RLIMIT_MEMLOCK is " + limitText(&c.f.Host.Limits.Memlock) + " bytes and CAP_IPC_LOCK is not held"
	if c.rootless() {
		because = "RLIMIT_MEMLOCK is " + limitText(&c.f.Host.Limits.Memlock) + " bytes, and CAP_IPC_LOCK of a user namespace does not count"
	}
	because += "; the run time of Go alone reserves more than 1 GB, which counts"
	switch hard := c.f.Rights.MemlockHard; {
	case hard != nil && *hard < 0:
		return because, "ulimit -l unlimited before the start (the hard limit allows it)"
	case c.f.Host.Container == "kubernetes":
		return because, "securityContext: capabilities: add: [IPC_LOCK]"
	case c.rootless():
		return because, "for the user, outside of its namespace: LimitMEMLOCK=infinity in a drop-in of user@.service (systemctl edit user@.service); log in anew"
	case c.contained():
		return because, "--cap-add IPC_LOCK --ulimit memlock=-1"
	}
	return because, "echo 'USER - memlock unlimited' > /etc/security/limits.d/opcycle.conf, log in anew; or run as root"
}

func memoryCauses() []cause {
	limited := func(c *checker, a bench.Attempt) bool {
		return c.f.Host.Limits.Memlock >= 0 && !holds("IPC_LOCK")(c, a)
	}
	return []cause{
		{"limit of locked memory", bench.CallMlockall, "ENOMEM", limited, sayMemlock, manMlockall},
		{"limit of locked memory", bench.CallMlockall, "EPERM", limited, sayMemlock, manMlockall},
		{"cgroup's memory", bench.CallMlockall, "ENOMEM", func(c *checker, _ bench.Attempt) bool { return c.f.Cgroup.MemoryMax != nil }, func(c *checker, _ bench.Attempt) (string, string) {
			return "the control group may have " + limitText(c.f.Cgroup.MemoryMax) + " bytes", "give it more memory (podman run --memory, limits.memory)"
		}, manMlockall},
		{"no memory", bench.CallMlockall, "ENOMEM", nil, fixed("the machine has too little memory", "free some"), manMlockall},
		{"seccomp", bench.CallMlockall, "EPERM", nil, fixed("a seccomp filter refuses the call", "--security-opt seccomp=PROFILE that allows mlockall"), docSeccomp},
		{"seccomp", bench.CallMemfd, "EPERM", nil, fixed("a seccomp filter refuses the call", "--security-opt seccomp=PROFILE that allows memfd_create"), docSeccomp},
		{"old kernel", bench.CallMemfd, "ENOSYS", nil, fixed("the kernel has no memfd_create (Linux 3.17), or a filter hides it", "a newer kernel"), "https://man7.org/linux/man-pages/man2/memfd_create.2.html"},
		{"SELinux", bench.CallMemfd, "EACCES", enforcing, sayEnforcing, docSELinux},
		{"descriptors", bench.CallMemfd, "EMFILE", nil, fixed("RLIMIT_NOFILE is used up", "ulimit -n 1024 or more"), manLimit},
	}
}

func fileCauses() []cause {
	lockdown := func(c *checker, _ bench.Attempt) bool { return c.f.Lockdown != "" && c.f.Lockdown != "none" }
	inContainer := func(c *checker, _ bench.Attempt) bool { return c.contained() }
	latency, tracefs, resctrl, perf := bench.CallLatency, bench.CallTracefs, bench.CallResctrl, bench.CallPerf
	return []cause{
		{"device not in the container", latency, "ENOENT", inContainer, fixed("the container has no such device", "--device /dev/cpu_dma_latency"), docQoS},
		{"no device", latency, "ENOENT", nil, fixed("there is no such device: no CPU idle in this kernel, or /dev is not the kernel's", "mount -t devtmpfs none /dev"), docQoS},
		{"SELinux", latency, "EACCES", both(enforcing, func(c *checker, a bench.Attempt) bool { return c.f.Rights.UserID == "0" && !c.rootless() }), sayEnforcing, docSELinux},
		{"device is root's", latency, "EACCES", nil, fixed("the device is root's alone (mode 0600)", "a udev rule: KERNEL==\"cpu_dma_latency\", GROUP=\"realtime\", MODE=\"0660\"; or run as root"), docQoS},
		{"device not allowed", latency, "EPERM", nil, fixed("the control group does not allow the device", "--device /dev/cpu_dma_latency"), docQoS},
		{"read-only", latency, "EROFS", nil, fixed("the file system of the device can't be written", "--device /dev/cpu_dma_latency:rw"), docQoS},
		{"lockdown", tracefs, "EPERM", lockdown, func(c *checker, _ bench.Attempt) (string, string) {
			return "the kernel is locked down (" + c.f.Lockdown + ")", "boot without lockdown=, or with secure boot off"
		}, docLockdown},
		{"no tracing", tracefs, "ENODEV", nil, fixed("the kernel has no tracing (CONFIG_FTRACE)", "a kernel with it"), docFtrace},
		{"tracefs not allowed", tracefs, "", nil, fixed("tracefs is root's, and mounting it needs CAP_SYS_ADMIN", "run as root; in a container -v /sys/kernel/tracing:/sys/kernel/tracing as root of the host"), docFtrace},
		{"not mounted", resctrl, "ENOENT", nil, fixed("resctrl is not mounted, or the processor has none", "mount -t resctrl resctrl /sys/fs/resctrl"), docResctrl},
		{"no class left", resctrl, "ENOSPC", nil, func(_ *checker, a bench.Attempt) (string, string) {
			return "every class of the hardware (CLOSID) is in use" + lastStatus(a.Said), "rmdir a group below /sys/fs/resctrl that nobody needs"
		}, docResctrl},
		{"read-only", resctrl, "EROFS", nil, fixed("resctrl is mounted read-only here", "-v /sys/fs/resctrl:/sys/fs/resctrl:rw"), docResctrl},
		{"SELinux", resctrl, "EACCES", enforcing, sayEnforcing, docSELinux},
		{"resctrl not allowed", resctrl, "", nil, fixed("resctrl is root's", "run as root of the host"), docResctrl},
		{"no counters", perf, "ENOENT", nil, fixed("the processor shows no counter of cycles: virtual machines often have none", "none is needed for times"), manPerf},
		{"no counters", perf, "EOPNOTSUPP", nil, fixed("the processor shows no counter of cycles: virtual machines often have none", "none is needed for times"), manPerf},
		{"perf_event_paranoid", perf, "EACCES", func(c *checker, _ bench.Attempt) bool {
			return c.f.Rights.PerfParanoid != nil && *c.f.Rights.PerfParanoid > 1
		}, func(c *checker, _ bench.Attempt) (string, string) {
			return fmt.Sprintf("kernel.perf_event_paranoid is %d", *c.f.Rights.PerfParanoid), c.onHost("sysctl -w kernel.perf_event_paranoid=1")
		}, manPerf},
		{"seccomp", perf, "", seccomp, fixed("the container's seccomp filter allows it with CAP_PERFMON or CAP_SYS_ADMIN only", "--cap-add PERFMON, and a seccomp profile that knows it"), "https://github.com/moby/moby/issues/43163"},
	}
}

// lastStatus is what resctrl's last_cmd_status said, where the error has it.
func lastStatus(said string) string {
	if _, status, ok := strings.Cut(said, "last_cmd_status: "); ok {
		return ": " + status
	}
	return ""
}
