package server

import (
	"fmt"
	"net"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/gopcua/opcua/ua"

	"opcycle/rt"
	"opcycle/wire"
)

// channel is what the PLC thread uses of a secure channel; neither waits.
type channel interface {
	TrySend(requestID uint32, body []byte) (wire.Sent, error)
	Backlog() int
	Close(status ua.StatusCode, reason string)
}

// spareRequests are Publish requests that a connection may have under way beyond those
// that may wait, so that one too many reaches the PLC thread, which answers the oldest.
const spareRequests = 8

// connection is one TCP connection with its secure channel. Its goroutine owns it, but for
// inbox, which it shares with the PLC thread, and what is atomic or guarded.
type connection struct {
	server  *Server
	conn    *net.TCPConn
	opened  time.Time
	wire    *wire.Channel // set before ready
	channel channel       // the same, as the PLC thread sees it
	limit   int           // bytes of a message that the PLC thread may send

	ready   atomic.Bool // the channel is open and the inbox listed
	used    atomic.Bool // a session is active on it
	idle    time.Time   // Server.mu: when a session was last seen active on it
	evicted bool        // Server.mu
	inbox   inbox
	reply   [64]byte // of writeEcho
	slots   []publishRequest
	next    int // slot to try first
	closing chan struct{}
	tcp     *rt.TCPLog  // set before ready
	carries atomic.Bool // it asked for notifications

	sessions []*session // bound to this channel, or were
}

func newConnection(s *Server, conn *net.TCPConn) *connection {
	now := time.Now()
	return &connection{server: s, conn: conn, opened: now, idle: now, closing: make(chan struct{})}
}

// abort ends the connection from another goroutine. Server.mu is held.
func (c *connection) abort(status ua.StatusCode, reason string) {
	if c.ready.Load() {
		c.wire.Close(status, reason)
	} else {
		c.conn.Close()
	}
	select {
	case <-c.closing:
	default:
		close(c.closing)
	}
}

// run is the connection's goroutine.
func (c *connection) run() {
	defer c.server.running.Done()
	defer c.end()
	ch, err := wire.Accept(c.conn, c.server.wireConfig())
	if err != nil {
		return // the peer was told by wire
	}
	defer ch.Wait()
	defer ch.Close(ua.StatusOK, "")
	if !c.open(ch) {
		return
	}
	for {
		r, err := ch.Receive()
		if err != nil {
			return
		}
		if err := c.serve(r.ID, r.Body); err != nil {
			return
		}
		if c.carries.Load() {
			c.tcp.Look(rt.Now()) // the PLC thread has what it waits for
		}
	}
}

// open makes what a working connection needs and shows it to the PLC thread.
func (c *connection) open(ch *wire.Channel) bool {
	s := c.server
	raw, err := c.conn.SyscallConn()
	if err != nil { // it has ended
		ch.Close(ua.StatusBadConnectionClosed, "")
		return false
	}
	c.tcp = rt.NewTCPLog(raw, rt.Now()-int64(time.Since(c.opened)))
	c.slots = make([]publishRequest, s.cfg.Limits.PublishRequests+spareRequests)
	for i := range c.slots {
		c.slots[i].conn = c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || c.evicted {
		ch.Close(ua.StatusBadServerHalted, "the server ends")
		return false
	}
	c.wire, c.channel, c.limit = ch, ch, ch.MaxTryBody()
	c.ready.Store(true)
	s.publishInboxes()
	return true
}

// end takes the connection out of the books. The inbox stays listed until the PLC thread
// has emptied it: orders in it (a closed session, say) must not be lost.
func (c *connection) end() {
	s := c.server
	c.inbox.gone.Store(true)
	s.sessions.unbind(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if !c.ready.Load() || s.closed {
		s.drop(c)
	}
}

// drop forgets a connection. mu is held.
func (s *Server) drop(c *connection) {
	if _, ok := s.connections[c]; !ok {
		return
	}
	delete(s.connections, c)
	s.counters.Connections.Add(-1)
	s.publishInboxes()
}

// serve answers one request. A panic would be an error of ours: it ends this connection
// only, is counted and printed with its stack.
func (c *connection) serve(id uint32, body []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			c.server.counters.Panics.Add(1)
			c.server.report(fmt.Sprintf("request of %v: panic: %v\n%s", c.conn.RemoteAddr(), p, debug.Stack()))
			c.wire.Close(ua.StatusBadInternalError, "internal error")
			err = wire.ErrClosed
		}
	}()
	h, known, whole := readHeader(body)
	if !known {
		return c.fault(id, 0, ua.StatusBadDecodingError)
	}
	if h.service == writeID && whole {
		if v, ok := echoOf(body, h.end); ok {
			return c.writeEcho(id, v, h)
		}
	}
	switch {
	case h.service != publishID:
		return c.call(id, body, h, whole)
	case !whole:
		return c.fault(id, h.handle, ua.StatusBadDecodingError)
	}
	return c.publish(id, body, h)
}

// Connections are what the kernel knows of the open connections that ever asked for
// notifications.
func (s *Server) Connections() []rt.TCPState {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []rt.TCPState
	for c := range s.connections {
		if c.carries.Load() && !c.inbox.gone.Load() {
			out = append(out, c.tcp.State(rt.Now()))
		}
	}
	return out
}
