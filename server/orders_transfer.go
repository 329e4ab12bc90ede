package server

import (
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/wire"
)

// republish is Republish (Part 4, 5.14.6). The PLC thread answers it itself, since the
// message lies ready encoded; finish tells whether the goroutine still has to.
type republish struct {
	ticket
	conn     *connection
	id       uint32 // RequestId
	handle   uint32
	sub      uint32
	sequence uint32
	answered bool
}

func (o *republish) apply(e *engine) bool {
	sub := o.seat.find(o.sub)
	if sub == nil {
		return o.finish(ua.StatusBadSubscriptionIDInvalid)
	}
	body := sub.sent.find(o.sequence)
	if body == nil {
		sub.diagnostics.RepublishRequestCount.Add(1)
		sub.diagnostics.RepublishMessageRequestCount.Add(1)
		return o.finish(ua.StatusBadMessageNotAvailable)
	}
	b := putResponseHeader(e.out[:0], id.RepublishResponse_Encoding_DefaultBinary, e.wall, o.handle, ua.StatusOK)
	e.out = append(b, body...)
	if o.conn.inbox.gone.Load() || len(e.out) > min(o.conn.limit, o.seat.limit) {
		return o.finish(ua.StatusBadResponseTooLarge)
	}
	how, err := o.conn.channel.TrySend(o.id, e.out)
	if how == wire.Refused && err == nil {
		return false // in the next tick, when the channel takes it
	}
	sub.unanswered = 0
	sub.diagnostics.RepublishRequestCount.Add(1)
	sub.diagnostics.RepublishMessageRequestCount.Add(1)
	sub.diagnostics.RepublishMessageCount.Add(1)
	o.answered = true
	return o.finish(ua.StatusOK)
}

// transfer is TransferSubscriptions (Part 4, 5.14.7).
type transfer struct {
	ticket
	uri         string // ApplicationUri of the new client
	ids         []uint32
	sendInitial bool
	results     []ua.StatusCode
	subs        []*subscription // those that came over
	available   []uint32        // capacity: retransmission slots for each id
	ends        []int           // end of each id's part of available
}

func (o *transfer) apply(e *engine) bool {
	if o.seat.closed {
		return o.finish(ua.StatusBadSessionClosed)
	}
	if !e.join(o.seat) {
		return o.finish(ua.StatusBadTooManySessions)
	}
	for i, id := range o.ids {
		o.results[i] = o.one(e, id)
		o.ends[i] = len(o.available)
	}
	return o.finish(ua.StatusOK)
}

// one moves one subscription.
func (o *transfer) one(e *engine, id uint32) ua.StatusCode {
	sub := e.find(id)
	if sub == nil {
		return ua.StatusBadSubscriptionIDInvalid
	}
	sub.diagnostics.TransferRequestCount.Add(1)
	// Users are anonymous: the same application is all that can be asked for.
	if sub.uri != o.uri {
		return ua.StatusBadUserAccessDenied
	}
	if sub.seat != o.seat {
		if len(o.seat.subs) == cap(o.seat.subs) {
			return ua.StatusBadTooManySubscriptions
		}
		e.move(sub, o.seat)
		sub.diagnostics.TransferredToSameClientCount.Add(1)
	}
	sub.unanswered = 0
	o.subs = append(o.subs, sub)
	for i := range sub.sent.slots {
		if r := &sub.sent.slots[(sub.sent.at+i)%len(sub.sent.slots)]; r.used {
			o.available = append(o.available, r.sequence)
		}
	}
	if o.sendInitial {
		for _, it := range sub.items {
			it.first = it.first || it.mode == ua.MonitoringModeReporting
		}
	}
	return ua.StatusOK
}

// move takes a subscription from where it is to another session; the old one hears of it
// by a StatusChangeNotification GoodSubscriptionTransferred (Part 4, 5.14.7.1).
func (e *engine) move(sub *subscription, to *seat) {
	if old := sub.seat; old != nil {
		old.remove(sub)
		old.leave(farewell{subscription: sub.id, sequence: sub.sequence, status: ua.StatusGoodSubscriptionTransferred})
	} else {
		for i, x := range e.orphans {
			if x == sub {
				last := len(e.orphans) - 1
				e.orphans[i], e.orphans[last] = e.orphans[last], nil
				e.orphans = e.orphans[:last]
				break
			}
		}
	}
	sub.seat = to
	to.subs = append(to.subs, sub)
	to.items += len(sub.items)
	to.entries += sub.entries
}
