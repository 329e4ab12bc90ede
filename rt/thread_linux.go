package rt

import (
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

// SetTimerSlack sets how late the kernel may let the calling thread's sleeps end to
// batch them; it concerns SCHED_OTHER threads only (real-time ones have none). d of 0 or
// less is refused: to the kernel 0 means "the default again". Cold.
//
// https://man7.org/linux/man-pages/man2/PR_SET_TIMERSLACK.2const.html
func SetTimerSlack(d time.Duration) error {
	if d <= 0 {
		return fmt.Errorf("timer slack of %v: ask for 1ns or more", d)
	}
	if err := unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(d), 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_TIMERSLACK, %v): %w", d, err)
	}
	return nil
}

// TimerSlack is the calling thread's timer slack. Cold.
func TimerSlack() (time.Duration, error) {
	ns, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		return 0, fmt.Errorf("prctl(PR_GET_TIMERSLACK): %w", err)
	}
	return time.Duration(ns), nil
}

// SetParentDeathSignal has the kernel SIGKILL this process when the thread that started
// it ends. It is a property of the calling thread and goes with it: call it from the main
// thread or, as it lasts over execve, right before Exec on a locked one. NB: the parent's
// thread, not the parent: the parent starts its children from a thread that lives as long
// as they shall. A parent that ended before the call is not noticed: compare os.Getppid
// with the expected one afterwards. Cold.
//
// https://man7.org/linux/man-pages/man2/PR_SET_PDEATHSIG.2const.html
func SetParentDeathSignal() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_PDEATHSIG, SIGKILL): %w", err)
	}
	return nil
}
