package wire

import "sync/atomic"

// Counters is what a channel did so far.
type Counters struct {
	BytesIn, ChunksIn, MessagesIn    uint64
	BytesOut, ChunksOut, MessagesOut uint64
	Renewals                         uint64 // answered OPN renewals
	Contended                        uint64 // TrySend found the other sender at work and handed its message over
	Backlogged                       uint64 // the kernel did not take a message as a whole
	Refused                          uint64 // TrySend did not take a message because of a backlog or a full hand-off
}

// counts are the live counters; each is exact, a Counters is not one instant.
type counts struct {
	bytesIn, chunksIn, messagesIn    atomic.Uint64
	bytesOut, chunksOut, messagesOut atomic.Uint64
	renewals, contended              atomic.Uint64
	backlogged, refused              atomic.Uint64
}

// Counters reads the counters. hot.
func (c *Channel) Counters() Counters {
	n := &c.count
	return Counters{
		BytesIn: n.bytesIn.Load(), ChunksIn: n.chunksIn.Load(), MessagesIn: n.messagesIn.Load(),
		BytesOut: n.bytesOut.Load(), ChunksOut: n.chunksOut.Load(), MessagesOut: n.messagesOut.Load(),
		Renewals: n.renewals.Load(), Contended: n.contended.Load(),
		Backlogged: n.backlogged.Load(), Refused: n.refused.Load(),
	}
}
