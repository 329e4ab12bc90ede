package judge

import (
	"fmt"
	"math"
	"slices"
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
	Found   Found // the measured figure, of several objects the worst
	// Object is whose figure Found is when the budget names none and it is not the first
	// object's; else empty.
	Object string
	Limit  float64 // in the figure's unit
	Margin float64 // room up to the limit in the figure's unit, negative beyond it; only with Found.OK
	// Why says why it is inconclusive; Needs is the duration that would decide a budget on
	// an n/a quantile, 0 when no duration is known to.
	Why   string
	Needs time.Duration
}

// budgets are the plan's, and those of the defaults on whose figure the plan has none: a
// profile may tolerate five late cycles, but not by saying nothing. Where the plan speaks of
// some objects only, the default holds for the others.
func budgets(f *bench.File) []Budgeted {
	var out []Budgeted
	has := map[string][]string{} // the objects that the plan spoke of
	add := func(text string) {
		b, err := bench.ParseBudget(text)
		if err != nil {
			out = append(out, Budgeted{Budget: bench.Budget{Text: text}, Outcome: Inconclusive, Why: err.Error()})
			return
		}
		named := []string{b.Object}
		if b.Object == "" {
			named = objectsOf(f, b.Series, b.Statistic)
		}
		name := b.Series + "." + b.Statistic
		has[name] = append(has[name], named...)
		out = append(out, decide(f, b, nil))
	}
	for _, text := range append(slices.Clone(f.Plan.Budgets), f.Budgets...) {
		add(text)
	}
	if f.Suite != bench.SuiteOPCUA {
		return out
	}
	own := out
	out = nil
	for _, text := range bench.DefaultBudgets() {
		b, err := bench.ParseBudget(text)
		if err != nil {
			continue
		}
		named, spoken := has[b.Series+"."+b.Statistic]
		if spoken && len(without(objectsOf(f, b.Series, b.Statistic), named)) == 0 {
			continue
		}
		out = append(out, decide(f, b, named))
	}
	return append(out, own...)
}

// without is list without those named.
func without(list, named []string) []string {
	return slices.DeleteFunc(list, func(o string) bool { return slices.Contains(named, o) })
}

// decide holds b against the object that it names, or else against every object that has the
// figure, but those left out: a failure before what is n/a before what passes, of equals
// the one with the least room, then the first.
func decide(f *bench.File, b bench.Budget, leftOut []string) Budgeted {
	if b.Object != "" {
		return decideOne(f, b, b.Object)
	}
	all := objectsOf(f, b.Series, b.Statistic)
	if len(all) == 0 {
		return decideOne(f, b, "")
	}
	first := all[0]
	var worst Budgeted
	for i, o := range without(all, leftOut) {
		x := decideOne(f, b, o)
		if o != first {
			x.Object = o
		}
		if i == 0 || worse(&x, &worst) {
			worst = x
		}
	}
	return worst
}

// worse reports whether x says worse of the run than y, of the same budget.
func worse(x, y *Budgeted) bool {
	rank := map[Outcome]int{Pass: 0, Inconclusive: 1, Fail: 2}
	switch {
	case x.Outcome != y.Outcome:
		return rank[x.Outcome] > rank[y.Outcome]
	case x.Outcome == Inconclusive:
		return x.Needs > y.Needs
	}
	return x.Margin < y.Margin
}

func decideOne(f *bench.File, b bench.Budget, object string) Budgeted {
	out := Budgeted{Budget: b, Found: find(f, object, b.Series, b.Statistic), Limit: b.In(f.Plan.Period())}
	b.Object = object
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
