package bench

import "slices"

// SuitePlace chooses the CPUs of a suite that runs alone: the quietest for the timed
// thread (as place does for the PLC), every other that is not isolated for the runtime,
// the noise and the conductor. With one CPU both lists hold it. Empty: this process may
// run nowhere.
func SuitePlace(h Host) (measured, housekeeping []int) {
	p := placer{host: h, candidates: candidates(h), network: map[int]bool{}}
	if len(p.candidates) == 0 {
		return nil, nil
	}
	for _, cpu := range h.NetworkCPUs {
		p.network[cpu] = true
	}
	best := p.best()
	rest := func(ok func(int) bool) []int {
		return slices.DeleteFunc(slices.Clone(p.candidates), func(id int) bool { return id == best || !ok(id) })
	}
	for _, ok := range []func(int) bool{
		func(id int) bool {
			c, _ := h.cpu(id)
			return !p.isolated(id) && !slices.Contains(c.Siblings, best)
		},
		func(id int) bool { return !p.isolated(id) },
		func(int) bool { return true },
	} {
		if cpus := rest(ok); len(cpus) > 0 {
			return []int{best}, cpus
		}
	}
	return []int{best}, []int{best}
}

// MayUse reports whether this process may be given an online CPU.
func MayUse(h Host, cpu int) bool { return slices.Contains(candidates(h), cpu) }
