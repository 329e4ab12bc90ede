package server

import "github.com/gopcua/opcua/ua"

// entry is one value in the queue of a monitored item: 32 bytes.
type entry struct {
	value  int64 // counter: grid index; others: the value's bits
	source int64 // SourceTimestamp, DateTime
	server int64 // ServerTimestamp, DateTime
	status ua.StatusCode
}

// overflow is the Overflow bit with its InfoType DataValue (Part 4, 7.39.1).
const overflow ua.StatusCode = 0x0400 | 0x0080

// queue is the queue of a monitored item (Part 4, 5.13.1.5,
// https://reference.opcfoundation.org/Core/Part4/v105/docs/5.13.1#5.13.1.5). Its memory is
// made by the connection's goroutine; the PLC thread owns it from then on.
type queue struct {
	slots []entry // length = revised queue size
	head  int
	n     int
}

// at returns the i-th oldest entry. hot.
func (q *queue) at(i int) *entry {
	if i += q.head; i >= len(q.slots) {
		i -= len(q.slots)
	}
	return &q.slots[i]
}

// put appends e. When the queue is full one value is lost: the oldest with discardOldest,
// else the newest; the neighbour that the gap shows at carries the Overflow bit: the
// oldest that remains, or the one that took the newest's place. A queue of 1 holds the
// newest and sets no bit. hot.
func (q *queue) put(e *entry, discardOldest bool) (lost entry, dropped bool) {
	size := len(q.slots)
	if q.n < size {
		*q.at(q.n) = *e
		q.n++
		return entry{}, false
	}
	if size == 1 {
		lost = q.slots[0]
		q.slots[0] = *e
		return lost, true
	}
	if discardOldest {
		lost = *q.at(0)
		q.drop(1)
		*q.at(q.n) = *e
		q.n++
		q.at(0).status |= overflow
		return lost, true
	}
	last := q.at(size - 1)
	lost = *last
	*last = *e
	last.status |= overflow
	return lost, true
}

// drop forgets the n oldest entries. hot.
func (q *queue) drop(n int) {
	if q.head += n; q.head >= len(q.slots) {
		q.head -= len(q.slots)
	}
	q.n -= n
}

// move takes over what q holds into slots of another size (ModifyMonitoredItems, Part 4,
// 5.13.3.2): what does not fit goes by the discard rule; lost gets each dropped entry. The
// PLC thread does it.
func (q *queue) move(slots []entry, discardOldest bool, lost func(*entry)) {
	next := queue{slots: slots}
	for i := 0; i < q.n; i++ {
		if e, dropped := next.put(q.at(i), discardOldest); dropped && lost != nil {
			lost(&e)
		}
	}
	*q = next
}
