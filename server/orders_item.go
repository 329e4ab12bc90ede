package server

import (
	"github.com/gopcua/opcua/ua"
)

// batch is how many items an order does between two looks at the clock.
const batch = 32

// pause tells whether an order that has done i items should go on in the next tick.
func (e *engine) pause(i int) bool { return i%batch == batch-1 && e.over() }

// createItems is CreateMonitoredItems (Part 4, 5.13.2). Items come ready made; those that
// were refused before are nil.
type createItems struct {
	ticket
	id      uint32
	items   []*item
	results []itemResult
	room    []*item  // larger list, when the subscription's has no room for all
	slots   [][]byte // larger retransmission memory, when a message of all items wants it
	next    int
}

// itemResult is what Create and ModifyMonitoredItems answer for one item.
type itemResult struct {
	status   ua.StatusCode
	id       uint32
	sampling float64 // ms; −1 until the PLC thread knows the publishing interval
	queue    uint32
}

func (o *createItems) apply(e *engine) bool {
	s, sub := o.seat, o.seat.find(o.id)
	if sub == nil {
		return o.finish(ua.StatusBadSubscriptionIDInvalid)
	}
	if o.next == 0 {
		sub.grow(o.room, o.slots)
		sub.unanswered = 0
	}
	for ; o.next < len(o.items); o.next++ {
		it, r := o.items[o.next], &o.results[o.next]
		if it == nil {
			continue
		}
		if len(sub.items) == cap(sub.items) || s.items >= e.cfg.Limits.MonitoredItems ||
			e.counters.MonitoredItems.Load() >= int64(e.cfg.Limits.AllItems) ||
			s.entries+len(it.queue.slots) > e.cfg.Limits.QueueEntries {
			r.status = ua.StatusBadTooManyMonitoredItems
			continue
		}
		sub.nextItem++
		it.id, r.id = sub.nextItem, sub.nextItem
		it.first = it.mode != ua.MonitoringModeDisabled
		it.next = e.k + it.every
		if it.follow {
			r.sampling = intervalOf(sub.every, e.cfg.Interval)
		}
		sub.items = append(sub.items, it)
		s.items++
		s.entries += len(it.queue.slots)
		sub.entries += len(it.queue.slots)
		e.counters.MonitoredItems.Add(1)
		if e.pause(o.next) {
			o.next++
			return false
		}
	}
	sub.count()
	return o.finish(ua.StatusOK)
}

// grow takes over larger memory.
func (s *subscription) grow(room []*item, slots [][]byte) {
	if cap(room) > cap(s.items) {
		s.items = append(room[:0], s.items...)
		s.itemRoom.Store(int64(cap(room)))
	}
	for i := range slots {
		s.sent.slots[i].next = slots[i]
		s.slotRoom.Store(int64(cap(slots[i])))
	}
}

// count publishes what goroutines ask of the items.
func (s *subscription) count() {
	disabled, room := 0, 0
	for _, it := range s.items {
		if it.mode == ua.MonitoringModeDisabled {
			disabled++
		}
		room += it.room() * min(len(it.queue.slots), stalledValues)
	}
	s.itemCount.Store(int64(len(s.items)))
	s.messageRoom.Store(int64(room))
	s.diagnostics.MonitoredItemCount.Store(uint32(len(s.items)))
	s.diagnostics.DisabledMonitoredItemCount.Store(uint32(disabled))
}

// modifyItems is ModifyMonitoredItems (Part 4, 5.13.3): a change is a ready made item whose
// parameters and queue memory replace the old ones; nil where it was refused before.
type modifyItems struct {
	ticket
	id      uint32
	ids     []uint32
	items   []*item
	results []itemResult
	slots   [][]byte
	next    int
}

func (o *modifyItems) apply(e *engine) bool {
	sub := o.seat.find(o.id)
	if sub == nil {
		return o.finish(ua.StatusBadSubscriptionIDInvalid)
	}
	if o.next == 0 {
		sub.grow(nil, o.slots)
		sub.unanswered = 0
	}
	for ; o.next < len(o.ids); o.next++ {
		o.one(e, sub, o.items[o.next], &o.results[o.next])
		if e.pause(o.next) {
			o.next++
			return false
		}
	}
	sub.flushLost(e)
	sub.count()
	return o.finish(ua.StatusOK)
}

// one modifies one item.
func (o *modifyItems) one(e *engine, sub *subscription, change *item, r *itemResult) {
	_, it := sub.find(r.id)
	if it == nil {
		r.status = ua.StatusBadMonitoredItemIDInvalid
		return
	}
	if change == nil {
		return
	}
	if change.deadband > 0 && !it.numeric {
		r.status = ua.StatusBadFilterNotAllowed
		return
	}
	grown := len(change.queue.slots) - len(it.queue.slots)
	if o.seat.entries+grown > e.cfg.Limits.QueueEntries {
		r.status = ua.StatusBadTooManyMonitoredItems
		return
	}
	it.clientHandle, it.stamps, it.trigger, it.deadband = change.clientHandle, change.stamps, change.trigger, change.deadband
	it.discardOldest, it.follow, it.every = change.discardOldest, change.follow, change.every
	if it.floor > 0 {
		it.follow, it.every = false, max(it.every, it.floor)
	}
	it.next = e.k + it.every
	switch {
	case it.follow:
		r.sampling = intervalOf(sub.every, e.cfg.Interval)
	default:
		r.sampling = intervalOf(it.every, e.cfg.Interval)
	}
	if grown != 0 {
		before := it.queue.n
		it.queue.move(change.queue.slots, it.discardOldest, func(v *entry) { sub.lose(e, it, v) })
		if it.reports() {
			sub.queued -= before - it.queue.n
		}
		o.seat.entries += grown
		sub.entries += grown
	}
}

// deleteItems is DeleteMonitoredItems (Part 4, 5.13.6).
type deleteItems struct {
	ticket
	id      uint32
	ids     []uint32
	results []ua.StatusCode
	next    int
}

func (o *deleteItems) apply(e *engine) bool {
	sub := o.seat.find(o.id)
	if sub == nil {
		return o.finish(ua.StatusBadSubscriptionIDInvalid)
	}
	for ; o.next < len(o.ids); o.next++ {
		_, it := sub.find(o.ids[o.next])
		if it == nil || it.dead {
			o.results[o.next] = ua.StatusBadMonitoredItemIDInvalid
			continue
		}
		if it.reports() {
			sub.queued -= it.queue.n
		}
		it.queue.drop(it.queue.n)
		it.dead, it.mode, it.triggered = true, ua.MonitoringModeDisabled, false
		if e.pause(o.next) {
			o.next++
			return false
		}
	}
	sub.sweep(e, o.seat)
	return o.finish(ua.StatusOK)
}

// sweep takes dead items and their links out of the lists.
func (s *subscription) sweep(e *engine, seat *seat) {
	kept := s.items[:0]
	for _, it := range s.items {
		if !it.dead {
			kept = append(kept, it)
			continue
		}
		seat.items--
		seat.entries -= len(it.queue.slots)
		s.entries -= len(it.queue.slots)
		e.counters.MonitoredItems.Add(-1)
	}
	clear(s.items[len(kept):])
	s.items, s.cursor, s.unanswered = kept, 0, 0
	links := s.links[:0]
	for _, l := range s.links {
		if !l.trigger.dead && !l.linked.dead {
			links = append(links, l)
		}
	}
	clear(s.links[len(links):])
	s.links = links
	s.count()
}
