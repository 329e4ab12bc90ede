package rt

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Exec becomes the program argv0: it sets the affinity and policy of this thread, and
// with rttime > 0 the guard RLIMIT_RTTIME (soft and hard), then calls execve. The kernel
// keeps all three over execve, and every thread that the new image's runtime starts
// inherits them. Set later, from inside, they would reach the calling thread only.
//
// It returns only with an error, which names the step that failed and wraps the kernel's;
// the thread is then as it was. The guard stays (a hard limit can't be raised again):
// to a process without real-time threads it means nothing.
//
// Refused, because the new process would hang for ever, and with it the CPU: FIFO or RR
// with more GOMAXPROCS than CPUs. A Go thread that spins for work never yields to the
// one that has it. So env must say GOMAXPROCS=1 for one CPU. Refused also: ResetOnFork,
// with which the new runtime's threads would be SCHED_OTHER.
//
// Descriptors pass that are not close-on-exec. Cold.
//
// https://man7.org/linux/man-pages/man2/execve.2.html
func Exec(argv0 string, argv, env []string, a Attr, rttime time.Duration) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := ReadThread(0)
	if err != nil {
		return fmt.Errorf("exec %s: %w", argv0, err)
	}
	if a.CPUs == nil {
		a.CPUs = before.CPUs
	}
	if err := execRefuse(a, env); err != nil {
		return fmt.Errorf("exec %s: %w", argv0, err)
	}
	if err := unix.Access(argv0, unix.X_OK); err != nil {
		return fmt.Errorf("exec %s: execute permission: %w", argv0, err)
	}
	if rttime > 0 { // before the policy: no instant of FIFO without its guard
		if err := LimitRealTime(rttime); err != nil {
			return fmt.Errorf("exec %s: %w", argv0, err)
		}
	}
	err = SetThread(0, a)
	if err == nil {
		if err = syscall.Exec(argv0, argv, env); err != nil {
			err = fmt.Errorf("execve: %w", err)
		}
	}
	err = fmt.Errorf("exec %s: %w", argv0, err)
	if back := execUndo(before); back != nil {
		err = fmt.Errorf("%w (and this thread stays scheduled for it: %v)", err, back)
	}
	return err
}

// execUndo gives the thread back its policy, then its affinity: the real-time thread is
// not to meet the other CPUs.
func execUndo(before Attr) error {
	if err := setPolicy(0, before); err != nil {
		return err
	}
	return SetAffinity(0, before.CPUs)
}

// execRefuse says why a process must not be started so, or nil.
func execRefuse(a Attr, env []string) error {
	if err := a.validate(); err != nil {
		return err
	}
	if len(a.CPUs) == 0 {
		return fmt.Errorf("no CPU to run on: %w", unix.EINVAL)
	}
	if a.ResetOnFork {
		return fmt.Errorf("reset on fork would leave the new runtime's threads at %v: set it per thread: %w", Other, unix.EINVAL)
	}
	if !a.Policy.RealTime() {
		return nil
	}
	procs, set := lookup(env, "GOMAXPROCS")
	n, err := strconv.Atoi(procs)
	switch {
	case !set && len(a.CPUs) > 1: // the runtime takes it from the affinity
		return nil
	case err != nil || n < 1 || n > len(a.CPUs):
		return fmt.Errorf("%v on CPUs %v with GOMAXPROCS=%q would hang for ever: set GOMAXPROCS=%d in its environment: %w",
			a.Policy, a.CPUs, procs, len(a.CPUs), unix.EINVAL)
	}
	return nil
}

// lookup is the value of the first name=value of env: the one that the Go runtime takes.
func lookup(env []string, name string) (string, bool) {
	for _, e := range env {
		if value, ok := strings.CutPrefix(e, name+"="); ok {
			return value, true
		}
	}
	return "", false
}
