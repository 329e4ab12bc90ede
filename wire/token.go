package wire

import (
	"time"

	"github.com/gopcua/opcua/ua"
)

// token is one SecurityToken with the keys of both directions. Its keys change hands
// when it is granted: `open` stays with the connection's goroutine, `seal` goes to the holder of the turn.
type token struct {
	id      uint32
	created time.Time
	life    time.Duration
	open    *keys
	seal    *keys
}

// ends is when the sender has to stop using it.
func (t *token) ends() time.Time { return t.created.Add(t.life) }

// expires is when the receiver has to refuse it: 25 % later (Part 4, 5.6.2.1).
func (t *token) expires() time.Time { return t.created.Add(t.life + t.life/4) }

// tokens is the sending side. With the turn held.
type tokens struct {
	now  *token
	next *token // granted, and the client has not used it yet
}

// adopt seals with the next token from here on. With the turn held. warm.
func (c *Channel) adopt() {
	if c.tokens.next != nil {
		c.tokens.now, c.tokens.next = c.tokens.next, nil
		c.out.token, c.out.keys = c.tokens.now.id, c.tokens.now.seal
	}
}

// age does what is due by the clock and tells when to look again: a granted token
// that the client never used takes over when the old one ends, and a channel
// whose last token expired is closed. warm.
func (c *Channel) age() time.Time {
	if !c.lock() {
		return time.Now().Add(time.Hour)
	}
	defer c.unlock()
	now := time.Now()
	if c.tokens.next != nil && !now.Before(c.tokens.now.ends()) {
		c.adopt()
	}
	switch {
	case c.tokens.now == nil: // still in the handshake
		return now.Add(time.Hour)
	case c.tokens.next != nil:
		return c.tokens.now.ends()
	}
	if !now.Before(c.tokens.now.expires()) {
		c.Close(ua.StatusBadSecureChannelTokenUnknown, "the token expired and was not renewed")
	}
	return c.tokens.now.expires()
}

// reception is the receiving side. Owned by the connection's goroutine.
type reception struct {
	now      *token
	next     *token // granted and not yet used
	lastID   uint32
	sequence uint32
}

// nextToken numbers tokens from 1 and leaves out the channel's own number. cold.
func (r *reception) nextToken(channel uint32) uint32 {
	for r.lastID++; r.lastID == channel || r.lastID == 0; {
		r.lastID++
	}
	return r.lastID
}

// step checks a sequence number against the last one. hot.
func (r *reception) step(n uint32, first bool) error {
	if !first && !follows(r.sequence, n) {
		return refuse(ua.StatusBadSequenceNumberInvalid, "sequence number %d: expected the one after %d", n, r.sequence)
	}
	r.sequence = n
	return nil
}

// find returns the token that a chunk names. hot.
func (r *reception) find(id uint32) (*token, error) {
	t := r.now
	if r.next != nil && r.next.id == id {
		t = r.next
	}
	if t.id != id {
		return nil, refuse(ua.StatusBadSecureChannelTokenUnknown, "token %d: the channel has %d", id, t.id)
	}
	if !time.Now().Before(t.expires()) {
		return nil, refuse(ua.StatusBadSecureChannelTokenUnknown, "token %d expired and was not renewed", id)
	}
	return t, nil
}

// sendOpen seals an OPN response with the next sequence number and sends it, and
// registers the token. RSA takes a millisecond, so the sealing is done without the turn,
// on a guess of the sequence number; only the last attempt holds the turn. cold.
func (c *Channel) sendOpen(requestID uint32, body []byte, t *token) error {
	c.sending.Lock()
	defer c.sending.Unlock()
	deadline := time.Now().Add(c.cfg.SendTimeout)
	const attempts = 3
	for i, guess, chunk := 0, uint32(0), []byte(nil); ; i++ {
		if err := c.begin(deadline); err != nil {
			return err
		}
		sequence := after(c.out.sequence)
		if chunk == nil || guess != sequence {
			if i < attempts {
				c.unlock()
			}
			guess = sequence
			var err error
			if chunk, err = c.asymmetric.seal(c.cfg.ChannelID, sequence, requestID, body); err != nil || len(chunk) > c.out.size {
				if i >= attempts {
					c.unlock()
				}
				return refuse(ua.StatusBadTCPInternalError, "OPN response of %d bytes for chunks of %d: %v", len(chunk), c.out.size, err)
			}
			if i < attempts {
				continue
			}
		}
		err := c.commitOpen(chunk, sequence, t)
		c.unlock()
		return err
	}
}

// commitOpen writes the sealed response and registers its token in one step. With the turn held. cold.
func (c *Channel) commitOpen(chunk []byte, sequence uint32, t *token) error {
	c.out.buf = append(c.out.buf, chunk...)
	c.out.sequence = sequence
	c.tokens.next = t
	if c.tokens.now == nil {
		c.adopt()
		c.from.now = t
	} else {
		c.from.next = t
	}
	err := c.push(1)
	c.signal(c.wake) // new dates to look at
	return err
}
