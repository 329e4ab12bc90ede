package run

import "opcycle/bench"

// allocate puts the plan's cache allocation in place before any measured process is started,
// so that what they touch first comes into their own ways. Without one in the plan it looks
// whether none is in effect. An error means that it is required and can't be had.
func (s *session) allocate() error {
	o := DefaultCATOptions()
	if p := s.Plan.CAT; p != nil {
		o = CATOptions{Mode: p.Mode, RTMask: p.RTMask, RestMask: p.RestMask, Level: p.Level}
	}
	elsewhere := ""
	if s.Remote != nil {
		elsewhere = bench.ProcessServer
		if o.asked() {
			s.warn("cache allocation is for the client's CPUs: the server was started elsewhere, with its own")
		}
	}
	s.cat = NewCAT(o)
	return s.cat.Begin(s.ctx, &bench.Job{Host: s.Host, Root: s.Root, Measured: s.Plan.Need(elsewhere).Measured})
}

// free takes the allocation away and writes what became of it.
func (s *session) free() {
	var r bench.SuiteResult
	s.cat.End(&r)
	s.file.CAT = r.CAT
	for _, why := range r.Invalid {
		s.invalid(why)
	}
	for _, a := range r.Absent {
		s.warn(a.What + " was asked for and not had: " + a.Why)
	}
	for _, text := range r.Warnings {
		s.warn(text)
	}
}
