package run

import (
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// drainLimit is how long the end waits for stragglers.
const drainLimit = 2 * time.Second

// drain waits until every index has arrived, or for limit.
func (s *session) drain(limit time.Duration) {
	s.tell(bench.PhaseDrain, -1)
	for end := time.Now().Add(limit); time.Now().Before(end) && s.ctx.Err() == nil; {
		s.pull()
		if s.settled() {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	now := rt.Now()
	for _, t := range s.tallies() {
		t.join.cut = now
	}
}

// settled reports whether every index has reached every client, and the task is past it.
func (s *session) settled() bool {
	for _, t := range s.tallies() {
		if t.live < s.phase.Ran || t.join.newest <= t.last() {
			return false
		}
	}
	return true
}

// tallies are all clients'.
func (s *session) tallies() []*tally { return append([]*tally{&s.collect.tally}, s.further...) }

// wait drains and shows progress for d, and ends early with an error when a process is
// gone or the run is interrupted.
func (s *session) wait(phase string, d time.Duration) error {
	now := rt.Now()
	return s.until(phase, now, now+int64(d))
}

func (s *session) until(phase string, from, to int64) error {
	var server chan error // stays silent with a Remote
	if s.server != nil {
		server = s.server.events
	}
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		s.pull()
		s.ripen()
		now := rt.Now()
		s.tell(phase, min(max(float64(now-from)/float64(max(to-from, 1)), 0), 1))
		if now >= to {
			return nil
		}
		if phase == bench.PhaseMeasure {
			if err := s.broken(); err != nil {
				return err
			}
		}
		last := time.After(time.Duration(to - now))
		select {
		case <-s.ctx.Done():
			return ErrInterrupted
		case err := <-server:
			return err
		case err := <-s.client.events:
			return err
		case <-tick.C:
		case <-last:
		}
	}
}

// pull drains every ring into the join, or before the phase into a glance at the traffic.
func (s *session) pull() {
	server, client := s.look.server, s.look.client
	if s.join != nil {
		server, client = s.join.server, s.collect.arrived
	}
	if s.server != nil {
		s.server.rings[opcua.RingTask].Drain(func(r *record.Record) {
			s.live.packer.write(r, false, s.phase)
			server(r)
			if s.join == nil {
				return
			}
			for _, t := range s.further {
				t.join.server(r)
			}
		})
	}
	for i, ring := range s.client.rings {
		if i >= opcua.ClientRings {
			s.pullFurther(i-opcua.ClientRings, ring)
			continue
		}
		ring.Drain(func(r *record.Record) {
			s.live.packer.write(r, true, s.phase)
			client(r)
		})
	}
}

// pullFurther drains the ring of a further client; before the phase nobody wants it.
func (s *session) pullFurther(i int, ring *record.Ring) {
	ring.Drain(func(r *record.Record) {
		if s.join != nil {
			s.further[i].arrived(r)
		}
	})
}

// arrived counts a complete index on its way to the join.
func (t *tally) arrived(r *record.Record) {
	if r.Kind == record.KindArrival && r.Flags&record.FlagPartial == 0 && r.K >= t.phase.First && r.K <= t.last() {
		t.live++
	}
	t.join.fromClient(r)
}

// received is what the progress shows: indices that are complete at the first client.
func (s *session) received() int64 {
	if s.collect == nil {
		return 0
	}
	return s.collect.live
}
