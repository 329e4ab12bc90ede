package judge

import (
	"fmt"
	"strings"
	"time"

	"opcycle/bench"
)

// goal is the rate that a run without events is told the duration for.
const goal = 1e-6

// sentence is the line of the verdict: the events of all clients, of how many cycles, and the
// bound; of an invalid or incomplete run only what was seen.
//
// NB: the bound is on the cycles of one client, any of them, and stands on the worst: clients
// share a server, their cycles are no independent trials. It holds for all of them at once:
// where the client with the highest rate is within its own bound, it is within the greatest.
func sentence(f bench.File, v *Verdict) string {
	if !v.Valid || !v.Complete {
		return aborted(&f, v) + withheld(&f, v)
	}
	e, ok := countEvents(&f)
	if !ok {
		return "nothing is shown: the counts of late and missed packets are n/a"
	}
	text := clean(&f, e)
	if e.all > 0 {
		text = eventful(f, e)
	}
	return text + broken(v) + stolen(f, v, e.all)
}

// broken names the failed budgets that the counts before it do not show.
func broken(v *Verdict) string {
	var b strings.Builder
	for _, x := range v.Budgets {
		if x.Outcome != Fail || x.Budget.Series == "packets" {
			continue
		}
		measured := fmt.Sprint(x.Found.Value)
		if x.Found.Unit == "ns" {
			measured = Span(time.Duration(x.Found.Value))
		}
		name := strings.TrimSpace(strings.SplitN(x.Budget.Text, x.Budget.Op, 2)[0])
		if x.Object != "" {
			name += " of " + x.Object
		}
		fmt.Fprintf(&b, "; over budget: %s is %s (%s)", name, measured, x.Budget.Text)
	}
	return b.String()
}

// stolen says who took most of the lost time, when there was a reason to ask.
func stolen(f bench.File, v *Verdict, events int64) string {
	if events == 0 && v.Outcome != Fail {
		return ""
	}
	name, took, whole, ok := Biggest(f)
	if !ok {
		return ""
	}
	return fmt.Sprintf("; most of the lost time went to %s (%s of %s)", name, Span(time.Duration(took)), Span(time.Duration(whole)))
}

// aborted says which budget ended a run; empty: none did.
func aborted(f *bench.File, v *Verdict) string {
	a := f.Aborted
	if a == nil || !v.Valid {
		return ""
	}
	b, err := bench.ParseBudget(a.Budget)
	value := fmt.Sprintf("%g", a.Value)
	if err == nil && bench.StatisticUnit(b.Series, b.Statistic) == "ns" {
		value = Span(time.Duration(a.Value))
	}
	return fmt.Sprintf("%s was broken for good: %s at %s, seen at index %d; ", a.Budget, value, a.Object, a.K)
}

// withheld never says "0 missed": what did not run to its end has not shown that.
func withheld(f *bench.File, v *Verdict) string {
	var b strings.Builder
	if !v.Valid {
		fmt.Fprintf(&b, "invalid: %s", v.Reasons[0])
		if more := len(v.Reasons) - 1; more > 0 {
			fmt.Fprintf(&b, " (and %d more)", more)
		}
	}
	if !v.Complete {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "incomplete: ended after %s of %s cycles", Group(f.Phase.Ran), Group(f.Phase.N))
	}
	if on, ok := sum(f, "packets", "on_time"); ok && f.Phase.Ran > 0 {
		fmt.Fprintf(&b, "; %s of %s on time, no claim beyond these", Group(on), of(f.Phase.Ran, len(Clients(f))))
	}
	return b.String()
}

func clean(f *bench.File, e events) string {
	p := UpperBound(0, e.expected)
	s := fmt.Sprintf("0 late or missed of %s in %s: at most %s cycles%s (95 %%, if cycles fail independently)",
		e.cycles(), spanOf(f, e.expected), oneIn(p), e.ofAny())
	if p > goal {
		s += fmt.Sprintf("; for 1 in a million run %s", Span(time.Duration(TrialsFor(goal)*f.Plan.Period())))
	}
	return s
}

// ofAny says what the bound covers, when there are several clients.
func (e events) ofAny() string {
	if len(e.clients) < 2 {
		return ""
	}
	return " of any client"
}

// spread says who had how many of the events, when there are several clients.
func (e events) spread(f *bench.File) string {
	switch {
	case len(e.clients) < 2:
		return ""
	case e.even:
		return fmt.Sprintf("; %s at each client", Group(e.most))
	}
	return fmt.Sprintf("; most at %s: %s", ClientName(f, e.worst), Group(e.most))
}

func eventful(f bench.File, e events) string {
	n := e.expected
	bursts, known := Bursts(f)
	bound := fmt.Sprintf("at most %s cycles%s (95 %%, if cycles fail independently)", oneIn(UpperBound(e.most, n)), e.ofAny())
	in := ""
	if known && bursts < e.all {
		in = fmt.Sprintf(" in %s", plural(bursts, "burst"))
		bound = fmt.Sprintf("at most %s cycles begins a burst (95 %%, if bursts are independent)", oneIn(UpperBound(bursts, n)))
	}
	return fmt.Sprintf("%s late or missed of %s in %s (%s%s%s): %s",
		Group(e.all), e.cycles(), spanOf(&f, n), byCause(&f), in, e.spread(&f), bound)
}

// byCause lists the causes that occurred at any client, most serious kind first: "3 skipped, 1 late by network".
func byCause(f *bench.File) string {
	var parts []string
	for _, c := range bench.MissedCauses() {
		if n, ok := sum(f, "missed", string(c)); ok && n > 0 {
			word := "missed by " + string(c)
			if c == bench.SkippedRelease {
				word = "skipped"
			}
			parts = append(parts, fmt.Sprintf("%s %s", Group(n), word))
		}
	}
	for _, c := range bench.LateCauses() {
		if n, ok := sum(f, "late", string(c)); ok && n > 0 {
			parts = append(parts, fmt.Sprintf("%s late by %s", Group(n), c))
		}
	}
	if len(parts) == 0 {
		return "causes n/a"
	}
	return strings.Join(parts, ", ")
}

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Group(n) + " " + noun + "s"
}
