package judge

import (
	"slices"

	"opcycle/bench"
)

// burstGap separates two bursts: a stretch of this length without a late or missed cycle.
const burstGap = int64(1e9)

// Bursts is the number of separate bursts that the late and missed cycles of all clients
// came in (gaps of 1 s or more). ok is false when the result does not hold when every one of
// them was, as after more than bench.AbnormalMax.
func Bursts(f bench.File) (bursts int64, ok bool) {
	e, ok := countEvents(&f)
	if !ok {
		return 0, false
	}
	var at []int64
	for i := range f.Abnormal {
		if r := &f.Abnormal[i]; r.Outcome == bench.Late || r.Outcome == bench.Missed {
			at = append(at, r.K)
		}
	}
	if n := int64(len(at)); n != e.all && (n != eventsOf(&f, e.clients[0]) || !othersOnlySkip(&f, e.clients)) {
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

func eventsOf(f *bench.File, client string) int64 {
	return int64(find(f, client, "packets", "late").Value) + int64(find(f, client, "packets", "missed").Value)
}

// othersOnlySkip reports whether the further clients, whose cycles a result does not hold one
// by one, lost nothing but the skipped releases of client 1: a release that was not executed
// is missed by every client, at the same index.
func othersOnlySkip(f *bench.File, clients []string) bool {
	skipped := find(f, clients[0], "missed", string(bench.SkippedRelease))
	for _, o := range clients[1:] {
		n := eventsOf(f, o)
		if n == 0 {
			continue
		}
		s := find(f, o, "missed", string(bench.SkippedRelease))
		if !s.OK || !skipped.OK || s.Value != skipped.Value || n != int64(s.Value) {
			return false
		}
	}
	return true
}
