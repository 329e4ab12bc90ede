package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"opcycle/bench"
)

// Placement are the keys of a plan that each machine resolves for itself: nodes of a fleet
// may differ in them.
func Placement() []string { return []string{"server", "client", "housekeeping"} }

// FleetRun is one node's run of a fleet.
type FleetRun struct {
	Node string
	Run  Run
	// Outcome is the run's own, by its budgets.
	Outcome      Outcome
	Ran, Lost    int64   // cycles, and those late or missed
	LostNA       string  // why Lost is not known; empty: it is
	Share, Start float64 // p99 of the execution time in shares of the cycle, of the start latency in ns; NaN: n/a
}

// Node is one node of a fleet, over its runs that count.
type Node struct {
	Name         string
	Rank         int // from 1
	Runs         int
	Outcome      Outcome // the worst of its runs
	Ran, Lost    int64   // sums
	Share, Start float64 // medians of the runs'; NaN: n/a
	// Apart says whether the node differs from the one ranked before it: Worse, Same or
	// CantTell; empty for the first, and where the outcome or the losses decide alone.
	Apart Compared
	Why   string // of Apart
	side  Side
}

// Left is a run that is not ranked.
type Left struct{ Node, Run, Why string }

// Fleet ranks the nodes of a fleet: first by outcome, then by the share of cycles lost, then
// by the p99 of the execution time, then of the start latency. Runs that are invalid,
// incomplete or of another plan than most are not ranked. r is how neighbours are compared.
func Fleet(runs []FleetRun, r Rules) (ranked []Node, left []Left) {
	plan := commonPlan(runs, r.Ignore)
	at := map[string]int{}
	for i := range runs {
		x := &runs[i]
		why := x.unranked(plan, r.Ignore)
		if why != "" {
			left = append(left, Left{x.Node, x.Run.Name, why})
			continue
		}
		n, ok := at[x.Node]
		if !ok {
			n = len(ranked)
			at[x.Node] = n
			ranked = append(ranked, Node{Name: x.Node, Outcome: Pass, side: Side{Name: x.Node}})
		}
		ranked[n].add(x)
	}
	for i := range ranked {
		ranked[i].settle(runs)
	}
	slices.SortStableFunc(ranked, order)
	for i := range ranked {
		ranked[i].Rank = i + 1
		if i > 0 {
			ranked[i].apart(&ranked[i-1], r)
		}
	}
	return ranked, left
}

// unranked is why a run is not ranked; empty: it is.
func (x *FleetRun) unranked(plan map[string]string, ignore []string) string {
	switch {
	case !x.Run.Valid:
		return x.Run.Why
	case x.LostNA != "":
		return "its lost cycles are not known: " + x.LostNA
	}
	mine := comparablePlan(x.Run.Plan, ignore)
	var keys []string
	for k := range plan {
		if mine[k] != plan[k] {
			keys = append(keys, fmt.Sprintf("%s %s, not %s", k, orNone(mine[k]), plan[k]))
		}
	}
	for k := range mine {
		if _, ok := plan[k]; !ok {
			keys = append(keys, fmt.Sprintf("%s %s, not none", k, mine[k]))
		}
	}
	if len(keys) == 0 {
		return ""
	}
	slices.Sort(keys)
	return "another plan than most: " + strings.Join(keys, "; ")
}

// comparablePlan is a plan without what each machine resolves for itself and what is ignored.
func comparablePlan(plan map[string]string, ignore []string) map[string]string {
	out := map[string]string{}
	for k, v := range plan {
		if !ignored(k, append(Placement(), ignore...)) {
			out[k] = v
		}
	}
	return out
}

// commonPlan is the plan that most valid runs have, the first of equals.
func commonPlan(runs []FleetRun, ignore []string) map[string]string {
	var best map[string]string
	most := 0
	for i := range runs {
		if !runs[i].Run.Valid {
			continue
		}
		mine, n := comparablePlan(runs[i].Run.Plan, ignore), 0
		for j := range runs {
			if runs[j].Run.Valid && fmt.Sprint(comparablePlan(runs[j].Run.Plan, ignore)) == fmt.Sprint(mine) { // fmt sorts a map's keys
				n++
			}
		}
		if n > most {
			best, most = mine, n
		}
	}
	return best
}

func (n *Node) add(x *FleetRun) {
	n.Runs++
	n.Ran += x.Ran
	n.Lost += x.Lost
	if x.Outcome == Fail || x.Outcome == Inconclusive && n.Outcome == Pass {
		n.Outcome = x.Outcome
	}
	n.side.Runs = append(n.side.Runs, x.Run)
}

// settle takes the medians over the node's runs.
func (n *Node) settle(runs []FleetRun) {
	var shares, starts []float64
	for _, own := range n.side.Runs {
		for i := range runs {
			if x := &runs[i]; x.Node == n.Name && x.Run.Name == own.Name {
				shares, starts = append(shares, x.Share), append(starts, x.Start)
			}
		}
	}
	n.Share, n.Start = known(shares), known(starts)
}

// known is the median of values, NaN where one of them is not known.
func known(v []float64) float64 {
	if slices.ContainsFunc(v, math.IsNaN) {
		return math.NaN()
	}
	return middle(v)
}

// order puts the better node first; what is not known goes last.
func order(a, b Node) int {
	rank := func(o Outcome) int { return slices.Index([]Outcome{Pass, Inconclusive, Fail}, o) }
	last := func(v float64) float64 {
		if math.IsNaN(v) {
			return math.Inf(1)
		}
		return v
	}
	return cmp.Or(cmp.Compare(rank(a.Outcome), rank(b.Outcome)), cmp.Compare(a.lostShare(), b.lostShare()),
		cmp.Compare(last(a.Share), last(b.Share)), cmp.Compare(last(a.Start), last(b.Start)), cmp.Compare(a.Name, b.Name))
}

func (n *Node) lostShare() float64 {
	if n.Ran == 0 {
		return 0
	}
	return float64(n.Lost) / float64(n.Ran)
}

// apart compares a node with the one before it, where times decided between them.
func (n *Node) apart(before *Node, r Rules) {
	if n.Outcome != before.Outcome || n.lostShare() != before.lostShare() {
		return
	}
	r.Ignore = append(slices.Clone(r.Ignore), Placement()...)
	r.History = nil // it is of one host; these are two
	c := Compare(before.side, n.side, r)
	n.Apart, n.Why = c.Outcome, c.Why
}

// FleetRunOf is what the ranking takes of a result. name says where it comes from.
func FleetRunOf(name string, f bench.File) (FleetRun, error) {
	runs, err := RunsOf(name, f)
	if err != nil {
		return FleetRun{}, err
	}
	if f.Suite != bench.SuiteOPCUA || len(runs) != 1 {
		return FleetRun{}, fmt.Errorf("%s is a result of %s; nodes are ranked by their control cycle, as opcycle run measures it", name, f.Suite)
	}
	x := FleetRun{Node: f.Host.Name, Run: runs[0], Outcome: Judge(f).Outcome, Ran: f.Phase.Ran, Share: math.NaN(), Start: math.NaN()}
	for _, statistic := range []string{"late", "missed"} {
		n := find(&f, "", "packets", statistic)
		if !n.OK {
			x.LostNA = n.NA
		}
		x.Lost += int64(n.Value)
	}
	if v := find(&f, "", "execution_time", "p99"); v.OK && f.Plan.Period() > 0 {
		x.Share = v.Value / float64(f.Plan.Period())
	}
	if v := find(&f, "", "start_latency", "p99"); v.OK {
		x.Start = v.Value
	}
	return x, nil
}
