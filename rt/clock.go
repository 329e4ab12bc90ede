package rt

import (
	"time"
	_ "unsafe" // go:linkname
)

// nanotime is the runtime's own monotonic clock. On Linux it is CLOCK_MONOTONIC read by
// the vDSO, the base of timerfd and clock_nanosleep. unix.ClockGettime was rejected: it
// is a real system call and costs ten times as much; time.Now reads two clocks.
//
//go:linkname nanotime runtime.nanotime
//go:noescape
func nanotime() int64

// Now is CLOCK_MONOTONIC in nanoseconds. Hot; nosplit, so that a timed loop that calls it
// has no preemption point. The epoch is the kernel's boot on Linux and unspecified
// elsewhere.
//
// https://man7.org/linux/man-pages/man2/clock_gettime.2.html
//
//go:nosplit
func Now() int64 { return nanotime() }

// WallOffset turns an instant of CLOCK_REALTIME, such as a socket's time stamp, into one
// of CLOCK_MONOTONIC: monotonic = realtime - Offset, within Bracket/2 on either side.
// Both clocks are slewed alike, so the offset changes only when the wall clock is set:
// read it before and after a phase, and take a difference beyond the two brackets for a
// clock step.
type WallOffset struct {
	Offset  int64 // REALTIME - MONOTONIC, ns
	Bracket int64 // width in ns of the bracket in which REALTIME was read; > 0
}

// wallReads is the number of bracketed reads of which ReadWallOffset keeps the narrowest:
// enough that one of them is not interrupted, few enough to take some 10 µs.
const wallReads = 64

// ReadWallOffset reads REALTIME between two reads of MONOTONIC, 64 times, and returns the
// narrowest. Warm: no allocation, about 10 µs.
func ReadWallOffset() WallOffset {
	var best WallOffset
	for i := 0; i < wallReads; i++ {
		before := nanotime()
		wall := time.Now().UnixNano()
		after := nanotime()
		width := after - before
		if width < 1 { // a clock too coarse to see its own read: one tick is the truth
			width = 1
		}
		if i == 0 || width < best.Bracket {
			best = WallOffset{Offset: wall - (before + (after-before)/2), Bracket: width}
		}
	}
	return best
}
