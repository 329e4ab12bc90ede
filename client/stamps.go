package client

import (
	"encoding/binary"
	"sync/atomic"

	"opcycle/rt"
)

// stampSlots bounds how many unread messages can hold a stamp.
const stampSlots = 1024

// stamps matches kernel receive stamps to messages by request id: the socket watcher
// writes them, the pump takes them. With policy None and Sign the id stands at bytes 20
// to 23 of a message chunk (Part 6, 6.7.2) and equals the response's RequestHandle, which
// gopcua's client sets so.
//
// A stamp belongs to the last byte of what lay unread in the socket. It is exact for the
// message that ends there; for one before it in the same look it is an upper bound: it
// arrived no later.
type stamps struct {
	watcher *rt.Stamper
	slots   [stampSlots]stampSlot
	err     error
}

type stampSlot struct {
	request atomic.Uint32
	exact   atomic.Bool
	stamp   atomic.Int64
}

func newStamps(fd uintptr, priority int) *stamps {
	s := &stamps{}
	if s.err = rt.EnableRxStamps(fd); s.err != nil {
		return s
	}
	s.watcher, s.err = rt.NewStamper(fd, priority, s.look)
	return s
}

// look takes what lies unread in the socket. hot: on the watcher's thread.
func (s *stamps) look(stamp int64, unread []byte) {
	const header = 24
	for at := 0; at+header <= len(unread); {
		size := int(binary.LittleEndian.Uint32(unread[at+4:]))
		if string(unread[at:at+3]) != "MSG" || size < header {
			return // the look began inside a message
		}
		if end := at + size; end <= len(unread) && unread[at+3] == 'F' {
			s.put(binary.LittleEndian.Uint32(unread[at+20:]), stamp, end == len(unread))
		}
		at += size
	}
}

// put keeps the first stamp of a request: an unread message is looked at again when the
// next one comes, and a later look can only tell less. hot.
func (s *stamps) put(request uint32, stamp int64, exact bool) {
	slot := &s.slots[request%stampSlots]
	if slot.request.Load() == request {
		return
	}
	slot.request.Store(0)
	slot.stamp.Store(stamp)
	slot.exact.Store(exact)
	slot.request.Store(request)
}

// take returns the stamp of the message with this request id: exact when stamped, else an
// upper bound or 0 for none.
func (s *stamps) take(request uint32) (kernel int64, stamped bool) {
	slot := &s.slots[request%stampSlots]
	if request == 0 || slot.request.Load() != request {
		return 0, false
	}
	return slot.stamp.Load(), slot.exact.Load()
}

func (s *stamps) close() {
	if s.watcher != nil {
		s.watcher.Close()
	}
}
