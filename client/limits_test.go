package client

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

func TestRequestTimeout(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		requests int
		interval time.Duration
		alive    uint32
		want     time.Duration
	}{
		"fast: a silent server is noticed": {3, 10 * ms, aliveCount(10 * ms), 5 * time.Second},
		"500 ms":                           {3, 500 * ms, aliveCount(500 * ms), 5 * time.Second},
		"2 s: four turns and a second":     {3, 2000 * ms, aliveCount(2000 * ms), 9 * time.Second},
		"many requests":                    {60, 100 * ms, aliveCount(100 * ms), 7100 * ms},
		"the keep-alive time is longer":    {3, 125 * ms, 10, 6 * time.Second},
		"no keep-alive count":              {3, 2000 * ms, 0, 9 * time.Second},
	} {
		if got := requestTimeout(c.requests, c.interval, c.alive); got != c.want {
			t.Errorf("%s: %s, not %s", name, got, c.want)
		}
	}
}

// A Publish request waits for its turn: at 500 ms and three of them 1.5 s, longer than a
// short reconnect limit. A healthy server must not be taken for a lost one by that.
func TestASlowSubscriptionIsNotALostConnection(t *testing.T) {
	clean(t)
	p := newPlant(t, 1)
	cfg := config(t, p.Endpoint(), bench.HostServer)
	cfg.PublishingInterval, cfg.Reconnect = 500*time.Millisecond, time.Second
	r := run(t, cfg)
	eventually(t, "five messages", func() bool { return r.Counts().Messages >= 5 })
	if err := r.stopped(t); err != nil {
		t.Error(err)
	}
	if n := r.Counts(); n.Faults != 0 || n.Reconnects != 0 {
		t.Errorf("%+v", n)
	}
}

// The server may grant longer times than were asked for: what it granted counts.
func TestTheRequestTimeoutFollowsWhatTheServerGrants(t *testing.T) {
	clean(t)
	p := newPlantOf(t, 1, time.Second)
	r := run(t, config(t, p.Endpoint(), bench.HostServer)) // 10 ms, and ten of them for a keep-alive
	if got := r.Attained(); got.PublishingInterval != 1000 || got.KeepAlive != 10 {
		t.Errorf("%+v", got)
	}
	if got := r.link.Load().opc.RequestTimeout(); got != 41*time.Second {
		t.Errorf("a request may take %s", got)
	}
	eventually(t, "a value", func() bool { _, _, ok := r.Newest(); return ok })
	if err := r.stopped(t); err != nil {
		t.Error(err)
	}
}

// A server that takes the connection and never answers ends Dial, whatever the caller's
// context and the reconnect limit say.
func TestADialToASilentServerEnds(t *testing.T) {
	clean(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // the kernel takes the connection
	cfg := config(t, "opc.tcp://"+l.Addr().String(), bench.HostServer)
	cfg.Reconnect = time.Hour
	ended := make(chan error, 1)
	go func() {
		_, err := Dial(context.Background(), cfg)
		ended <- err
	}()
	select {
	case err := <-ended:
		if err == nil {
			t.Error("nobody answered")
		}
	case <-time.After(patience):
		t.Fatal("Dial does not end")
	}
}

// `reconnect: 0s` connects like any other, and a loss is final: no second try.
func TestAReconnectOfZeroIsNoSecondTry(t *testing.T) {
	clean(t)
	p := newPlant(t, 1)
	via := newProxy(t, p.Addr().String())
	cfg := config(t, via.endpoint(), bench.HostServer)
	cfg.Reconnect = 0
	r := run(t, cfg)
	eventually(t, "values", func() bool { k, _, _ := r.Newest(); return k > 10 })
	via.drop()
	via.raise() // it would be there
	if err := r.ended(t); !errors.Is(err, ErrLost) || !strings.Contains(err.Error(), "no second try") {
		t.Errorf("%v", err)
	}
	if n := via.accepted(); n != 1 || r.Counts().Reconnects != 0 {
		t.Errorf("%d connections, %+v", n, r.Counts())
	}
}
