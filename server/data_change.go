package server

import (
	"encoding/binary"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/record"
)

// putDataChange appends NotificationData with one DataChangeNotification (Part 4, 7.25.2)
// up to the limits: bytes, and MaxNotificationsPerPublish. Items take their turn from the
// cursor on; of each all values, oldest first. hot: no allocation.
func (e *engine) putDataChange(b []byte, sub *subscription, d *draft, limit int) []byte {
	b = put32(b, 1)
	b = putTypeID(b, id.DataChangeNotification_Encoding_DefaultBinary)
	b = append(b, 0x01)
	lengthAt := len(b)
	b = put32(b, 0)
	countAt := len(b)
	b = put32(b, 0)
	most := sub.queued
	if sub.most > 0 {
		most = min(most, sub.most)
	}
	for i, n := 0, len(sub.items); i < n && d.values < sub.queued; i++ {
		j := sub.cursor + i
		if j >= n {
			j -= n
		}
		it := sub.items[j]
		if it.queue.n == 0 || !it.reports() {
			continue
		}
		if b = e.putItem(b, it, d, most, limit-4); d.full {
			d.cursor = j
			break
		}
	}
	d.more = d.values < sub.queued
	b = put32(b, null32) // DiagnosticInfos
	binary.LittleEndian.PutUint32(b[lengthAt:], uint32(len(b)-countAt))
	binary.LittleEndian.PutUint32(b[countAt:], uint32(d.values))
	return b
}

// putItem appends the values of one item while the limits hold. hot.
func (e *engine) putItem(b []byte, it *item, d *draft, most, limit int) []byte {
	room := it.room()
	for it.taken < it.queue.n {
		v := it.queue.at(it.taken)
		if d.values == most {
			d.full = true
			return b
		}
		if len(b)+room > limit {
			if d.values > 0 || len(b)+smallest > limit {
				d.full = true
				return b
			}
			// Alone it does not fit into any message: the client is told so.
			v.status = ua.StatusBadEncodingLimitsExceeded
		}
		b = it.put(b, v)
		it.taken++
		d.values++
		if it.kind == sourceCounter && v.status&0x80000000 == 0 {
			d.first, d.last = min(d.first, v.value), max(d.last, v.value)
		}
		if v.status&overflow == overflow {
			d.flags |= record.FlagOverflow
		}
	}
	return b
}

// smallest is the room of a notification without a value.
const smallest = 4 + 1 + 4 + 8 + 8

// roll ends the message that encode made: the values in it leave the queues when it was
// sent, and stay when it was not. hot.
func (s *subscription) roll(d *draft, sent bool) {
	if d.keepAlive {
		return
	}
	if sent {
		s.cursor = d.cursor
	}
	for _, it := range s.items {
		if it.taken == 0 {
			continue
		}
		if sent {
			it.queue.drop(it.taken)
			s.queued -= it.taken
			if it.triggered && it.queue.n == 0 {
				it.triggered = false
			}
		}
		it.taken = 0
	}
}
