package rt

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// CycleClock is the processor's free-running counter and what it counts.
type CycleClock struct {
	Hz   float64 // measured against CLOCK_MONOTONIC
	Unit string  // "TSC cycles" on amd64, "CNTVCT ticks" on arm64: reference cycles, not core cycles
}

// Calibration: two measurements of this length must agree within this share.
const (
	cycleSpan  = 60 * time.Millisecond
	cycleAgree = 1e-3
	cycleTries = 10
)

// ReadCycleClock checks that the counter is invariant (amd64: the flags constant_tsc and
// nonstop_tsc of proc/cpuinfo below root; arm64's is by its architecture) and measures its
// rate twice over 60 ms or more, until two measurements agree within 0.1 %, at most ten
// times. A counter that is not invariant is refused, as is one whose rate can't be agreed
// on. Cold; some 0.1 s.
//
// https://docs.kernel.org/virt/kvm/x86/timekeeping.html
func ReadCycleClock(root string) (CycleClock, error) {
	c := CycleClock{Unit: cycleUnit}
	if runtime.GOARCH == "amd64" {
		if err := invariant(root); err != nil {
			return c, err
		}
	}
	last := cycleRate()
	for range cycleTries {
		now := cycleRate()
		if last > 0 && math.Abs(now-last) <= cycleAgree*last {
			c.Hz = (now + last) / 2
			return c, nil
		}
		last = now
	}
	if last <= 0 {
		return c, fmt.Errorf("cycle counter: %w on %s", errors.ErrUnsupported, runtime.GOARCH)
	}
	return c, fmt.Errorf("cycle counter: %d measurements of its rate do not agree within %g %%; another machine, or fewer neighbours", cycleTries, cycleAgree*100)
}

func invariant(root string) error {
	data, err := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	if err != nil {
		return fmt.Errorf("cycle counter: whether it is invariant: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		name, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(name) != "flags" {
			continue
		}
		flags := " " + strings.TrimSpace(value) + " "
		for _, f := range []string{"constant_tsc", "nonstop_tsc"} {
			if !strings.Contains(flags, " "+f+" ") {
				return fmt.Errorf("cycle counter: refused, the time stamp counter is not invariant (no flag %s): its cycles would be no unit of time", f)
			}
		}
		return nil
	}
	return errors.New("cycle counter: proc/cpuinfo has no flags: whether it is invariant is not known")
}

// cycleRate is the counter's rate over cycleSpan, each end the tightest of 16 brackets.
func cycleRate() float64 {
	c0, t0 := cyclesAt()
	for Now()-t0 < int64(cycleSpan) {
		time.Sleep(5 * time.Millisecond)
	}
	c1, t1 := cyclesAt()
	return float64(c1-c0) / float64(t1-t0) * 1e9
}

// cyclesAt reads counter and clock at nearly one instant.
func cyclesAt() (cycles, ns int64) {
	best := int64(math.MaxInt64)
	for range 16 {
		before := Now()
		c := Cycles()
		after := Now()
		if after-before < best {
			best, cycles, ns = after-before, c, before+(after-before)/2
		}
	}
	return cycles, ns
}

// NS is n cycles in nanoseconds.
func (c CycleClock) NS(n float64) float64 { return n / c.Hz * 1e9 }
