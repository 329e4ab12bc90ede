package bench

import (
	"fmt"
	"slices"
	"strings"
)

// Severity is how bad a finding is for the plan that it was judged by.
type Severity string

// The severities, from the best to the worst. Unknown is for what could make the plan
// unfit and could not be found out; what could not be found out and would be a warning at
// worst is a note that says so.
const (
	SeverityFit     Severity = "fit"     // as the plan wants it
	SeverityNote    Severity = "note"    // worth knowing, costs the plan nothing that it asks for
	SeverityWarning Severity = "warning" // costs cycles or blurs figures
	SeverityUnknown Severity = "unknown" // not known whether it makes the plan unfit
	SeverityUnfit   Severity = "unfit"   // makes the plan impossible or its figures meaningless
)

// Severities returns all, the worst first: the order of a report.
func Severities() []Severity {
	return []Severity{SeverityUnfit, SeverityUnknown, SeverityWarning, SeverityNote, SeverityFit}
}

// AtLeastWarning is true for what every report prints.
func (s Severity) AtLeastWarning() bool {
	return s == SeverityWarning || s == SeverityUnknown || s == SeverityUnfit
}

// Finding is one thing that a machine has or lacks, judged for a plan.
type Finding struct {
	Key      string   `json:"key"`            // machine name, such as preempt_rt: the same in every version
	Title    string   `json:"title"`          // what it is, in words
	Seen     string   `json:"seen"`           // what was read, and where
	Cost     string   `json:"cost,omitempty"` // what it costs a control cycle; empty for what costs nothing
	Severity Severity `json:"severity"`
	Remedy   string   `json:"remedy,omitempty"` // one command or boot parameter; empty: there is none, or none is needed
	Source   string   `json:"source,omitempty"` // the kernel document, manual page or bug report that says so
}

// Attempt is one call that a plan needs, tried for real in a process of its own.
type Attempt struct {
	Call  string `json:"call"`            // one of the words below
	What  string `json:"what"`            // with its arguments, as a reader of strace would know it
	CPUs  []int  `json:"cpus,omitempty"`  // that it was about
	Value int64  `json:"value"`           // priority, bytes, µs, or what was read, by the call
	Errno string `json:"errno,omitempty"` // "EPERM"; empty: it worked; "?": it failed without the kernel
	Said  string `json:"said,omitempty"`  // the whole error
}

// The calls that are tried.
const (
	CallAffinity = "sched_setaffinity"
	CallFIFO     = "sched_setscheduler" // Value: the priority
	CallRTTime   = "setrlimit_rttime"   // Value: µs
	CallMlockall = "mlockall"
	CallLatency  = "cpu_dma_latency"
	CallMemfd    = "memfd_create"
	CallTracefs  = "tracefs"
	CallResctrl  = "resctrl"
	CallPerf     = "perf_event_open"
	CallSMI      = "msr_smi_count" // Value: the count since reset
)

// Fitness is the answer of all findings together.
type Fitness string

// The three answers.
const (
	FitnessFit     Fitness = "fit"
	FitnessUnfit   Fitness = "unfit"
	FitnessUnknown Fitness = "could not tell"
)

// FitnessOf is unfit when a finding is, else "could not tell" when one is unknown, else fit;
// and the findings that decided it, by title.
func FitnessOf(findings []Finding) (Fitness, []string) {
	for _, c := range []struct {
		severity Severity
		fitness  Fitness
	}{{SeverityUnfit, FitnessUnfit}, {SeverityUnknown, FitnessUnknown}} {
		var why []string
		for _, f := range findings {
			if f.Severity == c.severity {
				why = append(why, f.Title)
			}
		}
		if len(why) > 0 {
			return c.fitness, why
		}
	}
	return FitnessFit, nil
}

// SortFindings puts the worst first and keeps the order within a severity.
func SortFindings(findings []Finding) {
	order := Severities()
	slices.SortStableFunc(findings, func(a, b Finding) int {
		return slices.Index(order, a.Severity) - slices.Index(order, b.Severity)
	})
}

// Verdict is the one line that ends a check of a plan.
func Verdict(plan string, findings []Finding) string {
	fitness, why := FitnessOf(findings)
	count := map[Severity]int{}
	for _, f := range findings {
		count[f.Severity]++
	}
	rest := fmt.Sprintf("%d warning(s), %d note(s)", count[SeverityWarning], count[SeverityNote])
	if len(why) == 0 {
		return fmt.Sprintf("fit for %s: %s", plan, rest)
	}
	return fmt.Sprintf("%s for %s: %s; %s", fitness, plan, strings.Join(why, "; "), rest)
}
