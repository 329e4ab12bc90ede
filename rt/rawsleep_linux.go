package rt

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RawNanosleepUntil is clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME) to t in ns: as
// NanosleepOnce, with its errno bare.
//
//go:nosplit
func RawNanosleepUntil(t int64) syscall.Errno {
	ts := unix.Timespec{Sec: t / 1e9, Nsec: t % 1e9}
	_, _, errno := syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME,
		uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
	return errno
}
