package server

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
	"go.uber.org/goleak"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// plant is a server on loopback with a scripted PLC thread: a goroutine that releases
// one cycle for each call of step, and idles (services, no values) in between so that
// requests get their answers.
type plant struct {
	*Server
	t     *testing.T
	ring  *record.Ring
	k     int64
	mu    sync.Mutex // stands for the PLC thread: whoever holds it is the thread
	stop  chan struct{}
	done  sync.WaitGroup
	drops []record.Drop
	sents []record.Sent
}

func newPlant(t *testing.T, change func(*Config)) *plant {
	t.Helper()
	mem := make([]byte, record.RingBytes(4096)+8)
	ring, err := record.NewRing(mem[:record.RingBytes(4096)], true)
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{Listen: "127.0.0.1:0", Items: 3, Interval: 10 * time.Millisecond, Ring: ring, Plan: []byte(`{"name":"test"}`)}
	if change != nil {
		change(&cfg)
	}
	s, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	p := &plant{Server: s, t: t, ring: ring, stop: make(chan struct{})}
	ctx, cancel := context.WithCancel(context.Background())
	p.done.Add(1)
	go func() {
		defer p.done.Done()
		if err := s.Serve(ctx); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		close(p.stop)
		p.done.Wait()
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if n := s.Counters().Panics.Load(); n != 0 {
			t.Errorf("%d panics", n)
		}
	})
	return p
}

// services runs the request part of ticks in the background: no time passes for
// subscriptions, since the index stands still.
func (p *plant) services() {
	p.done.Add(1)
	go func() {
		defer p.done.Done()
		for {
			select {
			case <-p.stop:
				return
			case <-time.After(200 * time.Microsecond):
			}
			p.mu.Lock()
			p.engine.wall = dateTime()
			p.engine.drain()
			p.mu.Unlock()
		}
	}()
}

// run is a PLC thread at the given pace.
func (p *plant) run(pace time.Duration) {
	p.done.Add(1)
	go func() {
		defer p.done.Done()
		for {
			select {
			case <-p.stop:
				return
			case <-time.After(pace):
			}
			p.step(1)
		}
	}()
}

// step runs n releases.
func (p *plant) step(n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for range n {
		p.Inputs(p.k, rt.Now())
		p.Outputs(p.k, rt.Now())
		p.k++
		p.collect()
	}
}

func (p *plant) collect() {
	p.ring.Drain(func(r *record.Record) {
		switch r.Kind {
		case record.KindSent:
			p.sents = append(p.sents, r.Sent())
		case record.KindDrop:
			p.drops = append(p.drops, r.Drop())
		}
	})
}

// dial connects gopcua's client.
func (p *plant) dial(options ...opcua.Option) *opcua.Client {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	c, err := opcua.NewClient(p.Endpoint(), append([]opcua.Option{
		opcua.SecurityPolicy("None"), opcua.AutoReconnect(false), opcua.RequestTimeout(10 * time.Second)}, options...)...)
	if err != nil {
		p.t.Fatal(err)
	}
	if err := c.Connect(ctx); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// ask sends a raw request and returns the response.
func ask[R ua.Response](t *testing.T, c *opcua.Client, r ua.Request) R {
	t.Helper()
	out, err := try[R](c, r)
	if err != nil {
		t.Fatalf("%T: %v", r, err)
	}
	return out
}

func try[R ua.Response](c *opcua.Client, r ua.Request) (out R, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	err = c.Send(ctx, r, func(v ua.Response) error {
		if f, ok := v.(*ua.ServiceFault); ok {
			return f.ResponseHeader.ServiceResult
		}
		out = v.(R)
		return nil
	})
	return out, err
}

func counterID(n int) *ua.NodeID {
	if n == 1 {
		return ua.NewStringNodeID(nsBench, bench.NodeCounter)
	}
	return ua.NewStringNodeID(nsBench, bench.NodeCounter+"."+string(rune('0'+n)))
}

func TestSmoke(t *testing.T) {
	p := newPlant(t, nil)
	p.step(1)
	p.run(5 * time.Millisecond)
	c := p.dial()
	ctx := context.Background()
	ns, err := c.NamespaceArray(ctx)
	if err != nil || ns[nsBench] != bench.BenchmarkURI {
		t.Fatal(ns, err)
	}
	v, err := c.Node(counterID(1)).Value(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Log("counter", v.Value())
	notify := make(chan *opcua.PublishNotificationData, 100)
	sub, err := c.Subscribe(ctx, &opcua.SubscriptionParameters{Interval: 10 * time.Millisecond}, notify)
	if err != nil {
		t.Fatal(err)
	}
	res, err := sub.Monitor(ctx, ua.TimestampsToReturnBoth, &ua.MonitoredItemCreateRequest{
		ItemToMonitor:       &ua.ReadValueID{NodeID: counterID(1), AttributeID: ua.AttributeIDValue, DataEncoding: &ua.QualifiedName{}},
		MonitoringMode:      ua.MonitoringModeReporting,
		RequestedParameters: &ua.MonitoringParameters{ClientHandle: 42, QueueSize: 10, DiscardOldest: true},
	})
	if err != nil || res.Results[0].StatusCode != ua.StatusOK {
		t.Fatal(res, err)
	}
	var last int32 = -1
	for n := 0; n < 100; {
		d := <-notify
		if d.Error != nil {
			t.Fatal(d.Error)
		}
		for _, x := range d.Value.(*ua.DataChangeNotification).MonitoredItems {
			k := x.Value.Value.Value().(int32)
			if last >= 0 && k != last+1 {
				t.Fatalf("%d after %d", k, last)
			}
			last = k
			n++
		}
	}
	if err := sub.Cancel(ctx); err != nil {
		t.Fatal(err)
	}
}
