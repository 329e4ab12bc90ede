package server

import (
	"math"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/record"
	"opcycle/rt"
	"opcycle/wire"
)

// publish sends what is due in a session while Publish requests wait: farewells first,
// then the subscription of the highest priority, in turn among equals, one message each,
// until nothing is due (MoreNotifications: another turn in the same tick). hot.
func (e *engine) publish(s *seat) {
	for {
		p := s.oldest(e)
		if p == nil {
			break
		}
		if p.conn.channel.Backlog() > 0 {
			if s.best() != nil {
				e.flags |= record.FlagSlow
			}
			break
		}
		if s.leaving > 0 {
			if !e.sendFarewell(s, p) {
				break
			}
			continue
		}
		sub := s.best()
		if sub == nil || !e.send(s, sub, p) {
			break
		}
	}
	waits := s.n > 0
	for _, sub := range s.subs {
		if !sub.ready {
			continue
		}
		if !sub.late {
			sub.late = true
			sub.diagnostics.LatePublishRequestCount.Add(1)
			e.counters.LateSubscription.Add(1)
		}
		if !waits {
			sub.starved = true
			if sub.queued > 0 && sub.enabled {
				e.flags |= record.FlagNoRequest
			}
		}
	}
}

// best is the subscription whose message goes next (Part 4, 5.14.2.2, priority). hot.
func (s *seat) best() *subscription {
	var b *subscription
	for _, sub := range s.subs {
		if sub.ready && (b == nil || sub.priority > b.priority || sub.priority == b.priority && sub.served < b.served) {
			b = sub
		}
	}
	return b
}

// draft is what encode says of the message in e.out.
type draft struct {
	values      int
	first, last int64 // grid indices of counters; last < 0: none
	more        bool
	full        bool // stopped by a limit, at item cursor
	cursor      int
	keepAlive   bool
	from, to    int // NotificationMessage in e.out
	flags       record.Flags
	tooSmall    bool // the client's limit leaves no room for anything
}

// send makes one message of sub and answers p with it. false: the channel did not take it
// and everything is as before. hot.
func (e *engine) send(s *seat, sub *subscription, p *publishRequest) bool {
	before := rt.Now()
	d := e.encode(sub, p)
	if d.tooSmall {
		sub.roll(&d, false)
		if !e.fault(p, ua.StatusBadResponseTooLarge) {
			return false
		}
		s.pop()
		e.release(p)
		return true
	}
	how, err := p.conn.channel.TrySend(p.id, e.out)
	after := rt.Now()
	if how == wire.Refused {
		sub.roll(&d, false)
		e.counters.Refused.Add(1)
		if err != nil { // closed under us: the request is gone with its channel
			s.pop()
			e.release(p)
			return true
		}
		e.flags |= record.FlagSlow
		return false
	}
	if how == wire.Queued {
		d.flags |= record.FlagQueued
		e.counters.Queued.Add(1)
	}
	sub.roll(&d, true)
	s.pop()
	e.sent(s, sub, p, &d, before, after)
	e.release(p)
	return true
}

// sent does the books of a message that left. hot.
func (e *engine) sent(s *seat, sub *subscription, p *publishRequest, d *draft, before, after int64) {
	diag := &sub.diagnostics
	diag.PublishRequestCount.Add(1)
	if d.keepAlive {
		e.counters.KeepAlives.Add(1)
	} else {
		if sub.sent.slots[sub.sent.at].used {
			diag.DiscardedMessageCount.Add(1)
		}
		sub.sent.keep(sub.sequence, e.out[d.from:d.to])
		e.counters.Notifications.Add(1)
		e.counters.Values.Add(int64(d.values))
		diag.DataChangeNotificationsCount.Add(uint32(d.values))
		diag.NotificationsCount.Add(uint32(d.values))
		if d.last >= 0 {
			if sub.starved {
				d.flags |= record.FlagNoRequest
			}
			r := record.Sent{Flags: d.flags, K: d.last, First: d.first, Values: int64(d.values), Sequence: int64(sub.sequence),
				Before: before, After: after, Request: int64(p.id), Subscription: int64(sub.id),
				Bytes: int64(len(e.out)), Release: e.k, Waiting: int64(s.n)}
			var slot record.Record
			r.Record(&slot)
			e.put(&slot)
		}
		sub.sequence = nextSequence(sub.sequence)
		diag.NextSequenceNumber.Store(sub.sequence)
		diag.UnacknowledgedMessageCount.Store(uint32(sub.sent.used))
	}
	e.turn++
	sub.served = e.turn
	sub.started, sub.idle, sub.unanswered = true, 0, 0
	sub.ready = d.more
	if !d.more {
		sub.late, sub.starved = false, false
	}
}

// encode makes the PublishResponse (Part 4, 5.14.5; the NotificationMessage: 7.26) of sub
// for p in e.out, without taking anything from the queues: roll does that. hot: no
// allocation.
func (e *engine) encode(sub *subscription, p *publishRequest) draft {
	d := draft{first: math.MaxInt64, last: -1, cursor: sub.cursor}
	d.keepAlive = sub.queued == 0 || !sub.enabled
	current := sub.sequence
	if d.keepAlive {
		current = 0 // it is not kept: the next message has the number that a keep-alive names
	}
	b := putResponseHeader(e.out[:0], id.PublishResponse_Encoding_DefaultBinary, e.wall, p.handle, ua.StatusOK)
	b = put32(b, sub.id)
	b = sub.sent.putAvailable(b, current)
	moreAt := len(b)
	b = append(b, 0)
	d.from = len(b)
	b = put32(b, sub.sequence)
	b = put64(b, e.wall) // PublishTime
	if d.keepAlive {
		b = put32(b, 0)
	} else {
		tail := 4 + 4 + 4*p.acks + 4
		limit := min(p.limit(), cap(e.out), d.from+sub.sent.limit()) - tail
		b = e.putDataChange(b, sub, &d, limit)
	}
	d.to = len(b)
	if d.more {
		b[moreAt] = 1
	}
	b = put32(b, uint32(p.acks))
	for _, r := range p.result[:p.acks] {
		b = put32(b, uint32(r))
	}
	b = put32(b, null32) // DiagnosticInfos
	d.tooSmall = len(b) > p.limit() || !d.keepAlive && d.values == 0
	e.out = b[:len(b):cap(b)]
	return d
}
