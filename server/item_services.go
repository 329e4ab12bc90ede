package server

import (
	"math"

	"github.com/gopcua/opcua/ua"
)

// The goroutine's half of the monitored item service set (Part 4, 5.13).

// createMonitoredItems is CreateMonitoredItems (Part 4, 5.13.2).
func (c *call) createMonitoredItems(r *ua.CreateMonitoredItemsRequest) (ua.Response, ua.StatusCode) {
	n := len(r.ItemsToCreate)
	if status := c.checkItems(n, r.TimestampsToReturn); status != ua.StatusOK {
		return nil, status
	}
	sub := c.session.known(r.SubscriptionID)
	if sub == nil {
		return nil, ua.StatusBadSubscriptionIDInvalid
	}
	o := &createItems{ticket: newTicket(c.session.seat), id: r.SubscriptionID, items: make([]*item, n), results: make([]itemResult, n)}
	good, room := 0, 0
	for i, x := range r.ItemsToCreate {
		o.items[i], o.results[i] = c.newItem(x, r.TimestampsToReturn)
		if it := o.items[i]; it != nil {
			good++
			room += it.room() * min(len(it.queue.slots), stalledValues)
		}
	}
	if want := int(sub.itemCount.Load()) + good; want > int(sub.itemRoom.Load()) {
		o.room = make([]*item, 0, min(2*want, c.limits().MonitoredItems))
	}
	o.slots = c.largerSlots(sub, room)
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	out := &ua.CreateMonitoredItemsResponse{Results: make([]*ua.MonitoredItemCreateResult, n)}
	for i, x := range o.results {
		out.Results[i] = &ua.MonitoredItemCreateResult{StatusCode: x.status}
		if x.status == ua.StatusOK {
			out.Results[i] = &ua.MonitoredItemCreateResult{MonitoredItemID: x.id, RevisedSamplingInterval: x.sampling, RevisedQueueSize: x.queue}
		}
	}
	return out, ua.StatusOK
}

// checkItems checks what all requests on items have in common.
func (c *call) checkItems(n int, stamps ua.TimestampsToReturn) ua.StatusCode {
	if stamps > ua.TimestampsToReturnNeither {
		return ua.StatusBadTimestampsToReturnInvalid
	}
	return c.countNodes(n)
}

// largerSlots makes retransmission memory for messages that are larger by room bytes, when
// there is not enough and the session's share allows more.
func (c *call) largerSlots(sub *subscription, room int) [][]byte {
	l := c.limits()
	want := int(sub.messageRoom.Load()) + room + 64
	if want <= int(sub.slotRoom.Load()) {
		return nil
	}
	c.session.mu.Lock()
	used := 0
	for _, x := range c.session.subs {
		if x != sub && !x.dead.Load() {
			used += int(x.slotRoom.Load()) * len(x.sent.slots)
		}
	}
	c.session.mu.Unlock()
	slots := 2 * l.PublishRequests
	size := min(want+want/2, (l.Retransmission-used)/slots, c.conn.limit)
	if size <= int(sub.slotRoom.Load()) {
		return nil // messages are split instead
	}
	out := make([][]byte, slots)
	for i := range out {
		out[i] = make([]byte, 0, size)
	}
	return out
}

// newItem makes one monitored item, or says why not.
func (c *call) newItem(x *ua.MonitoredItemCreateRequest, stamps ua.TimestampsToReturn) (*item, itemResult) {
	bad := func(status ua.StatusCode) (*item, itemResult) { return nil, itemResult{status: status} }
	if x.MonitoringMode > ua.MonitoringModeReporting {
		return bad(ua.StatusBadMonitoringModeInvalid)
	}
	space := c.conn.server.space
	what := x.ItemToMonitor
	n := space.find(what.NodeID)
	if n == nil {
		return bad(ua.StatusBadNodeIDUnknown)
	}
	it := &item{mode: x.MonitoringMode, kind: sourceFixed}
	dynamic := what.AttributeID == ua.AttributeIDValue && n.class == ua.NodeClassVariable
	if dynamic {
		it.kind = n.kind
	}
	if status := it.fix(space, n, what); status != ua.StatusOK {
		return bad(status)
	}
	if it.kind == sourceClock {
		it.floor = ticksOf(n.sampling, c.conn.server.cfg.Interval)
	}
	result := c.parameters(it, x.RequestedParameters, stamps, what.AttributeID)
	if result.status != ua.StatusOK {
		return nil, result
	}
	return it, result
}

// fix checks attribute, index range and encoding of the thing to monitor, and encodes what
// does not change.
func (it *item) fix(space *space, n *node, what *ua.ReadValueID) ua.StatusCode {
	v := space.readValue(what, ua.TimestampsToReturnNeither)
	if it.kind == sourceCounter || it.kind == sourceEcho {
		if what.IndexRange != "" {
			if _, _, ok := parseRange(what.IndexRange); !ok {
				return ua.StatusBadIndexRangeInvalid
			}
			return ua.StatusBadIndexRangeNoData
		}
		it.numeric = true
		if v.Status == statusWaiting {
			return ua.StatusOK
		}
		return v.Status
	}
	if v.Status != ua.StatusOK {
		return v.Status
	}
	b, err := v.Value.Encode()
	if err != nil {
		return ua.StatusBadInternalError
	}
	it.fixed = b
	switch v.Value.Value().(type) {
	case int32, uint32, uint16, byte, float64:
		it.numeric = true
	}
	if it.kind == sourceClock {
		it.patch = 1 // a DateTime, after the Variant's mask
		if _, structured := v.Value.Value().(*ua.ExtensionObject); structured {
			// Variant mask, TypeId (4), encoding, length (4), StartTime (8): CurrentTime.
			it.patch = 1 + 4 + 1 + 4 + 8
		}
	}
	return ua.StatusOK
}

// parameters applies MonitoringParameters (Part 4, 7.21) to an item and revises them.
func (c *call) parameters(it *item, p *ua.MonitoringParameters, stamps ua.TimestampsToReturn, a ua.AttributeID) itemResult {
	t := c.conn.server.cfg.Interval
	if status := it.filter(p.Filter, a); status != ua.StatusOK {
		return itemResult{status: status}
	}
	it.clientHandle, it.stamps, it.discardOldest = p.ClientHandle, stamps, p.DiscardOldest
	it.queue.slots = make([]entry, reviseQueue(p.QueueSize, c.limits().QueueSize))
	switch {
	case p.SamplingInterval < 0:
		it.follow = true
	case p.SamplingInterval == 0 || math.IsNaN(p.SamplingInterval):
		it.every = 0
	default:
		it.every = ticksOf(p.SamplingInterval, t)
	}
	if it.floor > 0 {
		it.follow, it.every = false, max(it.every, it.floor)
	}
	return itemResult{sampling: intervalOf(it.every, t), queue: uint32(len(it.queue.slots))}
}

// filter applies a DataChangeFilter (Part 4, 7.22.2).
func (it *item) filter(x *ua.ExtensionObject, a ua.AttributeID) ua.StatusCode {
	it.trigger, it.deadband = ua.DataChangeTriggerStatusValue, 0
	if x == nil || x.EncodingMask == ua.ExtensionObjectEmpty {
		return ua.StatusOK
	}
	f, ok := x.Value.(*ua.DataChangeFilter)
	if !ok {
		return ua.StatusBadMonitoredItemFilterUnsupported
	}
	if a != ua.AttributeIDValue {
		return ua.StatusBadFilterNotAllowed
	}
	if f.Trigger > ua.DataChangeTriggerStatusValueTimestamp {
		return ua.StatusBadMonitoredItemFilterInvalid
	}
	it.trigger = f.Trigger
	switch ua.DeadbandType(f.DeadbandType) {
	case ua.DeadbandTypeNone:
		return ua.StatusOK
	case ua.DeadbandTypePercent: // no node of ours has an EURange (Part 8, 6.2)
		return ua.StatusBadMonitoredItemFilterUnsupported
	case ua.DeadbandTypeAbsolute:
	default:
		return ua.StatusBadDeadbandFilterInvalid
	}
	switch {
	case math.IsNaN(f.DeadbandValue) || f.DeadbandValue < 0:
		return ua.StatusBadDeadbandFilterInvalid
	case !it.numeric:
		return ua.StatusBadFilterNotAllowed
	}
	it.deadband = f.DeadbandValue
	return ua.StatusOK
}
