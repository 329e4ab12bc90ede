package rt

import (
	"runtime"
	"testing"
	"time"
)

func TestNowDoesNotGoBack(t *testing.T) {
	last := Now()
	for i := 0; i < 100_000; i++ {
		now := Now()
		if now < last {
			t.Fatalf("read %d ns after %d ns", now, last)
		}
		last = now
	}
}

func TestNowRunsAtTheRateOfTheStandardClock(t *testing.T) {
	outerA, a := time.Now(), Now()
	b, outerB := SpinUntil(a+int64(5*time.Millisecond)), time.Now()
	if d, outer := b-a, outerB.Sub(outerA); d > outer.Nanoseconds() {
		t.Errorf("Now advanced by %d ns within %v of time.Now", d, outer)
	}
}

func TestWallOffsetBracketsTheWallClock(t *testing.T) {
	o := ReadWallOffset()
	if o.Bracket <= 0 {
		t.Fatalf("bracket of %d ns: want more than 0", o.Bracket)
	}
	// A wall instant read between two monotonic ones must convert to between them, but for
	// half the bracket. A stepped clock would need a second attempt: three are given.
	for attempt := 1; ; attempt++ {
		before := Now()
		wall := time.Now().UnixNano()
		after := Now()
		mono := wall - o.Offset
		// 1 µs: the two clocks are computed by separate roundings of the same counter.
		if slack := o.Bracket/2 + 1000; mono >= before-slack && mono <= after+slack {
			return
		}
		if attempt == 3 {
			t.Fatalf("wall clock converts to %d ns, read between %d and %d, bracket %d", mono, before, after, o.Bracket)
		}
		o = ReadWallOffset()
	}
}

func TestSpinUntil(t *testing.T) {
	due := Now() + int64(time.Millisecond)
	if got := SpinUntil(due); got < due {
		t.Errorf("returned %d ns before the instant", due-got)
	}
	before := Now()
	if got := SpinUntil(before - 1); got < before {
		t.Errorf("an instant in the past returned the reading %d, older than its own call at %d", got, before)
	}
}

func TestClockAllocatesNothing(t *testing.T) {
	for name, call := range map[string]func(){
		"Now":            func() { Now() },
		"SpinUntil":      func() { SpinUntil(0) },
		"ReadWallOffset": func() { ReadWallOffset() },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations a call", name, n)
		}
	}
}

func TestSuspendedTimeIsPartOfTheUptime(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	suspended := SuspendedTime()
	// MONOTONIC began with BOOTTIME and stands still in a suspend.
	if suspended < 0 {
		t.Errorf("suspended for %d ns", suspended)
	}
}
