package server

import (
	"io"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
	"opcycle/record"
)

// follow reads values of item 0 with three requests outstanding, until it has n, and
// reports every gap.
func (r *raw) follow(n int) {
	r.t.Helper()
	for range 3 {
		r.publish()
	}
	last := int32(-1)
	for got := 0; got < n; {
		m, ok := r.answer().(*ua.PublishResponse)
		if !ok {
			r.t.Error("no PublishResponse")
			return
		}
		r.publish(&ua.SubscriptionAcknowledgement{SubscriptionID: m.SubscriptionID, SequenceNumber: m.NotificationMessage.SequenceNumber})
		for _, v := range values(r.t, m) {
			if v.ClientHandle != 0 {
				continue
			}
			k := v.Value.Value.Value().(int32)
			if last >= 0 && k != last+1 {
				r.t.Errorf("%d after %d", k, last)
			}
			last = k
			got++
		}
	}
}

// Bad peers (issue 3): one that does not read 20 × 30 KB, one that reads a byte at a time, one
// that floods with requests, one that is silent, one that vanishes. None makes another
// client lose a value; all that they held is gone after its lifetime.
func TestBadPeersDoNotDelayOthers(t *testing.T) {
	p := newPlant(t, func(c *Config) { c.Items = 1000; c.Limits.Backlog = 128 << 10 })
	p.step(1)
	p.run(2 * time.Millisecond)
	good := p.rawClient(true)
	good.subscribe(2, 5000)

	deaf := p.rawClient(true) // never reads again
	deaf.subscribe(1000, 10)
	slow := p.rawClient(true) // reads a byte at a time
	slow.subscribe(1000, 10)
	for range 20 {
		deaf.publish()
		slow.publish()
	}
	stop := make(chan struct{})
	done := make(chan struct{}, 2)
	go func() {
		defer func() { done <- struct{}{} }()
		b := make([]byte, 1)
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				slow.conn.SetReadDeadline(time.Now().Add(time.Millisecond))
				slow.conn.Read(b)
			}
		}
	}()
	flood := p.rawClient(true)
	flood.subscribe(1, 10)
	read := flood.encode(&ua.ReadRequest{RequestHeader: flood.header(), NodesToRead: []*ua.ReadValueID{{NodeID: counterID(1), AttributeID: 13, DataEncoding: &ua.QualifiedName{}}}})
	publish := publishBody(t, flood.auth, 3)
	go func() { // Publish and Read requests as fast as they go
		defer func() { done <- struct{}{} }()
		for flood.broken == nil {
			flood.send(publish)
			flood.send(read)
		}
	}()
	go io.Copy(io.Discard, flood.conn)
	p.rawClient(false)                // silent after OPN
	p.rawClient(true).conn.Close()    // vanishes
	p.rawClient(true).subscribe(5, 5) // asks for nothing any more
	good.follow(500)
	close(stop)
	flood.conn.Close()
	<-done
	<-done
	c := p.Counters().Snapshot()
	if c.PublishWaiting > 4*20 {
		t.Errorf("%d requests wait", c.PublishWaiting)
	}
	deaf.conn.Close()
	slow.conn.Close()
	until(t, "the bad ones' subscriptions are gone after their lifetime", func() bool {
		for good.publish(); ; {
			m, ok := good.answer().(*ua.PublishResponse)
			if ok && m.SubscriptionID != 0 {
				break
			}
		}
		return p.Counters().Subscriptions.Load() == 1
	})
}

// Public case 5: publishing at 100 ms, cycle 10 ms. A queue of 20 has no gap; a queue of 1 has
// gaps that the drop records call coalesced, not lost on the network.
func TestSlowPublishing(t *testing.T) {
	for _, queue := range []uint32{20, 1} {
		p := served(t, nil)
		r := p.rawClient(true)
		s := r.call(&ua.CreateSubscriptionRequest{RequestHeader: r.header(), RequestedPublishingInterval: 100, PublishingEnabled: true}).(*ua.CreateSubscriptionResponse)
		same(t, "publishing interval", s.RevisedPublishingInterval, 100.0)
		r.call(&ua.CreateMonitoredItemsRequest{RequestHeader: r.header(), SubscriptionID: s.SubscriptionID, ItemsToCreate: []*ua.MonitoredItemCreateRequest{
			create(counterID(1), func(x *ua.MonitoredItemCreateRequest) { x.RequestedParameters.QueueSize = queue })}})
		got := map[int32]int{}
		for range 10 {
			r.publish()
			until(t, "request", func() bool { return p.Counters().PublishWaiting.Load() == 1 })
			p.step(10)
			for _, v := range ints(t, r.answer().(*ua.PublishResponse)) {
				got[v]++
			}
		}
		drops := map[int64]bool{}
		for _, d := range p.drops {
			drops[d.K] = true
			same(t, "flag", d.Flags, record.FlagQueueOne)
		}
		newest := int32(100)
		for k := int32(1); k <= newest; k++ {
			if n := got[k]; n > 1 || n == 0 && !drops[int64(k)] || n == 1 && drops[int64(k)] {
				t.Errorf("queue %d: value %d came %d times, dropped %v", queue, k, n, drops[int64(k)])
			}
		}
		if queue == 20 && len(drops) != 0 || queue == 1 && len(drops) != 90 {
			t.Errorf("queue %d: %d drops", queue, len(drops))
		}
	}
}

// Public case 4: the second of two quick changes is not lost: it comes with the next sample.
func TestLastOfQuickChanges(t *testing.T) {
	p := served(t, nil)
	c := p.dial()
	echo := ua.NewStringNodeID(nsBench, bench.NodeEcho)
	r := p.rawClient(true)
	s := r.call(&ua.CreateSubscriptionRequest{RequestHeader: r.header(), RequestedPublishingInterval: 10, PublishingEnabled: true, RequestedMaxKeepAliveCount: 1000}).(*ua.CreateSubscriptionResponse)
	m := r.call(&ua.CreateMonitoredItemsRequest{RequestHeader: r.header(), SubscriptionID: s.SubscriptionID, ItemsToCreate: []*ua.MonitoredItemCreateRequest{
		create(echo, func(x *ua.MonitoredItemCreateRequest) { x.RequestedParameters.SamplingInterval = 200 })}}).(*ua.CreateMonitoredItemsResponse)
	same(t, "sampling", m.Results[0].RevisedSamplingInterval, 200.0)
	r.publish()
	until(t, "request", func() bool { return p.Counters().PublishWaiting.Load() == 1 })
	p.step(2)
	same(t, "initial", ints(t, r.answer().(*ua.PublishResponse))[0], int32(0))
	for _, v := range []int32{1, 2} {
		ask[*ua.WriteResponse](t, c, &ua.WriteRequest{NodesToWrite: []*ua.WriteValue{{NodeID: echo, AttributeID: 13, Value: &ua.DataValue{EncodingMask: ua.DataValueValue, Value: ua.MustVariant(v)}}}})
		p.step(1)
	}
	r.publish()
	until(t, "request", func() bool { return p.Counters().PublishWaiting.Load() == 1 })
	p.step(22)
	got := ints(t, r.answer().(*ua.PublishResponse))
	if len(got) != 1 || got[0] != 2 {
		t.Errorf("%v, want the last value", got)
	}
}

// publish: start sends in Inputs of the next release what Outputs latched (opcua.md,
// decision 3); Idle goes on with services and keep-alives and changes no value.
func TestPublishStartAndIdle(t *testing.T) {
	p := newPlant(t, func(c *Config) { c.Publish = bench.PublishStart })
	p.step(1)
	p.run(time.Millisecond)
	r := p.rawClient(true)
	r.subscribe(1, 100)
	r.follow(20)
	p.mu.Lock()
	p.collect()
	for _, s := range p.sents[1:] {
		if s.Release != s.K+1 {
			t.Errorf("index %d left in release %d", s.K, s.Release)
		}
	}
	before := p.Counters().KeepAlives.Load()
	p.Idle(p.k, 0)
	p.k++
	values := p.Counters().Values.Load() // the value that was latched last may still leave
	for range 101 {
		p.Idle(p.k, 0)
		p.k++
	}
	same(t, "values while idle", p.Counters().Values.Load(), values)
	if p.Counters().KeepAlives.Load() <= before {
		t.Error("no keep-alive while idle")
	}
	p.mu.Unlock()
}

// Chunks: the values of 5000 items come in one message of several chunks, once a publishing
// cycle; after a stall of a few cycles too (issue 3, "Many").
func TestFiveThousandItems(t *testing.T) {
	p := served(t, func(c *Config) { c.Items = 5000 })
	r := p.rawClient(true)
	r.subscribe(5000, 10)
	for i := range 12 {
		cycles := 1 + i/10*2
		if cycles > 1 {
			p.step(cycles - 1) // no request waits
		}
		r.publish()
		until(t, "request", func() bool { return p.Counters().PublishWaiting.Load() == 1 })
		p.step(1)
		m := r.answer().(*ua.PublishResponse)
		if n := len(values(t, m)); n != 5000*cycles || m.MoreNotifications {
			t.Errorf("%d values of %d cycles, more %v", n, cycles, m.MoreNotifications)
		}
	}
	if n := p.sents[3].Bytes; n < 100000 {
		t.Errorf("a message of %d bytes needs no chunks", n)
	}
}
