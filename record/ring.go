package record

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// RingSlots is the number of records a ring holds: at three records a cycle of 10 ms,
// more than three minutes in which the conductor may be away.
const RingSlots = 65536

// SmallRingSlots is the number of records in the ring of a further client: 80 seconds of
// cycles of 10 ms.
const SmallRingSlots = 8192

const ringHeader = 4096

// RingBytes is the size of the mapping that a ring of n slots needs.
func RingBytes(n int) int { return ringHeader + n*Size }

type ringHead struct {
	magic uint64
	slots uint64
	_     [6]uint64
	head  atomic.Uint64 // records ever written; owner: writer
	lost  atomic.Uint64 // records that found the ring full; owner: writer
	_     [6]uint64
	tail  atomic.Uint64 // records ever read; owner: reader
	_     [7]uint64
}

const ringMagic = 0x6f70637963723031 // "opcycr01"

// Ring is a single-producer, single-consumer queue of records in memory that two
// processes share. The writer never waits: a full ring counts the record as lost, and a
// lost record makes the run invalid.
type Ring struct {
	h     *ringHead
	slots []Record
	mask  uint64
}

// NewRing lays a ring over mem, which must have RingBytes(n) bytes for a power of two n
// and be page aligned. Both sides call it; fresh is true for the one that made the memory.
func NewRing(mem []byte, fresh bool) (*Ring, error) {
	n := (len(mem) - ringHeader) / Size
	if n < 1 || n&(n-1) != 0 || len(mem) != RingBytes(n) {
		return nil, fmt.Errorf("record ring: %d bytes are not a header and a power of two of %d-byte records", len(mem), Size)
	}
	h := (*ringHead)(unsafe.Pointer(&mem[0]))
	if fresh {
		h.magic, h.slots = ringMagic, uint64(n)
	}
	if h.magic != ringMagic || h.slots != uint64(n) {
		return nil, fmt.Errorf("record ring: the memory holds no ring of %d slots (another version of the program?)", n)
	}
	return &Ring{h: h, slots: unsafe.Slice((*Record)(unsafe.Pointer(&mem[ringHeader])), n), mask: uint64(n - 1)}, nil
}

// Next returns the slot to fill, or nil when the ring is full (counted). hot.
func (r *Ring) Next() *Record {
	head := r.h.head.Load()
	if head-r.h.tail.Load() > r.mask {
		r.h.lost.Add(1)
		return nil
	}
	return &r.slots[head&r.mask]
}

// Publish hands the slot that Next returned to the reader. hot.
func (r *Ring) Publish() { r.h.head.Add(1) }

// Put copies rec into the ring; false when it was full (counted). hot.
func (r *Ring) Put(rec *Record) bool {
	slot := r.Next()
	if slot == nil {
		return false
	}
	*slot = *rec
	r.Publish()
	return true
}

// Drain calls f for each record that waits and returns how many there were. The pointer
// is valid during the call only. warm.
func (r *Ring) Drain(f func(*Record)) int {
	tail, head := r.h.tail.Load(), r.h.head.Load()
	for i := tail; i != head; i++ {
		f(&r.slots[i&r.mask])
		r.h.tail.Store(i + 1)
	}
	return int(head - tail)
}

// Lost is the number of records that the ring could not take.
func (r *Ring) Lost() uint64 { return r.h.lost.Load() }

// Written is the number of records the ring took.
func (r *Ring) Written() uint64 { return r.h.head.Load() }
