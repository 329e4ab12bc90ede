package client

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

// Everything that the server executed while the client was there has arrived once, and
// the counters say so.
func TestAClientReceivesWhatTheServerExecutes(t *testing.T) {
	for _, items := range []int{1, 700} { // more than one CreateMonitoredItems
		clean(t)
		p := newPlant(t, items)
		cfg := config(t, p.Endpoint(), bench.HostServer)
		cfg.Items = items
		r := run(t, cfg)
		eventually(t, "50 values", func() bool { k, _, ok := r.Newest(); return ok && k > 50 && r.Counts().Messages > 40 })
		if err := r.stopped(t); err != nil {
			t.Error(err)
		}
		got := r.Attained()
		if got.PublishingInterval != 10 || got.QueueSize != 10 || got.Subscription == 0 || got.SamplingInterval > 10 {
			t.Errorf("%+v", got)
		}
		everythingArrived(t, p, r)
		n := r.Counts()
		// Re-ordered may be some: three goroutines hand their responses in as they are scheduled.
		if n.Duplicates != 0 || n.Bad != 0 || n.Gaps != 0 || n.Reconnects != 0 || n.Faults != 0 {
			t.Errorf("%+v", n)
		}
		for _, a := range r.arrivals {
			if a.Flags&record.FlagPartial == 0 && a.Values != int64(items) {
				t.Errorf("%+v", a)
			}
		}
		p.end()
	}
}

// everythingArrived asserts that each executed release from the first arrival to the last
// has arrived once, or lies in a gap. Where a client that got no CPU made a queue overflow,
// which its values say, what was dropped has not arrived.
func everythingArrived(t *testing.T, p *plant, r *running) {
	t.Helper()
	seen := map[int64]int{}
	first, last := int64(1)<<62, int64(-1)
	for _, a := range r.arrivals {
		if a.Flags&record.FlagPartial == 0 {
			seen[a.K]++
			first, last = min(first, a.K), max(last, a.K)
		}
	}
	for _, k := range p.between(first, last) {
		inGap := false
		for _, g := range r.gaps {
			inGap = inGap || g.K <= k && k <= g.Last
		}
		dropped := !inGap && seen[k] == 0 && r.Counts().Overflows > 0
		if n := seen[k]; n > 1 || n == 0 && !inGap && !dropped || n == 1 && inGap {
			t.Errorf("index %d arrived %d times, in a gap: %v", k, n, inGap)
		}
	}
}

// A connection that is lost for 300 ms is opened anew; the stretch without it is in the
// records, and nothing is lost beside it.
func TestAConnectionThatComesBack(t *testing.T) {
	clean(t)
	p := newPlant(t, 1)
	via := newProxy(t, p.Addr().String())
	r := run(t, config(t, via.endpoint(), bench.HostServer))
	newest := func() int64 { k, _, _ := r.Newest(); return k }
	eventually(t, "values before", func() bool { return newest() > 20 })
	via.drop()
	from := time.Now()
	time.Sleep(300 * time.Millisecond) // the loss itself
	via.raise()
	down := time.Since(from)
	eventually(t, "the connection", func() bool { return r.Counts().Reconnects == 1 })
	back := newest()
	eventually(t, "values after", func() bool { return newest() > back+20 })
	if err := r.stopped(t); err != nil {
		t.Error(err)
	}
	if n := r.Counts(); n.Reconnects != 1 || n.Duplicates != 0 {
		t.Errorf("%+v", n)
	}
	if len(r.gaps) != 1 {
		t.Fatalf("gaps: %+v", r.gaps)
	}
	g := r.gaps[0]
	if g.Last < g.K || g.To <= g.From || time.Duration(g.To-g.From) < down-100*time.Millisecond {
		t.Errorf("the gap %+v of a loss of %s", g, down)
	}
	everythingArrived(t, p, r)
}

// A server that was started anew in the place of the one that is gone counts its cycles from
// the beginning: its values must not pass for later ones of the run, which ends at once.
func TestAServerThatWasStartedAnew(t *testing.T) {
	clean(t)
	p, next := newPlant(t, 1), newPlant(t, 1)
	via := newProxy(t, p.Addr().String())
	r := run(t, config(t, via.endpoint(), bench.HostServer))
	eventually(t, "values before", func() bool { k, _, _ := r.Newest(); return k > 20 })
	via.drop()
	before, _, _ := r.Newest()
	via.raiseTo(next.Addr().String())
	if err := r.ended(t); !errors.Is(err, ErrLost) || !errors.Is(err, ErrAnother) {
		t.Errorf("%v", err)
	}
	if k, _, _ := r.Newest(); k != before || r.Counts().Reconnects != 0 {
		t.Errorf("%+v after the end, index %d before, %d after", r.Counts(), before, k)
	}
	if len(r.gaps) != 1 || r.gaps[0].K != before+1 {
		t.Errorf("gaps %+v, the newest index was %d", r.gaps, before)
	}
}

// A server that is gone for good ends the client with ErrLost, and what was under way
// with it.
func TestAServerThatIsGoneForGood(t *testing.T) {
	for _, host := range []bench.PLCHost{bench.HostServer, bench.HostClient} {
		t.Run(string(host), func(t *testing.T) {
			clean(t)
			p := newPlant(t, 1)
			cfg := config(t, p.Endpoint(), host)
			cfg.Reconnect = 300 * time.Millisecond
			r := run(t, cfg)
			eventually(t, "values", func() bool { k, _, _ := r.Newest(); return k > 10 })
			p.end()
			if err := r.ended(t); !errors.Is(err, ErrLost) {
				t.Errorf("%v", err)
			}
		})
	}
}

// The end of the context is no loss, also while the connection is being tried for.
func TestTheEndDuringAReconnectIsNoLoss(t *testing.T) {
	clean(t)
	p := newPlant(t, 1)
	via := newProxy(t, p.Addr().String())
	r := run(t, config(t, via.endpoint(), bench.HostServer))
	eventually(t, "values", func() bool { k, _, _ := r.Newest(); return k > 10 })
	via.drop()
	time.Sleep(50 * time.Millisecond) // into the tries, or before: both are no loss
	if err := r.stopped(t); err != nil {
		t.Errorf("%v", err)
	}
}

// The stretch without a connection is told also when it has no end: else nobody knows why
// nothing came.
func TestALossThatLastsToTheEndIsAGap(t *testing.T) {
	clean(t)
	p := newPlant(t, 1)
	via := newProxy(t, p.Addr().String())
	r := run(t, config(t, via.endpoint(), bench.HostServer))
	eventually(t, "values", func() bool { k, _, _ := r.Newest(); return k > 10 })
	via.drop()
	eventually(t, "the loss", func() bool { return r.link.Load().ctx.Err() != nil })
	if err := r.stopped(t); err != nil {
		t.Error(err)
	}
	if k, _, _ := r.Newest(); len(r.gaps) != 1 || r.gaps[0].K != k+1 || r.gaps[0].Last < 1<<40 {
		t.Errorf("gaps %+v after index %d", r.gaps, k)
	}
}

// A Dial that fails leaves nothing behind.
func TestADialThatFailsLeavesNothing(t *testing.T) {
	clean(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	for _, host := range []bench.PLCHost{bench.HostServer, bench.HostClient} {
		if _, err := Dial(context.Background(), config(t, "opc.tcp://"+l.Addr().String(), host)); err == nil {
			t.Error("nobody is there")
		}
	}
}

func TestADialThatAsksForMoreItemsThanThereAre(t *testing.T) {
	p := newPlant(t, 2)
	cfg := config(t, p.Endpoint(), bench.HostServer)
	cfg.Items = 3
	if _, err := Dial(context.Background(), cfg); err == nil {
		t.Error("three items of two")
	}
}
