package bench

import (
	"slices"
	"time"
)

// Need is what a plan asks of the machine: what its findings are judged by. It is the same
// for a run of OPC UA and for a suite.
type Need struct {
	Plan         string        `json:"plan"` // its name, for the reader
	RT           RTMode        `json:"rt"`
	Interval     time.Duration `json:"interval"`     // the cycle; 0: it has none
	Busy         time.Duration `json:"busy"`         // of each cycle, what its real-time thread computes and spins; 0: not known
	Always       bool          `json:"always"`       // a real-time thread that never sleeps, as oslat's
	Measured     []int         `json:"measured"`     // CPUs whose threads are timed, ascending; empty: none could be chosen
	Housekeeping []int         `json:"housekeeping"` // CPUs of the conductor and of noise
	Threads      []NeedThread  `json:"threads"`      // what is to be scheduled, and how
	Lock         bool          `json:"lock"`         // memory is to be locked
	Remote       bool          `json:"remote"`       // the other end is on another machine
	Trace        bool          `json:"trace"`
	CAT          string        `json:"cat"`  // off, auto or require
	Perf         bool          `json:"perf"` // the processor's own counters
}

// NeedThread is a kind of thread of a plan.
type NeedThread struct {
	Name   string        `json:"name"`
	CPUs   []int         `json:"cpus"`
	FIFO   int           `json:"fifo"`   // priority; 0 = SCHED_OTHER
	RTTime time.Duration `json:"rttime"` // RLIMIT_RTTIME guard; 0 = none
}

// Need is what this plan asks of the machine that its processes run on. remote: the
// server runs elsewhere, and asks nothing of this machine.
func (p *Plan) Need(remote bool) Need {
	n := Need{Plan: p.Name, RT: p.RT, Interval: p.Task.Interval, Housekeeping: p.Housekeeping.CPUs,
		Lock: true, Remote: remote || !loopback(p.OPCUA.Endpoint), Trace: p.Trace != nil}
	if p.Task.Auto {
		n.Busy = p.Task.Target + p.Task.Spin
	}
	for _, m := range []*Process{&p.Server, &p.Client} {
		if remote && m.Name == ProcessServer {
			continue
		}
		n.Measured = append(n.Measured, m.CPUs...)
		n.Threads = append(n.Threads, NeedThread{m.Name, m.CPUs, m.FIFO, m.RTTime})
		if m.Name == p.TaskProcess() {
			n.Threads = append(n.Threads, NeedThread{"plc", p.taskCPUs(), p.Task.Priority, 0})
		}
	}
	slices.Sort(n.Measured)
	n.Measured = slices.Compact(n.Measured)
	return n
}

// FIFO is the highest priority that is asked for; 0: none.
func (n *Need) FIFO() int {
	top := 0
	for _, t := range n.Threads {
		top = max(top, t.FIFO)
	}
	return top
}
