package wire

import (
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopcua/opcua/ua"
)

// The states of the turn.
const (
	free    uint32 = iota
	taken          // one party seals and writes
	retired        // for good: the socket is closed or about to be
)

// Channel is the server's end of one secure channel over one TCP connection.
//
// Who owns what: `in`, `asm` and `from` belong to the connection's goroutine, the only caller
// of Receive. `out`, `tokens` and the descriptor belong to whoever holds `turn`. Fields set
// by Accept and never again are free for all. The rest is atomic.
type Channel struct {
	cfg  Config
	conn *net.TCPConn
	fd   uintptr // for SendNow only, and only with the turn held: Close retires the turn before it closes the socket

	url        string
	security   Security
	client     []byte // certificate, DER
	asymmetric *asymmetric
	maxBody    int
	maxTry     int

	in   inbox
	asm  assembly
	from reception

	turn      atomic.Uint32
	out       outbox
	tokens    tokens
	streaming bool // with the turn: Send waits to seal the next part of a long message

	stalled atomic.Bool  // out holds bytes that the kernel did not take; changes only with the turn held
	waiting atomic.Int64 // how many
	handoff *handoff

	sending sync.Mutex    // orders callers of Send among each other; the PLC thread never takes it
	flushed chan struct{} // capacity 1: the flusher wrote a backlog
	wake    chan struct{} // capacity 1: something for the flusher to do
	done    chan struct{} // the flusher ended and the socket is closed

	ending ending
	count  counts
}

// newChannel makes everything that a channel will ever use. cold.
func newChannel(conn *net.TCPConn, cfg Config, buffer uint32) *Channel {
	c := &Channel{
		cfg:     cfg,
		conn:    conn,
		in:      inbox{src: conn, buf: make([]byte, buffer), limit: buffer},
		asm:     assembly{maxBody: int(cfg.MaxMessage), maxChunks: int(cfg.MaxChunks)},
		out:     outbox{buf: make([]byte, 0, cfg.Backlog), channel: cfg.ChannelID, size: int(buffer)},
		handoff: newHandoff(cfg.Backlog),
		flushed: make(chan struct{}, 1),
		wake:    make(chan struct{}, 1),
		done:    make(chan struct{}),
	}
	return c
}

// ID is the SecureChannelId.
func (c *Channel) ID() uint32 { return c.cfg.ChannelID }

// RemoteAddr is the client's address.
func (c *Channel) RemoteAddr() net.Addr { return c.conn.RemoteAddr() }

// LocalAddr is the address that the client connected to.
func (c *Channel) LocalAddr() net.Addr { return c.conn.LocalAddr() }

// EndpointURL is the URL that the client gave in HEL.
func (c *Channel) EndpointURL() string { return c.url }

// Security is what the client's OPN asked for and got.
func (c *Channel) Security() Security { return c.security }

// ClientCertificate is the client's certificate (DER), nil with policy None.
func (c *Channel) ClientCertificate() []byte { return c.client }

// ServerCertificate is our certificate (DER) as configured, for any policy.
func (c *Channel) ServerCertificate() []byte { return c.cfg.Certificate }

// Buffer is the agreed largest chunk in bytes, the same in both directions.
func (c *Channel) Buffer() int { return c.out.size }

// MaxBody is the longest body in bytes that the client takes, by its HEL and the
// policy's overhead; the limit of Send.
func (c *Channel) MaxBody() int { return c.maxBody }

// MaxTryBody is the longest body in bytes that the client takes and the backlog can hold; the limit of TrySend.
func (c *Channel) MaxTryBody() int { return c.maxTry }

// Backlog is how many bytes wait for the client to read, in the backlog and in what
// TrySend handed to the other sender. hot.
func (c *Channel) Backlog() int { return int(c.waiting.Load() + c.handoff.body.Load()) }

// limits fixes how long a body may be, from the client's HEL. cold.
func (c *Channel) limits(maxMessage, maxChunks uint32) {
	c.maxBody = 1<<31 - 1
	if maxMessage > 0 && int64(maxMessage) < int64(c.maxBody) {
		c.maxBody = int(maxMessage)
	}
	if room := c.out.keys.room(c.out.size); maxChunks > 0 && int64(maxChunks)*int64(room) < int64(c.maxBody) {
		c.maxBody = int(maxChunks) * room
	}
	c.maxTry = min(c.maxBody, c.out.largest(cap(c.out.buf)))
}

// lock waits for the turn; false when the channel has ended. warm: never called by
// the PLC thread. The holder may be a thread of equal FIFO priority that was
// preempted on our CPU, so after a few attempts the goroutine sleeps.
func (c *Channel) lock() bool {
	for i := 0; !c.turn.CompareAndSwap(free, taken); i++ {
		if c.turn.Load() == retired {
			return false
		}
		yield(i)
	}
	return true
}

// unlock gives the turn back and sees to it that nothing handed over meanwhile is
// stranded: who puts into the hand-off and finds the turn taken can rely on the
// holder's look after this Store; with a backlog, on the flusher's. hot: the
// loop ends because every round but the last drains, and only one thread hands over.
func (c *Channel) unlock() {
	for {
		c.turn.Store(free)
		if c.handoff.empty() || c.stalled.Load() || c.ending.state.Load() != running || !c.turn.CompareAndSwap(free, taken) {
			return
		}
		c.drain()
	}
}

// drain seals and writes what was handed over. With the turn held. hot.
func (c *Channel) drain() {
	for !c.stalled.Load() && c.ending.state.Load() == running {
		id, a, b, ok := c.handoff.peek()
		if !ok {
			return
		}
		_, chunks := c.out.message(id, a, b, 0)
		c.handoff.drop(len(a) + len(b))
		c.count.messagesOut.Add(1)
		if c.push(chunks) != nil {
			return
		}
	}
}

// push writes what is sealed as far as the kernel takes it at once; the rest is the
// flusher's. With the turn held and the outbox empty before the sealing. hot.
func (c *Channel) push(chunks int) error {
	p := c.out.rest()
	n, err := c.cfg.SendNow(c.fd, p)
	if err != nil && !wouldBlock(err) {
		c.Close(ua.StatusBadConnectionClosed, "")
		return err
	}
	n = max(n, 0)
	c.count.chunksOut.Add(uint64(chunks))
	c.count.bytesOut.Add(uint64(n))
	c.out.wrote(n)
	c.waiting.Store(int64(len(p) - n))
	c.stalled.Store(n < len(p))
	if n < len(p) {
		c.count.backlogged.Add(1)
		c.signal(c.wake)
	}
	return nil
}

// wouldBlock knows ErrWouldBlock and EAGAIN. hot.
func wouldBlock(err error) bool {
	if err == ErrWouldBlock {
		return true
	}
	t, ok := err.(interface{ Timeout() bool })
	return ok && t.Timeout()
}

// signal leaves a note without waiting. On the PLC thread only when a backlog begins
// or the channel ends, never for a message that the kernel took.
func (c *Channel) signal(ch chan struct{}) {
	select {
	case ch <- struct{}{}:
	default:
	}
}

// yield lets others run: goroutines first, then threads.
func yield(attempt int) {
	if attempt < 4 {
		runtime.Gosched()
		return
	}
	time.Sleep(50 * time.Microsecond)
}
