package plc

import (
	"fmt"
	"slices"
	"time"
)

// Calibration times batches of about calibrateBatch, calibrateTries of them, and takes
// the median: a batch that another task interrupted is then no outlier but no matter.
const (
	calibrateBatch = int64(2 * time.Millisecond)
	calibrateTries = 11
	calibrateMax   = int64(1) << 32
)

// Calibrate returns the iteration count with which a Run of p takes target, at least 1:
// the median of timed batches, then once more with batches of the found size. It must run
// where the task will (same thread, so same CPU and policy) and takes about
// 11 · (2 ms + target). cold.
func Calibrate(p Program, target time.Duration, clock Clock) (iterations int64, err error) {
	if target <= 0 {
		return 0, fmt.Errorf("calibrate: target %v; it must be positive", target)
	}
	n := int64(64)
	for timeBatch(p, n, clock) < calibrateBatch {
		if n *= 2; n > calibrateMax {
			return 0, fmt.Errorf("calibrate: %d iterations take less than %v: there is no program to time, or the clock stands",
				calibrateMax, time.Duration(calibrateBatch))
		}
	}
	for range 2 {
		n = scale(n, int64(target), medianBatch(p, n, clock))
	}
	return n, nil
}

// scale is the count that takes target when n takes took.
func scale(n, target, took int64) int64 {
	return max(1, int64(float64(n)*float64(target)/float64(max(took, 1))+0.5))
}

func medianBatch(p Program, n int64, clock Clock) int64 {
	var took [calibrateTries]int64
	for i := range took {
		took[i] = timeBatch(p, n, clock)
	}
	slices.Sort(took[:])
	return took[calibrateTries/2]
}

func timeBatch(p Program, n int64, clock Clock) int64 {
	begin := clock.Now()
	p.Run(n)
	return clock.Now() - begin
}
