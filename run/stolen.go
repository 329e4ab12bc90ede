package run

import (
	"fmt"
	"time"

	"opcycle/bench"
	"opcycle/host"
)

// stolen warns of what was taken from a suite's measured CPUs while it ran: by the
// hypervisor, of which a share of 1 % and more is told, and by a CPU quota.
func stolen(r *bench.SuiteResult, from, to host.CPUCounters, cpus []int) {
	d := to.Since(from, cpus)
	length := r.Ended.Sub(r.Started)
	for _, c := range d.CPUs {
		if c.Steal != nil && length > 0 && *c.Steal > length/100 {
			r.Warnings = append(r.Warnings, fmt.Sprintf("the hypervisor took CPU %d away for %.1f %% of the time (%s of %s)",
				c.CPU, 100*float64(*c.Steal)/float64(length), c.Steal.Round(10*time.Millisecond), length.Round(time.Second)))
		}
	}
	if d.Throttled != nil && *d.Throttled > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the cgroup's CPU quota was hit %d times: every figure may be longer for it", *d.Throttled))
	}
}
