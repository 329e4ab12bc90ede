package judge

import (
	"fmt"
	"math"
	"time"

	"opcycle/bench"
)

// Outcome is what a budget, or a whole run, came to.
type Outcome string

// A budget that cannot be decided is inconclusive, never passed.
const (
	Pass         Outcome = "pass"
	Fail         Outcome = "fail"
	Inconclusive Outcome = "inconclusive"
)

// Budgeted is a budget with what the run has to say about it.
type Budgeted struct {
	Budget  bench.Budget
	Outcome Outcome
	Found   Found   // the measured figure
	Limit   float64 // in the figure's unit
	Margin  float64 // room up to the limit in the figure's unit, negative beyond it; only with Found.OK
	// Why says why it is inconclusive; Needs is the duration that would decide a budget on
	// an n/a quantile, 0 when no duration is known to.
	Why   string
	Needs time.Duration
}

// budgets are the plan's, and those of the defaults on whose figure the plan has none: a
// profile may tolerate five late cycles, but not by saying nothing.
func budgets(f *bench.File) []Budgeted {
	var out []Budgeted
	has := map[string]bool{}
	add := func(text string) {
		b, err := bench.ParseBudget(text)
		if err != nil {
			out = append(out, Budgeted{Budget: bench.Budget{Text: text}, Outcome: Inconclusive, Why: err.Error()})
			return
		}
		has[b.Series+"."+b.Statistic] = true
		out = append(out, decide(f, b))
	}
	for _, text := range f.Plan.Budgets {
		add(text)
	}
	own := out
	out = nil
	for _, text := range bench.DefaultBudgets() {
		if b, err := bench.ParseBudget(text); err == nil && !has[b.Series+"."+b.Statistic] {
			out = append(out, decide(f, b))
		}
	}
	return append(out, own...)
}

func decide(f *bench.File, b bench.Budget) Budgeted {
	out := Budgeted{Budget: b, Found: find(f, b.Object, b.Series, b.Statistic), Limit: b.In(f.Plan.Period())}
	if !out.Found.OK {
		out.Outcome, out.Why = Inconclusive, "n/a: "+out.Found.NA
		if out.Needs = needs(f, b); out.Needs > 0 {
			out.Why = fmt.Sprintf("n/a (%s): decided by a run of %s", out.Found.NA, Span(out.Needs))
		}
		return out
	}
	out.Margin = out.Limit - out.Found.Value
	switch b.Op {
	case ">=", ">":
		out.Margin = -out.Margin
	case "==":
		out.Margin = -math.Abs(out.Margin)
	}
	out.Outcome = Fail
	if b.Holds(out.Found.Value, f.Plan.Period()) {
		out.Outcome = Pass
	}
	return out
}

// needs is the duration after which the quantile of b stands on enough samples, at the
// rate at which this run gave them; 0 if b is no quantile or the run gave none.
func needs(f *bench.File, b bench.Budget) time.Duration {
	s := FindSeries(f, b.Object, b.Series)
	if s == nil || s.Count == 0 || f.Phase.Ran <= 0 {
		return 0
	}
	q := FindQuantile(s, b.Statistic)
	if q == nil || q.Value != nil {
		return 0
	}
	ran := float64(f.Phase.Ran) * float64(f.Plan.Period())
	perSample := max(ran/float64(s.Count), float64(f.Plan.Period()))
	return time.Duration(math.Ceil(float64(bench.NeedsSamples(q.Q)) * perSample))
}
