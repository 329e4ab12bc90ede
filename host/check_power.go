package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"opcycle/bench"
)

// power judges the frequency governor and turbo.
func (c *checker) power() {
	if len(c.n.Measured) == 0 {
		return
	}
	c.governor()
	f := bench.Finding{Key: "turbo", Source: "https://docs.kernel.org/admin-guide/pm/cpufreq.html", Severity: bench.SeverityNote}
	switch p := &c.f.Power; {
	case p.Turbo == nil:
		f.Title, f.Seen = "turbo not known", "n/a: neither intel_pstate/no_turbo nor cpufreq/boost is there"
		if c.f.Host.Hypervisor != "" {
			f.Seen += "; the hypervisor's host decides"
		}
	case *p.Turbo:
		f.Title, f.Seen = "turbo frequencies are allowed", "/"+p.TurboFile
		f.Cost = "execution times depend on how many neighbours compute and on the temperature: the same program is slower when the machine is full"
		value := "1"
		if strings.HasSuffix(p.TurboFile, "boost") {
			value = "0"
		}
		f.Remedy = c.onHost("echo " + value + " > /" + p.TurboFile)
	default:
		f.Severity, f.Title, f.Seen = bench.SeverityFit, "turbo frequencies are off", "/"+p.TurboFile
	}
	c.add(f)
}

func (c *checker) governor() {
	f := bench.Finding{Key: "governor", Severity: bench.SeverityFit, Title: "frequency governor performance", Source: "https://docs.kernel.org/admin-guide/pm/cpufreq.html"}
	var names []string
	worst := CPUPower{}
	for _, cpu := range c.n.Measured {
		p := c.f.Power.of(cpu)
		if p.Governor != "" && !slices.Contains(names, p.Governor) {
			names = append(names, p.Governor)
		}
		if p.Governor != "" && p.Governor != "performance" {
			worst = p
		}
	}
	f.Seen = strings.Join(names, ", ") + " on " + cpuWords(c.n.Measured) + " (cpufreq/scaling_governor)"
	switch {
	case len(names) == 0:
		f.Severity, f.Title = bench.SeverityNote, "no frequency driver"
		f.Seen = "n/a: no cpufreq of " + cpuWords(c.n.Measured) + ": firmware or hypervisor decide"
	case worst.Governor == "":
	case worst.Governor == "schedutil" && c.realTime():
		f.Severity, f.Title = bench.SeverityNote, "frequency governor schedutil"
		f.Cost = "it asks for the highest frequency while a real-time thread runs; the change itself takes its time at every wake-up"
		f.Remedy = c.onHost("cpupower frequency-set -g performance")
	default:
		f.Severity, f.Title = bench.SeverityWarning, "frequency governor "+worst.Governor
		f.Cost = "after a sleep the calculation starts at a low frequency and is sped up only when load was seen" + slower(worst)
		f.Remedy = c.onHost("cpupower frequency-set -g performance")
	}
	c.add(f)
}

// slower is the range of a CPU's frequency, as its driver has it.
func slower(p CPUPower) string {
	low, err1 := strconv.ParseFloat(p.Min, 64)
	high, err2 := strconv.ParseFloat(p.Max, 64)
	if err1 != nil || err2 != nil || low <= 0 || high <= low {
		return ""
	}
	return fmt.Sprintf(": here between %.3g and %.3g GHz, so up to %.2g times as long", low/1e6, high/1e6, high/low)
}

// shallow is the exit latency that does not matter to a cycle, µs.
const shallow = 2

// idle judges the C-states: a deep one is paid at the wake-up.
func (c *checker) idle() {
	if len(c.n.Measured) == 0 {
		return
	}
	var worst IdleState
	found := false
	for _, cpu := range c.n.Measured {
		p := c.f.Power.of(cpu)
		if s, ok := p.deepest(); ok && (!found || s.Latency > worst.Latency) {
			worst, found = s, true
		}
	}
	f := bench.Finding{Key: "cstates", Severity: bench.SeverityFit, Source: "https://docs.kernel.org/admin-guide/pm/cpuidle.html"}
	seen := fmt.Sprintf("deepest idle state of the measured CPUs: %s, exit latency %d µs by the table of %s (cpuidle/state*/latency)", worst.Name, worst.Latency, orUnknown(c.f.Power.Driver))
	switch {
	case !found && c.f.Power.Driver == "":
		f.Severity, f.Title, f.Seen = bench.SeverityNote, "no idle states known", "n/a: no cpuidle driver: the architecture's halt, or the hypervisor's"
		if strings.Contains(" "+c.f.Host.Cmdline+" ", " idle=poll ") {
			f.Severity, f.Title, f.Seen = bench.SeverityFit, "idle CPUs poll", "idle=poll (/proc/cmdline)"
		}
	case !found:
		f.Severity, f.Title, f.Seen = bench.SeverityNote, "no idle states known", "n/a: cpuidle driver "+c.f.Power.Driver+" shows none"
	case worst.Latency <= shallow:
		f.Title, f.Seen = "idle states are shallow", seen
	case c.had(bench.CallLatency):
		f.Title, f.Seen = "C-states are held off during a run", seen+"; /dev/cpu_dma_latency was granted at 0 µs"
	default:
		f.Severity, f.Title, f.Seen = bench.SeverityWarning, "deep C-states", seen
		f.Cost = fmt.Sprintf("a wake-up from %s is up to %d µs late%s", worst.Name, worst.Latency, c.share(worst.Latency))
		f.Remedy = c.onHost("cpupower idle-set -D " + strconv.Itoa(shallow))
	}
	if c.f.Host.Hypervisor != "" && found {
		f.Seen += "; of a virtual CPU: what the host's does is not seen"
	}
	c.add(f)
}

// share is µs as a share of the cycle.
func (c *checker) share(us int64) string {
	if c.n.Interval <= 0 {
		return ""
	}
	return fmt.Sprintf(", %s of the cycle of %s", percent(float64(us)*1000/float64(c.n.Interval)), c.n.Interval)
}

// siblings judges SMT: two threads of one core.
func (c *checker) siblings() {
	if len(c.n.Measured) == 0 {
		return
	}
	var pairs []string
	for _, cpu := range c.n.Measured {
		x, _ := c.f.Host.CPUByID(cpu)
		for _, s := range x.Siblings {
			if _, online := c.f.Host.CPUByID(s); s != cpu && online {
				pairs = append(pairs, fmt.Sprintf("%d with %d", cpu, s))
			}
		}
	}
	f := bench.Finding{Key: "smt", Severity: bench.SeverityFit, Title: "measured CPUs are cores of their own",
		Seen: "no other online CPU is a thread of their cores (topology/thread_siblings_list)", Source: "https://docs.kernel.org/admin-guide/hw-vuln/core-scheduling.html"}
	if len(pairs) > 0 {
		f.Severity, f.Title = bench.SeverityWarning, "measured CPUs share their cores (SMT)"
		f.Seen = "CPU " + strings.Join(pairs, ", ") + " (topology/thread_siblings_list)"
		f.Cost = "whatever runs on the other thread takes execution units and level-1 and level-2 cache: a calculation beside it takes up to twice as long"
		f.Remedy = c.onHost("echo off > /sys/devices/system/cpu/smt/control")
	}
	if c.f.Host.Hypervisor != "" {
		f.Seen += "; as the hypervisor shows it"
	}
	c.add(f)
}
