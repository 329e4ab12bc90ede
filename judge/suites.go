package judge

import (
	"fmt"
	"strings"

	"opcycle/bench"
)

// suites decides on a result without an OPC UA run: it is valid when every suite in it is,
// and complete when every one is. A stressor that failed makes the suites beside it
// invalid; that stands in their own Invalid.
func suites(f *bench.File) Verdict {
	v := Verdict{Reasons: suiteReasons(f), Complete: f.Complete, Budgets: budgets(f), Outcome: Pass}
	v.Valid = len(v.Reasons) == 0
	switch {
	case !v.Valid:
		v.withhold("the run is invalid")
	case !v.Complete:
		v.withhold("the run is incomplete")
	}
	v.worst()
	failed := 0
	for _, r := range f.Suites {
		failed += len(r.Failed)
	}
	if failed > 0 && v.Outcome == Pass {
		v.Outcome = Fail
	}
	v.Text = suiteSentence(f, &v)
	return v
}

func suiteReasons(f *bench.File) []string {
	out := append([]string{}, f.Invalid...)
	if len(f.Suites) == 0 {
		out = append(out, "no suite was measured")
	}
	for _, r := range f.Suites {
		for _, why := range r.Invalid {
			out = append(out, Title(&r)+": "+why)
		}
	}
	return out
}

// Title names one suite's result: "cyclictest, without CAT".
func Title(r *bench.SuiteResult) string {
	if r.Label == "" {
		return r.Suite
	}
	return r.Suite + ", " + r.Label
}

func suiteSentence(f *bench.File, v *Verdict) string {
	switch {
	case !v.Valid:
		return "the result is invalid: " + strings.Join(v.Reasons, "; ")
	case !v.Complete:
		return "ended before its plan's end: the figures are of what was measured until then"
	}
	n, imported := 0, 0
	for _, r := range f.Suites {
		if r.Imported != "" {
			imported++
		}
		if len(r.Failed) > 0 {
			return Title(&r) + ": " + strings.Join(r.Failed, "; ")
		}
		n += len(r.Absent)
	}
	if imported == len(f.Suites) {
		return fmt.Sprintf("%d result(s) of other programs, imported", imported)
	}
	if n > 0 {
		return fmt.Sprintf("measured to the end; %d thing(s) were asked for and not had, see below", n)
	}
	return "measured to the end"
}
