package run

import (
	"slices"
	"strconv"
	"time"

	"opcycle/bench"
)

// Need is what this run of a suite asks of the machine.
func (s Suite) Need() (bench.Need, error) {
	job, err := s.job()
	if err != nil {
		return bench.Need{}, err
	}
	asks := s.Suite.Asks
	measured := slices.Clone(job.Measured)
	slices.Sort(measured)
	n := bench.Need{Plan: "suite " + s.Suite.Name, RT: job.RT, Always: asks.Spins, Measured: measured, Housekeeping: job.Housekeeping,
		Lock: asks.Lock, Trace: asks.Tracer, CAT: s.Options.CAT.Mode, Perf: asks.Counters}
	thread := bench.NeedThread{Name: s.Suite.Name, CPUs: measured, FIFO: asks.FIFO}
	for _, o := range s.Runner.Options() {
		switch o.Name {
		case "priority":
			thread.FIFO, _ = strconv.Atoi(o.Get()) // the form that its Set reads
		case "interval":
			n.Interval, _ = time.ParseDuration(o.Get())
		}
	}
	if job.RT == bench.RTOff {
		thread.FIFO = 0
	}
	n.Threads = []bench.NeedThread{thread}
	return n, nil
}

// Need is what the phases of a campaign ask for together.
func (c Conduct) Need() (bench.Need, error) {
	all := bench.Need{Plan: "campaign " + c.Campaign.Name, RT: bench.RTOff}
	for _, p := range c.Campaign.Phases {
		n, err := Suite{Suite: p.Suite, Runner: p.Runner, Options: *p.Options, Host: c.Host, Root: c.Root}.Need()
		if err != nil {
			return bench.Need{}, err
		}
		all.Join(n)
	}
	return all, nil
}
