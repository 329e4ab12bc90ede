package run

import (
	"fmt"

	"opcycle/bench"
)

// brokenBudget is the error of a measuring phase that ended because a budget could not hold
// any more (run.abort_on_fail).
type brokenBudget struct{ bench.Aborted }

func (b brokenBudget) Error() string {
	return fmt.Sprintf("%s can't hold any more: %g at %s, index %d", b.Budget, b.Value, b.Object, b.K)
}

// watchBudgets are the budgets that can be broken for good, where the plan wants that to end
// the run. Without a common clock every packet is judged again at the end, so none is.
func (s *session) watchBudgets() error {
	if !s.Plan.AbortOnFail {
		return nil
	}
	if s.phase.Clock != "common" || s.Remote != nil {
		s.warn("abort_on_fail: no budget is watched: what a server elsewhere recorded, and what was late by its clock, is known at the end only")
		return nil
	}
	all, err := s.Plan.AllBudgets()
	if err != nil {
		return err
	}
	for _, b := range all {
		if b.Final() {
			s.watch = append(s.watch, b)
		}
	}
	return nil
}

// broken is the first watched budget that can't hold any more; nil while all can.
func (s *session) broken() error {
	if s.collect == nil || len(s.watch) == 0 {
		return nil
	}
	for _, b := range s.watch {
		for _, t := range s.tallies() {
			if b.Object != "" && b.Object != t.object && (b.Series == "packets" || b.Series == "missed" || b.Series == "late") {
				continue
			}
			object, value, ok := s.soFar(t, b)
			if ok && b.Broken(value, int64(s.Plan.Task.Interval)) {
				return brokenBudget{bench.Aborted{Budget: b.Text, Object: object, Value: value, K: s.phase.First + s.due()}}
			}
		}
	}
	return nil
}

// soFar is a figure of a Final budget as measured until now, at t's client.
func (s *session) soFar(t *tally, b bench.Budget) (object string, value float64, ok bool) {
	switch b.Series {
	case "packets":
		return t.object, float64(t.outcome[bench.Outcome(b.Statistic)]), true
	case "missed":
		return t.object, float64(t.missed[bench.Cause(b.Statistic)]), true
	case "late":
		return t.object, float64(t.late[bench.Cause(b.Statistic)]), true
	}
	m := t.series[b.Series]
	if m == nil || m.series.Count == 0 || b.Object != "" && b.Object != m.object {
		return "", 0, false
	}
	if b.Statistic == "min" {
		return m.object, float64(m.series.Min), true
	}
	return m.object, float64(m.series.Max), true
}
