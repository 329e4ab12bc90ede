package run

import (
	"time"

	"opcycle/bench"
)

// A row is handed out before the end only where somebody watches: what has every record after
// wholeAfter, and what has not after openAfter and a round of Publish requests, counted from
// the newest value that arrived. Values of a subscription arrive in their order, so none of
// them can still come but by Republish; and no Write waits for its answer that long
// (client/limits.go).
const (
	wholeAfter = time.Second
	openAfter  = 10 * time.Second
)

// ripen hands out what is decided, of every client. While no value arrives, nothing is.
func (s *session) ripen() {
	if s.collect == nil || s.Watch == nil && len(s.watch) == 0 {
		return
	}
	round := time.Duration(s.Plan.OPCUA.PublishRequests+1) * s.Plan.OPCUA.PublishingInterval
	for _, t := range s.tallies() {
		t.join.ripen(cyclesOf(s.Plan, wholeAfter), cyclesOf(s.Plan, openAfter+round))
	}
}

// cyclesOf is how many cycles d is, at least 32: a stall of a long cycle is long too.
func cyclesOf(p bench.Plan, d time.Duration) int64 { return max(int64(d/p.Task.Interval), 32) }

// ripen hands out the indices that lie whole rows, or open rows, behind the newest arrival.
func (j *join) ripen(whole, open int64) {
	for j.next <= j.newestArrival-whole {
		r := &j.rows[j.next&int64(len(j.rows)-1)]
		if j.next > j.newestArrival-open && !(r.k == j.next && j.whole(r)) {
			return
		}
		j.handOut()
	}
}

// whole tells whether every record of an index has come.
func (j *join) whole(r *row) bool {
	return r.arrived && r.hasWrite && (r.hasPub || j.foreign) && (r.hasTask || !j.client)
}
