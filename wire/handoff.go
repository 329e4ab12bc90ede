package wire

import "sync/atomic"

// handoff is a ring of messages that the PLC thread could not seal because another
// party held the turn. One producer, the thread that calls TrySend; one consumer at
// a time, the holder of the turn. A message is 8 bytes of request id and length,
// then its body, padded to 8 bytes; it may wrap around the end.
type handoff struct {
	buf  []byte
	tail atomic.Uint64 // written by the producer
	head atomic.Uint64 // written by the consumer
	body atomic.Int64  // bytes of bodies inside, for Backlog
}

func newHandoff(bytes int) *handoff {
	return &handoff{buf: make([]byte, padded(bytes)+8)}
}

func padded(n int) int { return (n + 7) &^ 7 }

// empty is exact for the producer and, while it holds the turn, for the consumer. hot.
func (h *handoff) empty() bool { return h.head.Load() == h.tail.Load() }

// put copies a message in, or reports that it does not fit. hot.
func (h *handoff) put(id uint32, body []byte) bool {
	tail, need := h.tail.Load(), uint64(8+padded(len(body)))
	if need > uint64(len(h.buf))-(tail-h.head.Load()) {
		return false
	}
	at := int(tail % uint64(len(h.buf)))
	put32(h.buf[at:], id)
	put32(h.buf[at+4:], uint32(len(body)))
	at = (at + 8) % len(h.buf)
	copy(h.buf, body[copy(h.buf[at:], body):])
	h.body.Add(int64(len(body)))
	h.tail.Store(tail + need)
	return true
}

// peek returns the oldest message, its body in up to two parts that stay valid until drop. hot.
func (h *handoff) peek() (id uint32, a, b []byte, ok bool) {
	if h.empty() {
		return 0, nil, nil, false
	}
	at := int(h.head.Load() % uint64(len(h.buf)))
	id, n := u32(h.buf[at:]), int(u32(h.buf[at+4:]))
	at = (at + 8) % len(h.buf)
	first := min(n, len(h.buf)-at)
	return id, h.buf[at : at+first], h.buf[:n-first], true
}

// drop forgets the message that peek returned. hot.
func (h *handoff) drop(n int) {
	h.body.Add(int64(-n))
	h.head.Add(uint64(8 + padded(n)))
}
