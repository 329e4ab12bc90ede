package host

import (
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// placement is what the plan itself gives up on this machine.
func (c *checker) placement() {
	f := bench.Finding{Key: "placement", Severity: bench.SeverityFit, Title: "every process of the plan has CPUs of its own",
		Seen: fmt.Sprintf("measured %s, housekeeping %s", cpuText(c.n.Measured), cpuText(c.n.Housekeeping)), Source: "https://docs.kernel.org/admin-guide/cputopology.html"}
	if len(c.n.Notes) > 0 {
		f.Severity, f.Title = bench.SeverityNote, "the placement gives something up"
		f.Cost = strings.Join(c.n.Notes, "; ")
	}
	c.add(f)
}

// isolation judges the boot parameters that keep a CPU to its own thread.
func (c *checker) isolation() {
	if len(c.n.Measured) == 0 {
		return
	}
	c.isolcpus()
	c.tickless()
	c.callbacks()
	c.irqaffinity()
}

func (c *checker) isolcpus() {
	h := &c.f.Host
	open := outside(c.n.Measured, h.Isolated)
	f := bench.Finding{Key: "isolcpus", Severity: bench.SeverityFit, Title: "measured CPUs are isolated",
		Seen:   fmt.Sprintf("isolated %s, measured %s (/sys/devices/system/cpu/isolated)", cpuText(h.Isolated), cpuText(c.n.Measured)),
		Source: "https://docs.kernel.org/admin-guide/kernel-parameters.html"}
	switch {
	case len(open) == 0:
	case c.f.Cgroup.Partition == "isolated":
		f.Seen += "; the cpuset of this control group is an isolated partition (cpuset.cpus.partition)"
	default:
		f.Severity, f.Title = bench.SeverityWarning, "not isolated: measured "+cpuWords(open)
		f.Cost = "the scheduler puts other threads there: each switch to and from them is taken from the cycle (a few µs), " +
			"they empty the caches, and what they do inside the kernel can't be interrupted without PREEMPT_RT"
		f.Remedy = c.onHost(c.parameter("isolcpus=managed_irq,domain,%s"))
	}
	c.add(f)
}

// unlisted is what a CPU parameter of the command line leaves out of the measured CPUs.
func (c *checker) unlisted(names ...string) (given string, without []int, ok bool) {
	without = c.n.Measured
	ok = true
	for _, name := range names {
		text := parameter(c.f.Host.Cmdline, name)
		if text == "" {
			continue
		}
		given += " " + name + "=" + text
		if text == "all" {
			without = nil
			continue
		}
		cpus, err := bench.ParseCPUList(text)
		ok = ok && err == nil
		without = outside(without, cpus)
	}
	return strings.TrimSpace(given), without, ok
}

func (c *checker) tickless() {
	without := outside(c.n.Measured, c.f.Host.NohzFull)
	f := bench.Finding{Key: "nohz_full", Severity: bench.SeverityFit, Title: "measured CPUs run without the timer tick",
		Seen:   fmt.Sprintf("nohz_full %s, measured %s (/sys/devices/system/cpu/nohz_full)", cpuText(c.f.Host.NohzFull), cpuText(c.n.Measured)),
		Source: "https://docs.kernel.org/timers/no_hz.html"}
	if len(without) > 0 {
		f.Severity, f.Title = bench.SeverityNote, "the timer tick runs on measured "+cpuWords(without)
		if c.n.Always {
			f.Severity = bench.SeverityWarning
		}
		f.Cost = "the tick interrupts a calculation 100 to 1000 times a second (CONFIG_HZ), some µs each"
		f.Remedy = c.onHost(c.parameter("nohz_full=%s"))
		if slices.Contains(c.quiet(), 0) { // tick_nohz_init takes the boot CPU out of the list
			f.Remedy = "choose other CPUs to measure than 0, which keeps the time of all, and name these in nohz_full="
		}
	}
	c.add(f)
}

func (c *checker) callbacks() {
	given, without, ok := c.unlisted("rcu_nocbs", "nohz_full")
	f := bench.Finding{Key: "rcu_nocbs", Severity: bench.SeverityFit, Title: "RCU callbacks are kept off the measured CPUs",
		Seen: orText(given, "neither rcu_nocbs nor nohz_full") + " (/proc/cmdline)", Source: "https://docs.kernel.org/admin-guide/kernel-per-CPU-kthreads.html"}
	switch {
	case !ok:
		f.Severity, f.Title = bench.SeverityNote, "rcu_nocbs not understood"
	case len(without) > 0:
		f.Title = "RCU callbacks run on measured CPU " + cpuText(without)
		f.Severity = bench.SeverityNote
		if len(outside(without, c.f.Host.Isolated)) < len(without) { // somebody tuned this CPU and forgot it
			f.Severity = bench.SeverityWarning
		}
		f.Cost = "freed kernel objects are given back in bursts, in a softirq of the CPU that freed them"
		f.Remedy = c.onHost(c.parameter("rcu_nocbs=%s"))
	}
	c.add(f)
}

func (c *checker) irqaffinity() {
	text := parameter(c.f.Host.Cmdline, "irqaffinity")
	f := bench.Finding{Key: "irqaffinity", Severity: bench.SeverityFit, Title: "new interrupts are kept off the measured CPUs",
		Seen: "irqaffinity=" + text + " (/proc/cmdline)", Source: "https://docs.kernel.org/core-api/irq/irq-affinity.html"}
	cpus, err := bench.ParseCPUList(text)
	switch {
	case text != "" && err != nil:
		f.Severity, f.Title = bench.SeverityNote, "irqaffinity not understood"
	case text == "" || len(outside(c.n.Measured, cpus)) < len(c.n.Measured):
		f.Title = "interrupts of new devices may go to measured CPUs"
		if text == "" {
			f.Seen = "no irqaffinity (/proc/cmdline): every CPU"
		}
		f.Severity = bench.SeverityNote
		f.Cost = "a device that is opened later brings its interrupts to any CPU; those that are there now stand under interrupts"
		if rest := c.rest(); len(rest) > 0 && len(c.quiet()) > 0 {
			f.Remedy = c.onHost("boot with irqaffinity=" + cpuText(rest))
		}
	}
	c.add(f)
}

// interrupts lists devices whose interrupts are delivered to measured CPUs.
func (c *checker) interrupts() {
	if len(c.n.Measured) == 0 {
		return
	}
	f := bench.Finding{Key: "interrupts", Severity: bench.SeverityFit, Title: "no device interrupts on the measured CPUs",
		Seen:   cpuWords(c.n.Measured) + " (/proc/interrupts, /proc/irq/*/effective_affinity_list)",
		Source: "https://docs.kernel.org/core-api/irq/irq-affinity.html"}
	here := c.delivered()
	if len(here) > 0 {
		f.Severity, f.Title = bench.SeverityWarning, fmt.Sprintf("%d device interrupt(s) come to measured CPUs", len(here))
		f.Seen = describeInterrupts(here, c.n.Measured)
		f.Cost = "each takes the CPU for its handler, some µs; a network card's on the PLC's CPU waits for the calculation in turn"
		if quiet, rest := c.quiet(), c.rest(); len(quiet) > 0 && len(rest) > 0 {
			f.Remedy = c.onHost(fmt.Sprintf("echo %s > /proc/irq/%s/smp_affinity_list (%s)", cpuText(rest), here[0].Number, "and each of the others; EIO: a managed one, which isolcpus=managed_irq moves"))
		}
		if len(outside(c.n.Measured, c.n.Housekeeping)) == 0 {
			f.Severity = bench.SeverityNote // there is no CPU to send them to
		}
	} else if len(c.f.Interrupt) == 0 {
		f.Severity, f.Title, f.Seen = bench.SeverityNote, "device interrupts not known", "n/a: /proc/interrupts shows none"
	}
	c.add(f)
	c.balancer()
}

// delivered are the interrupts that go to a measured CPU now, the most frequent first.
func (c *checker) delivered() []Interrupt {
	var out []Interrupt
	count := func(x Interrupt) int64 {
		var n int64
		for _, cpu := range c.n.Measured {
			n += x.Counts[cpu]
		}
		return n
	}
	for _, x := range c.f.Interrupt {
		target := x.CPUs
		if target == nil { // not readable: where they came until now
			for cpu, n := range x.Counts {
				if n > 0 {
					target = append(target, cpu)
				}
			}
		}
		if len(outside(target, c.n.Measured)) < len(target) && count(x) > 0 {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(a, b Interrupt) int { return int(count(b) - count(a)) })
	return out
}

func describeInterrupts(list []Interrupt, measured []int) string {
	const shown = 4
	var parts []string
	for i, x := range list {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-shown))
			break
		}
		for _, cpu := range measured {
			if x.Counts[cpu] > 0 {
				parts = append(parts, fmt.Sprintf("%s (%s): %d on CPU %d since boot", x.Number, x.Name, x.Counts[cpu], cpu))
				break
			}
		}
	}
	return strings.Join(parts, ", ")
}

// balancer judges irqbalance, which moves interrupts again and again.
func (c *checker) balancer() {
	f := bench.Finding{Key: "irqbalance", Severity: bench.SeverityFit, Title: "no irqbalance", Seen: "no process of that name",
		Source: "https://man7.org/linux/man-pages/man1/irqbalance.1.html"}
	switch running := len(c.f.running("irqbalance")) > 0; {
	case !running && c.blind():
		f.Severity, f.Title, f.Seen = bench.SeverityNote, "irqbalance not known", "n/a: "+onlyOwn
	case !running:
	case len(outside(c.n.Measured, append(slices.Clone(c.f.Host.Isolated), c.f.Host.NohzFull...))) == 0:
		f.Severity, f.Title, f.Seen = bench.SeverityNote, "irqbalance runs, and leaves isolated CPUs alone", "process irqbalance; the measured CPUs are isolated or nohz_full"
	default:
		f.Severity, f.Title, f.Seen = bench.SeverityWarning, "irqbalance moves interrupts to measured CPUs", "process irqbalance"
		f.Cost = "every 10 s it may bring a device's interrupts to a measured CPU, in the middle of a run"
		f.Remedy = c.onHost("systemctl disable --now irqbalance")
	}
	c.add(f)
}

const onlyOwn = "not every process of the machine is seen from here (a container, or hidepid)"

// foreign lists threads of others that were last seen on measured CPUs.
func (c *checker) foreign() {
	if len(c.n.Measured) == 0 {
		return
	}
	f := bench.Finding{Key: "foreign_threads", Severity: bench.SeverityFit, Title: "no foreign threads on the measured CPUs",
		Seen:   fmt.Sprintf("%d threads looked at, none of them on %s last (/proc/*/task/*/stat)", c.f.Threads.Seen, cpuWords(c.n.Measured)),
		Source: "https://github.com/containerd/containerd/issues/10155"}
	if c.blind() {
		f.Severity, f.Title = bench.SeverityNote, "foreign threads not known"
		f.Seen += "; " + onlyOwn
	}
	var users, kernel []Thread
	for _, x := range c.f.Threads.Threads {
		switch here := slices.Contains(c.n.Measured, x.CPU); {
		case !here || x.Bound:
		case x.Kernel:
			kernel = append(kernel, x)
		default:
			users = append(users, x)
		}
	}
	if len(users) > 0 {
		f.Severity = bench.SeverityWarning
		f.Title = fmt.Sprintf("%d foreign thread(s) ran last on measured CPUs", len(users))
		f.Seen = describeThreads(users)
		f.Cost = "one that wakes delays an ordinary thread by its whole slice (some ms) and a FIFO one by its stay in the kernel; both lose their caches"
		f.Remedy = c.onHost(c.parameter("isolcpus=managed_irq,domain,%s"))
		if len(outside(c.n.Measured, c.f.Host.Isolated)) == 0 { // isolated, and put there on purpose
			f.Remedy = c.onHost("taskset -apc " + cpuText(c.rest()) + " PID of each")
		}
	}
	if len(kernel) > 0 {
		f.Seen += fmt.Sprintf("; and %d of the kernel's that could run elsewhere", len(kernel))
	}
	c.add(f)
}

func describeThreads(list []Thread) string {
	const shown = 5
	var parts []string
	for i, x := range list {
		if i == shown {
			parts = append(parts, fmt.Sprintf("and %d more", len(list)-shown))
			break
		}
		parts = append(parts, fmt.Sprintf("%s (%d) on CPU %d", x.Name, x.TID, x.CPU))
	}
	return strings.Join(parts, ", ")
}
