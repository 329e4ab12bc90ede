package server

import "github.com/gopcua/opcua/ua"

// retained is one NotificationMessage in the retransmission queue.
type retained struct {
	sequence uint32
	used     bool
	body     []byte // encoded NotificationMessage
	next     []byte // larger memory, taken when the slot is used again
}

// retransmission is a subscription's retransmission queue (Part 4, 5.14.1.2: at least two
// times the Publish requests of a session; the oldest makes room). The slots' memory is
// made by the goroutine of a connection; the PLC thread owns them.
type retransmission struct {
	slots []retained
	at    int // next slot to use
	used  int
}

// slot is the one that the next message will use, with its memory in force. hot.
func (q *retransmission) slot() *retained {
	s := &q.slots[q.at]
	if s.next != nil {
		s.body, s.next = s.next[:0], nil
		if s.used {
			s.used = false
			q.used--
		}
	}
	return s
}

// limit is how many bytes the next message may have. hot.
func (q *retransmission) limit() int {
	s := &q.slots[q.at]
	if s.next != nil {
		return cap(s.next)
	}
	return cap(s.body)
}

// keep stores a message that was sent. hot.
func (q *retransmission) keep(sequence uint32, body []byte) {
	s := q.slot()
	if !s.used {
		q.used++
	}
	s.sequence, s.used = sequence, true
	s.body = append(s.body[:0], body...)
	if q.at++; q.at == len(q.slots) {
		q.at = 0
	}
}

// find returns the message with the given sequence number. hot.
func (q *retransmission) find(sequence uint32) []byte {
	for i := range q.slots {
		if s := &q.slots[i]; s.used && s.sequence == sequence {
			return s.body
		}
	}
	return nil
}

// acknowledge forgets a message (Part 4, 5.14.5.2). hot.
func (q *retransmission) acknowledge(sequence uint32) ua.StatusCode {
	for i := range q.slots {
		if s := &q.slots[i]; s.used && s.sequence == sequence {
			s.used = false
			q.used--
			return ua.StatusOK
		}
	}
	return ua.StatusBadSequenceNumberUnknown
}

// putAvailable appends AvailableSequenceNumbers, oldest first, and then the one that is
// just being sent, if any. hot.
func (q *retransmission) putAvailable(b []byte, current uint32) []byte {
	skip := -1
	if current != 0 && q.slots[q.at].used {
		skip = q.at // it makes room for the current one
	}
	n := uint32(q.used)
	if skip >= 0 {
		n--
	}
	if current != 0 {
		n++
	}
	b = put32(b, n)
	for i := range q.slots {
		j := q.at + i
		if j >= len(q.slots) {
			j -= len(q.slots)
		}
		if q.slots[j].used && j != skip {
			b = put32(b, q.slots[j].sequence)
		}
	}
	if current != 0 {
		b = put32(b, current)
	}
	return b
}
