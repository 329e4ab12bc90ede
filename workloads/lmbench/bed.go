package lmbench

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// order is what the conductor asks of a probe: one figure, and how.
type order struct {
	Figure string        `json:"figure"` // figure.key
	Enough time.Duration `json:"enough"` // length of an interval
	Tries  int           `json:"tries"`
	Quick  bool          `json:"quick"`
	CPU    int           `json:"cpu"`    // measured; noCPU: wherever the scheduler likes
	Other  int           `json:"other"`  // for peers on another CPU; noCPU: there is none
	Dir    string        `json:"dir"`    // where files are made
	Root   string        `json:"root"`   // of /proc and /sys
	Caches []bench.Cache `json:"caches"` // of the measured CPU
	// Dynamic is the dynamic program to execute; empty: /bin/true.
	Dynamic string `json:"dynamic,omitempty"`
}

const noCPU = -1

// bed is what a figure has in its probe process. NB: the thread's descriptors are its own,
// so whatever makes the Go runtime start its poller ends the process: os and net, and
// time.Sleep and timers too.
type bed struct {
	order
	enough int64 // ns; a figure that needs longer intervals raises it
	stop   *uint32
	curve  []point // of latencyCurve
}

// errStopped ends a figure whose run was ended from outside: it has no readings.
var errStopped = errors.New("the run was ended")

func (b *bed) stopped() bool { return atomic.LoadUint32(b.stop) != 0 }

// placement names where everything of a figure runs, unless it has peers elsewhere.
func (b *bed) placement() string {
	if b.CPU == noCPU {
		return "unpinned"
	}
	return fmt.Sprintf("CPU %d", b.CPU)
}

// slurp reads a small file by raw calls: os must not be used on a thread whose descriptors
// are its own.
func slurp(path string) (string, error) {
	fd, errno := rt.RawOpen(cString(path), rt.OpenReadOnly|rt.OpenCloexec, 0)
	if errno != 0 {
		return "", fmt.Errorf("open %s: %w", path, errno)
	}
	defer rt.RawClose(fd)
	var out []byte
	buf := make([]byte, 4096)
	for {
		n, errno := rt.RawRead(fd, buf)
		switch {
		case errno == syscall.EINTR:
		case errno != 0:
			return "", fmt.Errorf("read %s: %w", path, errno)
		case n == 0:
			return string(out), nil
		default:
			out = append(out, buf[:n]...)
		}
	}
}

// cString is text with the zero byte behind it that the kernel wants.
func cString(text string) *byte {
	b := append([]byte(text), 0)
	return &b[0]
}

// field is the value of a line "name: value" of a file of /proc; empty: there is none.
func field(text, name string) string {
	for line := range strings.Lines(text) {
		if n, v, ok := strings.Cut(line, ":"); ok && n == name {
			return strings.Join(strings.Fields(v), " ")
		}
	}
	return ""
}

// open opens a file that has to be there.
func open(path string, flags int) (int, error) {
	fd, errno := rt.RawOpen(cString(path), flags|rt.OpenCloexec, 0)
	if errno != 0 {
		return -1, fmt.Errorf("open %s: %w", path, errno)
	}
	return fd, nil
}
