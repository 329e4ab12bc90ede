package rt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// coreWindow is short beside what a scheduler gives a thread at a time.
const coreWindow = time.Millisecond

// CoreRatio is how many core cycles pass in one cycle of Cycles' counter on the calling
// thread's CPU under load now: by the processor's own counter of cycles (perf_event_open),
// the largest of the windows of 1 ms in span. The counter counts for this thread alone, so a
// window in which another one ran is too low, never too high. Errors wrap the kernel's:
// ENOENT or EOPNOTSUPP where there is no such counter, as in most virtual machines; EACCES
// where perf_event_paranoid forbids it. Cold.
//
// https://man7.org/linux/man-pages/man2/perf_event_open.2.html
func CoreRatio(span time.Duration) (float64, error) {
	attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: unix.PERF_COUNT_HW_CPU_CYCLES, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{}))}
	fd, err := unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("the processor's counter of core cycles: %w", err)
	}
	f := os.NewFile(uintptr(fd), "perf")
	defer f.Close()
	core := func() (uint64, error) {
		var b [8]byte
		_, err := f.Read(b[:])
		return binary.NativeEndian.Uint64(b[:]), err
	}
	best := 0.0
	for end := Now() + int64(span); Now() < end; {
		c0, err0 := core()
		t0, until := Cycles(), Now()+int64(coreWindow)
		for Now() < until {
		}
		c1, err1 := core()
		t1 := Cycles()
		if err := errors.Join(err0, err1); err != nil {
			return 0, fmt.Errorf("read the counter of core cycles: %w", err)
		}
		if t1 > t0 && c1 > c0 {
			best = max(best, float64(c1-c0)/float64(t1-t0))
		}
	}
	if best == 0 {
		return 0, errors.New("the counter of core cycles did not count")
	}
	return best, nil
}
