package server

import (
	"testing"

	"github.com/gopcua/opcua/ua"
)

// take runs ticks with a request each and returns all values by client handle.
func (b *bare) take(t *testing.T, ticks int) map[uint32][]int32 {
	out := map[uint32][]int32{}
	for range ticks {
		b.ask()
		n := b.ch.count
		b.step()
		if b.ch.count > n {
			for _, v := range values(t, b.message(t)) {
				out[v.ClientHandle] = append(out[v.ClientHandle], v.Value.Value.Value().(int32))
			}
		}
	}
	return out
}

func ids(items []*item) []uint32 {
	var out []uint32
	for _, it := range items {
		out = append(out, it.id)
	}
	return out
}

func (b *bare) mode(t *testing.T, mode ua.MonitoringMode, ids ...uint32) []ua.StatusCode {
	o := &setMonitoringMode{ticket: newTicket(b.seat), id: b.sub.id, mode: mode, ids: ids, results: make([]ua.StatusCode, len(ids))}
	o.apply(b.engine)
	same(t, "SetMonitoringMode", o.status, ua.StatusOK)
	return o.results
}

// Part 4, 5.13.1.2: sampling at every n-th tick takes the newest value; −1 follows the
// publishing interval, also when that changes.
func TestSampling(t *testing.T) {
	b := newBare(t, 0, 0)
	items := b.add(t, 3, 100)
	items[1].every, items[1].next = 4, 4
	items[2].follow = true
	b.sub.every, b.sub.due = 3, 3
	got := b.take(t, 13)
	for h, want := range map[uint32][]int32{0: {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 1: {0, 4, 8, 12}, 2: {0, 3, 6, 9, 12}} {
		if len(got[h]) != len(want) {
			t.Fatalf("item %d: %v, want %v", h, got[h], want)
		}
		for i := range want {
			same(t, "value", got[h][i], want[i])
		}
	}
	(&modifySubscription{ticket: newTicket(b.seat), id: b.sub.id, every: 5, keepAlive: 10, lifetime: 30}).apply(b.engine)
	got = b.take(t, 10)
	if len(got[2]) != 2 || got[2][0] != 17 || got[2][1] != 22 { // due 12+5 and 12+10
		t.Errorf("follows: %v", got[2])
	}
}

// A skipped release is one gap: the samples of an item stay on its grid.
func TestSamplingOverSkippedReleases(t *testing.T) {
	b := newBare(t, 0, 0)
	b.add(t, 1, 100)[0].every = 4
	b.sub.items[0].next = 4
	b.take(t, 2)
	b.k = 6
	got := b.take(t, 4) // 6: late sample of 4; 8: on the grid
	if v := got[0]; len(v) != 2 || v[0] != 6 || v[1] != 8 {
		t.Errorf("%v", v)
	}
}

// Part 4, 5.13.1.3 and 5.13.4: disabled neither samples nor keeps; sampling keeps and does
// not report; enabling starts with an initial value.
func TestMonitoringMode(t *testing.T) {
	b := newBare(t, 0, 0)
	it := b.add(t, 1, 10)[0]
	b.take(t, 3)
	same(t, "unknown item", b.mode(t, ua.MonitoringModeDisabled, it.id, 999)[1], ua.StatusBadMonitoredItemIDInvalid)
	same(t, "queued", b.sub.queued, 0)
	same(t, "disabled", len(b.take(t, 5)[0]), 0)
	b.mode(t, ua.MonitoringModeSampling, it.id)
	same(t, "sampling", len(b.take(t, 4)[0]), 0)
	same(t, "kept", it.queue.n, 4)
	b.mode(t, ua.MonitoringModeReporting, it.id)
	if v := b.take(t, 2)[0]; len(v) != 6 || v[0] != 8 || v[5] != 13 {
		t.Errorf("reporting: %v", v)
	}
	same(t, "DisabledMonitoredItemCount", b.sub.diagnostics.DisabledMonitoredItemCount.Load(), uint32(0))
}

// Part 4, 5.13.1.6 and 5.13.5: a linked item that only samples is reported when its
// triggering item has a notification.
func TestTriggering(t *testing.T) {
	b := newBare(t, 0, 0)
	items := b.add(t, 3, 100)
	b.mode(t, ua.MonitoringModeSampling, items[1].id)
	items[0].every, items[0].next = 5, 5
	o := &setTriggering{ticket: newTicket(b.seat), id: b.sub.id, trigger: items[0].id, add: []uint32{items[1].id, 999}, remove: []uint32{items[2].id},
		added: make([]ua.StatusCode, 2), gone: make([]ua.StatusCode, 1), links: make([]link, 0, maxLinks)}
	o.apply(b.engine)
	same(t, "link", o.added[0], ua.StatusOK)
	same(t, "unknown", o.added[1], ua.StatusBadMonitoredItemIDInvalid)
	same(t, "no such link", o.gone[0], ua.StatusBadMonitoredItemIDInvalid)
	b.take(t, 1)
	for range 3 {
		same(t, "before the trigger", len(b.take(t, 1)[1])%2, 0)
	}
	got := b.take(t, 2) // index 5 triggers
	if v := got[1]; len(v) != 4 || v[3] != 5 {
		t.Errorf("linked item: %v", v)
	}
	same(t, "after", len(b.take(t, 4)[1]), 0)
	d := &deleteItems{ticket: newTicket(b.seat), id: b.sub.id, ids: ids(items[:2]), results: make([]ua.StatusCode, 2)}
	d.apply(b.engine)
	same(t, "links of deleted items", len(b.sub.links), 0)
	o.trigger = items[0].id
	o.apply(b.engine)
	same(t, "deleted trigger", o.status, ua.StatusBadMonitoredItemIDInvalid)
}

// Part 4, 7.22.2: trigger and absolute deadband decide what is a change.
func TestDataChangeFilter(t *testing.T) {
	for _, x := range []struct {
		name    string
		trigger ua.DataChangeTrigger
		band    float64
		want    []int32 // of writes 1 1 4 5 9
	}{
		{"status", ua.DataChangeTriggerStatus, 0, []int32{0}},
		{"status, value", ua.DataChangeTriggerStatusValue, 0, []int32{0, 1, 4, 5, 9}},
		{"status, value, time stamp", ua.DataChangeTriggerStatusValueTimestamp, 0, []int32{0, 1, 1, 4, 5, 9}},
		{"deadband 3", ua.DataChangeTriggerStatusValue, 3, []int32{0, 4, 9}},
		{"deadband 3, time stamp", ua.DataChangeTriggerStatusValueTimestamp, 3, []int32{0, 1, 1, 4, 5, 9}},
	} {
		t.Run(x.name, func(t *testing.T) {
			b := newBare(t, 0, 0)
			it := b.add(t, 1, 100)[0]
			it.kind, it.trigger, it.deadband = sourceEcho, x.trigger, x.band
			got := b.take(t, 2)[0]
			for i, v := range []int32{1, 1, 4, 5, 9} {
				b.image.write(v, int64(i+1)*1000)
				got = append(got, b.take(t, 2)[0]...)
			}
			if len(got) != len(x.want) {
				t.Fatalf("%v, want %v", got, x.want)
			}
			for i := range got {
				same(t, "value", got[i], x.want[i])
			}
		})
	}
}

// Part 4, 5.13.3: a new queue size keeps what fits, by the discard rule; client handle and
// filter hold from then on.
func TestModifyMonitoredItems(t *testing.T) {
	b := newBare(t, 1, 10)
	for range 6 {
		b.step()
	}
	it := b.sub.items[0]
	o := &modifyItems{ticket: newTicket(b.seat), id: b.sub.id, ids: []uint32{it.id, 55}, results: []itemResult{{id: it.id, queue: 3}, {id: 55}},
		items: []*item{{clientHandle: 9, trigger: ua.DataChangeTriggerStatusValue, discardOldest: true, stamps: ua.TimestampsToReturnNeither, queue: queue2(3)}, {queue: queue2(1)}}}
	o.apply(b.engine)
	same(t, "status", o.results[0].status, ua.StatusOK)
	same(t, "unknown", o.results[1].status, ua.StatusBadMonitoredItemIDInvalid)
	same(t, "queued", b.sub.queued, 3)
	got := b.take(t, 1)
	if v := got[9]; len(v) != 3 || v[0] != 4 || v[2] != 6 {
		t.Errorf("%v", got)
	}
	same(t, "overflows", b.counters.QueueOverflows.Load(), int64(4))
	same(t, "entries", b.seat.entries, 3)
}

// Part 4, 5.13.6: deleted items are gone with their queues; ids of the living stay.
func TestDeleteMonitoredItems(t *testing.T) {
	b := newBare(t, 0, 0)
	items := b.add(t, 5, 10)
	b.step()
	o := &deleteItems{ticket: newTicket(b.seat), id: b.sub.id, ids: []uint32{items[1].id, items[3].id, items[3].id, 99}, results: make([]ua.StatusCode, 4)}
	o.apply(b.engine)
	for i, want := range []ua.StatusCode{ua.StatusOK, ua.StatusOK, ua.StatusBadMonitoredItemIDInvalid, ua.StatusBadMonitoredItemIDInvalid} {
		same(t, "result", o.results[i], want)
	}
	same(t, "queued", b.sub.queued, 3)
	same(t, "items", b.seat.items, 3)
	same(t, "entries", b.seat.entries, 30)
	got := b.take(t, 1)
	same(t, "reporting items", len(got), 3)
	again := b.add(t, 1, 10)[0]
	same(t, "new id", again.id, items[4].id+1)
}

// An order of many items goes on over several ticks when the requests' share of one is over.
func TestOrdersAreCutIntoTicks(t *testing.T) {
	b := newBare(t, 0, 0)
	o := &createItems{ticket: newTicket(b.seat), id: b.sub.id, room: make([]*item, 0, 200)}
	for range 200 {
		o.items = append(o.items, &item{kind: sourceCounter, mode: ua.MonitoringModeReporting, queue: queue2(1)})
	}
	o.results = make([]itemResult, 200)
	ticks := 0
	for b.deadline = 0; !o.apply(b.engine); ticks++ {
		if n := len(b.sub.items); n != batch*(ticks+1) {
			t.Fatalf("%d items after %d ticks", n, ticks+1)
		}
	}
	same(t, "ticks", ticks, 200/batch)
	same(t, "items", b.sub.itemCount.Load(), int64(200))
}

// Limits: items and queue entries of a session, with BadTooManyMonitoredItems.
func TestItemLimits(t *testing.T) {
	b := newBare(t, 1, 10)
	b.cfg.Limits.MonitoredItems, b.cfg.Limits.QueueEntries = 3, 25
	o := &createItems{ticket: newTicket(b.seat), id: b.sub.id, room: make([]*item, 0, 16), results: make([]itemResult, 3)}
	for range 3 {
		o.items = append(o.items, &item{mode: ua.MonitoringModeReporting, queue: queue2(10)})
	}
	o.apply(b.engine)
	same(t, "second", o.results[0].status, ua.StatusOK)
	same(t, "third: too many entries", o.results[1].status, ua.StatusBadTooManyMonitoredItems)
	same(t, "counted", b.seat.entries, 20)
}

// Part 4, 5.14.7: a subscription moves with its messages; the old session gets a
// StatusChangeNotification GoodSubscriptionTransferred; initial values on demand.
func TestTransfer(t *testing.T) {
	b := newBare(t, 1, 10)
	b.sub.uri = "urn:app"
	b.cycle()
	b.cycle()
	other := newSeat(0, &b.cfg.Limits)
	move := func(uri string, ids ...uint32) *transfer {
		o := &transfer{ticket: newTicket(other), uri: uri, ids: ids, sendInitial: true, results: make([]ua.StatusCode, len(ids)),
			subs: make([]*subscription, 0, 1), available: make([]uint32, 0, 100), ends: make([]int, len(ids))}
		o.apply(b.engine)
		return o
	}
	same(t, "another application", move("urn:else", b.sub.id).results[0], ua.StatusBadUserAccessDenied)
	same(t, "unknown", move("urn:app", 99).results[0], ua.StatusBadSubscriptionIDInvalid)
	o := move("urn:app", b.sub.id)
	same(t, "status", o.results[0], ua.StatusOK)
	same(t, "available", o.available[0], uint32(1))
	same(t, "items", other.items, 1)
	same(t, "old items", b.seat.items, 0)
	b.step() // the old session's waiting request
	n := b.message(t).NotificationMessage.NotificationData[0].Value.(*ua.StatusChangeNotification)
	same(t, "old session", n.Status, ua.StatusGoodSubscriptionTransferred)
	b.seat = other
	if v := b.take(t, 1)[0]; len(v) != 2 {
		t.Errorf("values %v", v)
	}
	same(t, "sequence goes on", b.message(t).NotificationMessage.SequenceNumber, uint32(2))
}

// Part 4, 5.7.4: a session closed without its subscriptions leaves them to a transfer or
// to their lifetime.
func TestOrphans(t *testing.T) {
	b := newBare(t, 1, 10)
	b.sub.uri = "urn:app"
	b.ask()
	b.step()
	(&closeSession{ticket: newTicket(b.seat), keep: true}).apply(b.engine)
	same(t, "waiting", b.counters.PublishWaiting.Load(), int64(0))
	same(t, "orphans", len(b.orphans), 1)
	old := b.seat
	b.ask()
	b.step()
	same(t, "request of the closed session", b.faultOf(t), ua.StatusBadSessionClosed)
	b.seat = newSeat(0, &b.cfg.Limits)
	o := &transfer{ticket: newTicket(b.seat), uri: "urn:app", ids: []uint32{b.sub.id}, results: make([]ua.StatusCode, 1),
		subs: make([]*subscription, 0, 1), available: make([]uint32, 0, 40), ends: make([]int, 1)}
	o.apply(b.engine)
	same(t, "transfer", o.results[0], ua.StatusOK)
	same(t, "orphans", len(b.orphans), 0)
	(&closeSession{ticket: newTicket(b.seat), keep: true}).apply(b.engine)
	for range 31 {
		b.step()
	}
	same(t, "dead after its lifetime", b.sub.dead.Load(), true)
	same(t, "sessions", len(b.seats), 0)
	same(t, "closed", old.closed, true)
}
