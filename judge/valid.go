package judge

import (
	"fmt"
	"slices"
	"time"

	"opcycle/bench"
)

// clockStep is how far REALTIME − MONOTONIC may move before the kernel's stamps are void.
const clockStep = int64(time.Microsecond)

// Reasons lists why the run is invalid, empty for a valid one: what the run itself
// recorded, and what follows from the file (metrics.md, "Validity").
func Reasons(f bench.File) []string {
	out := slices.Clone(f.Invalid)
	for _, r := range slices.Concat(revised(&f), required(&f), counts(&f)) {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	if m := f.Phase.WallMoved; m > clockStep || m < -clockStep {
		out = append(out, fmt.Sprintf("REALTIME − MONOTONIC moved by %s in the measuring phase: the kernel's receive stamps are void", Span(time.Duration(m))))
	}
	return out
}

// revised compares what was asked of the server with what it granted. A run that never got
// a subscription has another reason.
func revised(f *bench.File) []string {
	a, o := f.Attained, f.Plan.OPCUA
	if a.PublishingInterval == 0 && a.QueueSize == 0 {
		return nil
	}
	var out []string
	ms := func(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }
	if got := ms(a.PublishingInterval); got != o.PublishingInterval {
		out = append(out, fmt.Sprintf("the server revised the publishing interval to %s, requested %s", got, o.PublishingInterval))
	}
	got, sampling := ms(a.SamplingInterval), o.SamplingInterval
	switch {
	case sampling > 0 && got != sampling:
		out = append(out, fmt.Sprintf("the server revised the sampling interval to %s, requested %s", got, sampling))
	case sampling == 0 && got > f.Plan.Task.Interval:
		out = append(out, fmt.Sprintf("the server revised the sampling interval to %s, requested 0: at most the cycle %s", got, f.Plan.Task.Interval))
	case sampling < 0 && got != ms(a.PublishingInterval):
		out = append(out, fmt.Sprintf("the server revised the sampling interval to %s, requested −1: the publishing interval %s", got, ms(a.PublishingInterval)))
	}
	if int64(a.QueueSize) < int64(o.QueueSize) {
		out = append(out, fmt.Sprintf("the server revised the queue size to %d, requested %d", a.QueueSize, o.QueueSize))
	}
	return out
}

// required checks, with rt: require, what was read back from the kernel.
func required(f *bench.File) []string {
	if f.Plan.RT != bench.RTRequire {
		return nil
	}
	var out []string
	for _, p := range f.Processes {
		if p.Name != bench.ProcessServer && p.Name != bench.ProcessClient {
			continue
		}
		if !p.Locked {
			out = append(out, fmt.Sprintf("required and not had: locked memory of the %s", p.Name))
		}
		for _, t := range p.Threads {
			if t.Policy != "FIFO" && t.Policy != "SCHED_FIFO" {
				out = append(out, fmt.Sprintf("required and not had: SCHED_FIFO for the %s thread of the %s (it is %s)", t.Role, p.Name, t.Policy))
				break
			}
		}
	}
	return out
}

// counts asserts the identities of the packets: a report must never explain figures that
// do not add up.
func counts(f *bench.File) []string {
	get := func(series, statistic string) (int64, bool) {
		r := find(f, "", series, statistic)
		return int64(r.Value), r.OK
	}
	expected, ok := get("packets", "expected")
	if !ok || expected == 0 {
		return []string{"no cycle was measured"}
	}
	var out []string
	onTime, ok1 := get("packets", "on_time")
	late, ok2 := get("packets", "late")
	missed, ok3 := get("packets", "missed")
	if ok1 && ok2 && ok3 && onTime+late+missed != expected {
		out = append(out, fmt.Sprintf("the counts do not add up: on time %d + late %d + missed %d is not expected %d", onTime, late, missed, expected))
	}
	for series, of := range map[string][]bench.Cause{"late": bench.LateCauses(), "missed": bench.MissedCauses()} {
		whole, ok := get("packets", series)
		var sum int64
		for _, c := range of {
			n, known := get(series, string(c))
			ok, sum = ok && known, sum+n
		}
		if ok && sum != whole {
			out = append(out, fmt.Sprintf("the causes do not add up: %d of %d %s", sum, whole, series))
		}
	}
	if n, ok := get("missed", string(bench.Reconnect)); ok && n > 0 {
		out = append(out, fmt.Sprintf("a reconnect inside the measuring phase cost %d cycles", n))
	}
	slices.Sort(out)
	return out
}
