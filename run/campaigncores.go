package run

import (
	"fmt"
	"slices"

	"opcycle/bench"
)

// Resolve gives every phase its CPUs on this host, by the roles of the file where the
// phase says nothing itself. Its error is every complaint at once.
func (c *Campaign) Resolve(h bench.Host) error {
	measured, housekeeping := bench.SuitePlace(h)
	if len(measured) == 0 {
		return fmt.Errorf("this process may run on none of the online CPUs (allowed %s); set its affinity", bench.CPUList(h.Allowed))
	}
	r := &c.Cores
	if r.Measured == nil {
		r.Measured = measured
	}
	if r.Housekeeping == nil {
		r.Housekeeping = others(h, r.Measured, housekeeping)
	}
	if r.Noise == nil {
		r.Noise = r.Housekeeping[:1]
	}
	var bad bench.Complaints
	for _, role := range []struct {
		name string
		cpus []int
	}{{"measured", r.Measured}, {"noise", r.Noise}, {"housekeeping", r.Housekeeping}} {
		for _, cpu := range role.cpus {
			if !bench.MayUse(h, cpu) {
				key := "cores." + role.name
				bad = append(bad, bench.Complaint{Where: c.where(key), Key: key,
					What: fmt.Sprintf("CPU %d is not online or not allowed for this process (allowed: %s)", cpu, bench.CPUList(h.Allowed)),
					Way:  "write auto, or a CPU of these"})
			}
		}
	}
	if bad != nil {
		return bad
	}
	for _, p := range c.Phases {
		p.Options.place(h, c.Cores)
	}
	return nil
}

func (c *Campaign) where(key string) string {
	if line := c.lines[key]; line > 0 {
		return fmt.Sprintf("%s:%d", c.file, line)
	}
	return c.file
}

// others are the CPUs for housekeeping beside measured ones that somebody chose: of those
// that would be chosen, else any that is left, else the measured ones.
func others(h bench.Host, measured, auto []int) []int {
	for _, from := range [][]int{auto, h.Allowed} {
		rest := slices.DeleteFunc(slices.Clone(from), func(cpu int) bool { return slices.Contains(measured, cpu) })
		if len(rest) > 0 {
			return rest
		}
	}
	return measured
}

// place fills the CPUs that the options leave open.
func (o *SuiteOptions) place(h bench.Host, c Cores) {
	if o.CPUs == nil {
		o.CPUs = c.Measured
	}
	if o.Housekeeping == nil {
		o.Housekeeping = others(h, o.CPUs, c.Housekeeping)
	}
	if o.StressCPUs == nil {
		o.StressCPUs = c.Noise
	}
}

// Quiet are the CPUs of the conductor: those for housekeeping that no phase measures, or
// the first phase's where there is none.
func (c *Campaign) Quiet() []int {
	rest := c.Phases[0].Options.Housekeeping
	for _, p := range c.Phases {
		if less := slices.DeleteFunc(slices.Clone(rest), func(cpu int) bool { return slices.Contains(p.Options.CPUs, cpu) }); len(less) > 0 {
			rest = less
		}
	}
	return rest
}
