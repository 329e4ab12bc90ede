package server

import (
	"log"
	"time"

	"github.com/gopcua/opcua/ua"
)

const (
	// housekeepingPeriod is how often sessions and connections are looked at.
	housekeepingPeriod = 100 * time.Millisecond
	// idleChannel is how long a channel may be open without a session (Part 4, 5.6.2.1).
	idleChannel = 30 * time.Second
	// orderLimit is how long a request waits for the PLC thread.
	orderLimit = 5 * time.Second
)

// keepHouse ends sessions whose timeout passed, channels that nobody uses, and forgets
// ended connections once their inbox is empty.
func (s *Server) keepHouse() {
	defer s.running.Done()
	t := time.NewTicker(housekeepingPeriod)
	defer t.Stop()
	for {
		select {
		case <-s.stop:
			return
		case now := <-t.C:
			s.endSessions()
			s.endConnections(now)
		}
	}
}

// endSessions tells the PLC thread of ended sessions; what its inbox has no place for is
// tried again.
func (s *Server) endSessions() {
	ended := s.sessions.expire()
	for i, e := range ended {
		if !e.seat.told.Load() {
			continue
		}
		if !s.desk.put(message{order: &closeSession{ticket: newTicket(e.seat), keep: true}}) {
			s.sessions.again(ended[i:])
			return
		}
	}
}

func (s *Server) endConnections(now time.Time) {
	used := s.sessions.used()
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		if c.inbox.gone.Load() && c.inbox.empty() {
			s.drop(c)
			continue
		}
		if c.used.Store(used[c]); used[c] {
			c.idle = now
		}
		if c.ready.Load() && now.Sub(c.idle) > idleChannel {
			c.abort(ua.StatusBadTimeout, "no session was activated on the channel")
		}
	}
}

// order gives o to the PLC thread and waits for its result. The connection reads no
// further request meanwhile: at most one cycle, while the PLC thread lives.
func (c *connection) order(o order, t *ticket) ua.StatusCode {
	if !c.inbox.put(message{order: o}) {
		c.server.counters.InboxFull.Add(1)
		return ua.StatusBadTooManyOperations
	}
	limit := time.NewTimer(orderLimit)
	defer limit.Stop()
	select {
	case <-t.done:
		return t.status
	case <-c.wire.Done():
		return ua.StatusBadConnectionClosed
	case <-c.server.stop:
		return ua.StatusBadServerHalted
	case <-limit.C:
		return ua.StatusBadTimeout
	}
}

// report prints what must never happen.
func (s *Server) report(what string) { log.Printf("opcycle server: %s", what) }

// rebind moves a session to another channel.
func (r *sessions) rebind(s *session, c *connection) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s.conn.Store(c)
	c.sessions = append(c.sessions, s)
}

// MemoryPerConnection is an upper bound, in bytes, of what one connection with one session
// can make the server hold: channel buffers, inbox, Publish requests, and at the limits of
// its session subscriptions, items, queues and retransmission.
func (s *Server) MemoryPerConnection() int64 {
	l := s.cfg.Limits
	const (
		requestBytes      = maxAcks*12 + 128
		itemBytes         = 320
		subscriptionBytes = 2048 + maxLinks*16
	)
	wire := int64(s.cfg.Buffer) + 2*int64(l.Backlog) + 2*int64(l.Message)
	requests := int64(l.PublishRequests+spareRequests)*requestBytes + inboxSize*24
	items := int64(l.MonitoredItems) * itemBytes
	lists := int64(l.SubscriptionsPerSession) * (subscriptionBytes + 8*int64(l.MonitoredItems))
	return wire + requests + items + lists + int64(l.QueueEntries)*32 + int64(l.Retransmission)
}
