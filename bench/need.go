package bench

import (
	"slices"
	"strconv"
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
	CAT          string        `json:"cat"`             // off, auto or require
	Perf         bool          `json:"perf"`            // the processor's own counters
	Notes        []string      `json:"notes,omitempty"` // what the placement gave up
}

// NeedThread is a kind of thread of a plan.
type NeedThread struct {
	Name   string        `json:"name"`
	CPUs   []int         `json:"cpus"`
	FIFO   int           `json:"fifo"`   // priority; 0 = SCHED_OTHER
	RTTime time.Duration `json:"rttime"` // RLIMIT_RTTIME guard; 0 = none
}

// Need is what this plan asks of a machine. elsewhere is the process that runs on another
// one, and asks nothing of this; empty: both run here.
func (p *Plan) Need(elsewhere string) Need {
	n := Need{Plan: p.Name, RT: p.RT, Interval: p.Task.Interval, Housekeeping: p.Housekeeping.CPUs,
		Lock: true, Remote: elsewhere != "" || !loopback(p.OPCUA.Endpoint), Trace: p.Trace != nil, Notes: p.Notes}
	if p.CAT != nil {
		n.CAT = p.CAT.Mode
	}
	if p.Task.Auto {
		n.Busy = p.Task.Target + p.Task.Spin
	}
	for _, m := range []*Process{&p.Server, &p.Client} {
		if m.Name == elsewhere {
			continue
		}
		n.Measured = append(n.Measured, m.CPUs...)
		n.Threads = append(n.Threads, NeedThread{m.Name, m.CPUs, m.FIFO, m.RTTime})
		if m.Name == p.TaskProcess() {
			n.Threads = append(n.Threads, NeedThread{"plc", p.taskCPUs(), p.Task.Priority, 0})
		}
	}
	n.Measured = union(n.Measured, nil)
	n.Threads = append(n.Threads, p.besideThreads()...)
	return n
}

// besideThreads are those of what runs beside that the plan gives a priority of its own;
// another suite's default is its own to ask for.
func (p *Plan) besideThreads() []NeedThread {
	var out []NeedThread
	for _, b := range p.Beside {
		t := NeedThread{Name: b.Suite}
		for _, s := range b.Settings {
			switch s.Name {
			case "priority":
				t.FIFO, _ = strconv.Atoi(s.Value) // written by beside
			case "cpus":
				t.CPUs, _ = ParseCPUList(s.Value)
			}
		}
		if t.FIFO > 0 && p.RT != RTOff {
			out = append(out, t)
		}
	}
	return out
}

// FIFO is the highest priority that is asked for; 0: none.
func (n *Need) FIFO() int {
	top := 0
	for _, t := range n.Threads {
		top = max(top, t.FIFO)
	}
	return top
}

// Join makes n ask for what o asks for too: of two demands the harder one, every CPU, each
// kind of thread once.
func (n *Need) Join(o Need) {
	hardest := func(words []string, a, b string) string {
		return words[max(slices.Index(words, a), slices.Index(words, b), 0)]
	}
	n.RT = RTMode(hardest([]string{string(RTOff), string(RTAuto), string(RTRequire)}, string(n.RT), string(o.RT)))
	n.CAT = hardest([]string{"off", "auto", "require"}, n.CAT, o.CAT)
	if n.Interval == 0 || o.Interval > 0 && o.Interval < n.Interval {
		n.Interval, n.Busy = o.Interval, o.Busy
	}
	n.Measured = union(n.Measured, o.Measured)
	n.Housekeeping = union(n.Housekeeping, o.Housekeeping)
	for _, t := range o.Threads {
		if !slices.ContainsFunc(n.Threads, func(x NeedThread) bool { return x.Name == t.Name && x.FIFO == t.FIFO && slices.Equal(x.CPUs, t.CPUs) }) {
			n.Threads = append(n.Threads, t)
		}
	}
	n.Always, n.Lock, n.Remote = n.Always || o.Always, n.Lock || o.Lock, n.Remote || o.Remote
	n.Trace, n.Perf = n.Trace || o.Trace, n.Perf || o.Perf
}

// union is every member of both, ascending, each once.
func union(a, b []int) []int {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}
