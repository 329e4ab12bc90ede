package rt

import "syscall"

// NanosleepOnce is one clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME) to t in ns. It
// returns nil at t or later, or syscall.EINTR, which the caller counts before it sleeps
// again to the same t. Hot; nosplit, raw system call: it blocks the thread and keeps the
// P, so it belongs to single-purpose processes (GODEBUG=asyncpreemptoff=1, or sysmon's
// SIGURG interrupts it every 10 ms). Timer is for threads that share their process.
//
// https://man7.org/linux/man-pages/man2/clock_nanosleep.2.html
//
//go:nosplit
func NanosleepOnce(t int64) error {
	if errno := RawNanosleepUntil(t); errno != 0 {
		return errno
	}
	return nil
}

// NanosleepUntil blocks the thread until CLOCK_MONOTONIC is t ns or later, through any
// number of signals. Hot, as NanosleepOnce; errors are a bare errno (EINVAL for a
// negative t).
//
//go:nosplit
func NanosleepUntil(t int64) error {
	for {
		if err := NanosleepOnce(t); err != syscall.EINTR {
			return err
		}
	}
}
