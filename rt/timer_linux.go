package rt

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Timer is a timerfd on CLOCK_MONOTONIC in the runtime's netpoller. SleepUntil parks the
// goroutine and gives its P back at once, which a blocking clock_nanosleep does not: that
// one keeps the P until sysmon takes it, and with GOMAXPROCS=1 everything else waits.
// time.Sleep was rejected: its wake-ups come with the millisecond of epoll_wait.
//
// One goroutine sleeps; any other may Close. NB: two sleepers on one Timer would move
// each other's instant.
//
// https://man7.org/linux/man-pages/man2/timerfd_create.2.html
type Timer struct {
	file   *os.File
	raw    syscall.RawConn
	step   func(fd uintptr) bool // (*Timer).wake, bound once: binding it in SleepUntil would allocate
	until  int64                 // ns; owned by the sleeper
	failed syscall.Errno         // of timerfd_settime; owned by the sleeper
	spec   unix.ItimerSpec       // owned by the sleeper
	closed atomic.Bool
}

// NewTimer makes the timer. Cold.
func NewTimer() (*Timer, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("timerfd_create(CLOCK_MONOTONIC): %w", err)
	}
	t := &Timer{file: os.NewFile(uintptr(fd), "timerfd")}
	// os.NewFile swallows the poller's refusal; a deadline is what only a polled file has.
	if err := t.file.SetReadDeadline(time.Time{}); err != nil {
		return nil, errors.Join(fmt.Errorf("timerfd in the netpoller: %w", err), t.file.Close())
	}
	if t.raw, err = t.file.SyscallConn(); err != nil {
		return nil, errors.Join(fmt.Errorf("timerfd: %w", err), t.file.Close())
	}
	t.step = t.wake
	return t, nil
}

// SleepUntil parks the goroutine until CLOCK_MONOTONIC is t or later, and never returns
// before. A t in the past returns at once, without a system call. After Close it returns
// an error that wraps os.ErrClosed. Hot: no allocation; one timerfd_settime and one park.
func (t *Timer) SleepUntil(until int64) error {
	if nanotime() >= until {
		return t.lateErr()
	}
	t.until, t.failed = until, 0
	if err := t.raw.Read(t.step); err != nil {
		if t.closed.Load() {
			return os.ErrClosed
		}
		return fmt.Errorf("sleep on timerfd: %w", err)
	}
	if t.failed != 0 {
		return fmt.Errorf("timerfd_settime to %d ns: %w", until, t.failed)
	}
	return nil
}

// lateErr makes Close visible to a loop that is always late. Hot.
func (t *Timer) lateErr() error {
	if t.closed.Load() {
		return os.ErrClosed
	}
	return nil
}

// wake says whether the sleep is over, and arms the timer if not. It runs before the park
// and after each wake-up. Expirations are never read: setting the timer clears the count,
// each expiry is a new edge for the poller, and a stray wake-up only arms it again. Hot.
func (t *Timer) wake(fd uintptr) bool {
	if nanotime() >= t.until {
		return true
	}
	t.spec.Value = unix.NsecToTimespec(t.until)
	_, _, errno := syscall.RawSyscall6(unix.SYS_TIMERFD_SETTIME, fd, unix.TFD_TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&t.spec)), 0, 0, 0)
	t.failed = errno
	return errno != 0
}

// Close ends the timer; a sleeper returns with os.ErrClosed. A second Close is an error
// that wraps os.ErrClosed. Cold.
func (t *Timer) Close() error {
	t.closed.Store(true)
	if err := t.file.Close(); err != nil {
		return fmt.Errorf("close timerfd: %w", err)
	}
	return nil
}
