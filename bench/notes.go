package bench

import (
	"fmt"
	"slices"
)

// notes says what a placement gives up and what that costs. It reads only the plan and
// the host, so that a plan that was written out and read back has the same notes.
func notes(p *Plan, h Host) []string {
	var out []string
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	server, client, house := p.Server.CPUs, p.Client.CPUs, p.Housekeeping.CPUs
	if one := slices.Concat(server, client, house); len(slices.Compact(one)) == 1 {
		add("server, client and conductor share CPU %d: each waits for the others, transmit times and start latency contain that wait", one[0])
		return append(out, networkNotes(p, h)...)
	}
	if both := intersect(server, client); len(both) > 0 {
		add("server and client share CPU %s: each waits for the other, and transmit times contain that wait", CPUList(both))
	}
	for _, m := range []*Process{&p.Server, &p.Client} {
		if both := intersect(house, m.CPUs); len(both) > 0 {
			how := "the conductor runs below it, but its system calls can delay a wake-up"
			if m.FIFO == 0 {
				how = "without a real-time policy both take turns on it"
			}
			add("housekeeping shares CPU %s with the %s: %s", CPUList(both), m.Name, how)
		}
	}
	out = append(out, coreNotes(p, h)...)
	if len(server) == 1 {
		add("the server has one CPU: whatever one of its goroutines computes delays the PLC thread until it yields")
	}
	for _, m := range []*Process{&p.Server, &p.Client} {
		if len(m.CPUs) > 1 && m.MaxProcs == 1 {
			add("the %s's CPUs %s are partly isolated: the kernel balances no thread between the two kinds, so GOMAXPROCS is 1", m.Name, CPUList(m.CPUs))
		}
		if rest := except(m.CPUs, h.Isolated); len(h.Isolated) > 0 && len(rest) > 0 {
			add("CPU %s of the %s is not isolated though the host isolates %s: other programs may run there", CPUList(rest), m.Name, CPUList(h.Isolated))
		}
	}
	return append(out, networkNotes(p, h)...)
}

// coreNotes tells of hardware threads and memory nodes that are shared or far apart.
func coreNotes(p *Plan, h Host) []string {
	var out []string
	add := func(format string, a ...any) { out = append(out, fmt.Sprintf(format, a...)) }
	measured := slices.Concat(p.Server.CPUs, p.Client.CPUs)
	for i, a := range measured {
		c, _ := h.cpu(a)
		for _, b := range measured[i+1:] {
			if a != b && slices.Contains(c.Siblings, b) {
				add("CPUs %d and %d are two threads of one core: the processes on them slow each other down", a, b)
			}
		}
	}
	for _, k := range except(p.Housekeeping.CPUs, measured) {
		c, _ := h.cpu(k)
		if both := intersect(c.Siblings, measured); len(both) > 0 {
			add("housekeeping CPU %d is a thread of the core of measured CPU %s: the conductor's work slows it down", k, CPUList(both))
		}
	}
	s, _ := h.cpu(p.Server.CPUs[0])
	for _, id := range p.Client.CPUs {
		if c, _ := h.cpu(id); c.Node != s.Node {
			add("server and client run on memory nodes %d and %d: every message crosses between them", s.Node, c.Node)
			break
		}
	}
	return out
}

// networkCPUs are the CPUs on which the CPU-bound task would hold back the interrupt
// threads of a network card that the run uses.
func networkCPUs(p *Plan, h Host) []int {
	const irqThread = 50 // FIFO priority of the kernel's interrupt threads
	if p.Task.Priority <= irqThread || loopback(p.OPCUA.Endpoint) {
		return nil
	}
	m := &p.Server
	if p.Task.Host == HostClient {
		m = &p.Client
	}
	task := m.TaskCPUs
	if task == nil {
		task = m.CPUs
	}
	return intersect(task, h.NetworkCPUs)
}

func networkNote(p *Plan, cpus []int) string {
	return fmt.Sprintf("CPU %s serves a network card and carries the PLC thread at FIFO %d, above the kernel's interrupt threads (50): packets wait for the calculation",
		CPUList(cpus), p.Task.Priority)
}

func networkNotes(p *Plan, h Host) []string {
	if cpus := networkCPUs(p, h); len(cpus) > 0 {
		return []string{networkNote(p, cpus)}
	}
	return nil
}

// except returns the members of a that are not in b, in a's order.
func except(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(x int) bool { return slices.Contains(b, x) })
}
