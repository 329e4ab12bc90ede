package rt

import (
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ThreadCPU is the processor time of the calling thread in ns, user and system, up to
// now; -1 when unknown. Hot; nosplit; a real system call of about 0.2 µs.
//
// https://man7.org/linux/man-pages/man2/clock_gettime.2.html
//
//go:nosplit
func ThreadCPU() int64 {
	var ts unix.Timespec
	if _, _, errno := syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_THREAD_CPUTIME_ID,
		uintptr(unsafe.Pointer(&ts)), 0); errno != 0 {
		return -1
	}
	return ts.Sec*1e9 + ts.Nsec
}

// ThreadUsage is the calling thread's counters; all -1 when unknown. Hot; nosplit.
//
// https://man7.org/linux/man-pages/man2/getrusage.2.html
//
//go:nosplit
func ThreadUsage() Usage {
	var ru unix.Rusage
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETRUSAGE, unix.RUSAGE_THREAD,
		uintptr(unsafe.Pointer(&ru)), 0); errno != 0 {
		return Usage{-1, -1, -1, -1}
	}
	return Usage{MinorFaults: ru.Minflt, MajorFaults: ru.Majflt, Voluntary: ru.Nvcsw, Involuntary: ru.Nivcsw}
}

// ProcessUsage is the counters of all threads of this process, and their time in user and
// kernel mode; -1 when unknown. Warm.
func ProcessUsage() (u Usage, utime, stime time.Duration) {
	var ru unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &ru); err != nil {
		return Usage{-1, -1, -1, -1}, -1, -1
	}
	u = Usage{MinorFaults: ru.Minflt, MajorFaults: ru.Majflt, Voluntary: ru.Nvcsw, Involuntary: ru.Nivcsw}
	return u, time.Duration(ru.Utime.Nano()), time.Duration(ru.Stime.Nano())
}

// CPU is the number of the CPU that the calling thread runs on, -1 when unknown. It may
// be another one before the caller looks at it, unless the thread is pinned. Hot;
// nosplit.
//
// https://man7.org/linux/man-pages/man2/getcpu.2.html
//
//go:nosplit
func CPU() int {
	var cpu uint32
	if _, _, errno := syscall.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0); errno != 0 {
		return -1
	}
	return int(cpu)
}

// Schedstat holds the scheduler's account of one thread open.
//
// https://docs.kernel.org/scheduler/sched-stats.html
type Schedstat struct {
	fd   int
	path string
	buf  [96]byte // three numbers of at most 20 digits; owned by the reader
}

// OpenSchedstat opens the account of the calling thread, which stays this thread's
// whoever reads it. root is where proc is mounted below, "/" outside tests. Cold.
func OpenSchedstat(root string) (*Schedstat, error) {
	path := under(root, "proc/thread-self/schedstat")
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w: needs a kernel with CONFIG_SCHED_INFO", path, err)
	}
	return &Schedstat{fd: fd, path: path}, nil
}

// Read is the ns that the thread ran, the ns that it waited on a run queue although it
// could run, and how often it was put on a CPU. ok is false when the kernel does not
// count (it then shows three zeros, which no running thread has). NB: the time run of a
// thread that is running is as of its last tick or switch: ThreadCPU is exact; the delay
// is. Hot: one pread into fixed memory; one reader at a time.
func (s *Schedstat) Read() (runNS, delayNS int64, slices int64, ok bool) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_PREAD64, uintptr(s.fd),
		uintptr(unsafe.Pointer(&s.buf)), uintptr(len(s.buf)), 0, 0, 0)
	if errno != 0 {
		return 0, 0, 0, false
	}
	return parseSchedstat(s.buf[:n])
}

// parseSchedstat reads three decimal numbers, each ended by white space. Hot.
func parseSchedstat(text []byte) (runNS, delayNS int64, slices int64, ok bool) {
	var v [3]int64
	field, digits := 0, 0
	for _, c := range text {
		switch {
		case c >= '0' && c <= '9':
			if digits++; digits > 18 { // 18 digits can't overflow an int64
				return 0, 0, 0, false
			}
			v[field] = v[field]*10 + int64(c-'0')
		case (c == ' ' || c == '\n') && digits > 0:
			if field++; field == len(v) {
				return v[0], v[1], v[2], v[2] > 0
			}
			digits = 0
		default:
			return 0, 0, 0, false
		}
	}
	return 0, 0, 0, false
}

// Close closes the file. Cold.
func (s *Schedstat) Close() error {
	fd := s.fd
	s.fd = -1
	if err := unix.Close(fd); err != nil {
		return fmt.Errorf("close %s: %w", s.path, err)
	}
	return nil
}
