package wire

import (
	"fmt"
	"sync/atomic"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uacp"
)

// The states of a channel's life.
const (
	running uint32 = iota
	claimed        // one caller of Close is writing down why
	ended          // the flusher may act on it
)

// ending is why a channel ends; status and reason are written once, before state becomes ended.
type ending struct {
	state  atomic.Uint32
	status ua.StatusCode
	reason string
}

// err is ErrClosed, with the reason once it is written down. cold.
func (e *ending) err() error {
	if e.state.Load() == ended && bad(e.status) {
		return fmt.Errorf("%w: %s (%w)", ErrClosed, e.reason, e.status)
	}
	return ErrClosed
}

// bad tells a status of the severity that ends something (Part 4, 7.39.1).
func bad(s ua.StatusCode) bool { return s&0x80000000 != 0 }

// Close ends the channel: a bad status is told to the client in an ERR message, if no
// backlog stands in the way and the kernel takes it at once, then the socket is
// closed; what waits is dropped. The first call counts, from any goroutine and from the PLC
// thread: Close only leaves word and never waits; the channel's own goroutine does the
// rest (use [Channel.Wait]). No message is taken after it returns.
func (c *Channel) Close(status ua.StatusCode, reason string) {
	if !c.ending.state.CompareAndSwap(running, claimed) {
		return
	}
	c.ending.status, c.ending.reason = status, reason
	c.ending.state.Store(ended)
	c.signal(c.wake)
}

// Wait returns when the socket is closed and the channel's goroutine has ended, after
// [Channel.Close] or an error of [Channel.Receive]. Not for the PLC thread.
func (c *Channel) Wait() { <-c.done }

// Done is closed when Wait would return.
func (c *Channel) Done() <-chan struct{} { return c.done }

// sendError writes an ERR message (Part 6, 7.1.2.5) for a bad status. With the turn held. cold.
func (c *Channel) sendError() bool {
	status := c.ending.status
	if !bad(status) {
		return false
	}
	body, err := (&uacp.Error{ErrorCode: uint32(status), Reason: c.ending.reason}).Encode()
	if err != nil {
		return false
	}
	p := frame("ERRF", body)
	n, err := c.cfg.SendNow(c.fd, p)
	c.count.bytesOut.Add(uint64(max(n, 0)))
	return err == nil && n == len(p)
}
