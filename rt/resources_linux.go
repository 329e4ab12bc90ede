package rt

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// number is the kernel's number and name of a limit.
func (r Resource) number() (int, string, error) {
	switch r {
	case LimitMemlock:
		return unix.RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", nil
	case LimitRTPrio:
		return unix.RLIMIT_RTPRIO, "RLIMIT_RTPRIO", nil
	case LimitRTTime:
		return unix.RLIMIT_RTTIME, "RLIMIT_RTTIME", nil
	case LimitOpenFiles:
		return unix.RLIMIT_NOFILE, "RLIMIT_NOFILE", nil
	}
	return 0, "", fmt.Errorf("resource limit %d is not known here", int(r))
}

// Rlimit is the soft and hard limit of a resource in the kernel's unit; Unlimited when
// there is none. Cold.
//
// https://man7.org/linux/man-pages/man2/getrlimit.2.html
func Rlimit(r Resource) (soft, hard uint64, err error) {
	number, name, err := r.number()
	if err != nil {
		return 0, 0, err
	}
	var lim unix.Rlimit
	if err := unix.Getrlimit(number, &lim); err != nil {
		return 0, 0, fmt.Errorf("getrlimit(%s): %w", name, err)
	}
	return lim.Cur, lim.Max, nil
}

// LimitRealTime sets RLIMIT_RTTIME, soft and hard, for the whole process: the kernel
// kills it when one of its real-time threads runs for longer without a blocking call. It
// is the guard of every SCHED_FIFO process. It can't be raised again without
// CAP_SYS_RESOURCE: a d above the present hard limit is refused, not reduced. Cold.
//
// https://man7.org/linux/man-pages/man2/getrlimit.2.html
func LimitRealTime(d time.Duration) error {
	us := uint64(d.Microseconds())
	if d < time.Microsecond {
		return fmt.Errorf("RLIMIT_RTTIME of %v: ask for 1µs or more", d)
	}
	_, hard, err := Rlimit(LimitRTTime)
	if err != nil {
		return err
	}
	if us > hard {
		return fmt.Errorf("RLIMIT_RTTIME of %v: the present hard limit is %d µs: %w: raise it where this process "+
			"is started (prlimit --rttime, podman --ulimit rttime)", d, hard, unix.EPERM)
	}
	if err := unix.Setrlimit(unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: us, Max: us}); err != nil {
		return fmt.Errorf("setrlimit(RLIMIT_RTTIME, %v): %w", d, err)
	}
	return nil
}

// LimitRealTimeOf is LimitRealTime for another process, which has started. Cold.
//
// https://man7.org/linux/man-pages/man2/prlimit.2.html
func LimitRealTimeOf(pid int, d time.Duration) error {
	us := uint64(max(d.Microseconds(), 1))
	if err := unix.Prlimit(pid, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: us, Max: us}, nil); err != nil {
		return fmt.Errorf("prlimit(%d, RLIMIT_RTTIME, %v): %w", pid, d, err)
	}
	return nil
}

// HasCapability reports whether the calling thread holds a capability in its effective
// set. NB: in a user namespace (rootless containers) it holds over that namespace only;
// what the kernel checks against the first one, such as CAP_IPC_LOCK, is still refused.
// Cold.
//
// https://man7.org/linux/man-pages/man2/capget.2.html
func HasCapability(c Capability) (bool, error) {
	if c < 0 || c > 63 {
		return false, fmt.Errorf("capability %d: there is none of this number", int(c))
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return false, fmt.Errorf("capget: %w", err)
	}
	return data[c/32].Effective&(1<<(uint(c)%32)) != 0, nil
}

// InitialUserNamespace reports whether this process's user ids are the machine's own:
// only then do its capabilities count for what concerns the whole machine. root is where
// the kernel's proc is mounted below. Cold.
//
// https://man7.org/linux/man-pages/man7/user_namespaces.7.html
func InitialUserNamespace(root string) (bool, error) {
	text, err := os.ReadFile(under(root, "proc/self/uid_map"))
	if err != nil {
		return false, fmt.Errorf("user namespace: %w", err)
	}
	f := strings.Fields(string(text))
	return len(f) == 3 && f[0] == "0" && f[1] == "0" && f[2] == "4294967295", nil
}
