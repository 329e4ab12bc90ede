package host

import (
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// attempts turns what was tried into findings: one for the calls that worked, one for
// each error of a call.
func (c *checker) attempts() {
	if len(c.f.Attempts) == 0 {
		c.add(bench.Finding{Key: "attempts", Title: "nothing was tried", Severity: bench.SeverityUnknown,
			Seen:   "n/a: this root is not the live machine and carries no " + AttemptsFile,
			Cost:   "whether SCHED_FIFO, locked memory and the CPUs are granted is known only by asking the kernel",
			Remedy: "on the machine itself: opcycle check"})
		return
	}
	var worked []string
	groups := map[string][]bench.Attempt{}
	var order []string
	for _, a := range c.f.Attempts {
		switch key := a.Call + " " + a.Errno; {
		case a.Call == bench.CallSMI: // a finding of its own
		case a.Errno == "":
			worked = append(worked, a.What)
		default:
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], a)
		}
	}
	for _, key := range order {
		c.refused(groups[key])
	}
	if len(worked) > 0 {
		c.add(bench.Finding{Key: "attempts", Title: fmt.Sprintf("%d call(s) of the plan were tried and granted", len(worked)), Severity: bench.SeverityFit,
			Seen: strings.Join(worked, "; "), Source: "https://man7.org/linux/man-pages/man7/sched.7.html"})
	}
}

// refused is the finding of calls that failed alike.
func (c *checker) refused(list []bench.Attempt) {
	a := list[0]
	var what []string
	for _, x := range list {
		what = append(what, x.What)
	}
	f := bench.Finding{Key: "try_" + a.Call, Title: titleOf(a), Seen: strings.Join(what, ", ") + ": " + a.Errno, Severity: c.severityOf(a), Cost: costOf(a.Call)}
	k := c.explain(a)
	f.Title += ": " + k.because
	f.Remedy, f.Source = k.remedy, k.source
	if a.Errno == "?" {
		f.Seen += " (" + a.Said + ")"
	}
	c.add(f)
}

func titleOf(a bench.Attempt) string {
	name := map[string]string{
		bench.CallAffinity: "CPUs refused", bench.CallFIFO: "SCHED_FIFO refused", bench.CallRTTime: "the guard of real-time threads refused",
		bench.CallMlockall: "locked memory refused", bench.CallLatency: "idle states not held", bench.CallMemfd: "shared memory refused",
		bench.CallTracefs: "tracer refused", bench.CallResctrl: "cache allocation refused", bench.CallPerf: "processor's counters refused",
	}[a.Call]
	return orText(name, a.Call+" refused") + " (" + a.Errno + ")"
}

// severityOf is what a refused call means for the plan.
func (c *checker) severityOf(a bench.Attempt) bench.Severity {
	switch a.Call {
	case bench.CallMemfd:
		return bench.SeverityUnfit
	case bench.CallAffinity:
		if slices.Equal(a.CPUs, c.n.Measured) {
			return bench.SeverityUnfit
		}
	case bench.CallFIFO, bench.CallRTTime, bench.CallMlockall:
		return c.bad()
	case bench.CallResctrl:
		if c.n.CAT == "require" {
			return bench.SeverityUnfit
		}
	case bench.CallPerf:
		return bench.SeverityNote
	}
	return bench.SeverityWarning
}

// costOf is what a cycle loses without the call.
func costOf(call string) string {
	return map[string]string{
		bench.CallAffinity: "the threads can't be kept on the plan's CPUs",
		bench.CallFIFO:     "the cycle runs as an ordinary thread: any other one may run first, for a slice of some ms; the run says 'not real-time'",
		bench.CallRTTime:   "without the guard a thread that loops would keep its CPU for ever, so that SCHED_FIFO is not used either",
		bench.CallMlockall: "a page that is not there costs a fault in the middle of a cycle: µs from memory, ms from a disk",
		bench.CallLatency:  "idle CPUs sleep as deep as they like: the exit latency is added to the wake-up",
		bench.CallMemfd:    "the measured processes can't hand their records over: nothing can be measured",
		bench.CallTracefs:  "what the kernel did around a late cycle is not recorded",
		bench.CallResctrl:  "neighbours empty the last-level cache",
		bench.CallPerf:     "core cycles are n/a; times are not concerned",
	}[call]
}
