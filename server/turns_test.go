package server

import "testing"

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
