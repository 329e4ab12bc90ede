package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
)

// machine is the fingerprint of the host with everything that tunes it for real time:
// what a reader needs to build the same machine.
func machine(p *printer, h *bench.Host) {
	p.section("Machine and tuning")
	if h.Name == "" && h.Kernel == "" {
		p.item("", "n/a: every figure is another program's, whose result does not tell its machine")
		return
	}
	cpus := func(list []int) string {
		if len(list) == 0 {
			return "none"
		}
		return bench.CPUList(list).String()
	}
	known := func(list []int) string {
		if list == nil {
			return "n/a"
		}
		return cpus(list)
	}
	body := [][]string{
		{"name", orNA(h.Name)}, {"operating system", orNA(h.OS)}, {"kernel", orNA(h.Kernel)}, {"preemption", orNA(h.Preempt)},
		{"command line", orNA(h.Cmdline)}, {"processor", fmt.Sprintf("%s, %s", orNA(h.CPUModel), orNA(h.Arch))},
		{"CPUs online", fmt.Sprint(len(h.CPUs))}, {"CPUs of this process", cpus(h.Allowed)}, {"isolated CPUs", cpus(h.Isolated)},
		{"nohz_full CPUs", cpus(h.NohzFull)}, {"cpuset of the cgroup", known(h.Cpuset)}, {"CPUs with network interrupts", known(h.NetworkCPUs)},
		{"memory", memory(h.Memory)}, {"hypervisor", orNone(h.Hypervisor)}, {"container", orNone(h.Container)}, {"cgroup quota (cpu.max)", orNone(h.CgroupQuota)},
		{"clock source", orNA(h.ClockSource)}, {"frequency governor", orNA(h.Governor)}, {"transparent huge pages", orNA(h.THP)},
		{"real-time bandwidth", bandwidth(h)}, {"limits", fmt.Sprintf("rtprio %s, memlock %s, open files %s", limit(h.Limits.RTPrio, ""), limit(h.Limits.Memlock, " bytes"), limit(h.Limits.Files, ""))},
		{"limit of FIFO threads", fifoLimit(h)}, {"capabilities", listed(h.Capabilities)}, {"mitigations", listed(h.Mitigations)},
	}
	for _, s := range h.Unreadable {
		body = append(body, []string{"not readable", s})
	}
	p.table([]string{"property", "value"}, map[int]tw.Align{1: tw.AlignLeft}, body)
}

func memory(bytes int64) string {
	if bytes <= 0 {
		return "n/a"
	}
	return strconv.FormatFloat(float64(bytes)/(1<<30), 'f', 1, 64) + " GiB"
}

// bandwidth is how much of each period real-time threads may run, as sysctl has it.
func bandwidth(h *bench.Host) string {
	switch {
	case h.RTRuntimeUS == nil:
		return "n/a"
	case *h.RTRuntimeUS < 0:
		return "unlimited (sched_rt_runtime_us -1)"
	case h.RTPeriodUS == nil:
		return fmt.Sprintf("%d µs of a period that is n/a", *h.RTRuntimeUS)
	}
	return fmt.Sprintf("%d of %d µs", *h.RTRuntimeUS, *h.RTPeriodUS)
}

// limit writes a resource limit; -1 is none.
func limit(v int64, unit string) string {
	if v < 0 {
		return "unlimited"
	}
	return fmt.Sprint(v) + unit
}

// fifoLimit is what stops a real-time thread that does not sleep, as host found it.
func fifoLimit(h *bench.Host) string {
	if h.FIFOLimit == nil {
		return "n/a: not in results of this version"
	}
	return orNA(h.FIFOLimit.Why)
}

func listed(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, "; ")
}
