package server

import (
	"sync/atomic"
	"time"

	"opcycle/rt"
)

// image is the process image: what the PLC thread and the goroutines of the connections
// see of each other's values.
//
// The counter's part is written by the PLC thread and read under a sequence lock. The
// echo's part is written by the goroutine that serves a Write and read by the PLC thread.
type image struct {
	turn   atomic.Uint64 // odd while the PLC thread writes
	index  atomic.Int64  // grid index of the last latched output image; −1 before the first
	source atomic.Int64  // DateTime at the end of the cycle that produced it

	echo       atomic.Uint64          // low half: the Int32; high half: how often it was written
	echoSource atomic.Int64           // DateTime of the last Write
	result     atomic.Pointer[[]byte] // value of the node Result; nil: none yet
	echoAt     atomic.Int64           // CLOCK_MONOTONIC ns when the last Write was accepted
}

func newImage(now int64) *image {
	m := &image{}
	m.index.Store(-1)
	m.echoSource.Store(now)
	return m
}

// latch stores the output image of release k. PLC thread. hot.
func (m *image) latch(k, source int64) {
	m.turn.Add(1)
	m.index.Store(k)
	m.source.Store(source)
	m.turn.Add(1)
}

// counter returns the last latched index and its source time; ok is false before the
// first. Any goroutine but the PLC thread, which it would wait for otherwise.
func (m *image) counter() (k, source int64, ok bool) {
	for {
		before := m.turn.Load()
		k, source = m.index.Load(), m.source.Load()
		if before&1 == 0 && m.turn.Load() == before {
			return k, source, k >= 0
		}
	}
}

// write stores an echo that a client wrote at the given DateTime. Any goroutine.
func (m *image) write(v int32, source int64) {
	m.echoAt.Store(rt.Now()) // before the value: whoever sees the value sees its time
	for {
		old := m.echo.Load()
		next := (old>>32+1)<<32 | uint64(uint32(v))
		if m.echo.CompareAndSwap(old, next) {
			m.echoSource.Store(source)
			return
		}
	}
}

// written returns the newest echo and the number of Writes so far (mod 2^32). hot.
func (m *image) written() (v int32, count uint32) {
	e := m.echo.Load()
	return int32(uint32(e)), uint32(e >> 32)
}

// unixEpoch is 1970-01-01 as DateTime: 100 ns since 1601-01-01 (Part 6, 5.2.2.5).
const unixEpoch = 116444736000000000

// dateTime is the wall clock as DateTime. hot.
func dateTime() int64 { return time.Now().UnixNano()/100 + unixEpoch }

// timeOf is a DateTime as time.Time.
func timeOf(dt int64) time.Time { return time.Unix(0, (dt-unixEpoch)*100).UTC() }
