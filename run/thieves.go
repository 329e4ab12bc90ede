package run

import (
	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// abnormal is an index that is late, missed, overrun or slow, with what the task's thread
// knew of the time it lost. The thieves are told at the end, when the usual execution
// time is known.
type abnormal struct {
	release bench.Release
	rel     record.Release // the program's release, when executed
	prev    record.Release // the one before it, K < 0 for none
	next    record.Release // of a skipped index: the executed release after it
	pub     bool           // these are the publisher's, although the client hosts the program
	shift   int64          // the publisher's clock less the client's; 0 with a common clock
}

// keep stores index r in full, up to bench.AbnormalMax, beyond that it only counts.
func (c *collect) keep(r *row, rel *record.Release, executed bool, out bench.Outcome, cause bench.Cause) {
	if len(c.abnormal) >= bench.AbnormalMax {
		c.leftOut++
		return
	}
	a := abnormal{release: c.full(r, rel, executed, out, cause), prev: record.Release{K: -1}, next: record.Release{K: -1}}
	a.shift, _ = c.shift(r)
	if executed {
		a.rel = *rel
	}
	if c.join.client && cause == bench.LateTask && r.hasPub { // what was late is the release that sends
		a.pub, a.rel = true, r.pub
	}
	prev, open := c.prev, &c.open
	if c.join.client && cause == bench.SkippedRelease { // the I/O simulator in the server was stopped
		a.pub, a.release.Executed = true, false
		prev, open = c.prevPub, &c.openPub
	}
	if prev != nil {
		a.prev = *prev
	}
	if !a.release.Executed {
		*open = append(*open, len(c.abnormal))
	}
	c.abnormal = append(c.abnormal, a)
}

// shift is the publisher's clock less the client's when r arrived, or, if it did not, at the
// newest estimate.
func (t *tally) shift(r *row) (ns int64, ok bool) {
	switch {
	case t.common:
		return 0, true
	case t.clocks == nil:
		return 0, false
	}
	at := r.arrival.Received
	if !r.arrived {
		at = rt.Now()
	}
	ns, _, ok = t.clocks.at(at)
	return ns, ok
}

// full is index r as the result holds it: instants in ns after the phase's first due time,
// on the publisher's clock; of the client's those that can be placed on it.
func (c *collect) full(r *row, rel *record.Release, executed bool, out bench.Outcome, cause bench.Cause) bench.Release {
	zero := c.phase.Grid.Due(c.phase.First)
	at := func(t int64) *int64 {
		if t == 0 {
			return nil
		}
		v := t - zero
		return &v
	}
	b := bench.Release{K: r.k, Second: float64(c.phase.Grid.Due(r.k)-zero) / 1e9, Outcome: out, Cause: cause, Executed: executed}
	shift, placed := c.shift(r)
	of := int64(0) // the release's clock
	if c.join.client {
		of = shift
	}
	if executed && (placed || !c.join.client) {
		b.Wake, b.Begin, b.End, b.Done = at(rel.Wake+of), at(rel.Begin+of), at(rel.End+of), at(rel.Done+of)
	}
	if r.hasSent {
		b.Sent = at(r.sent.Before)
	}
	if r.arrived && placed {
		b.Received = at(r.arrival.Received + shift)
		if r.arrival.Flags&record.FlagStamped != 0 {
			b.Kernel = at(r.arrival.Kernel - c.wall + shift)
		}
	}
	if cause == bench.Coalesced && !r.hasSent {
		b.Detail = "no_publish_request"
	}
	if r.partial {
		b.Detail = "partial"
	}
	return b
}

// window is a stretch of lost time and what the thread's accounts say about it.
type window struct {
	from, to int64
	lost     int64
	delay    int64 // run delay, −1 unknown
	faults   int64
	client   bool // the time was lost on the client's side of the wire
}

// thieves splits the lost time of every abnormal index, by the collector pauses of the
// task's process or, on the client's side of the wire, of the client's. Every stretch of
// lost time is summed once, however many indices it cost.
func (c *collect) thieves(task, client []opcua.Pause, throttled bool) (sums bench.Thieves, list []bench.Release) {
	usual, _ := c.series["execution_time"].series.Quantile(0.5)
	offset, _ := c.series["arrival_offset"].series.Quantile(0.5)
	throttled = throttled && 10*(usual+int64(c.plan.Task.Spin)) >= 9*c.phase.Task.Period
	zero := int64(0)
	sums.RunQueue, sums.Fault = &zero, new(int64)
	if c.runDelayUnknown {
		sums.RunQueue = nil
	}
	counted := map[[2]int64]bool{}
	until := int64(0) // end of the last stretch on the client's side that was summed
	for i := range c.abnormal {
		a := &c.abnormal[i]
		w := c.window(a, usual, offset)
		pauses := task
		if w.client {
			pauses = client
		}
		t := split(w, pauses, c.wall, throttled)
		a.release.Thieves = t
		if w.client && w.from < until { // late behind the one before: only the rest is new
			w.lost, w.from = max(0, w.to-until), until
			t = split(w, pauses, c.wall, throttled)
		}
		if w.client {
			until = max(until, w.to)
		}
		if key := [2]int64{w.from, w.to}; !counted[key] {
			counted[key] = true
			addThieves(&sums, t)
		}
		list = append(list, a.release)
	}
	return sums, list
}

// window finds the stretch in which a lost its time.
func (c *collect) window(a *abnormal, usual, offset int64) window {
	grid := c.phase.Task
	if a.pub {
		grid = c.phase.Grid
	}
	switch {
	case a.pub && a.release.Cause == bench.LateTask:
		return ofRelease(a.rel, 0) // it only copies values: what it takes is nothing beside the deadline
	case a.release.Executed && (a.release.Outcome == bench.OnTime || a.rel.Done-a.rel.Due > grid.Period || a.release.Cause == bench.LateTask):
		return ofRelease(a.rel, usual)
	case !a.release.Executed && a.prev.K >= 0 && a.prev.Done > grid.Due(a.release.K):
		return ofRelease(a.prev, usual) // the release before ran over it
	case !a.release.Executed && a.next.K >= 0: // nobody woke the task in time
		return asleep(a, grid)
	case a.release.Received != nil: // late on the way
		from := c.phase.Grid.Due(a.release.K) - a.shift // on the client's clock, as its pauses are
		to := *a.release.Received + c.phase.Grid.Due(c.phase.First) - a.shift
		return window{from: from, to: to, lost: max(0, to-from-offset), delay: -1, client: true}
	}
	return window{delay: -1}
}

// asleep is the stretch from the first release that the task slept over to the due time of
// the one that it executed again: what that one then lost is its own start latency.
func asleep(a *abnormal, grid bench.Grid) window {
	from, to := grid.Due(a.release.K), grid.Due(a.next.K)
	if a.prev.K >= 0 {
		from = max(grid.Due(a.prev.K+1), a.prev.Done)
	}
	return window{from: from, to: to, lost: max(0, to-from), delay: a.next.RunDelay, faults: max(a.next.Minor, 0) + max(a.next.Major, 0)}
}

func ofRelease(r record.Release, usual int64) window {
	return window{from: r.Due, to: r.Done, lost: max(0, r.Done-r.Due-usual), delay: r.RunDelay, faults: max(r.Minor, 0) + max(r.Major, 0)}
}

// A stretch of this length is suspected to be real-time throttling where that can be: the
// kernel takes 50 ms of a second from real-time threads that used the other 950 (sched(7)),
// the fair server likewise, and keeps no count. A task that is busy for less than 90 % of
// its cycle never comes there: its gaps are the machine's, and stand in rest.
const (
	throttleMin = 40e6
	throttleMax = 60e6
)

// split divides w.lost. The parts never sum to more than it; what nobody claims is rest.
func split(w window, pauses []opcua.Pause, wall int64, throttled bool) bench.Thieves {
	t := bench.Thieves{Faults: w.faults}
	left := w.lost
	if w.delay >= 0 {
		v := min(w.delay, left)
		t.RunQueue, left = &v, left-v
	}
	for _, p := range pauses {
		end := p.End - wall
		overlap := min(end, w.to) - max(end-p.NS, w.from)
		if overlap > 0 {
			v := min(overlap, left)
			t.GC, left = t.GC+v, left-v
		}
	}
	if throttled && left >= throttleMin && left <= throttleMax {
		t.Throttle, left = left, 0
	}
	if w.faults == 0 {
		t.Fault = new(int64)
	}
	t.Rest = left
	return t
}

func addThieves(sum *bench.Thieves, t bench.Thieves) {
	if sum.RunQueue != nil && t.RunQueue != nil {
		*sum.RunQueue += *t.RunQueue
	}
	if t.Fault == nil {
		sum.Fault = nil
	}
	sum.GC += t.GC
	sum.Throttle += t.Throttle
	sum.Rest += t.Rest
	sum.Faults += t.Faults
}
