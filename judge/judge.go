package judge

import (
	"time"

	"opcycle/bench"
)

// Verdict is what a result shows.
type Verdict struct {
	Valid    bool
	Reasons  []string // why it is invalid
	Complete bool
	Outcome  Outcome // of the run: inconclusive when invalid or incomplete
	Budgets  []Budgeted
	Text     string // one line: what was shown, with its bound
}

// ExitCode is 0: valid, complete and every budget passes; 1: a budget failed; 2: invalid,
// incomplete or inconclusive.
func (v Verdict) ExitCode() int {
	switch v.Outcome {
	case Pass:
		return 0
	case Fail:
		return 1
	}
	return 2
}

// Judge decides what f shows. cold.
func Judge(f bench.File) Verdict {
	if f.Suite != bench.SuiteOPCUA {
		return suites(&f)
	}
	v := Verdict{Reasons: Reasons(f), Complete: f.Complete, Budgets: budgets(&f), Outcome: Pass}
	v.Valid = len(v.Reasons) == 0
	switch {
	case !v.Valid:
		v.withhold("the run is invalid")
	case !v.Complete && f.Aborted != nil:
		v.withholdPasses()
	case !v.Complete:
		v.withhold("the run is incomplete")
	}
	v.worst()
	v.Text = sentence(f, &v)
	return v
}

// worst takes the outcome of the budgets into the run's.
func (v *Verdict) worst() {
	for _, b := range v.Budgets {
		if b.Outcome == Fail || b.Outcome == Inconclusive && v.Outcome == Pass {
			v.Outcome = b.Outcome
		}
	}
}

// withhold lets no budget be decided; the measured figures stay.
func (v *Verdict) withhold(why string) {
	v.Outcome = Inconclusive
	for i := range v.Budgets {
		b := &v.Budgets[i]
		b.Outcome, b.Why = Inconclusive, why
	}
}

// withholdPasses lets no budget pass of a run that ended itself by one that failed: what holds
// so far has not been shown to hold.
func (v *Verdict) withholdPasses() {
	v.Outcome = Inconclusive
	for i := range v.Budgets {
		if b := &v.Budgets[i]; b.Outcome == Pass {
			b.Outcome, b.Why = Inconclusive, "the run was ended early by a budget that failed"
		}
	}
}

// spanOf is the length of n cycles of f.
func spanOf(f *bench.File, n int64) string { return Span(time.Duration(n * f.Plan.Period())) }
