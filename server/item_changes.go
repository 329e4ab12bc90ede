package server

import (
	"github.com/gopcua/opcua/ua"
)

// modifyMonitoredItems is ModifyMonitoredItems (Part 4, 5.13.3). The goroutine does not know
// the items: it makes each change as if for a number, and the PLC thread checks the rest.
func (c *call) modifyMonitoredItems(r *ua.ModifyMonitoredItemsRequest) (ua.Response, ua.StatusCode) {
	n := len(r.ItemsToModify)
	if status := c.checkItems(n, r.TimestampsToReturn); status != ua.StatusOK {
		return nil, status
	}
	sub := c.session.known(r.SubscriptionID)
	if sub == nil {
		return nil, ua.StatusBadSubscriptionIDInvalid
	}
	o := &modifyItems{
		ticket: newTicket(c.session.seat), id: r.SubscriptionID,
		ids: make([]uint32, n), items: make([]*item, n), results: make([]itemResult, n),
	}
	room := 0
	for i, x := range r.ItemsToModify {
		it := &item{numeric: true}
		result := c.parameters(it, x.RequestedParameters, r.TimestampsToReturn, ua.AttributeIDValue)
		if result.status == ua.StatusOK {
			o.items[i] = it
			room += (smallest + 5) * min(len(it.queue.slots), stalledValues)
		}
		result.id = x.MonitoredItemID
		o.ids[i], o.results[i] = x.MonitoredItemID, result
	}
	o.slots = c.largerSlots(sub, room)
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	out := &ua.ModifyMonitoredItemsResponse{Results: make([]*ua.MonitoredItemModifyResult, n)}
	for i, x := range o.results {
		out.Results[i] = &ua.MonitoredItemModifyResult{StatusCode: x.status}
		if x.status == ua.StatusOK {
			out.Results[i] = &ua.MonitoredItemModifyResult{RevisedSamplingInterval: x.sampling, RevisedQueueSize: x.queue}
		}
	}
	return out, ua.StatusOK
}

// setMonitoringMode is SetMonitoringMode (Part 4, 5.13.4).
func (c *call) setMonitoringMode(r *ua.SetMonitoringModeRequest) (ua.Response, ua.StatusCode) {
	n := len(r.MonitoredItemIDs)
	if r.MonitoringMode > ua.MonitoringModeReporting {
		return nil, ua.StatusBadMonitoringModeInvalid
	}
	if status := c.countNodes(n); status != ua.StatusOK {
		return nil, status
	}
	o := &setMonitoringMode{
		ticket: newTicket(c.session.seat), id: r.SubscriptionID, mode: r.MonitoringMode,
		ids: r.MonitoredItemIDs, results: make([]ua.StatusCode, n),
	}
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	return &ua.SetMonitoringModeResponse{Results: o.results}, ua.StatusOK
}

// setTriggering is SetTriggering (Part 4, 5.13.5).
func (c *call) setTriggering(r *ua.SetTriggeringRequest) (ua.Response, ua.StatusCode) {
	if status := c.countNodes(len(r.LinksToAdd) + len(r.LinksToRemove)); status != ua.StatusOK {
		return nil, status
	}
	o := &setTriggering{
		ticket: newTicket(c.session.seat), id: r.SubscriptionID, trigger: r.TriggeringItemID,
		add: r.LinksToAdd, remove: r.LinksToRemove,
		added: make([]ua.StatusCode, len(r.LinksToAdd)), gone: make([]ua.StatusCode, len(r.LinksToRemove)),
		links: make([]link, 0, maxLinks),
	}
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	return &ua.SetTriggeringResponse{AddResults: o.added, RemoveResults: o.gone}, ua.StatusOK
}

// deleteMonitoredItems is DeleteMonitoredItems (Part 4, 5.13.6).
func (c *call) deleteMonitoredItems(r *ua.DeleteMonitoredItemsRequest) (ua.Response, ua.StatusCode) {
	n := len(r.MonitoredItemIDs)
	if status := c.countNodes(n); status != ua.StatusOK {
		return nil, status
	}
	o := &deleteItems{ticket: newTicket(c.session.seat), id: r.SubscriptionID, ids: r.MonitoredItemIDs, results: make([]ua.StatusCode, n)}
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	return &ua.DeleteMonitoredItemsResponse{Results: o.results}, ua.StatusOK
}
