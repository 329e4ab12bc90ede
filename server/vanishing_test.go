package server

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

// One silent TCP connection does not block accept (opcua.md, "Hang"); half-open ones are
// pushed out by new clients at the limit (public case 14).
func TestSilentConnections(t *testing.T) {
	p := newPlant(t, func(c *Config) { c.Limits.Channels = 8 })
	p.step(1)
	p.services()
	for range 50 {
		conn, err := net.Dial("tcp", p.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	for range 3 {
		c := p.dial()
		if _, err := c.Node(counterID(1)).Value(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if n := p.Counters().Connections.Load(); n > 10 {
		t.Errorf("%d connections", n)
	}
}

// 300 items are notified while their clients vanish, again and again; gopcua's engine
// blocks the PLC thread for ever at the fourth (opcua.md, "Deadlock").
func TestDisconnectWhileNotified(t *testing.T) {
	p := newPlant(t, func(c *Config) { c.Items = 300 })
	p.run(2 * time.Millisecond)
	for range 10 {
		c := p.dial()
		sub := ask[*ua.CreateSubscriptionResponse](t, c, &ua.CreateSubscriptionRequest{RequestedPublishingInterval: 10, PublishingEnabled: true, RequestedMaxKeepAliveCount: 5, RequestedLifetimeCount: 1000}).SubscriptionID
		r := &ua.CreateMonitoredItemsRequest{SubscriptionID: sub}
		for _, n := range p.space.nodes {
			if n.kind == sourceCounter {
				r.ItemsToCreate = append(r.ItemsToCreate, create(n.id, nil))
			}
		}
		same(t, "items", len(ask[*ua.CreateMonitoredItemsResponse](t, c, r).Results), 300)
		m := ask[*ua.PublishResponse](t, c, &ua.PublishRequest{})
		if len(m.NotificationMessage.NotificationData) == 0 {
			ask[*ua.PublishResponse](t, c, &ua.PublishRequest{}) // the first was a keep-alive
		}
		for range 5 {
			go try[*ua.PublishResponse](c, &ua.PublishRequest{})
		}
		p.only().conn.Close() // the connection is torn, not closed
	}
	deadline := time.Now().Add(20 * time.Second)
	for p.Counters().Subscriptions.Load() > 0 && time.Now().Before(deadline) {
		time.Sleep(5 * time.Millisecond)
	}
	same(t, "subscriptions after their lifetime", p.Counters().Subscriptions.Load(), int64(0))
	same(t, "items", p.Counters().MonitoredItems.Load(), int64(0))
}

// Connect and vanish 300 times: goroutines come back to the base line (public case 14).
func TestManyConnections(t *testing.T) {
	p := newPlant(t, nil)
	p.run(2 * time.Millisecond)
	p.rawClient(false).conn.Close() // everything that runs once runs
	for p.Counters().Connections.Load() > 0 {
		time.Sleep(time.Millisecond)
	}
	base := runtime.NumGoroutine()
	for range 300 {
		c, err := opcua.NewClient(p.Endpoint(), opcua.SecurityPolicy("None"), opcua.AutoReconnect(false))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Connect(context.Background()); err != nil {
			t.Fatal(err)
		}
		c.Close(context.Background())
	}
	for range 1000 {
		if runtime.NumGoroutine() <= base && p.Counters().Connections.Load() == 0 && p.Counters().Sessions.Load() == 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines of %d, %d connections, %d sessions", runtime.NumGoroutine(), base, p.Counters().Connections.Load(), p.Counters().Sessions.Load())
}
