package rt

import (
	"errors"
	"math/rand/v2"
	"os"
	"syscall"
	"testing"
	"time"
)

func newTimer(t *testing.T) *Timer {
	t.Helper()
	timer, err := NewTimer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = timer.Close() }) // some tests closed it already
	return timer
}

func TestSleepUntilNeverReturnsEarly(t *testing.T) {
	timer := newTimer(t)
	for i := 0; i < 500; i++ {
		due := Now() + rand.Int64N(int64(2*time.Millisecond))
		if err := timer.SleepUntil(due); err != nil {
			t.Fatal(err)
		}
		if now := Now(); now < due {
			t.Fatalf("sleep %d returned %d ns early", i, due-now)
		}
	}
}

func TestSleepUntilThePastReturns(t *testing.T) {
	timer := newTimer(t)
	for _, due := range []int64{-1, 0, 1, Now()} {
		if err := timer.SleepUntil(due); err != nil {
			t.Errorf("SleepUntil(%d): %v", due, err)
		}
	}
}

// A timer that fired unread must not end the next sleep.
func TestSleepUntilAfterAStrayExpiry(t *testing.T) {
	timer := newTimer(t)
	if !func() (armed bool) {
		timer.until = Now() + int64(time.Millisecond)
		err := timer.raw.Control(func(fd uintptr) { armed = !timer.wake(fd) })
		return armed && err == nil
	}() {
		t.Skip("the timer expired before it was armed")
	}
	SpinUntil(timer.until + int64(time.Millisecond))
	due := Now() + int64(5*time.Millisecond)
	if err := timer.SleepUntil(due); err != nil {
		t.Fatal(err)
	}
	if now := Now(); now < due {
		t.Errorf("returned %d ns early", due-now)
	}
}

func TestCloseWakesTheSleeper(t *testing.T) {
	timer := newTimer(t)
	woken := make(chan error)
	go func() { woken <- timer.SleepUntil(Now() + int64(time.Hour)) }()
	if err := timer.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-woken:
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("sleeper got %v, want os.ErrClosed", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("sleeper still asleep")
	}
	for _, due := range []int64{0, Now() + int64(time.Hour)} {
		if err := timer.SleepUntil(due); !errors.Is(err, os.ErrClosed) {
			t.Errorf("SleepUntil(%d) after Close: %v, want os.ErrClosed", due, err)
		}
	}
	if err := timer.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second Close: %v, want os.ErrClosed", err)
	}
}

func TestNanosleepUntilNeverReturnsEarly(t *testing.T) {
	for i := 0; i < 200; i++ {
		due := Now() + rand.Int64N(int64(time.Millisecond))
		if err := NanosleepUntil(due); err != nil {
			t.Fatal(err)
		}
		if now := Now(); now < due {
			t.Fatalf("sleep %d returned %d ns early", i, due-now)
		}
	}
	if err := NanosleepUntil(-1); !errors.Is(err, syscall.EINVAL) {
		t.Errorf("a negative instant: %v, want EINVAL", err)
	}
}

func TestSleepsAllocateNothing(t *testing.T) {
	timer := newTimer(t)
	for name, call := range map[string]func(){
		"SleepUntil, past":   func() { _ = timer.SleepUntil(0) },
		"SleepUntil, future": func() { _ = timer.SleepUntil(Now() + int64(50*time.Microsecond)) },
		"NanosleepUntil":     func() { _ = NanosleepUntil(Now() + int64(50*time.Microsecond)) },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations a call", name, n)
		}
	}
}
