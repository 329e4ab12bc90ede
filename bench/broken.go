package bench

import "fmt"

// Aborted says that a run ended itself because a budget could not hold any more.
type Aborted struct {
	Budget string  `json:"budget"` // as written
	Object string  `json:"object"` // whose figure
	Value  float64 `json:"value"`  // in the figure's own unit, when it was seen
	K      int64   `json:"k"`      // the grid index then due
}

// Final tells whether b can be broken for good before a run has ended: its figure only ever
// moves away from the limit. A count of lost packets only grows, as does a maximum; a minimum
// only falls. A quantile or an average can come back, and server_transmit_jitter is known at
// the end only.
func (b Budget) Final() bool {
	upper := b.Op == "<" || b.Op == "<="
	switch {
	case b.Series == "packets":
		return (upper || b.Op == "==") && (b.Statistic == string(Late) || b.Statistic == string(Missed))
	case b.Series == "missed" || b.Series == "late":
		return upper || b.Op == "=="
	case b.Series == "server_transmit_jitter" || b.Series == "gc_pause" || StatisticUnit(b.Series, b.Statistic) != "ns":
		return false
	case b.Statistic == "max":
		return upper
	}
	return b.Statistic == "min" && (b.Op == ">" || b.Op == ">=")
}

// Broken tells whether value, in the figure's own unit and so far, breaks a Final budget for a
// cycle of period ns.
func (b Budget) Broken(value float64, period int64) bool {
	if b.Op == "==" {
		return value > b.In(period)
	}
	return !b.Holds(value, period)
}

// AllBudgets are the plan's budgets, after those of the defaults that it says nothing about.
func (p *Plan) AllBudgets() ([]Budget, error) {
	spoken := map[string]bool{}
	var own []Budget
	for _, text := range p.Budgets {
		b, err := ParseBudget(text)
		if err != nil {
			return nil, err
		}
		spoken[b.Series+"."+b.Statistic] = true
		own = append(own, b)
	}
	var out []Budget
	for _, text := range DefaultBudgets() {
		b, err := ParseBudget(text)
		if err != nil {
			return nil, err
		}
		if !spoken[b.Series+"."+b.Statistic] {
			out = append(out, b)
		}
	}
	return append(out, own...), nil
}

// abortNotes say which budgets end a run early and which can't.
func abortNotes(p *Plan) []string {
	if !p.AbortOnFail {
		return nil
	}
	all, err := p.AllBudgets()
	if err != nil {
		return nil // the profile's reader has said so
	}
	var out []string
	for _, b := range all {
		if !b.Final() {
			out = append(out, fmt.Sprintf("abort_on_fail: %s is decided at the end only: its figure can come back, or is not known before", b.Text))
		}
	}
	return out
}
