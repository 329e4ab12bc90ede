package client

import (
	"testing"

	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
	"opcycle/record"
)

// hand feeds a pump without a network: its link has no watcher.
type hand struct {
	*Client
	t    *testing.T
	link *link
}

func newHand(t *testing.T, items int) *hand {
	cfg := config(t, "", bench.HostClient)
	cfg.Items = items
	return &hand{&Client{cfg: cfg, pump: newPump(cfg)}, t, &link{stamps: &stamps{}}}
}

type value struct {
	item   uint32
	v      int32
	status ua.StatusCode
}

// gets hands in a notification message; without values it is a keep-alive.
func (h *hand) gets(sequence uint32, values ...value) {
	msg := &ua.NotificationMessage{SequenceNumber: sequence}
	var items []*ua.MonitoredItemNotification
	for _, v := range values {
		d := &ua.DataValue{EncodingMask: ua.DataValueValue, Value: ua.MustVariant(v.v), Status: v.status}
		items = append(items, &ua.MonitoredItemNotification{ClientHandle: v.item, Value: d})
	}
	if len(items) > 0 {
		msg.NotificationData = []*ua.ExtensionObject{{Value: &ua.DataChangeNotification{MonitoredItems: items}}}
	}
	h.handle(h.link, &ua.PublishResponse{ResponseHeader: &ua.ResponseHeader{RequestHandle: sequence}, SubscriptionID: 1, NotificationMessage: msg}, int64(sequence)*1000)
}

func (h *hand) arrivals() (out []record.Arrival) {
	h.pump.flush()
	h.cfg.Arrivals.Drain(func(r *record.Record) {
		if r.Kind == record.KindArrival {
			out = append(out, r.Arrival())
		}
	})
	return out
}

func TestPumpKeepsItsBooks(t *testing.T) {
	const overflow, bad = ua.StatusCode(0x480), ua.StatusCode(0x80310000)
	type arrival struct {
		k, values, most int64
		partial         bool
		again           int64
	}
	for name, c := range map[string]struct {
		items    int
		feed     func(h *hand)
		arrivals []arrival
		counts   Counts
	}{
		"in order": {1, func(h *hand) { h.gets(1, value{0, 5, 0}); h.gets(2, value{0, 6, 0}) },
			[]arrival{{5, 1, 1, false, 0}, {6, 1, 1, false, 0}}, Counts{Messages: 2, Values: 2}},
		"keep-alive uses no number": {1, func(h *hand) { h.gets(1, value{0, 5, 0}); h.gets(2); h.gets(2, value{0, 6, 0}) },
			[]arrival{{5, 1, 1, false, 0}, {6, 1, 1, false, 0}}, Counts{Messages: 2, Values: 2, KeepAlives: 1}},
		"several in a message": {1, func(h *hand) { h.gets(1, value{0, 5, 0}, value{0, 6, 0}, value{0, 7, overflow}) },
			[]arrival{{5, 1, 3, false, 0}, {6, 1, 3, false, 0}, {7, 1, 3, false, 0}}, Counts{Messages: 1, Values: 3, Overflows: 1}},
		"again": {1, func(h *hand) { h.gets(1, value{0, 5, 0}); h.gets(2, value{0, 5, 0}) },
			[]arrival{{5, 1, 1, false, 0}}, Counts{Messages: 2, Values: 2, Duplicates: 1}},
		"re-ordered": {1, func(h *hand) { h.gets(1, value{0, 4, 0}); h.gets(3, value{0, 6, 0}); h.gets(2, value{0, 5, 0}) },
			[]arrival{{4, 1, 1, false, 0}, {6, 1, 1, false, 0}, {5, 1, 1, false, 0}}, Counts{Messages: 3, Values: 3, Reordered: 1}},
		"a message is missing": {1, func(h *hand) { h.gets(1, value{0, 4, 0}); h.gets(4, value{0, 7, 0}) },
			[]arrival{{4, 1, 1, false, 0}, {7, 1, 1, false, 0}}, Counts{Messages: 2, Values: 2, Gaps: 2}},
		"two items": {2, func(h *hand) { h.gets(1, value{0, 5, 0}, value{1, 5, 0}) },
			[]arrival{{5, 2, 2, false, 0}}, Counts{Messages: 1, Values: 2}},
		"two items in two messages": {2, func(h *hand) { h.gets(1, value{0, 5, 0}); h.gets(2, value{1, 5, 0}) },
			[]arrival{{5, 2, 1, false, 0}}, Counts{Messages: 2, Values: 2}},
		"one item of two": {2, func(h *hand) { h.gets(1, value{0, 5, 0}); h.gets(2, value{0, 6, 0}, value{1, 6, 0}) },
			[]arrival{{6, 2, 2, false, 0}, {5, 1, 0, true, 0}}, Counts{Messages: 2, Values: 3}},
		"a value twice stands for no other": {2, func(h *hand) { h.gets(1, value{0, 5, 0}); h.gets(2, value{0, 5, 0}) },
			[]arrival{{5, 1, 0, true, 1}}, Counts{Messages: 2, Values: 2, Duplicates: 1}},
		"a value twice, then the other": {2, func(h *hand) { h.gets(1, value{0, 5, 0}, value{0, 5, 0}); h.gets(2, value{1, 5, 0}) },
			[]arrival{{5, 2, 1, false, 1}}, Counts{Messages: 2, Values: 3, Duplicates: 1}},
		"an older value twice": {2, func(h *hand) { h.gets(1, value{0, 5, 0}, value{0, 6, 0}); h.gets(2, value{0, 5, 0}) },
			[]arrival{{5, 1, 0, true, 1}, {6, 1, 0, true, 0}}, Counts{Messages: 2, Values: 3, Duplicates: 1}},
		"no index is negative": {1, func(h *hand) {
			h.gets(1, value{0, -1, 0})
			h.gets(2, value{0, 3, 0})
			h.gets(3, value{0, 1<<31 - 1, 0})
		},
			[]arrival{{3, 1, 1, false, 0}}, Counts{Messages: 3, Values: 3, Bad: 2}},
		"bad value": {1, func(h *hand) { h.gets(1, value{0, 5, bad}); h.gets(2, value{9, 5, 0}) },
			nil, Counts{Messages: 2, Values: 2, Bad: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHand(t, c.items)
			c.feed(h)
			c.counts.Unstamped = c.counts.Messages // no watcher here
			if got := h.pump.counts(); got != c.counts {
				t.Errorf("%+v\nnot %+v", got, c.counts)
			}
			got := h.arrivals()
			if len(got) != len(c.arrivals) {
				t.Fatalf("%d arrivals: %+v", len(got), got)
			}
			for i, w := range c.arrivals {
				a := got[i]
				if a.K != w.k || a.Again != w.again || a.Values != w.values || a.Most != w.most || (a.Flags&record.FlagPartial != 0) != w.partial {
					t.Errorf("arrival %d is %+v, not %+v", i, a, w)
				}
			}
			if acks := h.pump.takeAcks(nil); int64(len(acks)) != c.counts.Messages || len(h.pump.takeAcks(nil)) != 0 {
				t.Errorf("%d acknowledgements of %d messages", len(acks), c.counts.Messages)
			}
		})
	}
}

// Metrics.md: the Int32 is the low 31 bits of the grid index; readers unwrap it.
func TestPumpUnwrapsTheInt32(t *testing.T) {
	h := newHand(t, 1)
	const wrap = int64(1) << 31
	h.pump.top, h.pump.last[0] = wrap-3, wrap-3 // after 248 days of 10 ms
	for i, k := range []int64{wrap - 2, wrap - 1, wrap, wrap + 2, wrap + 1} {
		h.gets(uint32(i+1), value{0, bench.Value(k), 0})
	}
	var got []int64
	for _, a := range h.arrivals() {
		got = append(got, a.K)
	}
	if len(got) != 5 || got[1] != wrap-1 || got[2] != wrap || got[3] != wrap+2 || got[4] != wrap+1 {
		t.Errorf("%d", got)
	}
	if n := h.pump.counts(); n.Reordered != 1 || n.Duplicates != 0 {
		t.Errorf("%+v", n)
	}
}

// A client that comes to a server of more than 2^30 cycles (124 days of 10 ms, 12 of
// 1 ms) must not take the first value for one before the server's start.
func TestPumpTakesTheFirstValueOfAnOldServer(t *testing.T) {
	h := newHand(t, 1)
	const k = int64(1)<<30 + 5
	h.gets(1, value{0, bench.Value(k), 0})
	if got := h.arrivals(); len(got) != 1 || got[0].K != k {
		t.Errorf("%+v, not index %d", got, k)
	}
}
