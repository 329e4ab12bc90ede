package server

import (
	"fmt"
	"testing"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/record"
	"opcycle/rt"
	"opcycle/wire"
)

// script is a channel that takes everything, or what the test says.
type script struct {
	sent    wire.Sent
	err     error
	backlog int
	body    []byte // the last message
	ids     []uint32
	count   int
	closed  bool
}

func (s *script) TrySend(id uint32, body []byte) (wire.Sent, error) {
	if s.sent != wire.Refused {
		s.body = append(s.body[:0], body...)
		s.count++
		if len(s.ids) < cap(s.ids) {
			s.ids = append(s.ids, id)
		}
	}
	return s.sent, s.err
}
func (s *script) Backlog() int                { return s.backlog }
func (s *script) Close(ua.StatusCode, string) { s.closed = true }

// bare is an engine with one session over a scripted channel and no goroutine at all.
type bare struct {
	*engine
	seat *seat
	conn *connection
	ch   *script
	sub  *subscription
	k    int64
	next uint32
}

func newBare(tb testing.TB, items, queue int) *bare {
	tb.Helper()
	mem := make([]byte, record.RingBytes(1024))
	ring, err := record.NewRing(mem, true)
	if err != nil {
		tb.Fatal(err)
	}
	cfg := Config{Listen: "127.0.0.1:0", Items: max(items, 1), Interval: 10 * time.Millisecond, Ring: ring}.withDefaults()
	b := &bare{engine: newEngine(&cfg, newImage(dateTime())), ch: &script{sent: wire.Handed, body: make([]byte, 0, 1<<20)}}
	b.seat = newSeat(0, &cfg.Limits)
	b.conn = b.client()
	b.sub = b.subscribe(tb, 1, 10, 30)
	b.add(tb, items, queue)
	return b
}

func (b *bare) client() *connection {
	c := &connection{channel: b.ch, limit: b.cfg.Limits.Backlog}
	c.slots = make([]publishRequest, b.cfg.Limits.PublishRequests+spareRequests)
	for i := range c.slots {
		c.slots[i].conn = c
	}
	boxes := append(*b.inboxes.Load(), &c.inbox)
	b.inboxes.Store(&boxes)
	return c
}

func (b *bare) subscribe(tb testing.TB, every int64, keepAlive, lifetime uint32) *subscription {
	sub := &subscription{every: every, keepAlive: keepAlive, lifetime: lifetime, enabled: true, sequence: 1}
	sub.sent.slots = make([]retained, 2*b.cfg.Limits.PublishRequests)
	for i := range sub.sent.slots {
		sub.sent.slots[i].body = make([]byte, 0, 400000)
	}
	o := &createSubscription{ticket: newTicket(b.seat), sub: sub}
	if o.apply(b.engine); o.status != ua.StatusOK {
		tb.Fatal(o.status)
	}
	return sub
}

func (b *bare) add(tb testing.TB, items, queue int) []*item {
	o := &createItems{ticket: newTicket(b.seat), id: b.sub.id, items: make([]*item, items), results: make([]itemResult, items), room: make([]*item, 0, items+16)}
	for i := range o.items {
		o.items[i] = &item{kind: sourceCounter, mode: ua.MonitoringModeReporting, stamps: ua.TimestampsToReturnBoth, clientHandle: uint32(i),
			numeric: true, trigger: ua.DataChangeTriggerStatusValue, discardOldest: true, queue: queue2(queue)}
	}
	for b.deadline = rt.Now() + 1e12; !o.apply(b.engine); {
	}
	if o.status != ua.StatusOK {
		tb.Fatal(o.status)
	}
	return o.items
}

func queue2(n int) queue { return queue{slots: make([]entry, n)} }

// ask leaves one Publish request, as the goroutine of a connection does.
func (b *bare) ask(acks ...ack) *publishRequest {
	p := b.conn.slot()
	b.next++
	p.id, p.handle, p.seat, p.deadline = b.next, b.next, b.seat, 0
	p.acks = copy(p.ack[:], acks)
	p.busy.Store(true)
	b.conn.inbox.put(message{publish: p})
	return p
}

// step is one release.
func (b *bare) step() {
	b.latch(b.k)
	b.tick(b.k, rt.Now())
	b.k++
}

// cycle is a steady state release: one request comes, one message goes.
func (b *bare) cycle() {
	b.ask(ack{b.sub.id, b.sub.sequence - 1})
	b.step()
}

// TestPublishAllocates states that a published packet costs no allocation, from the
// inbox to the channel, with 1, 100 and 1000 items.
func TestPublishAllocates(t *testing.T) {
	for _, items := range []int{1, 100, 1000} {
		b := newBare(t, items, 10)
		b.cycle()
		if n := testing.AllocsPerRun(200, b.cycle); n != 0 {
			t.Errorf("%d items: %v allocations a packet", items, n)
		}
		if b.counters.Notifications.Load() < 200 || b.counters.Values.Load() < int64(200*items) {
			t.Errorf("%d items: %d messages, %d values", items, b.counters.Notifications.Load(), b.counters.Values.Load())
		}
	}
}

func benchmarkTick(tb *testing.B, items int) {
	b := newBare(tb, items, 10)
	b.cycle()
	tb.ReportAllocs()
	for tb.Loop() {
		b.cycle()
		b.cfg.Ring.Drain(func(*record.Record) {})
	}
	tb.SetBytes(int64(len(b.ch.body)))
}

// A tick with one Publish request taken and one message encoded and handed over.
func BenchmarkTick1(b *testing.B)    { benchmarkTick(b, 1) }
func BenchmarkTick100(b *testing.B)  { benchmarkTick(b, 100) }
func BenchmarkTick1000(b *testing.B) { benchmarkTick(b, 1000) }
func BenchmarkTick5000(b *testing.B) { benchmarkTick(b, 5000) }

// publishBody is a Publish request as gopcua's client encodes it.
func publishBody(tb testing.TB, token *ua.NodeID, acks int) []byte {
	r := &ua.PublishRequest{RequestHeader: &ua.RequestHeader{
		AuthenticationToken: token, Timestamp: time.Now(), RequestHandle: 7, TimeoutHint: 10000, AdditionalHeader: ua.NewExtensionObject(nil)}}
	for i := range acks {
		r.SubscriptionAcknowledgements = append(r.SubscriptionAcknowledgements, &ua.SubscriptionAcknowledgement{SubscriptionID: 1, SequenceNumber: uint32(i)})
	}
	body, err := ua.Encode(r)
	if err != nil {
		tb.Fatal(err)
	}
	return append(putTypeID(nil, id.PublishRequest_Encoding_DefaultBinary), body...)
}

// BenchmarkPublishDecode is what the connection's goroutine does with a Publish request:
// header, session, acknowledgements, inbox.
func BenchmarkPublishDecode(tb *testing.B) {
	b := newBare(tb, 1, 10)
	body := publishBody(tb, b.decoder(), 1)
	tb.ReportAllocs()
	for tb.Loop() {
		if err := b.conn.serve(1, body); err != nil {
			tb.Fatal(err)
		}
		m, _ := b.conn.inbox.peek()
		m.publish.busy.Store(false)
		b.conn.inbox.drop()
	}
}

func BenchmarkEnqueue(tb *testing.B) {
	q := queue2(10)
	e := entry{value: 1}
	tb.ReportAllocs()
	for tb.Loop() {
		q.put(&e, true)
	}
}

func BenchmarkEncode(tb *testing.B) {
	for _, items := range []int{1, 100, 1000} {
		tb.Run(fmt.Sprint(items), func(tb *testing.B) {
			b := newBare(tb, items, 10)
			b.ch.sent = wire.Refused
			b.cycle()
			p := b.seat.oldest(b.engine)
			tb.ReportAllocs()
			for tb.Loop() {
				d := b.encode(b.sub, p)
				b.sub.roll(&d, false)
			}
		})
	}
}
