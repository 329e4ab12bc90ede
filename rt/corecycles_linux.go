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

// CoreRatio is how many core cycles pass in one cycle of Cycles' counter on the calling
// thread's CPU under load now: measured over span by the processor's own counter of cycles
// (perf_event_open). Errors wrap the kernel's: ENOENT or EOPNOTSUPP where there is no such
// counter, as in most virtual machines; EACCES where perf_event_paranoid forbids it. Cold.
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
	c0, err0 := core()
	t0, end := Cycles(), Now()+int64(span)
	for Now() < end {
	}
	c1, err1 := core()
	t1 := Cycles()
	if err := errors.Join(err0, err1); err != nil {
		return 0, fmt.Errorf("read the counter of core cycles: %w", err)
	}
	if t1 <= t0 || c1 <= c0 {
		return 0, errors.New("the counter of core cycles did not count")
	}
	return float64(c1-c0) / float64(t1-t0), nil
}
