package run

import (
	"fmt"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

// tally is what one client received: the outcome of every index, and its arrival series.
// Rows come in ascending order, each index once.
//
// NB: one owner, the conductor's drain loop.
type tally struct {
	object string // of its figures: "item" for the first client, "client 2" …
	plan   bench.Plan
	phase  bench.Phase
	wall   int64 // REALTIME − MONOTONIC, ns, before the phase
	common bool  // both processes read one clock
	join   *join
	clocks *clocks // without a common clock: what is known of the server's; nil: nothing

	worst    int64 // bound of the offset at an arrival
	unplaced int64 // arrivals without an offset

	series  map[string]*measured
	outcome map[bench.Outcome]int64
	missed  map[bench.Cause]int64
	late    map[bench.Cause]int64

	lateRun, lateRunMax         int64
	lastLate                    int64 // the newest late index; the run goes on when the next is late, too
	live                        int64 // arrivals so far, for the end of drain
	partial, values, mostValues int64
	unstamped                   int64
	messages                    int64 // seen, by the change of sequence numbers
	sentMessages                int64 // sent, by the server's log
	lastSequence                int64
	before                      arrivalOf
	pending                     []undecided // of a server whose log is not known yet
	pendingLost                 int64
}

// undecided is an index that did not arrive on time, until the server's log comes.
type undecided struct {
	k     int64
	facts bench.Facts
}

// verdictOf is what became of an index.
type verdictOf struct {
	out   bench.Outcome
	cause bench.Cause
}

type arrivalOf struct {
	k, at int64
	ok    bool
}

// measured is one series with its second blocks.
type measured struct {
	object string
	series *record.Series
	blocks *record.Blocks
}

func newMeasured(object string, phase bench.Phase) *measured {
	return &measured{object, record.NewSeries(), record.NewBlocks(phase.First, phase.N, phase.Grid.Period)}
}

func newTally(object string, plan bench.Plan, phase bench.Phase, common bool) tally {
	return tally{object: object, plan: plan, phase: phase, wall: phase.WallOffset, common: common,
		series: map[string]*measured{}, outcome: map[bench.Outcome]int64{},
		missed: map[bench.Cause]int64{}, late: map[bench.Cause]int64{}, lastSequence: -1, lastLate: -2}
}

// furtherSeries are the series that a further client has of its own.
func furtherSeries() []string { return []string{"arrival_offset", "server_transmit_time"} }

// newFurther is the tally of client n, from 2 on, with its join.
func newFurther(object string, plan bench.Plan, phase bench.Phase, common bool, sub uint32) *tally {
	t := newTally(object, plan, phase, common)
	for _, name := range furtherSeries() {
		t.series[name] = newMeasured(object, phase)
	}
	t.join = newJoinOf(furtherRows, phase.First-1, sub, plan.Task, t.take)
	return &t
}

// take is called by the join of a further client for every index.
func (t *tally) take(r *row) {
	if r.k < t.phase.First || r.k > t.last() {
		return
	}
	t.arrive(r)
	t.decide(r)
}

func (t *tally) last() int64 { return t.phase.First + t.phase.Ran - 1 }

// add takes a value of a series that this client has.
func (t *tally) add(name string, k, v int64) {
	if m := t.series[name]; m != nil {
		m.series.Add(k, v)
		m.blocks.Add(k, v)
	}
}

// arrive adds what the arrival of value k measured.
func (t *tally) arrive(r *row) {
	if r.partial {
		t.partial++
	}
	if !r.arrived {
		return
	}
	k, a := r.k, &r.arrival
	t.values += a.Values
	t.mostValues = max(t.mostValues, a.Most)
	if a.Sequence != t.lastSequence {
		t.messages++
		t.lastSequence = a.Sequence
	}
	if t.before.ok && t.before.k == k-1 {
		t.add("inter_arrival_deviation", k, a.Received-t.before.at-t.phase.Grid.Period)
	}
	t.before = arrivalOf{k, a.Received, true}
	if due, ok := t.due(k, a.Received); ok {
		t.add("arrival_offset", k, a.Received-due)
	}
	if r.hasSent && t.common {
		t.add("server_transmit_time", k, a.Received-r.sent.Before)
	}
	if a.Flags&record.FlagStamped == 0 {
		t.unstamped++
		return
	}
	kernel := a.Kernel - t.wall
	if r.hasSent && t.common {
		t.add("network_time", k, kernel-r.sent.Before)
	}
	t.add("client_receive_time", k, a.Received-kernel)
}

// due is S(k) on the clock of an arrival at the given instant; ok is false when the two
// clocks cannot be compared.
func (t *tally) due(k, received int64) (due int64, ok bool) {
	if t.common {
		return t.phase.Grid.Due(k), true
	}
	if t.clocks == nil {
		return 0, false
	}
	offset, bound, ok := t.clocks.at(received)
	t.worst = max(t.worst, bound)
	if !ok {
		t.unplaced++
	}
	return t.phase.Grid.Due(k) - offset, ok
}

// blurred says why what needs one clock for both ends is n/a; empty: it is known.
func (t *tally) blurred() string {
	switch {
	case t.common:
		return ""
	case t.clocks == nil:
		return t.phase.Clock
	case t.unplaced > 0:
		return t.phase.Clock + ", and the two could not be compared"
	case t.worst > t.phase.Grid.Period/10:
		return fmt.Sprintf("%s, and the offset is known to ±%s at worst: more than a tenth of the cycle", t.phase.Clock, time.Duration(t.worst).Round(time.Microsecond))
	}
	return ""
}

// decide gives index k its one outcome and cause.
func (t *tally) decide(r *row) (bench.Outcome, bench.Cause) {
	f := t.join.facts(r, t.wall)
	if f.Arrived {
		f.Due, f.CommonClock = t.due(r.k, f.Received)
	}
	t.sentMessages += r.messages
	out, cause := bench.Attribute(f, int64(t.plan.Task.Deadline), t.phase.Grid.Period)
	if t.join.foreign && out != bench.OnTime {
		if len(t.pending) == bench.AbnormalMax {
			t.pendingLost++
		} else {
			t.pending = append(t.pending, undecided{r.k, f})
			return out, cause
		}
	}
	t.count(r.k, out, cause)
	return out, cause
}

// settle decides the pending indices by the server's log and by when segments were sent
// again; without a log by what the client alone knows.
func (t *tally) settle(p *bench.Part, known map[int64]bench.Exception, again bench.Retransmissions) map[int64]verdictOf {
	decided := map[int64]verdictOf{}
	for _, u := range t.pending {
		if p != nil {
			u.facts.ServerLog = true
			e, odd := known[u.k]
			if !odd {
				e = bench.Exception{Executed: true, Sent: true}
			}
			e.Apply(&u.facts)
		}
		u.facts.Retransmitted = u.facts.Arrived && again.Near(u.facts.Due, u.facts.Received)
		out, cause := bench.Attribute(u.facts, int64(t.plan.Task.Deadline), t.phase.Grid.Period)
		t.count(u.k, out, cause)
		decided[u.k] = verdictOf{out, cause}
	}
	t.pending = nil
	if p != nil {
		t.sentMessages = p.Messages
	}
	return decided
}

// count books one outcome. Indices come in ascending order, but those in between may have
// been booked before.
func (t *tally) count(k int64, out bench.Outcome, cause bench.Cause) {
	t.outcome[out]++
	switch out {
	case bench.Missed:
		t.missed[cause]++
	case bench.Late:
		t.late[cause]++
		if k != t.lastLate+1 {
			t.lateRun = 0
		}
		t.lastLate = k
		t.lateRun++
		t.lateRunMax = max(t.lateRunMax, t.lateRun)
	}
}

// begin moves the phase to where it starts, before any record was taken.
func (t *tally) begin(phase bench.Phase) {
	t.phase, t.wall = phase, phase.WallOffset
	for _, m := range t.series {
		m.blocks.First = phase.First
	}
	t.join.begin(phase.First - 1)
}
