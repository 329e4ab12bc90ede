package server

import (
	"sync/atomic"

	"github.com/gopcua/opcua/ua"

	"opcycle/record"
)

// subscription is a Subscription (Part 4, 5.14, https://reference.opcfoundation.org/Core/Part4/v105/docs/5.14).
// Made with all its memory by the goroutine of a connection; from its order on the PLC
// thread owns it, except for the atomics, which anybody reads.
type subscription struct {
	id   uint32
	seat *seat  // nil: its session ended, it waits for TransferSubscriptions or its lifetime
	uri  string // ApplicationUri of the client that made it

	every     int64 // publishing interval in ticks
	keepAlive uint32
	lifetime  uint32
	most      int // MaxNotificationsPerPublish; 0 = no limit
	enabled   bool
	priority  uint8

	items    []*item // ascending id
	nextItem uint32
	entries  int // queue entries of all items
	queued   int // entries that wait in queues that report
	cursor   int // item that the next message begins with
	links    []link

	due        int64  // index of the next publishing cycle
	sequence   uint32 // of the next NotificationMessage
	idle       uint32 // publishing cycles since the last message
	unanswered uint32 // publishing cycles in a row without a usable Publish request
	started    bool   // the first message went out
	ready      bool   // a message is due and not sent
	late       bool   // … since an earlier tick
	starved    bool   // … because no Publish request waited
	served     uint64 // turn of its last message
	sent       retransmission

	lost  [maxLost]record.Drop // values lost in this tick, not yet in the ring
	nlost int

	dead        atomic.Bool
	itemCount   atomic.Int64 // len(items)
	itemRoom    atomic.Int64 // cap(items)
	slotRoom    atomic.Int64 // bytes of one retransmission slot
	messageRoom atomic.Int64 // bytes that one message of all items wants
	diagnostics diagnostics
}

// link is one triggering link (Part 4, 5.13.1.6).
type link struct{ trigger, linked *item }

// maxLost bounds the indices whose losses one tick holds before it writes them.
const maxLost = 8

// diagnostics are the counters of SubscriptionDiagnosticsDataType (Part 5, 12.15), kept by
// the PLC thread.
type diagnostics struct {
	ModifyCount, EnableCount, DisableCount                    atomic.Uint32
	RepublishRequestCount, RepublishMessageRequestCount       atomic.Uint32
	RepublishMessageCount, TransferRequestCount               atomic.Uint32
	TransferredToAltClientCount, TransferredToSameClientCount atomic.Uint32
	PublishRequestCount, DataChangeNotificationsCount         atomic.Uint32
	NotificationsCount, LatePublishRequestCount               atomic.Uint32
	CurrentKeepAliveCount, CurrentLifetimeCount               atomic.Uint32
	UnacknowledgedMessageCount, DiscardedMessageCount         atomic.Uint32
	MonitoredItemCount, DisabledMonitoredItemCount            atomic.Uint32
	MonitoringQueueOverflowCount, NextSequenceNumber          atomic.Uint32
}

// nextSequence is the sequence number after n: it wraps to 1, never 0 (Part 4, 7.10). hot.
func nextSequence(n uint32) uint32 {
	if n++; n == 0 {
		return 1
	}
	return n
}

// find returns the item with the given id: items are ascending by id. hot.
func (s *subscription) find(id uint32) (int, *item) {
	lo, hi := 0, len(s.items)
	for lo < hi {
		if mid := (lo + hi) / 2; s.items[mid].id < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(s.items) && s.items[lo].id == id {
		return lo, s.items[lo]
	}
	return 0, nil
}

// sample takes what is due of every item and fills the queues. hot.
func (s *subscription) sample(e *engine) {
	due := e.k >= s.due
	for _, it := range s.items {
		if it.mode == ua.MonitoringModeDisabled {
			continue
		}
		if !it.first {
			if it.follow && !due {
				continue
			}
			if it.every > 0 && !it.follow {
				if e.k < it.next {
					continue
				}
				it.next += (e.k - it.next + it.every) / it.every * it.every
			}
		}
		e.sample(s, it)
	}
	s.flushLost(e)
}

// lose counts one value that left a queue unsent. hot.
func (s *subscription) lose(e *engine, it *item, v *entry) {
	var flags record.Flags
	if len(it.queue.slots) == 1 {
		flags = record.FlagQueueOne
		e.counters.Coalesced.Add(1)
	} else {
		s.diagnostics.MonitoringQueueOverflowCount.Add(1)
		e.counters.QueueOverflows.Add(1)
	}
	if it.kind != sourceCounter || v.status&0x80000000 != 0 {
		return
	}
	for i := range s.nlost {
		if d := &s.lost[i]; d.K == v.value && d.Flags == flags {
			d.Values++
			return
		}
	}
	if s.nlost == maxLost {
		s.flushLost(e)
	}
	s.lost[s.nlost] = record.Drop{Flags: flags, K: v.value, Values: 1, Subscription: int64(s.id), At: e.now}
	s.nlost++
}

// flushLost writes the losses. hot.
func (s *subscription) flushLost(e *engine) {
	for i := range s.nlost {
		var r record.Record
		s.lost[i].Record(&r)
		e.put(&r)
	}
	s.nlost = 0
}

// cycle is one publishing timer expiration when it is time for one (Part 4, 5.14.1.2): it
// decides whether a message is due and whether the lifetime is over. usable tells whether
// a Publish request waits on a channel that takes it. hot.
func (s *subscription) cycle(e *engine, usable bool) (expired bool) {
	if e.k < s.due {
		return false
	}
	s.due += (e.k - s.due + s.every) / s.every * s.every
	s.idle++
	if s.queued > 0 && s.enabled || !s.started || s.idle >= s.keepAlive {
		s.ready = true
	}
	if usable {
		s.unanswered = 0
	} else {
		s.unanswered++
	}
	if s.ready && (s.queued == 0 || !s.enabled) && s.started && s.idle < s.keepAlive {
		s.ready, s.late, s.starved = false, false, false // its values were taken away since
	}
	s.diagnostics.CurrentKeepAliveCount.Store(s.idle)
	s.diagnostics.CurrentLifetimeCount.Store(s.unanswered)
	return s.unanswered >= s.lifetime
}
