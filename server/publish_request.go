package server

import (
	"sync/atomic"

	"github.com/gopcua/opcua/ua"
)

// maxAcks bounds SubscriptionAcknowledgements of one Publish request; more are refused
// with BadTooManyOperations.
const maxAcks = 128

// ack is a SubscriptionAcknowledgement (Part 4, 5.14.5.2).
type ack struct{ subscription, sequence uint32 }

// publishRequest is one Publish request (Part 4, 5.14.5) from the time it was read until
// its answer is with the channel.
//
// Owner: the connection's goroutine while busy is false, the PLC thread from then on until
// it sets busy to false again.
type publishRequest struct {
	busy     atomic.Bool
	conn     *connection
	seat     *seat
	id       uint32 // RequestId of the channel
	handle   uint32 // RequestHandle
	deadline int64  // monotonic ns after which BadTimeout is the answer; 0 = never
	waits    bool   // it is counted as waiting
	acks     int    // used places of ack, and of result once the PLC thread has them
	ack      [maxAcks]ack
	result   [maxAcks]ua.StatusCode
}

// decode reads the acknowledgements that follow the header. hot: no allocation.
func (p *publishRequest) decode(body []byte, h header) ua.StatusCode {
	r := reader{b: body, at: h.end}
	n := r.length(8)
	if r.bad {
		return ua.StatusBadDecodingError
	}
	if n > maxAcks {
		return ua.StatusBadTooManyOperations
	}
	for i := range n {
		p.ack[i] = ack{r.u32(), r.u32()}
	}
	p.acks, p.handle = n, h.handle
	return ua.StatusOK
}

// limit is how many bytes the answer may have: by the channel and by the session. hot.
func (p *publishRequest) limit() int { return min(p.conn.limit, p.seat.limit) }
