package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
)

// pinning says, once, how the measured CPUs become this process's own where it runs.
func (c *checker) pinning() {
	h := &c.f.Host
	f := bench.Finding{Key: "cpu_pinning", Source: "https://docs.kernel.org/admin-guide/cgroup-v2.html#cpuset-interface-files"}
	var online []int
	for _, x := range h.CPUs {
		online = append(online, x.ID)
	}
	narrow := h.Cpuset != nil && len(outside(online, h.Cpuset)) > 0
	f.Seen = fmt.Sprintf("online %s, cpuset %s, allowed %s, measured %s", cpuText(online), orUnknown(bench.CPUList(h.Cpuset).String()), cpuText(h.Allowed), cpuText(c.n.Measured))
	if c.f.Cgroup.Partition != "" {
		f.Seen += ", cpuset partition " + c.f.Cgroup.Partition
	}
	f.Cost = "CPUs that others may use too are taken away in the middle of a cycle"
	list := cpuText(c.n.Measured)
	switch {
	case len(outside(c.n.Measured, h.Isolated)) == 0 && len(c.n.Measured) > 0, c.f.Cgroup.Partition == "isolated":
		f.Severity, f.Title, f.Cost = bench.SeverityFit, "measured CPUs are this plan's own", ""
	case h.Container == "kubernetes" && narrow:
		f.Severity, f.Title, f.Cost = bench.SeverityFit, "the pod has CPUs of its own", ""
	case h.Container == "kubernetes":
		f.Severity, f.Title = bench.SeverityWarning, "the pod shares the node's CPUs"
		f.Remedy = "kubelet with cpuManagerPolicy: static, and a Guaranteed pod: whole CPUs, requests equal to limits, in every container of it"
		f.Source = "https://kubernetes.io/docs/tasks/administer-cluster/cpu-management-policies/"
	case c.contained() && narrow:
		f.Severity, f.Title = bench.SeverityNote, "the container has a cpuset, which other processes may use too"
		f.Remedy = c.onHost("isolate its CPUs: " + c.parameter("isolcpus=managed_irq,domain,%s"))
	case c.contained() && c.rootless():
		f.Severity, f.Title = bench.SeverityWarning, "the rootless container has no cpuset"
		f.Remedy = "on the container's host: systemctl edit user@.service with [Service] Delegate=cpu cpuset io memory pids and LimitRTPRIO=99, log in anew, then --cpuset-cpus=" + list
		f.Source = "https://rootlesscontaine.rs/getting-started/common/cgroup2/"
	case c.contained():
		f.Severity, f.Title = bench.SeverityWarning, "the container has no cpuset"
		f.Remedy = "--cpuset-cpus=" + list + " of podman run; in a Quadlet unit AllowedCPUs=" + list + " under [Service]"
	default:
		f.Severity, f.Title = bench.SeverityNote, "no control group keeps others off the measured CPUs"
		f.Remedy = "isolated CPUs (isolcpus), or AllowedCPUs= of every other slice: systemctl set-property --runtime system.slice AllowedCPUs=" + cpuText(c.rest())
		if len(c.quiet()) == 0 || len(c.rest()) == 0 {
			f.Remedy = c.parameter("%s")
		}
	}
	c.add(f)
}

// quota judges the CPU time that the control group is given: ordinary threads stop when it
// is used up. SCHED_FIFO threads do not count against it.
func (c *checker) quota() {
	f := bench.Finding{Key: "cpu_quota", Severity: bench.SeverityFit, Title: "no CPU quota", Seen: "none in this control group, or above as far as is seen (cpu.max, cpu.cfs_quota_us)",
		Source: "https://docs.kernel.org/scheduler/sched-bwc.html"}
	if q := strings.Fields(c.f.Host.CgroupQuota); len(q) == 2 {
		quota, err1 := strconv.ParseInt(q[0], 10, 64)
		period, err2 := strconv.ParseInt(q[1], 10, 64)
		f.Severity, f.Title = bench.SeverityWarning, "a CPU quota"
		f.Seen = c.f.Host.CgroupQuota + " (cpu.max or cpu.cfs_quota_us: µs of each period)"
		f.Cost = "ordinary threads that used it up stand still for the rest of the period; one such stop makes the run invalid. SCHED_FIFO threads do not count"
		if err1 == nil && err2 == nil && quota < period {
			f.Cost = fmt.Sprintf("ordinary threads that used %s up stand still for up to %s", us(quota), us(period-quota)) + f.Cost[strings.Index(f.Cost, "; one such"):]
		}
		switch c.f.Host.Container {
		case "kubernetes":
			f.Remedy = `annotate the pod cpu-quota.crio.io: "disable" (CRI-O with the runtime class of the performance profile)`
		case "":
			f.Remedy = "systemctl set-property --runtime UNIT CPUQuota="
		default:
			f.Remedy = "start the container without --cpus and --cpu-quota; give it CPUs with --cpuset-cpus"
		}
	}
	c.add(f)
}

func us(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

// rights lists capabilities and limits; what they do not allow is seen by the attempts.
func (c *checker) rights() {
	h, r := &c.f.Host, &c.f.Rights
	f := bench.Finding{Key: "capabilities", Severity: bench.SeverityFit, Title: "capabilities", Source: "https://man7.org/linux/man-pages/man7/capabilities.7.html"}
	f.Seen = "held of SYS_NICE, IPC_LOCK and SYS_ADMIN: " + orText(strings.Join(h.Capabilities, ", "), "none") + "; user " + orUnknown(r.UserID)
	if c.rootless() {
		f.Seen += ", in a user namespace: they count for it alone, and neither SCHED_FIFO nor locked memory is granted by them"
	}
	if c.rootless() || !slices.Contains(h.Capabilities, "SYS_NICE") || !slices.Contains(h.Capabilities, "IPC_LOCK") {
		f.Severity, f.Title = bench.SeverityNote, "capabilities are missing; the limits decide"
	}
	c.add(f)
	l := bench.Finding{Key: "limits", Severity: bench.SeverityFit, Title: "limits of priority and locked memory", Source: "https://man7.org/linux/man-pages/man2/getrlimit.2.html",
		Seen: fmt.Sprintf("RLIMIT_RTPRIO %s (hard %s), RLIMIT_MEMLOCK %s bytes (hard %s) (/proc/self/limits)",
			limitText(&h.Limits.RTPrio), limitText(r.RTPrioHard), limitText(&h.Limits.Memlock), limitText(r.MemlockHard))}
	enough := (h.Limits.RTPrio < 0 || h.Limits.RTPrio >= int64(c.n.FIFO())) && h.Limits.Memlock < 0
	if !enough && f.Severity != bench.SeverityFit {
		l.Severity = bench.SeverityNote
	} else if !enough {
		l.Seen += "; SYS_NICE and IPC_LOCK, which are held, go beyond them"
	}
	c.add(l)
}

func limitText(n *int64) string {
	switch {
	case n == nil:
		return "n/a"
	case *n < 0:
		return "unlimited"
	}
	return strconv.FormatInt(*n, 10)
}

// security judges who else may say no: SELinux, and FIPS mode to security policies.
func (c *checker) security() {
	r := &c.f.Rights
	f := bench.Finding{Key: "selinux", Severity: bench.SeverityFit, Title: "SELinux " + orText(r.SELinux, "is not there"), Seen: "/sys/fs/selinux/enforce",
		Source: "https://docs.redhat.com/en/documentation/red_hat_enterprise_linux/9/html/using_selinux/"}
	if r.SELinux != "" {
		f.Seen += "; label of this process " + orUnknown(r.Label) + " (/proc/self/attr/current)"
	}
	if r.SELinux == "enforcing" {
		f.Severity = bench.SeverityNote
		var denied []string
		for _, a := range c.f.Attempts {
			if a.Errno == "EACCES" {
				denied = append(denied, a.What)
			}
		}
		if len(denied) > 0 {
			f.Severity = bench.SeverityWarning
			f.Title = "SELinux refuses"
			f.Cost = "EACCES from " + strings.Join(denied, ", ") + ": the label " + orUnknown(r.Label) + " may not, whatever capability is held"
			f.Remedy = c.onHost("ausearch -m avc -ts recent names the rule; --security-opt label=disable lifts it for one container")
		} else if c.contained() {
			f.Cost = "a folder that is mounted for results needs the container's label"
			f.Remedy = "mount it with :Z; never /sys or a path that others use"
		}
	}
	c.add(f)
	p := bench.Finding{Key: "fips", Severity: bench.SeverityFit, Title: "FIPS mode is off", Seen: "/proc/sys/crypto/fips_enabled",
		Source: "https://csrc.nist.gov/pubs/sp/800/131/a/r2/final"}
	switch {
	case r.FIPS == nil:
		p.Title, p.Seen = "no FIPS mode", "/proc/sys/crypto/fips_enabled is not there"
	case *r.FIPS != 0:
		p.Severity, p.Title = bench.SeverityNote, "FIPS mode is on"
		p.Cost = "the security policies Basic128Rsa15 and Basic256 can't work with a peer that obeys it: they sign with SHA-1 (and Basic128Rsa15 encrypts by PKCS #1 v1.5); " +
			"Basic256Sha256, Aes128_Sha256_RsaOaep and Aes256_Sha256_RsaPss do. This plan uses None, and opcycle's own cryptography is Go's, which does not follow the kernel's switch"
	}
	c.add(p)
}
