package server

import (
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/wire"
)

// accept takes a Publish request (Part 4, 5.14.5): acknowledgements first, then its place
// among the waiting ones. false: it stays in the inbox, since an answer that has to go out
// first found the channel full. hot.
func (e *engine) accept(p *publishRequest) bool {
	s := p.seat
	if s.closed {
		e.fault(p, ua.StatusBadSessionClosed)
		e.release(p)
		return true
	}
	if !e.join(s) {
		e.fault(p, ua.StatusBadTooManySessions)
		e.release(p)
		return true
	}
	if s.n == e.cfg.Limits.PublishRequests {
		// Part 4, 5.14.5.2: the oldest one is answered, this one takes its place.
		old := s.oldest(e)
		if old != nil && s.n == e.cfg.Limits.PublishRequests {
			if !e.fault(old, ua.StatusBadTooManyPublishRequests) {
				return false
			}
			s.pop()
			e.release(old)
		}
	}
	e.acknowledge(s, p)
	if len(s.subs) == 0 && s.leaving == 0 {
		e.fault(p, ua.StatusBadNoSubscription)
		e.release(p)
		return true
	}
	if p.deadline != 0 && (s.nearest == 0 || p.deadline < s.nearest) {
		s.nearest = p.deadline
	}
	s.push(p)
	p.waits = true
	e.counters.PublishWaiting.Add(1)
	return true
}

// acknowledge deletes acknowledged messages from the retransmission queues. hot.
func (e *engine) acknowledge(s *seat, p *publishRequest) {
	for i, a := range p.ack[:p.acks] {
		sub := s.find(a.subscription)
		if sub == nil {
			p.result[i] = ua.StatusBadSubscriptionIDInvalid
			continue
		}
		p.result[i] = sub.sent.acknowledge(a.sequence)
		sub.diagnostics.UnacknowledgedMessageCount.Store(uint32(sub.sent.used))
	}
}

// release gives a request's place back to its connection. hot.
func (e *engine) release(p *publishRequest) {
	if p.waits {
		p.waits = false
		e.counters.PublishWaiting.Add(-1)
	}
	p.seat = nil
	p.busy.Store(false)
}

// fault answers p with a ServiceFault; false when the channel has no room for it now. hot.
func (e *engine) fault(p *publishRequest, status ua.StatusCode) bool {
	if p.conn.inbox.gone.Load() {
		return true
	}
	e.out = putFault(e.out[:0], e.wall, p.handle, status)
	how, err := p.conn.channel.TrySend(p.id, e.out)
	if how == wire.Refused && err == nil {
		e.counters.Refused.Add(1)
		return false
	}
	e.counters.Faults.Add(1)
	return true
}

// timeOut answers the requests whose TimeoutHint has passed (Part 4, 7.32). hot.
func (e *engine) timeOut(s *seat) {
	if s.nearest == 0 || e.now < s.nearest {
		return
	}
	s.nearest = 0
	for n := s.n; n > 0; n-- {
		p := s.pop()
		if p.deadline != 0 && e.now >= p.deadline && e.fault(p, ua.StatusBadTimeout) {
			e.release(p)
			continue
		}
		if p.deadline != 0 && (s.nearest == 0 || p.deadline < s.nearest) {
			s.nearest = p.deadline
		}
		s.push(p)
	}
}

// sendFarewell answers p with the oldest StatusChangeNotification (Part 4, 7.25.4). hot.
func (e *engine) sendFarewell(s *seat, p *publishRequest) bool {
	f := s.farewells[0]
	b := putResponseHeader(e.out[:0], id.PublishResponse_Encoding_DefaultBinary, e.wall, p.handle, ua.StatusOK)
	b = put32(b, f.subscription)
	b = put32(b, 0)  // AvailableSequenceNumbers
	b = append(b, 0) // MoreNotifications
	b = put32(b, f.sequence)
	b = put64(b, e.wall)
	b = put32(b, 1)
	b = putTypeID(b, id.StatusChangeNotification_Encoding_DefaultBinary)
	b = append(b, 0x01)
	b = put32(b, 5)
	b = put32(b, uint32(f.status))
	b = append(b, 0x00) // DiagnosticInfo
	b = put32(b, uint32(p.acks))
	for _, r := range p.result[:p.acks] {
		b = put32(b, uint32(r))
	}
	e.out = put32(b, null32)
	how, err := p.conn.channel.TrySend(p.id, e.out)
	if how == wire.Refused && err == nil {
		e.counters.Refused.Add(1)
		return false
	}
	s.pop()
	e.release(p)
	if how != wire.Refused {
		copy(s.farewells[:], s.farewells[1:s.leaving])
		s.leaving--
		e.starve(s)
	}
	return true
}

// starve answers every waiting request of a session without subscriptions with
// BadNoSubscription (Part 4, 5.14.8.1). PLC thread.
func (e *engine) starve(s *seat) {
	if len(s.subs) > 0 || s.leaving > 0 {
		return
	}
	for p := s.oldest(e); p != nil; p = s.oldest(e) {
		if !e.fault(p, ua.StatusBadNoSubscription) {
			return // the rest when the channel takes answers again
		}
		s.pop()
		e.release(p)
	}
}

// join lists a session's seat. PLC thread.
func (e *engine) join(s *seat) bool {
	if s.joined {
		return true
	}
	if len(e.seats) == cap(e.seats) {
		return false
	}
	s.joined = true
	e.seats = append(e.seats, s)
	return true
}

// expire ends a subscription whose lifetime is over (Part 4, 5.14.1.2): the client hears
// of it with the next Publish request; a channel that did not take anything for so long is closed. hot.
func (e *engine) expire(s *seat, sub *subscription) {
	if p := s.oldest(e); p != nil && p.conn.channel.Backlog() > 0 {
		p.conn.channel.Close(ua.StatusBadTimeout, "the client did not read for the lifetime of its subscription")
	}
	s.remove(sub)
	s.leave(farewell{subscription: sub.id, sequence: sub.sequence, status: ua.StatusBadTimeout})
	e.forget(sub)
}

// forget does the books of a subscription that ended. PLC thread.
func (e *engine) forget(sub *subscription) {
	sub.dead.Store(true)
	sub.seat = nil
	e.counters.Subscriptions.Add(-1)
	e.counters.MonitoredItems.Add(-int64(len(sub.items)))
}

// forgetOrphan ends the i-th orphan. PLC thread.
func (e *engine) forgetOrphan(i int) {
	sub := e.orphans[i]
	last := len(e.orphans) - 1
	e.orphans[i], e.orphans[last] = e.orphans[last], nil
	e.orphans = e.orphans[:last]
	e.forget(sub)
}

// find returns a living subscription of any session. PLC thread.
func (e *engine) find(id uint32) *subscription {
	for _, s := range e.seats {
		if sub := s.find(id); sub != nil {
			return sub
		}
	}
	for _, sub := range e.orphans {
		if sub.id == id {
			return sub
		}
	}
	return nil
}
