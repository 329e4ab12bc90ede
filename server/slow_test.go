package server

import (
	"testing"

	"opcycle/record"
	"opcycle/wire"
)

// A channel whose peer does not read: values stay in their queues, the ticks say slow, and
// after the lifetime the subscription and the channel end. opcua.md, decision 3.
func TestSlowReader(t *testing.T) {
	b := newBare(t, 1, 5)
	b.cycle()
	b.cycle()
	b.ch.backlog, b.ch.sent = 1000, wire.Refused
	count := b.ch.count
	for i := range 29 {
		if i < 10 {
			b.ask()
		}
		b.step()
		same(t, "slow", b.flags&record.FlagSlow != 0, true)
		if b.ch.closed {
			t.Fatalf("closed after %d cycles", i)
		}
	}
	same(t, "sent", b.ch.count, count)
	same(t, "queued", b.sub.items[0].queue.n, 5)
	b.step()
	same(t, "closed", b.ch.closed, true)
	same(t, "subscriptions", b.counters.Subscriptions.Load(), int64(0))
}

// A message that the channel refuses leaves everything as it was.
func TestRefusedMessageStays(t *testing.T) {
	b := newBare(t, 2, 10)
	b.ch.sent = wire.Refused
	b.cycle()
	b.cycle()
	same(t, "sequence", b.sub.sequence, uint32(1))
	same(t, "queued", b.sub.queued, 4)
	same(t, "waiting", b.seat.n, 2)
	b.ch.sent = wire.Queued
	b.step()
	same(t, "values", len(values(t, b.message(t))), 6)
	same(t, "queued", b.sub.queued, 0)
	b.cfg.Ring.Drain(func(r *record.Record) {
		same(t, "flag", r.Sent().Flags&record.FlagQueued != 0, true)
	})
	b.ch.sent, b.ch.err = wire.Refused, wire.ErrClosed
	b.step()
	same(t, "waiting on a closed channel", b.seat.n, 0)
}
