package server

import (
	"github.com/gopcua/opcua/ua"
)

// maxLinks bounds the triggering links of a subscription.
const maxLinks = 1024

// setMonitoringMode is SetMonitoringMode (Part 4, 5.13.4).
type setMonitoringMode struct {
	ticket
	id      uint32
	mode    ua.MonitoringMode
	ids     []uint32
	results []ua.StatusCode
	next    int
}

func (o *setMonitoringMode) apply(e *engine) bool {
	sub := o.seat.find(o.id)
	if sub == nil {
		return o.finish(ua.StatusBadSubscriptionIDInvalid)
	}
	for ; o.next < len(o.ids); o.next++ {
		if _, it := sub.find(o.ids[o.next]); it == nil {
			o.results[o.next] = ua.StatusBadMonitoredItemIDInvalid
		} else {
			sub.setMode(it, o.mode)
		}
		if e.pause(o.next) {
			o.next++
			return false
		}
	}
	sub.unanswered = 0
	sub.count()
	return o.finish(ua.StatusOK)
}

// setMode changes the mode of one item (Part 4, 5.13.1.3): disabling empties the queue,
// enabling starts over with an initial value.
func (s *subscription) setMode(it *item, mode ua.MonitoringMode) {
	if it.reports() {
		s.queued -= it.queue.n
	}
	if mode == ua.MonitoringModeDisabled {
		it.queue.drop(it.queue.n)
	}
	if it.mode == ua.MonitoringModeDisabled && mode != ua.MonitoringModeDisabled {
		it.first = true
	}
	it.mode, it.triggered = mode, false
	if it.reports() {
		s.queued += it.queue.n
	}
}

// setTriggering is SetTriggering (Part 4, 5.13.5).
type setTriggering struct {
	ticket
	id, trigger uint32
	add, remove []uint32
	added, gone []ua.StatusCode
	links       []link // memory for maxLinks, used when the subscription has none yet
}

func (o *setTriggering) apply(*engine) bool {
	sub := o.seat.find(o.id)
	if sub == nil {
		return o.finish(ua.StatusBadSubscriptionIDInvalid)
	}
	_, trigger := sub.find(o.trigger)
	if trigger == nil {
		return o.finish(ua.StatusBadMonitoredItemIDInvalid)
	}
	if cap(sub.links) == 0 {
		sub.links = o.links[:0]
	}
	sub.unanswered = 0
	// Part 4, 5.13.5.1: links to remove are processed before links to add.
	for i, id := range o.remove {
		o.gone[i] = sub.unlink(trigger, id)
	}
	for i, id := range o.add {
		o.added[i] = sub.link(trigger, id)
	}
	return o.finish(ua.StatusOK)
}

// link adds one link; one that is there stays.
func (s *subscription) link(trigger *item, id uint32) ua.StatusCode {
	_, it := s.find(id)
	if it == nil {
		return ua.StatusBadMonitoredItemIDInvalid
	}
	for _, l := range s.links {
		if l.trigger == trigger && l.linked == it {
			return ua.StatusOK
		}
	}
	if len(s.links) == cap(s.links) {
		return ua.StatusBadTooManyOperations
	}
	s.links = append(s.links, link{trigger, it})
	return ua.StatusOK
}

// unlink removes one link.
func (s *subscription) unlink(trigger *item, id uint32) ua.StatusCode {
	for i, l := range s.links {
		if l.trigger == trigger && l.linked.id == id {
			last := len(s.links) - 1
			s.links[i], s.links[last] = s.links[last], link{}
			s.links = s.links[:last]
			return ua.StatusOK
		}
	}
	return ua.StatusBadMonitoredItemIDInvalid
}
