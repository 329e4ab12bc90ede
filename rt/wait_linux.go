package rt

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// WaitUsage waits for the end of one child process and gives what the kernel counted of it,
// with its status as wait(2) has it. Cold.
//
// https://man7.org/linux/man-pages/man2/wait4.2.html
func WaitUsage(pid int) (u Usage, status int, err error) {
	var ru unix.Rusage
	var ws unix.WaitStatus
	for {
		_, err = unix.Wait4(pid, &ws, 0, &ru)
		if err != unix.EINTR {
			break
		}
	}
	if err != nil {
		return Usage{-1, -1, -1, -1}, 0, fmt.Errorf("wait4 of process %d: %w", pid, err)
	}
	return Usage{MinorFaults: ru.Minflt, MajorFaults: ru.Majflt, Voluntary: ru.Nvcsw, Involuntary: ru.Nivcsw}, int(ws), nil
}

// SetNice sets the nice value of a thread; 0 is the calling one. A value below the present
// one needs CAP_SYS_NICE or RLIMIT_NICE: EACCES without. Cold.
//
// https://man7.org/linux/man-pages/man2/setpriority.2.html
func SetNice(tid, nice int) error {
	if err := unix.Setpriority(unix.PRIO_PROCESS, tid, nice); err != nil {
		return fmt.Errorf("set the nice value of thread %d to %d: %w", tid, nice, err)
	}
	return nil
}
