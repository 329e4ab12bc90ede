package judge

import (
	"fmt"
	"strings"
	"time"

	"opcycle/bench"
)

// goal is the rate that a run without events is told the duration for.
const goal = 1e-6

// sentence is the line of the verdict: the events, of how many cycles, and the bound; of
// an invalid or incomplete run only what was seen.
func sentence(f bench.File, v *Verdict) string {
	expected := find(&f, "", "packets", "expected")
	late, missed := find(&f, "", "packets", "late"), find(&f, "", "packets", "missed")
	if !v.Valid || !v.Complete {
		return withheld(&f, v)
	}
	if !expected.OK || !late.OK || !missed.OK {
		return "nothing is shown: the counts of late and missed packets are n/a"
	}
	n, events := int64(expected.Value), int64(late.Value)+int64(missed.Value)
	text := clean(&f, n)
	if events > 0 {
		text = eventful(f, n, events)
	}
	return text + broken(v) + stolen(f, v, events)
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
		fmt.Fprintf(&b, "; over budget: %s is %s (%s)", strings.TrimSpace(strings.SplitN(x.Budget.Text, x.Budget.Op, 2)[0]), measured, x.Budget.Text)
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
	if on := find(f, "", "packets", "on_time"); on.OK && f.Phase.Ran > 0 {
		fmt.Fprintf(&b, "; %s of %s on time, no claim beyond these", Group(int64(on.Value)), Group(f.Phase.Ran))
	}
	return b.String()
}

func clean(f *bench.File, n int64) string {
	p := UpperBound(0, n)
	s := fmt.Sprintf("0 late or missed of %s in %s: at most %s cycles (95 %%, if cycles fail independently)",
		Group(n), spanOf(f, n), oneIn(p))
	if p > goal {
		s += fmt.Sprintf("; for 1 in a million run %s", Span(time.Duration(TrialsFor(goal)*f.Plan.Period())))
	}
	return s
}

func eventful(f bench.File, n, events int64) string {
	bursts, known := Bursts(f)
	bound := fmt.Sprintf("at most %s cycles (95 %%, if cycles fail independently)", oneIn(UpperBound(events, n)))
	in := ""
	if known && bursts < events {
		in = fmt.Sprintf(" in %s", plural(bursts, "burst"))
		bound = fmt.Sprintf("at most %s cycles begins a burst (95 %%, if bursts are independent)", oneIn(UpperBound(bursts, n)))
	}
	return fmt.Sprintf("%s late or missed of %s in %s (%s%s): %s",
		Group(events), Group(n), spanOf(&f, n), byCause(&f), in, bound)
}

// byCause lists the causes that occurred, most serious kind first: "3 skipped, 1 late by network".
func byCause(f *bench.File) string {
	var parts []string
	for _, c := range bench.MissedCauses() {
		if r := find(f, "", "missed", string(c)); r.OK && r.Value > 0 {
			word := "missed by " + string(c)
			if c == bench.SkippedRelease {
				word = "skipped"
			}
			parts = append(parts, fmt.Sprintf("%s %s", Group(int64(r.Value)), word))
		}
	}
	for _, c := range bench.LateCauses() {
		if r := find(f, "", "late", string(c)); r.OK && r.Value > 0 {
			parts = append(parts, fmt.Sprintf("%s late by %s", Group(int64(r.Value)), c))
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
