package bench

import (
	"fmt"
	"net"
	"net/url"
	"slices"
)

// placement is where everything runs. In a list of several CPUs the first is the PLC
// thread's.
type placement struct {
	server, client, housekeeping []int
}

// place chooses CPUs for what the user left to us and checks what he chose.
func place(c Config, h Host) (placement, error) {
	p := placer{host: h, candidates: candidates(h), network: map[int]bool{}}
	if len(p.candidates) == 0 {
		return placement{}, fmt.Errorf("this process may run on none of the online CPUs (allowed %s); set its affinity", CPUList(h.Allowed))
	}
	if !loopback(c.OPCUA.Endpoint) {
		for _, cpu := range h.NetworkCPUs {
			p.network[cpu] = true
		}
	}
	w := placement{c.Placement.ServerCPUs, c.Placement.ClientCPUs, c.Placement.HousekeepingCPUs}
	for _, l := range []struct {
		key  string
		cpus []int
	}{{"server_cpus", w.server}, {"client_cpus", w.client}, {"housekeeping_cpus", w.housekeeping}} {
		if err := p.permit(l.key, l.cpus); err != nil {
			return placement{}, err
		}
	}
	p.taken = slices.Concat(w.server, w.client)
	p.avoid = w.housekeeping
	p.measured(&w, PLCHost(c.PLC.Host))
	if len(w.housekeeping) == 0 {
		w.housekeeping = p.housekeeping(w, PLCHost(c.PLC.Host))
	}
	return w, nil
}

// candidates are the online CPUs that this process may be given, ascending: its affinity,
// and the isolated CPUs of its cpuset, which the kernel keeps out of every affinity that
// was not set on purpose.
func candidates(h Host) []int {
	may := slices.Concat(h.Allowed, intersect(h.Isolated, h.Cpuset))
	slices.Sort(may)
	may = slices.Compact(may)
	if len(h.CPUs) == 0 {
		return may // topology not readable: the affinity is all that is known
	}
	return slices.DeleteFunc(may, func(id int) bool { _, ok := h.cpu(id); return !ok })
}

// cpu finds an online CPU.
func (h *Host) cpu(id int) (CPU, bool) {
	for _, c := range h.CPUs {
		if c.ID == id {
			return c, true
		}
	}
	return CPU{ID: id, Core: id, Siblings: []int{id}}, false
}

type placer struct {
	host       Host
	candidates []int
	network    map[int]bool // CPUs that serve the network card, when that matters
	taken      []int        // measured already
	avoid      []int        // the user's housekeeping
}

func (p *placer) permit(key string, cpus []int) error {
	for _, cpu := range cpus {
		if !slices.Contains(p.candidates, cpu) {
			return fmt.Errorf("placement.%s %s: CPU %d is not online or not allowed for this process; choose from %s",
				key, CPUList(cpus), cpu, CPUList(p.candidates))
		}
	}
	return nil
}

// measured fills the lists of server and client: the PLC's process first, so that it gets
// the quietest CPU, then the other, then the server's second CPU where there are three.
func (p *placer) measured(w *placement, host PLCHost) {
	auto := len(w.server) == 0
	first, second := &w.server, &w.client
	if host == HostClient {
		first, second = second, first
	}
	for _, l := range []*[]int{first, second} {
		if len(*l) == 0 {
			*l = []int{p.best()}
			p.taken = append(p.taken, (*l)[0])
		}
	}
	if !auto || len(p.candidates) < 3 {
		return
	}
	// Both CPUs of a process must be isolated or neither: the kernel balances no thread
	// between the two kinds, and FIFO with two Ps on one CPU hangs a Go program for ever.
	like := p.isolated(w.server[0])
	free := slices.DeleteFunc(slices.Clone(p.candidates), func(c int) bool {
		return slices.Contains(p.taken, c) || slices.Contains(p.avoid, c) || p.isolated(c) != like
	})
	if len(free) > 0 {
		w.server = append(w.server, slices.MinFunc(free, p.byCost((*first)[0])))
	}
}

// best is the CPU that costs least beside those already taken.
func (p *placer) best() int {
	plc := -1
	if len(p.taken) > 0 {
		plc = p.taken[0]
	}
	return slices.MinFunc(p.candidates, p.byCost(plc))
}

// byCost orders CPUs for a measured process, least cost first: not in use, on no core of
// a measured process (least of all plc's), isolated, no network interrupts, on plc's node,
// on a node with room for three, few device interrupts, and the higher number, since
// kernels lean towards CPU 0.
func (p *placer) byCost(plc int) func(a, b int) int {
	cost := func(id int) []int64 {
		c, _ := p.host.cpu(id)
		return []int64{
			count(slices.Contains(p.taken, id)), count(slices.Contains(p.avoid, id)),
			p.shared(c, plc), count(!p.isolated(id)), count(p.network[id]),
			count(plc >= 0 && !p.sameNode(c, plc)), count(p.room(c.Node) < 3), c.IRQs, int64(-id),
		}
	}
	return func(a, b int) int { return slices.Compare(cost(a), cost(b)) }
}

// shared is 2 on plc's core, 1 on the core of another measured CPU, else 0.
func (p *placer) shared(c CPU, plc int) int64 {
	var worst int64
	for _, t := range p.taken {
		if t != c.ID && slices.Contains(c.Siblings, t) {
			worst = max(worst, 1+count(t == plc))
		}
	}
	return worst
}

func (p *placer) isolated(id int) bool { return slices.Contains(p.host.Isolated, id) }

func (p *placer) sameNode(c CPU, other int) bool {
	o, _ := p.host.cpu(other)
	return o.Node == c.Node
}

// room counts the candidates on a node.
func (p *placer) room(node int) int {
	n := 0
	for _, id := range p.candidates {
		if c, _ := p.host.cpu(id); c.Node == node {
			n++
		}
	}
	return n
}

// housekeeping is every CPU that is neither measured nor isolated, without the threads of
// measured cores where others are left; where none is left at all, the least bad one: the
// server's second CPU, or the CPU of the process without the PLC.
func (p *placer) housekeeping(w placement, host PLCHost) []int {
	measured := slices.Concat(w.server, w.client)
	free := func(ok func(CPU) bool) []int {
		return slices.DeleteFunc(slices.Clone(p.candidates), func(id int) bool {
			c, _ := p.host.cpu(id)
			return slices.Contains(measured, id) || !ok(c)
		})
	}
	plc := w.server[0]
	if host == HostClient {
		plc = w.client[0]
	}
	for _, ok := range []func(CPU) bool{
		func(c CPU) bool { return !p.isolated(c.ID) && len(intersect(c.Siblings, measured)) == 0 },
		func(c CPU) bool { return !p.isolated(c.ID) && !slices.Contains(c.Siblings, plc) },
		func(c CPU) bool { return !p.isolated(c.ID) },
		func(CPU) bool { return true },
	} {
		if cpus := free(ok); len(cpus) > 0 {
			return cpus
		}
	}
	switch {
	case len(w.server) > 1:
		return w.server[1:2]
	case host == HostClient:
		return w.server[:1]
	default:
		return w.client[:1]
	}
}

// process fills a process's place. A mixed list of isolated and other CPUs gets one P for
// the reason given in measured.
func process(name string, cpus []int, h Host) Process {
	p := Process{Name: name, CPUs: slices.Clone(cpus), MaxProcs: len(cpus)}
	slices.Sort(p.CPUs)
	if n := len(intersect(cpus, h.Isolated)); n > 0 && n < len(cpus) && name != ProcessConductor {
		p.MaxProcs = 1
	}
	return p
}

// loopback is true for an endpoint that no network card serves.
func loopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}
	ip := net.ParseIP(u.Hostname())
	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

// intersect returns the members of a that are in b, in a's order.
func intersect(a, b []int) []int {
	return slices.DeleteFunc(slices.Clone(a), func(x int) bool { return !slices.Contains(b, x) })
}

func count(b bool) int64 {
	if b {
		return 1
	}
	return 0
}
