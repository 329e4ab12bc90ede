package judge

import (
	"slices"

	"opcycle/bench"
)

// burstGap separates two bursts: a stretch of this length without a late or missed cycle.
const burstGap = int64(1e9)

// Bursts is the number of separate bursts that the late and missed cycles came in (gaps of
// 1 s or more). ok is false when the result does not hold every one of them in full, as
// after more than bench.AbnormalMax.
func Bursts(f bench.File) (bursts int64, ok bool) {
	late, missed := find(&f, "", "packets", "late"), find(&f, "", "packets", "missed")
	if !late.OK || !missed.OK {
		return 0, false
	}
	var at []int64
	for i := range f.Abnormal {
		if r := &f.Abnormal[i]; r.Outcome == bench.Late || r.Outcome == bench.Missed {
			at = append(at, r.K)
		}
	}
	if float64(len(at)) != late.Value+missed.Value {
		return 0, false
	}
	slices.Sort(at)
	for i, k := range at {
		if i == 0 || (k-at[i-1])*f.Plan.Period() >= burstGap {
			bursts++
		}
	}
	return bursts, true
}
