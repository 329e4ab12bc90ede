package judge

import (
	"fmt"
	"math"
	"strings"

	"opcycle/bench"
)

// Comparability words of metrics.md ("Beside the vendor"), and those of a run whose
// conditions are not the vendor's.
const (
	Yes          = "yes"
	WordInterval = "interval" // another control cycle
	WordDuration = "duration" // another number of cycles
	WordWorkload = "workload" // another program
	WordSwitches = "switches" // something ran beside that the vendor had disabled
	WordNA       = "n/a"      // this run has no such figure
)

// Beside is one vendor row beside this run.
type Beside struct {
	Reference bench.Reference
	Found     Found  // this run
	Word      string // "yes", or which side differs; a difference exists only with "yes"
	Why       string // one sentence for Word
	// Difference is this run minus the vendor, in Unit: "ns", "1", or "share": of the
	// cycle, 0 to 1. Ours and Theirs are the two sides of a share.
	Difference   float64
	Unit         string
	Ours, Theirs float64
}

// Comparable says for every vendor row of the file's suite whether a difference may be
// printed, and which.
func Comparable(f bench.File, refs []bench.Reference) []Beside {
	var out []Beside
	for _, r := range refs {
		if r.Suite == f.Suite {
			out = append(out, beside(&f, r, refs))
		}
	}
	return out
}

func beside(f *bench.File, r bench.Reference, refs []bench.Reference) Beside {
	b := Beside{Reference: r, Found: find(f, "", r.Series, r.Statistic),
		Word: r.Comparable(f.Plan.Task.Host), Why: r.Why}
	if b.Word != Yes {
		return b
	}
	theirs := r.Number()
	if !theirs.OK {
		b.Word, b.Why = "unknown", fmt.Sprintf("The published value %q: %s.", r.Value, theirs.NA)
		return b
	}
	if !b.Found.OK {
		b.Word, b.Why = WordNA, b.Found.NA
		return b
	}
	if r.Series != "run" && f.Plan.Disturbed() && strings.Contains(r.Conditions, "disabled") {
		b.Word, b.Why = WordSwitches, fmt.Sprintf("Something ran beside this run (%s), nothing beside the vendor's.", f.Plan.Switches())
		return b
	}
	switch r.Series {
	case "packets":
		return b.packets(f, refs, theirs.Value)
	case "calculation_time":
		return b.share(f, refs, theirs.Value)
	}
	b.Unit, b.Difference = b.Found.Unit, b.Found.Value-theirs.Value
	return b
}

// packets are compared as counts: of the same number of cycles of the same length.
func (b Beside) packets(f *bench.File, refs []bench.Reference, theirs float64) Beside {
	period, ok := published(b.Reference, refs, "run", "control_cycle_period")
	if !ok || period != float64(f.Plan.Period()) {
		b.Word, b.Why = WordInterval, "The vendor's control cycle is another: the counts are of different cycles."
		return b
	}
	total, ok := published(b.Reference, refs, "packets", "total")
	if !ok || math.Abs(float64(f.Phase.Ran)-total) > total/100 {
		b.Word, b.Why = WordDuration, fmt.Sprintf("The vendor's count is of about %s cycles, this run's of %s.", Group(int64(total)), Group(f.Phase.Ran))
		return b
	}
	b.Unit, b.Difference = "1", b.Found.Value-theirs
	return b
}

// share compares calculation times as shares of the cycle: the vendor's body is not public.
func (b Beside) share(f *bench.File, refs []bench.Reference, theirs float64) Beside {
	if w := f.Plan.Task.Workload; !strings.Contains(b.Reference.Conditions, "workload "+w) {
		b.Word, b.Why = WordWorkload, fmt.Sprintf("This run calculated %s, the vendor another program (%s).", w, b.Reference.Conditions)
		return b
	}
	if _, theirs, ok := strings.Cut(b.Reference.Conditions, "workload iterations "); ok && !f.Plan.Task.Auto && !strings.HasPrefix(theirs+";", fmt.Sprintf("%d;", f.Plan.Task.Iterations)) {
		b.Word, b.Why = WordWorkload, fmt.Sprintf("This run calculated %s iterations, the vendor another number (%s).", Group(f.Plan.Task.Iterations), b.Reference.Conditions)
		return b
	}
	period, ok := published(b.Reference, refs, "run", "control_cycle_period")
	if !ok || period <= 0 || f.Plan.Period() <= 0 {
		b.Word, b.Why = WordInterval, "The control cycle of one side is not known, so neither is the share of it."
		return b
	}
	b.Ours, b.Theirs = b.Found.Value/float64(f.Plan.Period()), theirs/period
	b.Unit, b.Difference = "share", b.Ours-b.Theirs
	return b
}

// published is another figure of the same publication as r.
func published(r bench.Reference, refs []bench.Reference, series, statistic string) (float64, bool) {
	for _, o := range refs {
		if o.Series == series && o.Statistic == statistic && o.Vendor == r.Vendor &&
			o.Product == r.Product && o.Platform == r.Platform && o.Conditions == r.Conditions {
			n := o.Number()
			return n.Value, n.OK
		}
	}
	return 0, false
}
