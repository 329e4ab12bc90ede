package server

import (
	"testing"

	"github.com/gopcua/opcua/ua"

	"opcycle/rt"
)

// Part 4, 5.14.5.2: with one request more than the session may have waiting, the oldest is
// answered with BadTooManyPublishRequests.
func TestTooManyPublishRequests(t *testing.T) {
	b := newBare(t, 0, 0)
	b.sub.due = 1000
	b.ch.ids = make([]uint32, 0, 10)
	for range 3 { // at most 8 of a connection in one tick
		for range 8 {
			b.ask()
		}
		b.step()
	}
	same(t, "waiting", b.seat.n, 20)
	same(t, "answers", len(b.ch.ids), 4)
	for i, id := range b.ch.ids {
		same(t, "answered request", id, uint32(i+1))
	}
	same(t, "status", b.faultOf(t), ua.StatusBadTooManyPublishRequests)
	same(t, "counted", b.counters.PublishWaiting.Load(), int64(20))
}

// Part 4, 5.14.5.3: BadNoSubscription for a session that has none.
func TestNoSubscription(t *testing.T) {
	b := newBare(t, 0, 0)
	b.ask()
	b.step()
	o := &deleteSubscriptions{ticket: newTicket(b.seat), ids: []uint32{b.sub.id, 99}, results: make([]ua.StatusCode, 2)}
	o.apply(b.engine)
	same(t, "deleted", o.results[0], ua.StatusOK)
	same(t, "unknown", o.results[1], ua.StatusBadSubscriptionIDInvalid)
	same(t, "waiting request", b.faultOf(t), ua.StatusBadNoSubscription)
	same(t, "waiting", b.seat.n, 0)
	n := b.ch.count
	b.ask()
	b.step()
	same(t, "answers", b.ch.count, n+1)
	same(t, "next request", b.faultOf(t), ua.StatusBadNoSubscription)
}

// Part 4, 7.32: a request whose TimeoutHint has passed is answered with BadTimeout.
func TestTimeoutHint(t *testing.T) {
	b := newBare(t, 0, 0)
	b.sub.due = 1000
	b.ask().deadline = rt.Now() + 1e15
	b.ask().deadline = rt.Now() + 1
	b.ask()
	for rt.Now() == b.now {
	}
	b.step()
	b.step()
	same(t, "status", b.faultOf(t), ua.StatusBadTimeout)
	same(t, "waiting", b.seat.n, 2)
	same(t, "order", b.seat.pop().handle, uint32(1))
	same(t, "order", b.seat.pop().handle, uint32(3))
}

// Part 4, 5.14.1.2 and 5.14.2.2: a subscription ends after LifetimeCount cycles without a
// Publish request; the next request hears of it by a StatusChangeNotification BadTimeout.
func TestLifetime(t *testing.T) {
	b := newBare(t, 1, 5)
	for i := range 29 {
		b.step()
		if b.sub.dead.Load() {
			t.Fatalf("dead after %d cycles", i)
		}
	}
	b.step()
	b.step()
	same(t, "dead", b.sub.dead.Load(), true)
	same(t, "items", b.counters.MonitoredItems.Load(), int64(0))
	b.ask()
	b.ask()
	b.step()
	same(t, "second request", b.faultOf(t), ua.StatusBadNoSubscription)
	b = newBare(t, 1, 5)
	b.seat.leave(farewell{subscription: b.sub.id, sequence: 7, status: ua.StatusBadTimeout})
	b.ask()
	b.step()
	r := b.message(t)
	c := r.NotificationMessage.NotificationData[0].Value.(*ua.StatusChangeNotification)
	same(t, "status", c.Status, ua.StatusBadTimeout)
	same(t, "sequence", r.NotificationMessage.SequenceNumber, uint32(7))
}

// A Publish request, or any service with the SubscriptionId, starts the lifetime anew (Part
// 4, 5.14.1.1).
func TestLifetimeStartsAnew(t *testing.T) {
	b := newBare(t, 1, 5)
	for range 10 {
		for range 25 {
			b.step()
		}
		b.ask()
		b.step()
	}
	for range 10 {
		for range 25 {
			b.step()
		}
		o := &modifySubscription{ticket: newTicket(b.seat), id: b.sub.id, every: 1, keepAlive: 10, lifetime: 30}
		o.apply(b.engine)
	}
	same(t, "dead", b.sub.dead.Load(), false)
}

// Part 4, 5.14.2.2 and 5.14.5.2: MaxNotificationsPerPublish splits; MoreNotifications is set
// on all but the last; the parts leave in the same cycle while requests wait.
func TestMoreNotifications(t *testing.T) {
	b := newBare(t, 10, 5)
	b.sub.most = 7
	b.step()
	for range 2 {
		b.ask()
	}
	n := b.ch.count
	b.step()
	same(t, "messages in one tick", b.ch.count, n+2)
	r := b.message(t)
	same(t, "values", len(values(t, r)), 7)
	same(t, "more", r.MoreNotifications, true)
	same(t, "available", len(r.AvailableSequenceNumbers), 2)
	same(t, "LatePublishRequestCount", b.sub.diagnostics.LatePublishRequestCount.Load(), uint32(1))
	seen := map[uint32]int{}
	for range 20 {
		b.ask()
		b.step()
		for _, v := range values(t, b.message(t)) {
			seen[v.ClientHandle]++
		}
	}
	for h := range uint32(10) { // no item starves
		if seen[h] < 10 {
			t.Errorf("item %d came %d times", h, seen[h])
		}
	}
}

// A message is never longer than the channel takes: it is split.
func TestMessageFitsTheChannel(t *testing.T) {
	b := newBare(t, 1000, 5)
	b.conn.limit = 8192
	for range 10 {
		b.ask()
	}
	b.step()
	b.step()
	total := 0
	for range 20 {
		b.ask()
		n := b.ch.count
		b.step()
		if b.ch.count > n && len(b.ch.body) > 8192 {
			t.Fatalf("%d bytes", len(b.ch.body))
		}
		total += b.ch.count - n
	}
	if total < 20 {
		t.Errorf("%d messages", total)
	}
	b.conn.limit = 60 // not even a header with a value
	b.ask()
	b.step()
	same(t, "status", b.faultOf(t), ua.StatusBadResponseTooLarge)
}

// Part 4, 5.14.2.2: of several subscriptions the one with the higher priority is served
// first, equal ones in turn; they share the session's Publish requests (5.14.1.1).
func TestPriority(t *testing.T) {
	b := newBare(t, 1, 100)
	low := b.sub
	subs := []*subscription{low}
	for i := range 3 {
		b.sub = b.subscribe(t, 1, 10, 1000)
		b.sub.priority = []byte{5, 5, 9}[i]
		b.add(t, 1, 100)
		subs = append(subs, b.sub)
	}
	low.lifetime = 1000
	b.step()
	served := map[uint32]int{}
	for range 30 { // two requests a cycle for four subscriptions
		for range 2 {
			b.ask()
		}
		before := map[uint32]uint32{}
		for _, s := range subs {
			before[s.id] = s.sequence
		}
		b.step()
		for _, s := range subs {
			served[s.id] += int(s.sequence - before[s.id])
		}
	}
	same(t, "highest", served[subs[3].id], 30)
	same(t, "equal", served[subs[1].id], 15)
	same(t, "equal", served[subs[2].id], 15)
	same(t, "lowest", served[low.id], 0)
	if n := low.diagnostics.LatePublishRequestCount.Load(); n != 1 {
		t.Errorf("late %d times, it has been late once and for all", n)
	}
}

// Part 4, 5.14.4: without publishing only keep-alives are sent; queues go on.
func TestPublishingDisabled(t *testing.T) {
	b := newBare(t, 1, 3)
	o := &setPublishingMode{ticket: newTicket(b.seat), ids: []uint32{b.sub.id, 77}, results: make([]ua.StatusCode, 2)}
	o.apply(b.engine)
	same(t, "unknown", o.results[1], ua.StatusBadSubscriptionIDInvalid)
	for range 25 {
		b.ask()
		b.step()
	}
	same(t, "keep-alives", b.counters.KeepAlives.Load(), int64(3)) // cycles 1, 11, 21
	same(t, "notifications", b.counters.Notifications.Load(), int64(0))
	o.enabled = true
	o.apply(b.engine)
	b.cycle()
	v := ints(t, b.message(t))
	if len(v) != 3 || v[2] != 25 {
		t.Errorf("values %v", v)
	}
	same(t, "EnableCount", b.sub.diagnostics.EnableCount.Load(), uint32(1))
	same(t, "DisableCount", b.sub.diagnostics.DisableCount.Load(), uint32(1))
}

// Part 4, 5.14.5.2 and 5.14.6: messages stay for Republish until they are acknowledged, at
// least two times the Publish requests of a session; the oldest makes room.
func TestRetransmission(t *testing.T) {
	b := newBare(t, 1, 5)
	for range 51 {
		b.ask()
		b.step()
	}
	same(t, "available", len(b.message(t).AvailableSequenceNumbers), 40)
	same(t, "newest", b.message(t).AvailableSequenceNumbers[39], uint32(50))
	same(t, "UnacknowledgedMessageCount", b.sub.diagnostics.UnacknowledgedMessageCount.Load(), uint32(40))
	same(t, "DiscardedMessageCount", b.sub.diagnostics.DiscardedMessageCount.Load(), uint32(10))
	original := b.message(t).NotificationMessage
	again := func(sequence uint32) *republish {
		o := &republish{ticket: newTicket(b.seat), conn: b.conn, id: 5, handle: 6, sub: b.sub.id, sequence: sequence}
		o.apply(b.engine)
		return o
	}
	same(t, "status", again(50).answered, true)
	r := b.last(t).(*ua.RepublishResponse)
	same(t, "sequence", r.NotificationMessage.SequenceNumber, uint32(50))
	same(t, "publish time", r.NotificationMessage.PublishTime, original.PublishTime)
	same(t, "gone", again(10).status, ua.StatusBadMessageNotAvailable)
	same(t, "future", again(51).status, ua.StatusBadMessageNotAvailable)
	b.ask(ack{b.sub.id, 50}, ack{b.sub.id, 50}, ack{b.sub.id + 1, 1})
	b.step() // answers the request before
	b.step()
	res := b.message(t).Results
	same(t, "ack", res[0], ua.StatusOK)
	same(t, "ack again", res[1], ua.StatusBadSequenceNumberUnknown)
	same(t, "ack of another", res[2], ua.StatusBadSubscriptionIDInvalid)
	same(t, "acknowledged", again(50).status, ua.StatusBadMessageNotAvailable)
	o := again(49)
	o.sub = 99
	o.apply(b.engine)
	same(t, "unknown subscription", o.status, ua.StatusBadSubscriptionIDInvalid)
	same(t, "RepublishRequestCount", b.sub.diagnostics.RepublishRequestCount.Load(), uint32(5))
}

// Ids are not used again while they are alive; the built-in engine of gopcua gives a live
// one away after create 2, delete 1, create.
func TestSubscriptionIDsAreNotUsedAgain(t *testing.T) {
	b := newBare(t, 0, 0)
	first := b.sub.id
	second := b.subscribe(t, 1, 10, 30).id
	(&deleteSubscriptions{ticket: newTicket(b.seat), ids: []uint32{first}, results: make([]ua.StatusCode, 1)}).apply(b.engine)
	if third := b.subscribe(t, 1, 10, 30).id; third == second || third == first {
		t.Errorf("id %d after %d and %d", third, first, second)
	}
	b.lastID = second - 1
	if wrapped := b.subscribe(t, 1, 10, 30).id; wrapped == second {
		t.Errorf("id %d is alive", wrapped)
	}
}
