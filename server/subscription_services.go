package server

import (
	"github.com/gopcua/opcua/ua"
)

// The goroutine's half of the subscription service set (Part 4, 5.14): it checks, revises
// and makes all memory; the PLC thread only links it in.

const (
	// smallMessage is the smallest memory of one retransmission slot, bytes.
	smallMessage = 2048
	// stalledValues is how many values of an item one message has room for, so that a short
	// stall ends in one message.
	stalledValues = 10
)

// createSubscription is CreateSubscription (Part 4, 5.14.2).
func (c *call) createSubscription(r *ua.CreateSubscriptionRequest) (ua.Response, ua.StatusCode) {
	cfg := &c.conn.server.cfg
	sub := &subscription{
		uri:      c.session.uri,
		every:    ticksOf(r.RequestedPublishingInterval, cfg.Interval),
		most:     clampMost(r.MaxNotificationsPerPublish),
		enabled:  r.PublishingEnabled,
		priority: r.Priority,
		sequence: 1,
		items:    make([]*item, 0, 16),
	}
	lifetime, keepAlive := reviseCounts(r.RequestedLifetimeCount, r.RequestedMaxKeepAliveCount)
	sub.lifetime, sub.keepAlive = lifetime, keepAlive
	sub.itemRoom.Store(16)
	slots := 2 * cfg.Limits.PublishRequests
	size := min(smallMessage, cfg.Limits.Retransmission/slots/cfg.Limits.SubscriptionsPerSession)
	sub.sent.slots = make([]retained, slots)
	for i := range sub.sent.slots {
		sub.sent.slots[i].body = make([]byte, 0, size)
	}
	sub.slotRoom.Store(int64(size))
	sub.diagnostics.NextSequenceNumber.Store(1)
	o := &createSubscription{ticket: newTicket(c.session.seat), sub: sub}
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	c.session.remember(sub)
	return &ua.CreateSubscriptionResponse{
		SubscriptionID:            sub.id,
		RevisedPublishingInterval: intervalOf(ticksOf(r.RequestedPublishingInterval, cfg.Interval), cfg.Interval),
		RevisedLifetimeCount:      lifetime,
		RevisedMaxKeepAliveCount:  keepAlive,
	}, ua.StatusOK
}

// clampMost is MaxNotificationsPerPublish as an int.
func clampMost(n uint32) int { return int(min(n, 1<<30)) }

// remember notes a subscription and forgets dead ones.
func (s *session) remember(sub *subscription) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, x := range s.subs {
		if x.dead.Load() {
			delete(s.subs, id)
		}
	}
	s.subs[sub.id] = sub
}

// known returns a subscription that was made or transferred here; nil is
// BadSubscriptionIdInvalid.
func (s *session) known(id uint32) *subscription {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.subs[id]
}

// modifySubscription is ModifySubscription (Part 4, 5.14.3).
func (c *call) modifySubscription(r *ua.ModifySubscriptionRequest) (ua.Response, ua.StatusCode) {
	t := c.conn.server.cfg.Interval
	o := &modifySubscription{
		ticket: newTicket(c.session.seat), id: r.SubscriptionID,
		every: ticksOf(r.RequestedPublishingInterval, t), most: clampMost(r.MaxNotificationsPerPublish), priority: r.Priority,
	}
	o.lifetime, o.keepAlive = reviseCounts(r.RequestedLifetimeCount, r.RequestedMaxKeepAliveCount)
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	return &ua.ModifySubscriptionResponse{
		RevisedPublishingInterval: intervalOf(o.every, t), RevisedLifetimeCount: o.lifetime, RevisedMaxKeepAliveCount: o.keepAlive,
	}, ua.StatusOK
}

// setPublishingMode is SetPublishingMode (Part 4, 5.14.4).
func (c *call) setPublishingMode(r *ua.SetPublishingModeRequest) (ua.Response, ua.StatusCode) {
	if status := c.countNodes(len(r.SubscriptionIDs)); status != ua.StatusOK {
		return nil, status
	}
	o := &setPublishingMode{
		ticket: newTicket(c.session.seat), enabled: r.PublishingEnabled,
		ids: r.SubscriptionIDs, results: make([]ua.StatusCode, len(r.SubscriptionIDs)),
	}
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	return &ua.SetPublishingModeResponse{Results: o.results}, ua.StatusOK
}

// deleteSubscriptions is DeleteSubscriptions (Part 4, 5.14.8).
func (c *call) deleteSubscriptions(r *ua.DeleteSubscriptionsRequest) (ua.Response, ua.StatusCode) {
	if status := c.countNodes(len(r.SubscriptionIDs)); status != ua.StatusOK {
		return nil, status
	}
	o := &deleteSubscriptions{
		ticket: newTicket(c.session.seat),
		ids:    r.SubscriptionIDs, results: make([]ua.StatusCode, len(r.SubscriptionIDs)),
	}
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	return &ua.DeleteSubscriptionsResponse{Results: o.results}, ua.StatusOK
}

// transferSubscriptions is TransferSubscriptions (Part 4, 5.14.7).
func (c *call) transferSubscriptions(r *ua.TransferSubscriptionsRequest) (ua.Response, ua.StatusCode) {
	n := len(r.SubscriptionIDs)
	if status := c.countNodes(n); status != ua.StatusOK {
		return nil, status
	}
	if n > c.limits().Subscriptions {
		return nil, ua.StatusBadTooManyOperations
	}
	o := &transfer{
		ticket: newTicket(c.session.seat), uri: c.session.uri, ids: r.SubscriptionIDs, sendInitial: r.SendInitialValues,
		results: make([]ua.StatusCode, n), subs: make([]*subscription, 0, n),
		available: make([]uint32, 0, n*2*c.limits().PublishRequests), ends: make([]int, n),
	}
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	for _, sub := range o.subs {
		c.session.remember(sub)
	}
	out := &ua.TransferSubscriptionsResponse{}
	from := 0
	for i, status := range o.results {
		out.Results = append(out.Results, &ua.TransferResult{StatusCode: status, AvailableSequenceNumbers: o.available[from:o.ends[i]]})
		from = o.ends[i]
	}
	return out, ua.StatusOK
}

// republish is Republish (Part 4, 5.14.6).
func (c *call) republish(r *ua.RepublishRequest) (ua.Response, ua.StatusCode) {
	o := &republish{
		ticket: newTicket(c.session.seat), conn: c.conn, id: c.id, handle: c.head.handle,
		sub: r.SubscriptionID, sequence: r.RetransmitSequenceNumber,
	}
	return nil, c.conn.order(o, &o.ticket)
}
