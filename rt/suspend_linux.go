package rt

import "golang.org/x/sys/unix"

// suspendReads is the number of reads of which SuspendedTime keeps the least.
const suspendReads = 16

// SuspendedTime is how long the machine has been suspended since boot, ns: BOOTTIME −
// MONOTONIC; −1 when a clock is not readable. Its change over a phase tells a suspend.
// The first clock is read first, so whatever stops the thread between the two reads
// (another thread, a hypervisor's 20 ms) only makes the difference larger: the least of
// 16 is kept, and a stall is not taken for a suspend. Cold.
//
// https://man7.org/linux/man-pages/man2/clock_gettime.2.html
func SuspendedTime() int64 {
	least := int64(-1)
	for range suspendReads {
		var boot, mono unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil {
			return -1
		}
		if d := boot.Nano() - mono.Nano(); least < 0 || d < least {
			least = d
		}
	}
	return least
}
