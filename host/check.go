package host

import (
	"fmt"
	"slices"

	"opcycle/bench"
)

// Check judges what is known of a machine by what a plan needs of it, the worst first. It
// is pure. Every subject gives a finding, a good one too: a reader sees what was looked at.
func Check(f Facts, n bench.Need) []bench.Finding {
	c := checker{f: &f, n: &n}
	for _, subject := range []func(*checker){
		(*checker).attempts,
		(*checker).kernel, (*checker).limits, (*checker).groupSched,
		(*checker).placement, (*checker).isolation, (*checker).interrupts, (*checker).foreign,
		(*checker).power, (*checker).idle, (*checker).siblings,
		(*checker).clock, (*checker).clocks,
		(*checker).pinning, (*checker).quota, (*checker).rights, (*checker).security,
		(*checker).memory, (*checker).memoryLimit, (*checker).nodes,
		(*checker).virtual, (*checker).smi, (*checker).cache, (*checker).tuned,
	} {
		subject(&c)
	}
	bench.SortFindings(c.out)
	return c.out
}

// checker goes over one machine for one plan.
type checker struct {
	f   *Facts
	n   *bench.Need
	out []bench.Finding
}

func (c *checker) add(f bench.Finding) { c.out = append(c.out, f) }

// realTime is whether the plan asks for SCHED_FIFO at all.
func (c *checker) realTime() bool { return c.n.FIFO() > 0 }

// bad is the severity of what costs real time: fatal where the plan requires it.
func (c *checker) bad() bench.Severity {
	if c.n.RT == bench.RTRequire {
		return bench.SeverityUnfit
	}
	return bench.SeverityWarning
}

// worst is bad for a real-time plan, a note for one that asks for none.
func (c *checker) ifRealTime(s bench.Severity) bench.Severity {
	if c.realTime() {
		return s
	}
	return bench.SeverityNote
}

// tried is what came of a call; ok is false when it was not tried.
func (c *checker) tried(call string) (failed []bench.Attempt, ok bool) {
	for _, a := range c.f.Attempts {
		if a.Call != call {
			continue
		}
		ok = true
		if a.Errno != "" {
			failed = append(failed, a)
		}
	}
	return failed, ok
}

// had is whether a call was tried and worked.
func (c *checker) had(call string) bool {
	failed, ok := c.tried(call)
	return ok && len(failed) == 0
}

// quiet are the measured CPUs that could be kept free of everything else: those that the
// plan does not give to housekeeping too.
func (c *checker) quiet() []int {
	return slices.DeleteFunc(slices.Clone(c.n.Measured), func(cpu int) bool { return slices.Contains(c.n.Housekeeping, cpu) })
}

// rest are the online CPUs that are not quiet: where everything else can go.
func (c *checker) rest() []int {
	var out []int
	quiet := c.quiet()
	for _, x := range c.f.Host.CPUs {
		if !slices.Contains(quiet, x.ID) {
			out = append(out, x.ID)
		}
	}
	return out
}

// parameter is a boot parameter with the quiet CPUs; where there are none, what is lacking.
func (c *checker) parameter(format string) string {
	if len(c.quiet()) == 0 || len(c.rest()) == 0 {
		return "give this process a further CPU: those that it may use are measured and housekeeping at once"
	}
	return "boot with " + fmt.Sprintf(format, cpuText(c.quiet()))
}

// outside are the members of a that are not in b.
func outside(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(x int) bool { return slices.Contains(b, x) })
}

// contained is true in a container: what its host has can be seen in part only, and is
// mended there.
func (c *checker) contained() bool { return c.f.Host.Container != "" }

// onHost puts "on the host: " before a remedy where this is a container.
func (c *checker) onHost(remedy string) string {
	if c.contained() && remedy != "" {
		return "on the container's host: " + remedy
	}
	return remedy
}

// blind is true where not every process of the machine can be seen: the kernel's own are
// not there, as in a container, or for a user where /proc hides others' (hidepid).
func (c *checker) blind() bool {
	return !slices.ContainsFunc(c.f.Threads.Threads, func(x Thread) bool { return x.TID == 2 && x.Name == "kthreadd" })
}

// rootless is true in a user namespace: the capabilities held count for it alone.
func (c *checker) rootless() bool {
	return c.f.Rights.InitialUserNS != nil && !*c.f.Rights.InitialUserNS
}
