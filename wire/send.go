package wire

import (
	"time"

	"github.com/gopcua/opcua/ua"
)

// Sent is what became of a message given to TrySend.
type Sent uint8

const (
	// Refused: a backlog waits or the hand-off is full (or the error says why). Nothing
	// of the message is kept and no sequence number was used.
	Refused Sent = iota
	// Handed: the kernel has all of it.
	Handed
	// Queued: it will be sent, in order: its rest waits in the backlog, or the other sender takes it along.
	Queued
)

func (s Sent) String() string {
	switch s {
	case Handed:
		return "handed"
	case Queued:
		return "queued"
	}
	return "refused"
}

// TrySend seals a message and gives it to the kernel, all chunks in one call. Its body
// is the encoded TypeId and service, copied before TrySend returns. For the PLC
// thread and no second one. hot: no allocation, no waiting for a socket or the
// other sender.
func (c *Channel) TrySend(requestID uint32, body []byte) (Sent, error) {
	switch {
	case c.ending.state.Load() != running:
		return Refused, ErrClosed
	case len(body) > c.maxTry:
		return Refused, ErrTooLarge
	case c.stalled.Load():
		c.count.refused.Add(1)
		return Refused, nil
	}
	if !c.turn.CompareAndSwap(free, taken) {
		return c.hand(requestID, body), nil
	}
	c.drain() // older messages of ours first
	if c.stalled.Load() {
		c.unlock()
		c.count.refused.Add(1)
		return Refused, nil
	}
	_, chunks := c.out.message(requestID, body, nil, 0)
	c.count.messagesOut.Add(1)
	err := c.push(chunks)
	sent := Handed
	if err != nil {
		sent = Refused
	} else if c.stalled.Load() {
		sent = Queued
	}
	c.unlock()
	return sent, err
}

// hand leaves the message to the other sender, who holds the turn. hot.
func (c *Channel) hand(requestID uint32, body []byte) Sent {
	c.count.contended.Add(1)
	if !c.handoff.put(requestID, body) {
		c.count.refused.Add(1)
		return Refused
	}
	// The holder may have looked before the put: then the turn is free again.
	if c.turn.CompareAndSwap(free, taken) {
		c.drain()
		c.unlock()
	}
	return Queued
}

// Send seals and writes a message, in parts if it is longer than the backlog. It
// returns when the last part is sealed; up to Backlog bytes of it may still wait. Not for
// the PLC thread. When the client reads nothing for [Config.SendTimeout] it closes the
// channel, because a message begun can not be taken back. warm.
func (c *Channel) Send(requestID uint32, body []byte) error {
	if len(body) > c.maxBody {
		return ErrTooLarge
	}
	c.sending.Lock()
	defer c.sending.Unlock()
	deadline := time.Now().Add(c.cfg.SendTimeout)
	if err := c.begin(deadline); err != nil {
		return err
	}
	for off := 0; ; {
		var chunks int
		off, chunks = c.out.message(requestID, body, nil, off)
		if err := c.push(chunks); err != nil {
			c.unlock()
			return err
		}
		if off == len(body) {
			c.count.messagesOut.Add(1)
			c.unlock()
			return nil
		}
		if !c.out.empty() {
			if err := c.part(deadline); err != nil {
				return err
			}
		}
	}
}

// begin takes the turn with an empty outbox and hand-off. warm.
func (c *Channel) begin(deadline time.Time) error {
	for {
		if !c.lock() {
			return ErrClosed
		}
		if c.ending.state.Load() != running {
			c.unlock()
			return ErrClosed
		}
		c.drain()
		if !c.stalled.Load() {
			return nil
		}
		c.unlock()
		if err := c.awaitFlush(deadline); err != nil {
			return err
		}
	}
}

// part gives the turn back in the middle of a message until its first part is
// written. The backlog stays marked, so that no other message comes between: chunks of two
// messages must not mix. warm.
func (c *Channel) part(deadline time.Time) error {
	c.streaming = true
	for {
		c.unlock()
		if err := c.awaitFlush(deadline); err != nil {
			return err
		}
		if !c.lock() {
			return ErrClosed
		}
		if c.out.empty() {
			c.streaming = false
			return nil
		}
	}
}

// awaitFlush waits until the flusher has written a backlog. warm.
func (c *Channel) awaitFlush(deadline time.Time) error {
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	select {
	case <-c.flushed:
		return nil
	case <-c.done:
		return ErrClosed
	case <-timer.C:
		c.Close(ua.StatusBadTimeout, "the client does not read")
		return ErrSlow
	}
}
