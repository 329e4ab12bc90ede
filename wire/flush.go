package wire

import (
	"errors"
	"io"
	"os"
	"time"

	"github.com/gopcua/opcua/ua"
)

const (
	// slice is the longest that a write of the flusher keeps it from seeing that the channel ends.
	slice = 100 * time.Millisecond
	// lingerTime and lingerBytes bound how long a peer that gets an ERR may go on
	// sending: closing over unread bytes would reset the connection and destroy the ERR.
	lingerTime  = 250 * time.Millisecond
	lingerBytes = 1 << 20
)

// flush is the channel's own goroutine: it writes backlogs, does what falls due by the
// clock, and closes the socket. Accept starts it, Wait waits for it. warm.
func (c *Channel) flush() {
	defer close(c.done)
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		select {
		case <-c.wake:
		case <-timer.C:
		}
		c.writeBacklog()
		next := c.age()
		if c.ending.state.Load() == ended {
			c.finish()
			return
		}
		timer.Reset(time.Until(next))
	}
}

// writeBacklog writes until nothing waits or the channel ends. warm.
func (c *Channel) writeBacklog() {
	for c.stalled.Load() && c.ending.state.Load() == running && c.lock() {
		p := c.out.rest() // stays ours without the turn while stalled is set
		c.unlock()
		if len(p) == 0 {
			return // Send is about to seal the next part
		}
		n, err := 0, c.conn.SetWriteDeadline(time.Now().Add(slice))
		if err == nil {
			n, err = c.conn.Write(p)
		}
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			c.Close(ua.StatusBadConnectionClosed, "")
			return
		}
		c.settle(n)
	}
}

// settle counts what was written, and when all is, opens the way for the next message. warm.
func (c *Channel) settle(n int) {
	if !c.lock() {
		return
	}
	c.out.wrote(n)
	c.waiting.Add(int64(-n))
	c.count.bytesOut.Add(uint64(n))
	empty := c.out.empty()
	if empty && !c.streaming {
		c.stalled.Store(false)
		c.drain()
	}
	c.unlock()
	if empty {
		c.signal(c.flushed)
	}
}

// finish tells the peer why, if that needs no waiting, and closes the socket. Nobody
// writes to the descriptor any more: the turn is never given back. cold.
func (c *Channel) finish() {
	c.lock()
	told := !c.stalled.Load() && c.sendError()
	c.turn.Store(retired)
	if told && c.conn.CloseWrite() == nil && c.conn.SetReadDeadline(time.Now().Add(lingerTime)) == nil {
		_, _ = io.Copy(io.Discard, io.LimitReader(c.conn, lingerBytes))
	}
	_ = c.conn.Close() // the peer is gone already or will see it
}
