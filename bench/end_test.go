package bench

import "testing"

const second = int64(1e9)

// A value is near a retransmission when any part of its way, from due to received, lies
// within a second of the stretch in which the segment was sent again.
func TestRetransmissionsNear(t *testing.T) {
	r := Retransmissions{{After: 100 * second, Until: 100*second + 5, Segments: 1}, {After: 50 * second, Until: 51 * second, Segments: 3}}
	for _, tc := range []struct {
		name     string
		from, to int64
		want     bool
	}{
		{"around it", 99 * second, 101 * second, true},
		{"a second before", 98 * second, 99 * second, true},
		{"more than a second before", 98 * second, 99*second - 1, false},
		{"a second after", 101*second + 5, 102 * second, true},
		{"more than a second after", 101*second + 6, 102 * second, false},
		{"the older stretch", 52 * second, 53 * second, true},
		{"between both", 53 * second, 54 * second, false},
		{"over both", 0, 200 * second, true},
	} {
		if got := r.Near(tc.from, tc.to); got != tc.want {
			t.Errorf("%s: %v", tc.name, got)
		}
	}
	if Retransmissions(nil).Near(0, 1<<62) {
		t.Error("near none")
	}
	there := r.Shifted(99 * second)
	if !there.Near(second, second) || there.Near(4*second, 5*second) || r[0].After != 100*second {
		t.Errorf("%+v", there)
	}
	if a, b, c := r.Within(0, 200*second), r.Within(51*second, 99*second), r.Within(60*second, 99*second); a != 4 || b != 3 || c != 0 {
		t.Errorf("%d, %d and %d segments", a, b, c)
	}
}

// Another client's bad line is not this run's; behind an address translation nobody can tell.
func TestEndBetween(t *testing.T) {
	seen := Retransmissions{{After: 1, Until: 2, Segments: 1}}
	server := &End{Connections: []Connection{{Peer: "10.0.0.9:5", Seen: seen}, {Peer: "10.0.0.2:7", Seen: seen, LeftOut: 2}}}
	ours := &End{Connections: []Connection{{Local: "10.0.0.2:7"}, {NA: "closed"}}}
	if got := server.Between(ours); len(got.Connections) != 1 || got.Connections[0].Peer != "10.0.0.2:7" || len(server.Connections) != 2 {
		t.Errorf("%+v", got)
	}
	if got := server.Between(&End{Connections: []Connection{{Local: "192.168.0.2:7"}}}); len(got.Connections) != 2 {
		t.Errorf("translated: %+v", got)
	}
	if got := server.Between(nil); got != server || (*End)(nil).Between(ours) != nil {
		t.Errorf("%+v", got)
	}
	short := server.WithoutTimes()
	if c := short.Connections[1]; len(c.Seen) != 0 || c.LeftOut != 3 || len(server.Connections[1].Seen) != 1 || (*End)(nil).WithoutTimes() != nil {
		t.Errorf("%+v", c)
	}
}

// Retransmission goes before all that a lost segment brings about, and after the task,
// which is late without any network.
func TestLateByRetransmission(t *testing.T) {
	const ms = int64(1e6)
	usual := Facts{Executed: true, Due: second, Done: second + 4*ms, Sent: true, Before: second + 3*ms, Arrived: true, Received: second + 300*ms,
		Kernel: second + 299*ms, KernelExact: true, ServerLog: true, CommonClock: true, Retransmitted: true}
	for _, tc := range []struct {
		name   string
		change func(*Facts)
		out    Outcome
		cause  Cause
	}{
		{"before network", func(*Facts) {}, Late, LateRetransmission},
		{"without one", func(f *Facts) { f.Retransmitted = false }, Late, LateNetwork},
		{"before publish_request", func(f *Facts) { f.Waited = true }, Late, LateRetransmission},
		{"before client", func(f *Facts) { f.Kernel = second + 5*ms }, Late, LateRetransmission},
		{"the client alone knows", func(f *Facts) {
			*f = Facts{Due: f.Due, Arrived: true, Received: f.Received, CommonClock: true, Retransmitted: true}
		}, Late, LateRetransmission},
		{"after task", func(f *Facts) { f.Done = second + 11*ms }, Late, LateTask},
		{"on time", func(f *Facts) { f.Received = second + 10*ms }, OnTime, ""},
		{"not late without a common clock", func(f *Facts) { f.CommonClock = false }, OnTime, ""},
		{"missed", func(f *Facts) { f.Arrived = false }, Missed, ClientLost},
	} {
		f := usual
		tc.change(&f)
		if out, cause := Attribute(f, 10*ms, 10*ms); out != tc.out || cause != tc.cause {
			t.Errorf("%s: %s by %q, want %s by %q", tc.name, out, cause, tc.out, tc.cause)
		}
	}
}
