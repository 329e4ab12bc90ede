package run

import (
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

const ms = int64(time.Millisecond)

// script is a phase of n cycles of 10 ms whose records a test writes by hand.
type script struct {
	t     *testing.T
	plan  bench.Plan
	phase bench.Phase
	c     *collect
	j     *join
}

func newScript(t *testing.T, host bench.PLCHost, n int64) *script {
	t.Helper()
	period := 10 * ms
	s := &script{t: t}
	s.plan = bench.Plan{Task: bench.Task{Host: host, Interval: 10 * time.Millisecond, Deadline: 10 * time.Millisecond,
		ThiefAbove: 10 * time.Millisecond, Publish: bench.PublishEnd}}
	s.phase = bench.Phase{Grid: bench.Grid{Origin: 1000 * ms, Period: period}, Task: bench.Grid{Origin: 1000 * ms, Period: period},
		First: 100, N: n, Ran: n, WallOffset: 5_000_000 * ms}
	s.c = newCollect(s.plan, s.phase, true)
	s.j = newJoin(s.phase.First-1, 7, s.plan.Task, s.c.take)
	s.c.join = s.j
	return s
}

func (s *script) due(k int64) int64 { return s.phase.Grid.Due(k) }

func (s *script) server(p interface{ Record(*record.Record) }) {
	var r record.Record
	p.Record(&r)
	s.j.server(&r)
}

func (s *script) client(p interface{ Record(*record.Record) }) {
	var r record.Record
	p.Record(&r)
	s.j.fromClient(&r)
}

// release executes k: awake after wake, calculating for 3 ms, done after done.
func (s *script) release(k, wake, done int64) {
	d := s.due(k)
	s.server(&record.Release{K: k, Due: d, Wake: d + wake, Begin: d + wake + 1000, End: d + wake + 1000 + 3*ms, Done: d + done, Input: -1})
}

func (s *script) sent(k, in int64) {
	s.server(&record.Sent{K: k, First: k, Values: 1, Sequence: k, Before: s.due(in) + 3*ms, Release: in, Subscription: 7, Bytes: 150})
}

func (s *script) arrive(k, after int64) {
	at := s.due(k) + after
	s.client(&record.Arrival{K: k, Received: at, Kernel: at - 100_000 + s.phase.WallOffset, Flags: record.FlagStamped, Sequence: k, Values: 1, Most: 1})
}

// usual is a cycle in which all goes well.
func (s *script) usual(k int64) {
	s.release(k, 20_000, 4*ms)
	s.sent(k, k)
	s.arrive(k, 4*ms)
}

func (s *script) finish() { s.j.finish(max(s.j.newest, s.c.last())) }

// TestOutcomesHaveOneCause walks the causes of metrics.md, one at index 105.
func TestOutcomesHaveOneCause(t *testing.T) {
	for _, tc := range []struct {
		name  string
		at    func(s *script)
		out   bench.Outcome
		cause bench.Cause
	}{
		{"on time", func(s *script) { s.usual(105) }, bench.OnTime, ""},
		{"exactly at the deadline is on time", func(s *script) { s.release(105, 1, 4*ms); s.sent(105, 105); s.arrive(105, 10*ms) }, bench.OnTime, ""},
		{"skipped release", func(*script) {}, bench.Missed, bench.SkippedRelease},
		{"queue overflow", func(s *script) {
			s.release(105, 1, 4*ms)
			s.server(&record.Drop{K: 105, Values: 1, Subscription: 7})
		}, bench.Missed, bench.QueueOverflow},
		{"coalesced", func(s *script) {
			s.release(105, 1, 4*ms)
			s.server(&record.Drop{K: 105, Values: 1, Subscription: 7, Flags: record.FlagQueueOne})
		}, bench.Missed, bench.Coalesced},
		{"dropped for another subscription only", func(s *script) {
			s.release(105, 1, 4*ms)
			s.server(&record.Drop{K: 105, Values: 1, Subscription: 8})
		}, bench.Missed, bench.NotSent},
		{"not sent", func(s *script) { s.release(105, 1, 4*ms) }, bench.Missed, bench.NotSent},
		{"sent, never seen", func(s *script) { s.release(105, 1, 4*ms); s.sent(105, 105) }, bench.Missed, bench.ClientLost},
		{"no session", func(s *script) {
			s.release(105, 1, 4*ms)
			s.client(&record.Gap{K: 105, Last: 105})
		}, bench.Missed, bench.Reconnect},
		{"partly arrived", func(s *script) {
			s.release(105, 1, 4*ms)
			s.sent(105, 105)
			s.client(&record.Arrival{K: 105, Values: 1, Flags: record.FlagPartial})
		}, bench.Missed, bench.ClientLost},
		{"late by the task", func(s *script) { s.release(105, 1, 11*ms); s.sent(105, 105); s.arrive(105, 12*ms) }, bench.Late, bench.LateTask},
		{"late for want of a request", func(s *script) { s.release(105, 1, 4*ms); s.sent(105, 106); s.arrive(105, 14*ms) }, bench.Late, bench.LatePublishRequest},
		{"late on the network", func(s *script) { s.release(105, 1, 4*ms); s.sent(105, 105); s.arrive(105, 14*ms) }, bench.Late, bench.LateNetwork},
		{"late in the client", func(s *script) {
			s.release(105, 1, 4*ms)
			s.sent(105, 105)
			s.client(&record.Arrival{K: 105, Received: s.due(105) + 14*ms, Kernel: s.due(105) + 4*ms + s.phase.WallOffset, Flags: record.FlagStamped, Sequence: 105, Values: 1})
		}, bench.Late, bench.LateClient},
		{"late in the client by an upper bound of the stamp", func(s *script) {
			s.release(105, 1, 4*ms)
			s.sent(105, 105)
			s.client(&record.Arrival{K: 105, Received: s.due(105) + 30*ms, Kernel: s.due(105) + 20*ms + s.phase.WallOffset, Sequence: 105, Values: 1})
		}, bench.Late, bench.LateClient},
		{"late, and nobody knows why", func(s *script) {
			s.release(105, 1, 4*ms)
			s.sent(105, 105)
			s.client(&record.Arrival{K: 105, Received: s.due(105) + 14*ms, Sequence: 105, Values: 1})
		}, bench.Late, bench.Unknown},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := newScript(t, bench.HostServer, 20)
			for k := int64(99); k < 122; k++ {
				if k == 105 {
					tc.at(s)
					continue
				}
				s.usual(k)
			}
			s.finish()
			want := map[bench.Outcome]int64{bench.OnTime: 19}
			want[tc.out]++
			for _, o := range []bench.Outcome{bench.OnTime, bench.Late, bench.Missed} {
				if s.c.outcome[o] != want[o] {
					t.Errorf("%s: %d, want %d", o, s.c.outcome[o], want[o])
				}
			}
			counts := map[bench.Outcome]map[bench.Cause]int64{bench.Late: s.c.late, bench.Missed: s.c.missed}[tc.out]
			if tc.out != bench.OnTime && (counts[tc.cause] != 1 || len(counts) != 1) {
				t.Errorf("causes %v, want one of %s", counts, tc.cause)
			}
			if n := s.c.series["execution_time"].series.Count; n != s.c.executed {
				t.Errorf("%d execution times, %d executed releases", n, s.c.executed)
			}
			if n := s.c.series["response_time"].series.Count; n != 20 {
				t.Errorf("%d response times of 20 indices", n)
			}
		})
	}
}

// A late value of a server elsewhere waits for both ends' retransmissions; one that the
// client alone knows of is enough.
func TestRetransmissionsSettleLateValues(t *testing.T) {
	for name, part := range map[string]*bench.Part{"with the server's books": {}, "without": nil} {
		s := newScript(t, bench.HostServer, 200)
		s.j.foreign = true
		for k := int64(100); k < 300; k++ {
			switch k {
			case 105, 250:
				s.arrive(k, 300*ms)
			default:
				s.arrive(k, 4*ms)
			}
		}
		s.finish()
		again := bench.Retransmissions{{After: s.due(100), Until: s.due(110), Segments: 1}} // 250 is due 1.4 s later
		s.c.settle(part, nil, again)
		if s.c.late[bench.LateRetransmission] != 1 || s.c.outcome[bench.Late] != 2 || s.c.outcome[bench.OnTime] != 198 {
			t.Errorf("%s: late %v, outcomes %v", name, s.c.late, s.c.outcome)
		}
	}
}

// TestSkippedReleasesLoseTheirTimeOnce: a stall of the sleeping task costs three indices,
// and the lost time is theirs together.
func TestSkippedReleasesLoseTheirTimeOnce(t *testing.T) {
	s := newScript(t, bench.HostServer, 20)
	for k := int64(99); k < 122; k++ {
		switch {
		case k >= 105 && k < 108:
		case k == 108:
			d := s.due(108)
			s.server(&record.Release{K: 108, Due: d, Wake: d + 2*ms, Begin: d + 2*ms, End: d + 5*ms, Done: d + 6*ms, RunDelay: 25 * ms, Input: -1})
			s.sent(108, 108)
			s.arrive(108, 6*ms)
		default:
			s.usual(k)
		}
	}
	s.finish()
	sums, list := s.c.thieves(nil, nil, false)
	if s.c.missed[bench.SkippedRelease] != 3 || len(list) != 3 {
		t.Fatalf("missed %v, %d abnormal, want 3 skipped", s.c.missed, len(list))
	}
	for _, r := range list {
		if r.Thieves.RunQueue == nil || *r.Thieves.RunQueue == 0 {
			t.Errorf("index %d has no thief: %+v", r.K, r.Thieves)
		}
	}
	if sums.RunQueue == nil || *sums.RunQueue != 25*ms {
		t.Errorf("run queue took %v in all, want 25 ms once", sums.RunQueue)
	}
	if sums.Rest != 30*ms-25*ms {
		t.Errorf("rest %d, want the 30 ms from S(105) to S(108) less 25 ms: the rest is the start latency of 108", sums.Rest)
	}
}

// TestResponseTimeHasNoOmission: an index that was skipped waits for the next executed
// release (metrics.md, "Response time").
func TestResponseTimeHasNoOmission(t *testing.T) {
	s := newScript(t, bench.HostServer, 10)
	for k := int64(99); k < 112; k++ {
		if k == 109 { // the last index of the phase; 110 answers for it
			continue
		}
		s.usual(k)
	}
	s.finish()
	r := s.c.series["response_time"].series
	if r.Count != 10 || r.Max != 14*ms {
		t.Errorf("%d response times, max %d; want 10 and 14 ms", r.Count, r.Max)
	}
	if e := s.c.series["execution_time"].series; e.Count != 9 || e.Max != 4*ms {
		t.Errorf("%d execution times, max %d; want 9 and 4 ms", e.Count, e.Max)
	}
}

// TestALatePublisherHasItsThief: with the program in the client, a value that is late by the
// task was sent by a release of the server that ended late; what that lost is told, not what
// the program's own release, which was on time, did not lose.
func TestALatePublisherHasItsThief(t *testing.T) {
	s := newScript(t, bench.HostClient, 10)
	for k := int64(99); k < 112; k++ {
		s.client(&record.Release{K: k, Due: s.due(k), Wake: s.due(k) + 20_000, Begin: s.due(k) + 21_000, End: s.due(k) + ms, Done: s.due(k) + 2*ms, Input: k - 1})
		done := ms / 10
		if k == 105 { // stopped in the middle
			done = 95 * ms
		}
		s.release(k, 20_000, done)
		s.sent(k, k)
		s.arrive(k, done+ms)
	}
	s.finish()
	sums, list := s.c.thieves(nil, nil, false)
	if s.c.late[bench.LateTask] != 1 || len(list) != 1 || list[0].K != 105 {
		t.Fatalf("late %v, %d abnormal", s.c.late, len(list))
	}
	if rest := list[0].Thieves.Rest; rest != 95*ms || sums.Rest != rest {
		t.Errorf("rest %d, in all %d, want 95 ms", rest, sums.Rest)
	}
}
