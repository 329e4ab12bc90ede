package run

import (
	"opcycle/bench"
	"opcycle/record"
)

// collect turns joined rows into series, outcomes and abnormal releases. Rows come in
// ascending order, each index once.
//
// NB: one owner, the conductor's drain loop.
type collect struct {
	tally // of the first client

	executed                              int64
	overruns                              int64
	fresh, stale, skippedValues           int64
	writes, acked, noAck, failed, lateAck int64
	switches, minor, major, migrations    int64
	runDelayUnknown                       bool

	prev      *record.Release // the program's release before, when adjacent or not
	prevStore record.Release
	waiting   []int64         // skipped indices that wait for the next executed release
	open      []int           // and where they stand in abnormal
	prevPub   *record.Release // the publisher's release before, when the client hosts the program
	pubStore  record.Release
	openPub   []int // its skipped ones in abnormal
	lastInput int64
	lastCPU   int64
	fit       *fit // of the arrivals, without a common clock
	abnormal  []abnormal
	leftOut   int64
}

// seriesOf are the series of the OPC UA suite in the order of metrics.md.
func seriesOf() [][2]string {
	return [][2]string{
		{"task", "calculation_time"}, {"task", "execution_time"}, {"task", "execution_time_jitter"},
		{"task", "task_time"}, {"task", "response_time"},
		{"item", "client_transmit_time"}, {"item", "client_encode_time"}, {"item", "client_write_time"},
		{"item", "server_transmit_jitter"}, {"item", "arrival_offset"},
		{"task", "dead_time"}, {"task", "start_latency"},
		{"item", "server_transmit_time"}, {"item", "network_time"}, {"item", "client_receive_time"},
		{"item", "loop_time"}, {"item", "write_round_trip"}, {"item", "inter_arrival_deviation"},
		{"task", "control_cycle_period"},
	}
}

func newCollect(plan bench.Plan, phase bench.Phase, common bool) *collect {
	c := &collect{tally: newTally("item", plan, phase, common), lastInput: -1, lastCPU: -1}
	for _, s := range seriesOf() {
		c.series[s[1]] = newMeasured(s[0], phase)
	}
	c.fit = &fit{period: phase.Grid.Period, emit: func(k, v int64) { c.add("server_transmit_jitter", k, v) }}
	return c
}

// take is called by the join for every index: before the phase only to know the release
// before, after it only to answer the skipped releases at its end.
func (c *collect) take(r *row) {
	rel, executed := c.join.program(r)
	inside := r.k >= c.phase.First && r.k <= c.last()
	if executed {
		c.respond(rel)
	}
	if inside {
		c.index(r)
		if executed {
			c.release(r, rel)
		} else if c.hosted() {
			c.waiting = append(c.waiting, r.k)
		}
		c.arrive(r)
		if r.arrived && !c.common {
			c.fit.first = c.phase.First
			c.fit.add(r.k, r.arrival.Received-r.k*c.phase.Grid.Period)
		}
		c.wrote(r)
		c.loop(r)
		c.judge(r, rel, executed)
	}
	if r.hasPub && c.join.client {
		for _, i := range c.openPub {
			c.abnormal[i].next = r.pub
		}
		c.openPub = c.openPub[:0]
		c.pubStore = r.pub
		c.prevPub = &c.pubStore
	}
	if executed {
		c.prevStore = *rel
		c.prev = &c.prevStore
		c.lastInput = max(c.lastInput, rel.Input)
		c.lastCPU = rel.OnCPU
	}
}

// hosted reports whether the program's releases are in our rings: not when a server that
// was started by hand runs it.
func (c *collect) hosted() bool { return c.join.client || !c.join.foreign }

// respond adds the response time of an executed release and of the indices that were
// skipped before it: X(n) − S(k).
func (c *collect) respond(rel *record.Release) {
	for _, k := range c.waiting {
		c.add("response_time", k, rel.Done-c.phase.Task.Due(k))
	}
	c.waiting = c.waiting[:0]
	for _, i := range c.open {
		c.abnormal[i].next = *rel
	}
	c.open = c.open[:0]
	if rel.K >= c.phase.First && rel.K <= c.last() {
		c.add("response_time", rel.K, rel.Done-rel.Due)
	}
}

// release adds what one executed release of the program measured.
func (c *collect) release(r *row, rel *record.Release) {
	k, e := r.k, rel.Done-rel.Due
	c.add("start_latency", k, rel.Wake-rel.Due)
	c.add("calculation_time", k, rel.End-rel.Begin)
	c.add("execution_time", k, e)
	c.add("task_time", k, rel.Done-rel.Wake)
	c.add("dead_time", k, c.phase.Task.Period-e)
	if e > c.phase.Task.Period {
		c.overruns++
	}
	if c.prev != nil && c.prev.K == k-1 {
		if k > c.phase.First {
			c.add("execution_time_jitter", k, abs(e-(c.prev.Done-c.prev.Due)))
		}
		c.add("control_cycle_period", k, rel.Wake-c.prev.Wake)
	}
	c.switches += max(rel.Switches, 0)
	c.minor += max(rel.Minor, 0)
	c.major += max(rel.Major, 0)
	if c.lastCPU >= 0 && rel.OnCPU != c.lastCPU {
		c.migrations++
	}
	if rel.RunDelay < 0 {
		c.runDelayUnknown = true
	}
	if c.join.client {
		c.input(rel)
		if r.arrived && c.common {
			c.add("server_transmit_jitter", k, r.arrival.Received-rel.Due)
		}
	}
}

// input says what the client's cycle ran on.
func (c *collect) input(rel *record.Release) {
	switch {
	case rel.Input < 0 || rel.Flags&record.FlagStale != 0:
		c.stale++
	default:
		c.fresh++
		if c.lastInput >= 0 && rel.Input > c.lastInput+1 {
			c.skippedValues += rel.Input - c.lastInput - 1
		}
	}
}

// index counts the publisher's release.
func (c *collect) index(r *row) {
	if r.hasPub {
		c.executed++
	}
}

// wrote adds what the Write of value k measured.
func (c *collect) wrote(r *row) {
	if !r.hasWrite {
		return
	}
	k, w := r.k, &r.write
	c.writes++
	switch {
	case w.Flags&record.FlagNoAck != 0:
		c.noAck++
	case w.Flags&record.FlagFailed != 0:
		c.failed++
	default:
		c.acked++
	}
	if w.Handed > 0 {
		c.add("client_transmit_time", k, w.Handed-w.Begin)
		c.add("client_encode_time", k, w.Encoded-w.Begin)
		c.add("client_write_time", k, w.Handed-w.Encoded)
	}
	if w.Acked > 0 {
		c.add("write_round_trip", k, w.Acked-w.Begin)
		if rel, ok := c.join.program(r); ok && c.join.client && w.Acked-rel.Done > c.phase.Task.Period {
			c.lateAck++
		}
	}
}

// loop adds the loop time of value k: to the arrival of its Write at the server, from its
// due time (host = server) or from its sending (host = client).
func (c *collect) loop(r *row) {
	k := r.k
	switch {
	case r.echoAt == 0:
	case c.join.client && r.hasSent:
		c.add("loop_time", k, r.echoAt-r.sent.Before)
	case !c.join.client:
		c.add("loop_time", k, r.echoAt-c.phase.Grid.Due(k))
	}
}

// judge gives index k its one outcome and cause, and keeps it when it is abnormal.
func (c *collect) judge(r *row, rel *record.Release, executed bool) {
	out, cause := c.decide(r)
	slow := executed && (rel.Done-rel.Due > int64(c.plan.Task.ThiefAbove) || rel.Done-rel.Due > c.phase.Task.Period)
	if out != bench.OnTime || slow || !executed && c.hosted() {
		c.keep(r, rel, executed, out, cause)
	}
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}
