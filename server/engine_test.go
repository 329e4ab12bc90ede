package server

import (
	"math"
	"testing"

	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
	"opcycle/record"
)

// last decodes the last message with the library: our encoder against its decoder.
func (b *bare) last(t *testing.T) any {
	t.Helper()
	_, v, err := ua.DecodeService(b.ch.body)
	if err != nil {
		t.Fatalf("decode: %v", err)
	}
	return v
}

// message is the last message as a PublishResponse.
func (b *bare) message(t *testing.T) *ua.PublishResponse {
	t.Helper()
	r, ok := b.last(t).(*ua.PublishResponse)
	if !ok {
		t.Fatalf("%T", b.last(t))
	}
	return r
}

func values(t *testing.T, r *ua.PublishResponse) []*ua.MonitoredItemNotification {
	t.Helper()
	if len(r.NotificationMessage.NotificationData) == 0 {
		return nil
	}
	return r.NotificationMessage.NotificationData[0].Value.(*ua.DataChangeNotification).MonitoredItems
}

// ints are the Int32 of a message of one item.
func ints(t *testing.T, r *ua.PublishResponse) []int32 {
	t.Helper()
	var out []int32
	for _, v := range values(t, r) {
		out = append(out, v.Value.Value.Value().(int32))
	}
	return out
}

// fault is the status of the last message, a ServiceFault.
func (b *bare) faultOf(t *testing.T) ua.StatusCode {
	t.Helper()
	r, ok := b.last(t).(*ua.ServiceFault)
	if !ok {
		t.Fatalf("%T, expected a ServiceFault", b.last(t))
	}
	return r.ResponseHeader.ServiceResult
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

// Part 4, 5.14.5 and 7.25.2: every field of a PublishResponse, read by the library.
func TestPublishResponseAgainstLibrary(t *testing.T) {
	for _, stamps := range []ua.TimestampsToReturn{ua.TimestampsToReturnSource, ua.TimestampsToReturnServer, ua.TimestampsToReturnBoth, ua.TimestampsToReturnNeither} {
		b := newBare(t, 3, 10)
		for _, it := range b.sub.items {
			it.stamps = stamps
		}
		b.cycle()
		b.cycle()
		r := b.message(t)
		same(t, "handle", r.ResponseHeader.RequestHandle, uint32(1)) // the oldest request
		same(t, "result", r.ResponseHeader.ServiceResult, ua.StatusOK)
		same(t, "subscription", r.SubscriptionID, b.sub.id)
		same(t, "sequence", r.NotificationMessage.SequenceNumber, uint32(1))
		same(t, "available", len(r.AvailableSequenceNumbers), 1)
		same(t, "acks", len(r.Results), 1)
		same(t, "unknown ack", r.Results[0], ua.StatusBadSequenceNumberUnknown)
		same(t, "more", r.MoreNotifications, false)
		if r.NotificationMessage.PublishTime.IsZero() || r.ResponseHeader.Timestamp.IsZero() {
			t.Error("no time stamps")
		}
		v := values(t, r)
		same(t, "values", len(v), 6) // the initial one and the next, of three items
		for i, x := range v {
			same(t, "client handle", x.ClientHandle, uint32(i/2))
			same(t, "value", x.Value.Value.Value(), any(int32(i%2)))
			source := stamps == ua.TimestampsToReturnSource || stamps == ua.TimestampsToReturnBoth
			server := stamps == ua.TimestampsToReturnServer || stamps == ua.TimestampsToReturnBoth
			same(t, "source mask", x.Value.Has(ua.DataValueSourceTimestamp), source)
			same(t, "server mask", x.Value.Has(ua.DataValueServerTimestamp), server)
			same(t, "status mask", x.Value.Has(ua.DataValueStatusCode), false)
		}
	}
}

// Part 4, 5.14.1.1: the first message, notification or keep-alive, at the end of the first
// publishing interval; a keep-alive names the next sequence number, which starts at 1, and
// comes again after MaxKeepAliveCount cycles without a message.
func TestKeepAlive(t *testing.T) {
	b := newBare(t, 0, 0)
	b.sub.every, b.sub.due, b.sub.keepAlive = 5, 5, 3
	for range 5 {
		b.ask()
	}
	var at []int64
	for range 40 {
		n := b.ch.count
		b.step()
		if b.ch.count > n {
			at = append(at, b.k-1)
			r := b.message(t)
			same(t, "sequence of a keep-alive", r.NotificationMessage.SequenceNumber, uint32(1))
			same(t, "data of a keep-alive", len(r.NotificationMessage.NotificationData), 0)
			same(t, "available", len(r.AvailableSequenceNumbers), 0)
		}
	}
	want := []int64{5, 20, 35}
	if len(at) != 3 || at[0] != want[0] || at[1] != want[1] || at[2] != want[2] {
		t.Errorf("keep-alives at %v, want %v", at, want)
	}
	same(t, "counted", b.counters.KeepAlives.Load(), int64(3))
	b.add(t, 1, 10)
	for n := b.ch.count; n == b.ch.count; {
		b.step()
	}
	same(t, "sequence of the first notification", b.message(t).NotificationMessage.SequenceNumber, uint32(1))
}

// Part 4, 7.10: sequence numbers run from 1 and wrap to 1.
func TestSequenceNumberWraps(t *testing.T) {
	b := newBare(t, 1, 10)
	b.sub.sequence = math.MaxUint32
	b.cycle()
	b.cycle()
	same(t, "last", b.message(t).NotificationMessage.SequenceNumber, uint32(math.MaxUint32))
	b.cycle()
	same(t, "wrapped", b.message(t).NotificationMessage.SequenceNumber, uint32(1))
}

// Every value exactly once, in order, whatever the pattern of requests, while the queue
// is long enough; with the records that say so.
func TestEveryValueOnce(t *testing.T) {
	b := newBare(t, 1, 10)
	next, seed := int32(0), uint32(1)
	for range 2000 {
		seed = seed*1664525 + 1013904223
		for n := seed >> 30; n > 0 && b.seat.n < 5; n-- {
			b.ask()
		}
		count := b.ch.count
		b.step()
		if b.ch.count == count {
			continue
		}
		for _, v := range ints(t, b.message(t)) {
			same(t, "value", v, next)
			next = v + 1
		}
	}
	if next < 1900 {
		t.Errorf("only %d values came", next)
	}
	same(t, "overflows", b.counters.QueueOverflows.Load(), int64(0))
	var k int64
	b.cfg.Ring.Drain(func(r *record.Record) {
		if r.Kind == record.KindSent {
			s := r.Sent()
			if s.First < k || s.K < s.First || s.Values != s.K-s.First+1 {
				t.Errorf("record %+v after index %d", s, k)
			}
			k = s.K + 1
		}
	})
}

// Part 4, 5.13.1.5: what a full queue drops and where the Overflow bit stands.
func TestQueueOverflow(t *testing.T) {
	for _, x := range []struct {
		name   string
		size   int
		oldest bool
		values []int32
		bit    int // index of the value with the bit, −1 none
		drops  []int64
		flags  record.Flags
	}{
		{"discard oldest", 3, true, []int32{4, 5, 6}, 0, []int64{0, 1, 2, 3}, 0},
		{"discard newest", 3, false, []int32{0, 1, 6}, 2, []int64{2, 3, 4, 5}, 0},
		{"size 1", 1, true, []int32{6}, -1, []int64{0, 1, 2, 3, 4, 5}, record.FlagQueueOne},
		{"size 1, discard newest", 1, false, []int32{6}, -1, []int64{0, 1, 2, 3, 4, 5}, record.FlagQueueOne},
		{"long enough", 7, true, []int32{0, 1, 2, 3, 4, 5, 6}, -1, nil, 0},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBare(t, 1, x.size)
			b.sub.items[0].discardOldest = x.oldest
			for range 6 {
				b.step()
			}
			same(t, "flag", b.flags&record.FlagNoRequest != 0, true)
			b.cycle()
			v := values(t, b.message(t))
			if len(v) != len(x.values) {
				t.Fatalf("%v", ints(t, b.message(t)))
			}
			for i := range v {
				same(t, "value", v[i].Value.Value.Value(), any(x.values[i]))
				same(t, "overflow bit", v[i].Value.Status == 0x480, i == x.bit)
			}
			var drops []int64
			b.cfg.Ring.Drain(func(r *record.Record) {
				switch r.Kind {
				case record.KindDrop:
					d := r.Drop()
					drops = append(drops, d.K)
					same(t, "values of a drop", d.Values, int64(1))
					same(t, "flags of a drop", d.Flags, x.flags)
				case record.KindSent:
					s := r.Sent()
					same(t, "first", s.First, int64(x.values[0]))
					same(t, "newest", s.K, int64(6))
					same(t, "waited", s.Flags&record.FlagNoRequest != 0, true)
					same(t, "overflow", s.Flags&record.FlagOverflow != 0, x.bit >= 0)
					if s.Before == 0 || s.After < s.Before {
						t.Errorf("instants %d, %d", s.Before, s.After)
					}
				}
			})
			same(t, "drops", len(drops), len(x.drops))
			for i := range drops {
				same(t, "dropped index", drops[i], x.drops[i])
			}
			if x.size > 1 {
				same(t, "MonitoringQueueOverflowCount", int(b.sub.diagnostics.MonitoringQueueOverflowCount.Load()), len(x.drops))
			}
		})
	}
}

// Many items lose the same index: one record.
func TestDropsOfOneIndexAreOneRecord(t *testing.T) {
	b := newBare(t, 100, 2)
	for range 4 {
		b.step()
	}
	n := 0
	b.cfg.Ring.Drain(func(r *record.Record) {
		d := r.Drop()
		same(t, "values", d.Values, int64(100))
		same(t, "index", d.K, int64(n))
		n++
	})
	same(t, "records", n, 2)
}

// The value of index k wraps at 2^31 and is unwrapped by readers (metrics.md).
func TestCounterWraps(t *testing.T) {
	b := newBare(t, 1, 10)
	b.k = 1<<31 - 1
	b.sub.due = b.k
	b.ask()
	b.step()
	same(t, "value", ints(t, b.message(t))[0], int32(math.MaxInt32))
	b.cycle()
	same(t, "value", ints(t, b.message(t))[0], int32(0))
	same(t, "index", bench.Unwrap(0, b.k), int64(1<<31))
}
