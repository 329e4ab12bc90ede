package server

import (
	"github.com/gopcua/opcua/ua"
)

// ticket is the part of an order that its giver waits on. The PLC thread writes status
// and the order's results before it signals, the goroutine reads them after.
type ticket struct {
	seat   *seat
	status ua.StatusCode
	done   chan struct{} // capacity 1: the PLC thread never waits on it
}

func newTicket(s *seat) ticket {
	s.told.Store(true)
	return ticket{seat: s, done: make(chan struct{}, 1)}
}

// finish signals the giver. PLC thread. warm.
func (t *ticket) finish(status ua.StatusCode) bool {
	t.status = status
	select {
	case t.done <- struct{}{}:
	default:
	}
	return true
}

// createSubscription is CreateSubscription (Part 4, 5.14.2); all memory comes with it.
type createSubscription struct {
	ticket
	sub *subscription
}

func (o *createSubscription) apply(e *engine) bool {
	s := o.seat
	switch {
	case s.closed:
		return o.finish(ua.StatusBadSessionClosed)
	case !e.join(s):
		return o.finish(ua.StatusBadTooManySessions)
	case len(s.subs) == cap(s.subs) || int(e.counters.Subscriptions.Load()) >= e.cfg.Limits.Subscriptions:
		return o.finish(ua.StatusBadTooManySubscriptions)
	}
	for {
		e.lastID++
		if e.lastID != 0 && e.find(e.lastID) == nil {
			break
		}
	}
	sub := o.sub
	sub.id, sub.seat, sub.due = e.lastID, s, e.k+sub.every
	s.subs = append(s.subs, sub)
	e.counters.Subscriptions.Add(1)
	return o.finish(ua.StatusOK)
}

// modifySubscription is ModifySubscription (Part 4, 5.14.3).
type modifySubscription struct {
	ticket
	id                  uint32
	every               int64
	keepAlive, lifetime uint32
	most                int
	priority            uint8
}

func (o *modifySubscription) apply(e *engine) bool {
	sub := o.seat.find(o.id)
	if sub == nil {
		return o.finish(ua.StatusBadSubscriptionIDInvalid)
	}
	if sub.every != o.every {
		sub.every, sub.due = o.every, e.k+o.every
	}
	sub.keepAlive, sub.lifetime, sub.most, sub.priority = o.keepAlive, o.lifetime, o.most, o.priority
	sub.unanswered = 0
	sub.diagnostics.ModifyCount.Add(1)
	return o.finish(ua.StatusOK)
}

// setPublishingMode is SetPublishingMode (Part 4, 5.14.4).
type setPublishingMode struct {
	ticket
	enabled bool
	ids     []uint32
	results []ua.StatusCode
}

func (o *setPublishingMode) apply(*engine) bool {
	for i, id := range o.ids {
		sub := o.seat.find(id)
		if sub == nil {
			o.results[i] = ua.StatusBadSubscriptionIDInvalid
			continue
		}
		if o.enabled && !sub.enabled {
			sub.diagnostics.EnableCount.Add(1)
		} else if !o.enabled && sub.enabled {
			sub.diagnostics.DisableCount.Add(1)
		}
		sub.enabled, sub.unanswered = o.enabled, 0
	}
	return o.finish(ua.StatusOK)
}

// deleteSubscriptions is DeleteSubscriptions (Part 4, 5.14.8).
type deleteSubscriptions struct {
	ticket
	ids     []uint32
	results []ua.StatusCode
}

func (o *deleteSubscriptions) apply(e *engine) bool {
	for i, id := range o.ids {
		sub := o.seat.find(id)
		if sub == nil {
			o.results[i] = ua.StatusBadSubscriptionIDInvalid
			continue
		}
		o.seat.remove(sub)
		e.forget(sub)
	}
	e.starve(o.seat)
	return o.finish(ua.StatusOK)
}

// closeSession ends a session's seat (Part 4, 5.7.4): subscriptions are deleted or left to
// a transfer, waiting requests answered with BadSessionClosed.
type closeSession struct {
	ticket
	keep bool // leave the subscriptions to TransferSubscriptions or their lifetime
}

func (o *closeSession) apply(e *engine) bool {
	s := o.seat
	if s.closed {
		return o.finish(ua.StatusBadSessionClosed)
	}
	s.closed = true
	for p := s.oldest(e); p != nil; p = s.oldest(e) {
		e.fault(p, ua.StatusBadSessionClosed) // what a full channel does not take is lost with the session
		s.pop()
		e.release(p)
	}
	for _, sub := range s.subs {
		if o.keep && len(e.orphans) < cap(e.orphans) {
			sub.seat = nil
			e.orphans = append(e.orphans, sub)
			continue
		}
		e.forget(sub)
	}
	clear(s.subs)
	s.subs = s.subs[:0]
	for i, x := range e.seats {
		if x == s {
			last := len(e.seats) - 1
			e.seats[i], e.seats[last] = e.seats[last], nil
			e.seats = e.seats[:last]
			break
		}
	}
	return o.finish(ua.StatusOK)
}

// cancel answers waiting Publish requests with a given handle (Part 4, 5.7.5).
type cancel struct {
	ticket
	handle uint32
	count  uint32
}

func (o *cancel) apply(e *engine) bool {
	s := o.seat
	for n := s.n; n > 0; n-- {
		p := s.pop()
		if p.handle == o.handle && e.fault(p, ua.StatusBadRequestCancelledByClient) {
			e.release(p)
			o.count++
			continue
		}
		s.push(p)
	}
	return o.finish(ua.StatusOK)
}
