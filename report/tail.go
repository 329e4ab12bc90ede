package report

import (
	"fmt"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// tailFrom is from which length of the measuring phase on a report estimates tails by itself.
const tailFrom = 10 * time.Minute

// tails are the estimates of a long run: of execution, and of what delays a wake-up.
func tails(p *printer, f *bench.File) {
	if f.Phase.Ran*f.Plan.Period() < int64(tailFrom) {
		return
	}
	p.section("Tail (an estimate, not a worst case)")
	for _, name := range []string{"execution_time", "start_latency"} {
		if s := judge.FindSeries(f, "", name); s != nil {
			p.item("", tailSentence(name, judge.EstimateTail(s, 0)))
		}
	}
	p.item("", "Each "+judge.Assumptions+".")
}

// tailSentence is one estimate in words.
func tailSentence(name string, t judge.Tail) string {
	if !t.OK {
		return fmt.Sprintf("%s: n/a: %s", name, t.Why)
	}
	return fmt.Sprintf("%s: about %s is exceeded once in %s (95 %% interval %s to %s); the largest observed is %s. "+
		"Fit of %d maxima of %s each, shape %.2f, Anderson-Darling p = %.2f.",
		name, figure(t.Level, "ns"), judge.Span(t.Over), figure(t.Low, "ns"), figure(t.High, "ns"), figure(t.Observed, "ns"),
		t.Blocks, judge.Span(t.Block), t.Shape, t.Fit)
}

// Tail is the estimate of one series as text, with what it assumes.
func Tail(name string, t judge.Tail) string {
	if !t.OK {
		return tailSentence(name, t) + "\n"
	}
	return tailSentence(name, t) + "\nThis " + judge.Assumptions + ".\n"
}
