package rt

import "golang.org/x/sys/unix"

// SuspendedTime is how long the machine has been suspended since boot, ns: BOOTTIME −
// MONOTONIC, within the few µs between the two reads; −1 when a clock is not readable.
// Its change over a phase tells a suspend. Cold.
//
// https://man7.org/linux/man-pages/man2/clock_gettime.2.html
func SuspendedTime() int64 {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
		return -1
	}
	return boot.Nano() - mono.Nano()
}
