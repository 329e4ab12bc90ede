package run

import (
	"fmt"
	"slices"

	"opcycle/bench"
	"opcycle/host"
	"opcycle/workloads/opcua"
)

// endOf is one end of a run between two, after its phase: the kernel's view of its process's
// connections, their card, and what else the measured CPUs did meanwhile. root is where the
// machine is read below.
func endOf(root string, process *opcua.Snapshot, cpus []int, from, to host.CPUCounters) *bench.End {
	e := &bench.End{Connections: []bench.Connection{}, CPUs: []bench.CPUActivity{}, CardNA: "no connection is open any more"}
	for _, c := range to.Since(from, cpus).CPUs {
		e.CPUs = append(e.CPUs, bench.CPUActivity{CPU: c.CPU, Interrupts: c.Interrupts, Devices: c.Devices, Softirqs: c.Softirqs, Steal: (*int64)(c.Steal)})
	}
	if process == nil {
		e.CardNA = "the process ended before it told"
		return e
	}
	e.Connections = append(e.Connections, process.Connections...)
	i := slices.IndexFunc(e.Connections, func(c bench.Connection) bool { return c.Local != "" })
	if i < 0 {
		return e
	}
	card, err := host.CardOf(root, e.Connections[i].Local)
	if err != nil {
		e.CardNA = err.Error()
		return e
	}
	e.Card, e.CardNA = &card, ""
	return e
}

// resent are the stretches of all connections of an end.
func resent(e *bench.End) (all bench.Retransmissions, leftOut int64) {
	if e == nil {
		return nil, 0
	}
	for _, c := range e.Connections {
		all = append(all, c.Seen...)
		leftOut += c.LeftOut
	}
	return all, leftOut
}

// retransmissions are those of both ends on our clock. The server's are shifted by the
// offset of the end: what the clocks drift in a run is nothing beside the second that a
// retransmission reaches. Without an offset they are left out; nothing is late then.
func (s *session) retransmissions() bench.Retransmissions {
	if s.file.Nodes == nil {
		return nil
	}
	all, left := resent(s.file.Nodes.Client)
	theirs, more := resent(s.file.Nodes.Server)
	if left+more > 0 {
		s.warn("so many segments were sent again that not all of their times were kept: some late values have another cause than retransmission")
	}
	offset, known := int64(0), s.phase.Clock == "common"
	if !known {
		offset, _, known = s.clocks.at(s.local.Due(s.collect.last()))
	}
	if known {
		all = append(all, theirs.Shifted(offset)...)
	}
	return all
}

// resentHere warns when segments were sent again between two processes of one host: there
// the causes are decided as the records come, and nobody looks at the connections meanwhile.
func (s *session) resentHere() {
	var n int64
	for _, p := range s.after {
		if p == nil {
			continue
		}
		for _, c := range p.Connections {
			n += c.Total
		}
	}
	if n > 0 {
		s.warn(fmt.Sprintf("%d segments were sent again on this host's own network; late values near them bear another cause", n))
	}
}

// network are the figures of both ends' connections; ours is the phase's grid on our clock.
func (f *figures) network(n *bench.Nodes, phase bench.Phase, ours bench.Grid) {
	if n == nil {
		return
	}
	for _, x := range []struct {
		name string
		end  *bench.End
		grid bench.Grid
	}{{bench.ProcessServer, n.Server, phase.Grid}, {bench.ProcessClient, n.Client, ours}} {
		if x.end == nil || len(x.end.Connections) == 0 {
			f.na(x.name, "tcp", "retransmissions", "1", "this end did not tell of its connections")
			continue
		}
		c := x.end.Connections[0]
		if c.NA != "" {
			f.na(x.name, "tcp", "retransmissions", "1", c.NA)
			continue
		}
		from, to := x.grid.Due(phase.First), x.grid.Due(phase.First+phase.Ran)
		switch seen, leftOut := resent(x.end); {
		case c.Made > from:
			f.na(x.name, "tcp", "retransmissions", "1", "the connection was made anew in the phase")
		case leftOut > 0:
			f.na(x.name, "tcp", "retransmissions", "1", "so many that not all of their times were kept")
		default:
			f.count(x.name, "tcp", "retransmissions", seen.Within(from, to))
		}
		f.value(x.name, "tcp", "rtt", "ns", float64(c.RTT))
		f.value(x.name, "tcp", "rtt_min", "ns", float64(c.MinRTT))
		f.value(x.name, "tcp", "rto", "ns", float64(c.RTO))
	}
}
