package host

import (
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// PowerFacts are what changes the speed of CPUs and puts them to sleep.
type PowerFacts struct {
	Driver     string // cpuidle's: intel_idle, acpi_idle, haltpoll, psci_idle; empty: none
	Governor   string // cpuidle's
	Turbo      *bool  // frequencies above the nominal one are allowed; nil: not known
	TurboFile  string // where that was read, without the leading slash
	SMT        string // sys/devices/system/cpu/smt/active: "1", "0"
	SMTControl string // on, off, forceoff, notsupported, notimplemented
	CPUs       []CPUPower
}

// CPUPower is one CPU's.
type CPUPower struct {
	CPU      int
	Governor string // cpufreq's
	Driver   string
	Min, Max string // kHz, as the limits are set
	EPP      string // energy_performance_preference
	States   []IdleState
}

// IdleState is a C-state that cpuidle may choose.
type IdleState struct {
	Name     string
	Latency  int64 // exit latency by the driver's table, µs
	Disabled bool
}

// power reads them.
func (t *tree) power(cpus []bench.CPU) PowerFacts {
	const dir = "sys/devices/system/cpu"
	p := PowerFacts{
		Driver:     t.maybe(dir + "/cpuidle/current_driver"),
		Governor:   t.maybe(dir + "/cpuidle/current_governor"),
		SMT:        t.maybe(dir + "/smt/active"),
		SMTControl: t.maybe(dir + "/smt/control"),
	}
	if p.Governor == "" {
		p.Governor = t.maybe(dir + "/cpuidle/current_governor_ro")
	}
	if p.Driver == "none" {
		p.Driver = ""
	}
	for _, x := range []struct{ file, on string }{{dir + "/intel_pstate/no_turbo", "0"}, {dir + "/cpufreq/boost", "1"}} {
		if s := t.maybe(x.file); s != "" && p.Turbo == nil {
			on := s == x.on
			p.Turbo, p.TurboFile = &on, x.file
		}
	}
	for _, c := range cpus {
		p.CPUs = append(p.CPUs, t.cpuPower(c.ID))
	}
	return p
}

func (t *tree) cpuPower(id int) CPUPower {
	dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d", id)
	c := CPUPower{
		CPU:      id,
		Governor: t.maybe(dir + "/cpufreq/scaling_governor"),
		Driver:   t.maybe(dir + "/cpufreq/scaling_driver"),
		Min:      t.maybe(dir + "/cpufreq/scaling_min_freq"),
		Max:      t.maybe(dir + "/cpufreq/scaling_max_freq"),
		EPP:      t.maybe(dir + "/cpufreq/energy_performance_preference"),
	}
	for _, e := range t.entries(dir + "/cpuidle") {
		if !strings.HasPrefix(e, "state") {
			continue
		}
		at := dir + "/cpuidle/" + e
		if n := whole(t.maybe(at + "/latency")); n != nil {
			c.States = append(c.States, IdleState{Name: t.maybe(at + "/name"), Latency: *n, Disabled: t.maybe(at+"/disable") == "1"})
		}
	}
	slices.SortFunc(c.States, func(a, b IdleState) int { return int(a.Latency - b.Latency) })
	return c
}

// of finds a CPU's; all empty when there is none.
func (p *PowerFacts) of(cpu int) CPUPower {
	for _, c := range p.CPUs {
		if c.CPU == cpu {
			return c
		}
	}
	return CPUPower{CPU: cpu}
}

// deepest is the longest exit latency that cpuidle may choose; ok is false without states.
func (c *CPUPower) deepest() (s IdleState, ok bool) {
	for _, x := range c.States {
		if !x.Disabled && (!ok || x.Latency > s.Latency) {
			s, ok = x, true
		}
	}
	return s, ok
}
