package server

import (
	"testing"

	"github.com/gopcua/opcua/ua"

	"opcycle/rt"
)

// TestEverySeatHasItsTurnInEveryTick: with one request each, twenty sessions get one
// message each in every tick. The turn among them moves with every message, and a session
// that was passed over for it starved for ever.
func TestEverySeatHasItsTurnInEveryTick(t *testing.T) {
	const sessions, ticks = 20, 50
	first := newBare(t, 1, 10)
	all := []*bare{first}
	for range sessions - 1 {
		b := *first // shares the engine
		b.ch = &script{sent: first.ch.sent, body: make([]byte, 0, 1<<12)}
		b.seat = newSeat(0, &b.cfg.Limits)
		b.conn = b.client()
		b.sub = b.subscribe(t, 1, 10, 30)
		b.add(t, 1, 10)
		all = append(all, &b)
	}
	for range 3 { // past the initial values, whose turn is the order of creation
		for _, b := range all {
			b.ask()
		}
		first.step()
	}
	for tick := range ticks {
		for _, b := range all {
			b.ch.count = 0
			b.ask()
		}
		first.step()
		for i, b := range all {
			if b.ch.count != 1 {
				t.Fatalf("tick %d: session %d got %d messages, want 1", tick, i+1, b.ch.count)
			}
		}
	}
}

// TestItemsOfAllSessionsAreBounded: what one tick samples and sends is bounded however
// many sessions ask (Part 4, 5.13.2.4: BadTooManyMonitoredItems).
func TestItemsOfAllSessionsAreBounded(t *testing.T) {
	b := newBare(t, 3, 1)
	b.cfg.Limits.AllItems = 5
	other := *b
	other.seat = newSeat(0, &b.cfg.Limits)
	other.conn = other.client()
	other.sub = other.subscribe(t, 1, 10, 30)
	o := &createItems{ticket: newTicket(other.seat), id: other.sub.id, items: make([]*item, 4), results: make([]itemResult, 4), room: make([]*item, 0, 8)}
	for i := range o.items {
		o.items[i] = &item{kind: sourceCounter, mode: ua.MonitoringModeReporting, queue: queue2(1)}
	}
	for b.deadline = rt.Now() + 1e12; !o.apply(b.engine); {
	}
	for i, r := range o.results {
		want := ua.StatusOK
		if i >= 2 {
			want = ua.StatusBadTooManyMonitoredItems
		}
		same(t, "item of the second session", r.status, want)
	}
}
