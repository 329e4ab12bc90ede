package server

import "github.com/gopcua/opcua/ua"

// statusWaiting is BadWaitingForInitialData, the status of a value that no cycle has
// produced yet (Part 4, 5.13.2.2).
const statusWaiting ua.StatusCode = 0x80320000

// sample takes one sample of it and queues it when it passes the filter. The initial value
// is queued whatever the filter says (Part 4, 5.13.2.2). hot.
func (e *engine) sample(s *subscription, it *item) {
	var v entry
	switch it.kind {
	case sourceCounter:
		if it.seen == e.version && !it.first {
			return
		}
		it.seen, v = e.version, e.counter
	case sourceEcho:
		if it.seen == e.echoes && !it.first {
			return
		}
		it.seen, v = e.echoes, e.echo
	case sourceClock:
		v = entry{value: e.wall, source: e.wall, server: e.wall}
	default:
		if !it.first {
			return
		}
		v = entry{source: e.started, server: e.wall}
	}
	if !it.passes(&v) {
		return
	}
	it.first, it.last = false, v
	lost, dropped := it.queue.put(&v, it.discardOldest)
	if dropped {
		s.lose(e, it, &lost)
	} else if it.reports() {
		s.queued++
	}
	if len(s.links) > 0 {
		s.fire(it)
	}
}

// fire makes the items that trigger is linked to report what they have sampled (Part 4,
// 5.13.1.6: items that report anyway do not change, disabled ones have nothing). hot.
func (s *subscription) fire(trigger *item) {
	for i := range s.links {
		l := &s.links[i]
		if l.trigger != trigger || l.linked.dead || l.linked.triggered || l.linked.mode != ua.MonitoringModeSampling {
			continue
		}
		l.linked.triggered = true
		s.queued += l.linked.queue.n
	}
}
