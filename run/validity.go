package run

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/host"
)

// commonClock is "common" when both processes provably read one clock (metrics.md,
// "Same clock"), else why not.
func commonClock(a, b *bench.ProcessInfo) string {
	switch {
	case a.BootID == "" || a.BootID != b.BootID:
		return "no common clock: different boot ids"
	case a.TimeNS != b.TimeNS:
		return "no common clock: different time namespaces"
	case a.ClockSource != b.ClockSource:
		return "no common clock: different clock sources"
	}
	return "common"
}

// required refuses to go on when rt require was asked for and is not had.
func (s *session) required() error {
	var errs []error
	for i := range s.file.Processes {
		for _, what := range lacking(&s.file.Processes[i], s.Plan) {
			if s.Plan.RT == bench.RTRequire {
				errs = append(errs, errors.New(what))
			} else {
				s.file.Warnings = append(s.file.Warnings, what)
			}
		}
	}
	if len(errs) > 0 {
		return fmt.Errorf("rt require, and not had: %w; give the capability or the limit, or use --rt auto", errors.Join(errs...))
	}
	return nil
}

// lacking says what a process was to have and has not.
func lacking(info *bench.ProcessInfo, plan bench.Plan) []string {
	var out []string
	p := plan.Client
	if info.Name == bench.ProcessServer {
		p = plan.Server
	}
	if p.FIFO > 0 {
		for _, t := range info.Threads {
			if t.Policy != "SCHED_FIFO" {
				why := info.Error
				if why == "" {
					why = "the kernel reports " + t.Policy
				}
				out = append(out, fmt.Sprintf("not real-time: %s process: %s", info.Name, why))
				break
			}
		}
		if !info.Locked {
			out = append(out, fmt.Sprintf("memory not locked: %s process: %s", info.Name, info.LockError))
		}
	}
	for _, t := range info.Threads {
		if len(intersection(t.CPUs, p.CPUs)) != len(t.CPUs) {
			out = append(out, fmt.Sprintf("not pinned: thread %d of the %s process may run on CPUs %v, planned %v", t.TID, info.Name, t.CPUs, p.CPUs))
			break
		}
	}
	return out
}

func intersection(a, b []int) []int {
	var out []int
	for _, v := range a {
		if slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}

// validity applies the rules of metrics.md, "Validity".
func (s *session) validity() {
	a, o := s.file.Attained, s.Plan.OPCUA
	want := float64(o.PublishingInterval) / float64(time.Millisecond)
	if a.PublishingInterval != want {
		s.invalid(fmt.Sprintf("publishing interval: asked for %v ms, the server revised it to %v ms", want, a.PublishingInterval))
	}
	period := float64(s.Plan.Task.Interval) / float64(time.Millisecond)
	switch sampling := float64(o.SamplingInterval) / float64(time.Millisecond); {
	case sampling > 0 && a.SamplingInterval != sampling,
		sampling == 0 && a.SamplingInterval > period,
		sampling < 0 && a.SamplingInterval != a.PublishingInterval:
		s.invalid(fmt.Sprintf("sampling interval: asked for %v ms, the server revised it to %v ms", sampling, a.SamplingInterval))
	}
	if a.QueueSize < uint32(o.QueueSize) {
		s.invalid(fmt.Sprintf("queue size: asked for %d, the server revised it to %d", o.QueueSize, a.QueueSize))
	}
	for i, t := range s.tallies() {
		s.connections(i+1, t)
	}
	for _, c := range s.children() {
		for _, r := range c.rings {
			if n := r.Lost(); n > 0 {
				s.invalid(fmt.Sprintf("the record ring of the %s process overran: %d records are lost", c.name, n))
			}
		}
	}
	s.machine()
}

// connections tells of client i what makes its counts worthless.
func (s *session) connections(i int, t *tally) {
	for _, g := range t.join.gaps {
		if g.Last >= s.phase.First && g.K <= t.last() {
			s.invalid(fmt.Sprintf("client %d: reconnect inside the measuring phase, after index %d", i, g.K-1))
		}
	}
	if n := t.join.stray; n > 0 {
		s.invalid(fmt.Sprintf("client %d: %d records came for cycles that were decided already", i, n))
	}
	if n := t.join.forged; n > 0 && i == 1 {
		s.warn(fmt.Sprintf("%d Writes to the node %s carried no index of this run: another client writes there", n, bench.NodeEcho))
	}
	if t.pendingLost > 0 {
		s.invalid(fmt.Sprintf("client %d: the causes of %d cycles are lost", i, t.pendingLost))
	}
}

// machine tells what the kernel counted on the measured CPUs of this machine during the
// phase.
func (s *session) machine() {
	cpus := slices.Clone(s.Plan.Client.CPUs)
	if s.Remote == nil {
		cpus = append(cpus, s.Plan.Server.CPUs...)
	}
	slices.Sort(cpus)
	d := s.countersTo.Since(s.countersFrom, slices.Compact(cpus))
	warnings, invalid := quotaAndSteal(d, time.Duration(s.phase.Ran*s.phase.Grid.Period), "")
	s.file.Warnings, s.file.Invalid = append(s.file.Warnings, warnings...), append(s.file.Invalid, invalid...)
}

// quotaAndSteal are the two ways in which a machine takes time away that the kernel counts;
// where says whose it is.
func quotaAndSteal(d host.CPUCounters, phase time.Duration, where string) (warnings, invalid []string) {
	for _, c := range d.CPUs {
		if c.Steal != nil && phase > 0 && *c.Steal > phase/100 {
			warnings = append(warnings, fmt.Sprintf("%ssteal on CPU %d: %.1f %% of the time", where, c.CPU, 100*float64(*c.Steal)/float64(phase)))
		}
	}
	if d.Throttled != nil && *d.Throttled > 0 {
		invalid = append(invalid, fmt.Sprintf("%sthe cgroup's CPU quota was hit %d times", where, *d.Throttled))
	}
	return warnings, invalid
}
