package server

import "sync/atomic"

// inboxSize bounds the orders that wait between a connection and the PLC thread: all
// Publish requests that a connection can hold, and one other order.
const inboxSize = 64

// order is what a connection's goroutine asks of the PLC thread. apply runs on the PLC
// thread: it neither allocates nor waits, and returns false when it has to go on in the
// next tick.
type order interface{ apply(e *engine) bool }

// message is one place in an inbox: exactly one of the two is set.
type message struct {
	publish *publishRequest
	order   order
}

// inbox is a bounded queue with one producer (the connection's goroutine, or the
// housekeeping goroutine for its own) and one consumer (the PLC thread). A queue for each
// connection, drained in turns, is what keeps a flood on one from delaying another; a
// single channel was rejected for that, and for its lock.
type inbox struct {
	slots [inboxSize]message
	tail  atomic.Uint32 // written by the producer
	head  atomic.Uint32 // written by the PLC thread
	gone  atomic.Bool   // the producer ended: drain what is there, answer nothing
}

// put appends m, or reports that the inbox is full. Producer.
func (b *inbox) put(m message) bool {
	tail := b.tail.Load()
	if tail-b.head.Load() == inboxSize {
		return false
	}
	b.slots[tail%inboxSize] = m
	b.tail.Store(tail + 1)
	return true
}

// peek returns the oldest message. PLC thread. hot.
func (b *inbox) peek() (*message, bool) {
	head := b.head.Load()
	if head == b.tail.Load() {
		return nil, false
	}
	return &b.slots[head%inboxSize], true
}

// drop forgets the message that peek returned. PLC thread. hot.
func (b *inbox) drop() {
	head := b.head.Load()
	b.slots[head%inboxSize] = message{}
	b.head.Store(head + 1)
}

// empty is exact once the producer has ended.
func (b *inbox) empty() bool { return b.head.Load() == b.tail.Load() }
