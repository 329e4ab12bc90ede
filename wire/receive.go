package wire

import (
	"errors"
	"io"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uacp"
)

// Request is one message from the client.
type Request struct {
	ID   uint32 // RequestId, for the answer
	Body []byte // encoded TypeId and service; valid until the next Receive
}

// Receive waits for the next request. It answers renewals of the channel itself.
// io.EOF means that the client closed the channel or the connection between two
// messages; after any error the channel is closed and [Channel.Wait] ends soon. One caller:
// the connection's goroutine. hot: no allocation for a message in one chunk.
func (c *Channel) Receive() (Request, error) {
	for {
		r, ok, err := c.receive()
		if err != nil {
			return Request{}, c.fail(err)
		}
		if ok {
			return r, nil
		}
	}
}

// receive handles one chunk; ok when it completed a request. hot.
func (c *Channel) receive() (r Request, ok bool, err error) {
	chunk, err := c.in.next()
	if err != nil {
		return r, false, err
	}
	if c.ending.state.Load() != running {
		return r, false, ErrClosed
	}
	c.count.chunksIn.Add(1)
	c.count.bytesIn.Add(uint64(len(chunk)))
	switch kindOf(chunk) {
	case message():
		r.ID, r.Body, err = c.unseal(chunk)
		if err == nil {
			r.Body, ok, err = c.asm.add(chunk[3], r.ID, r.Body)
		}
		if ok {
			c.count.messagesIn.Add(1)
		}
		return r, ok, err
	case open():
		return r, false, c.renew(chunk)
	case closing():
		if _, _, err := c.unseal(chunk); err != nil {
			return r, false, err
		}
		return r, false, io.EOF
	case errorOf():
		return r, false, peerError(chunk)
	}
	return r, false, refuse(ua.StatusBadTCPMessageTypeInvalid, "%s on an open channel: expected MSG, OPN or CLO", chunk[:3])
}

// unseal checks channel, token, seal and sequence number of a MSG or CLO chunk, in
// this order, and returns its request id and body. hot.
func (c *Channel) unseal(chunk []byte) (id uint32, body []byte, err error) {
	if len(chunk) < bodyStart {
		return 0, nil, refuse(ua.StatusBadTCPMessageTypeInvalid, "%s chunk of %d bytes: shorter than its headers", chunk[:3], len(chunk))
	}
	if got := u32(chunk[channelOffset:]); got != c.cfg.ChannelID {
		return 0, nil, refuse(ua.StatusBadTCPSecureChannelUnknown, "channel %d: this connection has %d", got, c.cfg.ChannelID)
	}
	t, err := c.from.find(u32(chunk[channelEnd:]))
	if err != nil {
		return 0, nil, err
	}
	plain, ok := t.open.open(chunk)
	if !ok {
		return 0, nil, refuse(ua.StatusBadSecurityChecksFailed, "%s chunk is not sealed with the keys of its token", chunk[:3])
	}
	if err := c.from.step(u32(plain[symmetricEnd:]), false); err != nil {
		return 0, nil, err
	}
	if t == c.from.next {
		if err := c.firstUse(); err != nil {
			return 0, nil, err
		}
	}
	return u32(plain[symmetricEnd+4:]), plain[bodyStart:], nil
}

// firstUse makes the token that the client just used for the first time the only
// one, in both directions (Part 4, 5.6.2.1). warm: once per renewal.
func (c *Channel) firstUse() error {
	if !c.lock() {
		return ErrClosed
	}
	c.from.now, c.from.next = c.from.next, nil
	c.adopt()
	c.unlock()
	return nil
}

// fail ends the channel for the reason err and returns what Receive reports. cold.
func (c *Channel) fail(err error) error {
	var own *Error
	switch {
	case c.ending.state.Load() != running:
		return c.ending.err()
	case errors.As(err, &own) && !own.Peer:
		c.Close(own.Status, own.What)
	default: // the end of the stream, the peer's ERR, or a broken connection: nobody listens
		c.Close(ua.StatusOK, "")
	}
	return err
}

// statusOf is the status that err wraps, or the one given. cold.
func statusOf(err error, otherwise ua.StatusCode) ua.StatusCode {
	var s ua.StatusCode
	if errors.As(err, &s) {
		return s
	}
	return otherwise
}

// peerError reads an ERR (Part 6, 7.1.2.5). cold.
func peerError(chunk []byte) error {
	e := new(uacp.Error)
	if _, err := e.Decode(chunk[headerSize:]); err != nil {
		return refuse(ua.StatusBadTCPInternalError, "ERR does not decode: %v", err)
	}
	if len(e.Reason) > maxURL {
		e.Reason = e.Reason[:maxURL]
	}
	return &Error{Status: ua.StatusCode(e.ErrorCode), What: e.Reason, Peer: true}
}

// maxKept is how much space for reassembly a channel keeps from message to message.
const maxKept = 256 << 10

// assembly puts the chunks of one message together; chunks of a second one in
// between are refused. Owned by the connection's goroutine.
type assembly struct {
	buf       []byte
	id        uint32
	chunks    int // of the message in work; 0 is none
	maxBody   int
	maxChunks int
}

// add takes a chunk's body; ok when the message is complete. hot for a single chunk.
func (a *assembly) add(sort byte, id uint32, body []byte) (all []byte, ok bool, err error) {
	if a.chunks > 0 && id != a.id {
		return nil, false, refuse(ua.StatusBadSecurityChecksFailed, "chunk of request %d in the middle of request %d", id, a.id)
	}
	if sort == aborted { // Part 6, 6.7.3
		a.chunks = 0
		return nil, false, nil
	}
	if sort != final && sort != intermediate {
		return nil, false, refuse(ua.StatusBadTCPMessageTypeInvalid, "chunk type %q: expected C, F or A", sort)
	}
	if a.chunks == 0 {
		if cap(a.buf) > maxKept {
			a.buf = nil
		}
		a.buf, a.id = a.buf[:0], id
	}
	if a.chunks++; a.chunks > a.maxChunks || len(a.buf)+len(body) > a.maxBody {
		return nil, false, refuse(ua.StatusBadTCPMessageTooLarge, "request of %d chunks and %d bytes so far: the limits are %d and %d",
			a.chunks, len(a.buf)+len(body), a.maxChunks, a.maxBody)
	}
	if sort == final && a.chunks == 1 {
		a.chunks = 0
		return body, true, nil
	}
	a.buf = append(a.buf, body...)
	if sort == intermediate {
		return nil, false, nil
	}
	a.chunks = 0
	return a.buf, true, nil
}
