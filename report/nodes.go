package report

import (
	"fmt"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// nodes prints what only a run of two ends has: the loop time first, which needs one clock
// only, then how far the two clocks are known.
func nodes(p *printer, f *bench.File) {
	n := f.Nodes
	if n == nil {
		return
	}
	p.section("Two nodes: loop time (µs)")
	quantileTable(p, f, []row{{loopLabel(f), "loop_time"}})
	if v, _, _, ok := judge.Lookup(*f, "", "loop_time", "avg"); ok {
		p.item("", fmt.Sprintf("on average %.2f cycles; both ends of it are on one clock, whatever the other clock says", v/float64(f.Plan.Period())))
	}
	clockOf(p, f, &n.Clock)
	ends(p, f)
}

// loopLabel says from where to where the loop time goes.
func loopLabel(f *bench.File) string {
	if f.Plan.Task.Host == bench.HostClient {
		return "P(k) of the server to the arrival of Write k there"
	}
	return "S(k) of the PLC to the arrival of echo k there"
}

// clockOf says what is known of the two clocks.
func clockOf(p *printer, f *bench.File, c *bench.ClockComparison) {
	if f.Phase.Clock == "common" {
		p.item("Clock: ", "both ends read one clock")
		return
	}
	if len(c.Offsets) == 0 {
		p.item("Clock: ", fmt.Sprintf("the two were not compared: %d of %d readings failed", c.Failed, c.Exchanges))
		return
	}
	best := c.Offsets[0].Bound
	for _, o := range c.Offsets {
		best = min(best, o.Bound)
	}
	last := c.Offsets[len(c.Offsets)-1]
	worst := "n/a"
	if c.WorstBound != nil {
		worst = "±" + judge.Span(time.Duration(*c.WorstBound))
	}
	p.item("Clock: ", fmt.Sprintf("the server's is ahead by %.6f s at the end, known to %s at the worst arrival and to ±%s at best (half of the fastest of 32 round trips, and the drift since; %s estimates). Which way of a round trip took longer cannot be told: an asymmetry within these bounds is not detectable.",
		float64(last.NS)/1e9, worst, judge.Span(time.Duration(best)), judge.Group(c.Estimates)))
	if len(c.Drift) == 0 {
		p.item("Drift of the client's clock: ", "n/a (needs 10 s of arrivals)")
		return
	}
	low, high := c.Drift[0], c.Drift[0]
	for _, d := range c.Drift {
		low, high = min(low, d), max(high, d)
	}
	text := fmt.Sprintf("%+.2f ppm", low)
	if len(c.Drift) > 1 {
		text = fmt.Sprintf("%+.2f to %+.2f ppm in %d lines", low, high, len(c.Drift))
	}
	p.item("Drift of the client's clock: ", text+" (a line for each 60 s, through the medians of its seconds; what the arrivals themselves drift is in it)")
}
