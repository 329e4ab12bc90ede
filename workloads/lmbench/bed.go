package lmbench

import (
	"errors"
	"fmt"
	"math"
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

// Calibration as the original does it.
const (
	firstIntervals = int64(150 * time.Microsecond) // until then the count grows by 8
	countsFrom     = 0.95                          // of enough: a shorter interval does not count
	wellFrom       = 0.99                          // outside of these the count is scaled anew
	wellTo         = 1.2
	aim            = 1.1
	shortsAllowed  = 100
	halfTries      = 2
	unlimited      = int64(1) << 62
)

// repeat measures op, which does an operation n times and says how many ns that took, both
// clock reads its own. It finds the n for which an interval lasts enough, and repeats it
// Tries times. An interval that turned out too short does not count, and the next is longer.
func (b *bed) repeat(op func(n int64) (ns int64, err error)) (sample, error) {
	return b.repeatAtMost(unlimited, op)
}

// repeatAtMost is repeat with intervals of at most limit operations, which may be shorter
// than enough: for what uses something up.
func (b *bed) repeatAtMost(limit int64, op func(n int64) (ns int64, err error)) (sample, error) {
	var s sample
	n, err := b.calibrate(limit, op)
	if err != nil {
		return s, err
	}
	for shorts := 0; len(s.each) < b.Tries; {
		ns, err := b.interval(n, op)
		if err != nil {
			return s, err
		}
		share := float64(ns) / float64(b.enough)
		if share >= countsFrom || n == limit {
			s.each = append(s.each, float64(ns)/float64(n))
			s.batch = n
		} else if shorts++; shorts > shortsAllowed {
			return s, fmt.Errorf("%d intervals were shorter than %s, however many operations they had", shorts, time.Duration(b.enough))
		}
		if share < wellFrom || share > wellTo {
			n = scale(n, ns, b.enough, limit)
		}
	}
	if b.Quick || limit < unlimited {
		return s, nil
	}
	s.half, err = b.halves(s.batch, op)
	return s, err
}

// halves is what an operation costs at best in intervals of half the length: the same,
// unless something in an interval does not grow with the operations.
func (b *bed) halves(n int64, op func(n int64) (ns int64, err error)) (float64, error) {
	if n < 2*halfTries {
		return 0, nil
	}
	best := math.Inf(1)
	for range halfTries {
		ns, err := b.interval(n/2, op)
		if err != nil {
			return 0, err
		}
		best = min(best, float64(ns)/float64(n/2))
	}
	return best, nil
}

// stream is repeat for an operation that moves so many bytes: its readings may be in MB/s.
func (b *bed) stream(bytes int64, op func(n int64) (ns int64, err error)) (sample, error) {
	s, err := b.repeat(op)
	s.bytes = bytes
	return s, err
}

// calibrate finds the count of an interval. What it measured warms up and is dropped.
func (b *bed) calibrate(limit int64, op func(n int64) (ns int64, err error)) (int64, error) {
	n := int64(1)
	for range 60 {
		ns, err := b.interval(n, op)
		switch {
		case err != nil:
			return 0, err
		case n == limit || float64(ns) >= countsFrom*float64(b.enough):
			return n, nil
		case ns < firstIntervals:
			n = min(8*n, limit)
		default:
			n = scale(n, ns, b.enough, limit)
		}
	}
	return 0, fmt.Errorf("no number of operations was found that lasts %s", time.Duration(b.enough))
}

// scale is the count that lasts somewhat more than enough, if n lasted ns.
func scale(n, ns, enough, limit int64) int64 {
	want := aim * float64(enough) / float64(max(ns, 1)) * float64(n)
	return min(max(int64(math.Ceil(min(want, 100*float64(n)))), 1), limit)
}

// interval is one call of op, unless the run was ended.
func (b *bed) interval(n int64, op func(n int64) (ns int64, err error)) (int64, error) {
	if b.stopped() {
		return 0, errStopped
	}
	ns, err := op(n)
	if err == nil && ns <= 0 {
		err = fmt.Errorf("%d operations took %d ns by the clock", n, ns)
	}
	return ns, err
}

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
