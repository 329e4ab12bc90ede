package run

import (
	"opcycle/bench"
	"opcycle/record"
)

// joinRows is how many grid indices may be open at once: 65,536 cycles of 10 ms are 11
// minutes, and what is not decided by then never will be.
const joinRows = 65536

// furtherRows is the same for a further client.
const furtherRows = 8192

// row is everything both logs say about one grid index.
type row struct {
	k                   int64
	pub, task           record.Release // the publisher's release, and the program's when the client hosts it
	hasPub, hasTask     bool
	sent                record.Sent
	hasSent             bool
	dropped, droppedOne bool
	arrival             record.Arrival
	arrived, partial    bool
	write               record.Write
	hasWrite            bool
	echoAt              int64 // when the Write of k arrived at the server; 0 unknown
	messages            int64 // whose newest index is k
}

// join puts the records of all rings together by grid index and hands out each index
// once, in ascending order, when a newer one takes its place or at the end.
//
// NB: one owner, the conductor's drain loop.
type join struct {
	rows          []row
	start         int64 // lowest index of interest
	next          int64 // lowest index that was not handed out
	newest        int64
	newestArrival int64 // complete; before the first −1
	gaps          []record.Gap
	sub           int64 // subscription of the measuring client
	client        bool  // the client hosts the task
	foreign       bool  // the server's log is not known
	behind        int64 // releases between a value and its message by plan: 1 with publish: start
	emit          func(*row)
	forged        int64 // echoes of indices that do not exist yet, or were handed out already
	cut           int64 // end of drain: what was sent or came after it is not there; 0 = not yet
	stray         int64 // records of indices that were handed out already, or are far from any other
}

func newJoin(first int64, sub uint32, task bench.Task, emit func(*row)) *join {
	return newJoinOf(joinRows, first, sub, task, emit)
}

// newJoinOf is a join of a window of rows, a power of two.
func newJoinOf(rows int, first int64, sub uint32, task bench.Task, emit func(*row)) *join {
	j := &join{rows: make([]row, rows), sub: int64(sub), client: task.Host == bench.HostClient, emit: emit}
	j.newestArrival = -1
	j.begin(first)
	if task.Publish == bench.PublishStart {
		j.behind = 1
	}
	for i := range j.rows {
		j.rows[i].k = -1
	}
	return j
}

// begin makes first the lowest index of interest, before any record was taken.
func (j *join) begin(first int64) { j.start, j.next, j.newest = first, first, first-1 }

// at is the row of k, or nil when k was handed out already, lies before the start, or is
// further ahead of the newest than half the window: no stall that is worth a result is as
// long.
func (j *join) at(k int64) *row {
	if k < j.next || k > j.newest+int64(len(j.rows)/2) {
		if k >= j.start {
			j.stray++
		}
		return nil
	}
	for k-j.next >= int64(len(j.rows)) {
		j.handOut()
	}
	r := &j.rows[k&int64(len(j.rows)-1)]
	if r.k != k {
		*r = row{k: k}
	}
	j.newest = max(j.newest, k)
	return r
}

// handOut emits the lowest open index; one that no record mentions too.
func (j *join) handOut() {
	r := &j.rows[j.next&int64(len(j.rows)-1)]
	if r.k != j.next {
		*r = row{k: j.next}
	}
	j.emit(r)
	j.next++
}

// finish hands out every index up to and including last.
func (j *join) finish(last int64) {
	for j.next <= last {
		j.handOut()
	}
}

// server takes a record of the server's ring.
func (j *join) server(rec *record.Record) {
	switch rec.Kind {
	case record.KindRelease:
		if r := j.at(rec.K); r != nil {
			r.pub, r.hasPub = rec.Release(), true
		}
	case record.KindSent:
		s := rec.Sent()
		if s.Subscription != j.sub || j.cut != 0 && s.Before > j.cut {
			return
		}
		for k := max(s.First, j.next); k <= s.K; k++ {
			if r := j.at(k); r != nil {
				r.sent, r.hasSent = s, true
				if k == s.K {
					r.messages++
				}
			}
		}
	case record.KindDrop:
		d := rec.Drop()
		if d.Subscription != j.sub {
			return
		}
		if r := j.at(d.K); r != nil {
			r.dropped = true
			r.droppedOne = d.Flags&record.FlagQueueOne != 0
		}
	case record.KindEcho:
		e := rec.Echo()
		if e.K < j.start { // of the time before the phase: nobody's business
			return
		}
		if e.K > j.newest || e.K < j.next { // only a release, a message or an arrival makes an index: a peer can write anything
			j.forged++
			return
		}
		if r := j.at(e.K); r != nil && r.echoAt == 0 { // a stale cycle writes its value again
			r.echoAt = e.At
		}
	}
}

// fromClient takes a record of one of the client's rings.
func (j *join) fromClient(rec *record.Record) {
	switch rec.Kind {
	case record.KindRelease:
		if r := j.at(rec.K); r != nil {
			r.task, r.hasTask = rec.Release(), true
		}
	case record.KindArrival:
		a := rec.Arrival()
		if j.cut != 0 && a.Received > j.cut {
			return
		}
		if r := j.at(rec.K); r != nil {
			r.arrival = a
			r.partial = rec.Flags&record.FlagPartial != 0
			r.arrived = !r.partial
			if r.arrived {
				j.newestArrival = max(j.newestArrival, rec.K)
			}
		}
	case record.KindWrite:
		if r := j.at(rec.K); r != nil {
			r.write, r.hasWrite = rec.Write(), true
		}
	case record.KindGap:
		j.gaps = append(j.gaps, rec.Gap())
	}
}

// disconnected reports whether k lies in a stretch without a session or subscription.
func (j *join) disconnected(k int64) bool {
	for _, g := range j.gaps {
		if g.K <= k && k <= g.Last {
			return true
		}
	}
	return false
}

// facts are what bench.Attribute needs of a row, but for the due time and whether it is on
// one clock with the rest. wall is REALTIME − MONOTONIC, ns.
func (j *join) facts(r *row, wall int64) bench.Facts {
	f := bench.Facts{
		Executed: r.hasPub, Done: r.pub.Done,
		Waited: r.hasSent && r.sent.Release > r.k+j.behind,
		Sent:   r.hasSent, Before: r.sent.Before,
		Dropped: r.dropped, DroppedOne: r.droppedOne,
		Arrived: r.arrived, Received: r.arrival.Received,
		Disconnected: j.disconnected(r.k), ServerLog: !j.foreign,
	}
	if r.arrival.Kernel != 0 {
		f.Kernel = r.arrival.Kernel - wall
		f.KernelExact = r.arrival.Flags&record.FlagStamped != 0
	}
	return f
}

// program is the release of the task that runs the program.
func (j *join) program(r *row) (*record.Release, bool) {
	if j.client {
		return &r.task, r.hasTask
	}
	return &r.pub, r.hasPub
}
