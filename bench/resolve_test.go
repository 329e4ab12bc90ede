package bench

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// machine is a host with cores × threads CPUs, numbered as the kernel does on x86 (the
// first threads of all cores, then the second ones), the cores shared out over nodes. CPU
// 0 takes the most device interrupts, every other 100 but the quiet ones.
func machine(cores, threads, nodes int, quiet ...int) Host {
	h := Host{Name: "fixture"}
	for id := range cores * threads {
		c := CPU{ID: id, Core: id % cores, Node: (id % cores) * nodes / cores, IRQs: 100}
		c.Package = c.Node
		for t := range threads {
			c.Siblings = append(c.Siblings, id%cores+t*cores)
		}
		h.CPUs = append(h.CPUs, c)
		h.Allowed = append(h.Allowed, id)
	}
	h.CPUs[0].IRQs = 5000
	for _, q := range quiet {
		h.CPUs[q].IRQs = 0
	}
	h.Cpuset = append([]int{}, h.Allowed...)
	return h
}

// isolate takes CPUs out of the inherited affinity, as isolcpus= does.
func isolate(h Host, list string) Host {
	h.Isolated, _ = ParseCPUList(list)
	h.Allowed = except(h.Allowed, h.Isolated)
	return h
}

func network(h Host, cpus ...int) Host {
	h.NetworkCPUs = cpus
	return h
}

type resolveCase struct {
	name string
	host Host
	yaml string
	// server (task's CPU first), its GOMAXPROCS, client, housekeeping
	server       string
	procs        int
	client       string
	housekeeping string
	notes        []string // a part of each, in order
}

func resolveCases() []resolveCase {
	const oneCPU = "the server has one CPU"
	return []resolveCase{
		{"1 CPU", machine(1, 1, 1), "", "0", 1, "0", "0",
			[]string{"server, client and conductor share CPU 0"}},
		{"1 CPU, PLC in the client", machine(1, 1, 1), "plc: {host: client}", "0", 1, "0", "0",
			[]string{"server, client and conductor share CPU 0"}},
		{"2 CPUs", machine(2, 1, 1), "", "1", 1, "0", "0",
			[]string{"housekeeping shares CPU 0 with the client", oneCPU}},
		{"2 CPUs, PLC in the client", machine(2, 1, 1), "plc: {host: client}", "0", 1, "1", "0",
			[]string{"housekeeping shares CPU 0 with the server", oneCPU}},
		{"2 CPUs, CPU 0 the quiet one", machine(2, 1, 1, 0), "", "0", 1, "1", "1",
			[]string{"housekeeping shares CPU 1 with the client", oneCPU}},
		{"2 threads of one core", machine(1, 2, 1), "", "1", 1, "0", "0",
			[]string{"housekeeping shares CPU 0 with the client", "CPUs 1 and 0 are two threads of one core", oneCPU}},
		{"3 CPUs", machine(3, 1, 1), "", "2,0", 2, "1", "0",
			[]string{"housekeeping shares CPU 0 with the server"}},
		{"4 CPUs", machine(4, 1, 1), "", "3,1", 2, "2", "0", nil},
		{"4 CPUs, PLC in the client", machine(4, 1, 1), "plc: {host: client}", "2,1", 2, "3", "0", nil},
		{"4 CPUs, 2 cores", machine(2, 2, 1), "", "3,0", 2, "2", "1", []string{
			"CPUs 0 and 2 are two threads", "housekeeping CPU 1 is a thread of the core of measured CPU 3"}},
		{"4 CPUs, 2 isolated", isolate(machine(4, 1, 1), "2-3"), "", "3", 1, "2", "0-1", []string{oneCPU}},
		{"4 CPUs, 3 isolated", isolate(machine(4, 1, 1), "1-3"), "", "3,1", 2, "2", "0", nil},
		{"4 CPUs, 1 isolated", isolate(machine(4, 1, 1), "2"), "", "2", 1, "3", "0-1",
			[]string{oneCPU, "CPU 3 of the client is not isolated though the host isolates 2"}},
		{"4 CPUs, isolated threads of one core", isolate(machine(2, 2, 1), "1,3"), "", "3,1", 2, "2", "0", []string{
			"CPUs 1 and 3 are two threads", "housekeeping CPU 0 is a thread of the core of measured CPU 2", "CPU 2 of the client is not isolated"}},
		{"isolated outside the cpuset", func() Host {
			h := isolate(machine(4, 1, 1), "2-3")
			h.Cpuset = []int{0, 1}
			return h
		}(), "", "1", 1, "0", "0", []string{
			"housekeeping shares CPU 0 with the client", oneCPU,
			"CPU 1 of the server is not isolated", "CPU 0 of the client is not isolated"}},
		{"64 CPUs", machine(64, 1, 1), "", "63,61", 2, "62", "0-60", nil},
		{"64 CPUs, 32 cores, 2 nodes", machine(32, 2, 2), "", "63,61", 2, "62", "0-28,32-60", nil},
		{"64 CPUs, quiet CPU on the first node", machine(32, 2, 2, 5), "", "5,46", 2, "47", "0-4,6-13,16-36,38-45,48-63", nil},
		{"64 CPUs, 4 isolated on one node", isolate(machine(32, 2, 2), "8-11"), "", "11,9", 2, "10", "0-7,12-40,44-63", nil},
		{"affinity of two of 64", func() Host {
			h := machine(64, 1, 1)
			h.Allowed = []int{7, 9}
			return h
		}(), "", "9", 1, "7", "7", []string{"housekeeping shares CPU 7", oneCPU}},
		{"no topology", Host{Allowed: []int{0, 1, 2, 3}}, "", "3,1", 2, "2", "0", nil},

		{"user's server", machine(4, 1, 1), "placement: {server_cpus: 0}", "0", 1, "3", "1-2", []string{oneCPU}},
		{"user's order", machine(4, 1, 1), "placement: {server_cpus: \"1,3\"}", "1,3", 2, "2", "0", nil},
		{"user's client", machine(4, 1, 1), "placement: {client_cpus: 2-3}", "1,0", 2, "2-3", "0",
			[]string{"housekeeping shares CPU 0 with the server"}},
		{"user's overlap", machine(4, 1, 1), "placement: {server_cpus: 3, client_cpus: 3}", "3", 1, "3", "0-2",
			[]string{"server and client share CPU 3", oneCPU}},
		{"user's housekeeping", machine(4, 1, 1), "placement: {housekeeping_cpus: 3}", "2,0", 2, "1", "3", nil},
		{"user mixes isolated and other", isolate(machine(4, 1, 1), "2-3"), "placement: {server_cpus: [3, 1]}", "3,1", 1, "2", "0",
			[]string{"the server's CPUs 1,3 are partly isolated", "CPU 1 of the server is not isolated"}},

		{"network card on loopback", network(machine(2, 1, 1), 0, 1), "", "1", 1, "0", "0",
			[]string{"housekeeping shares", oneCPU}},
		{"network card", network(machine(4, 1, 1), 3), "opcua: {endpoint: \"opc.tcp://0.0.0.0:4840\"}", "2,0", 2, "1", "3", nil},
		{"network card on every CPU", network(machine(2, 1, 1), 0, 1), "opcua: {endpoint: \"opc.tcp://0.0.0.0:4840\"}", "1", 1, "0", "0",
			[]string{"housekeeping shares", oneCPU, "CPU 1 serves a network card and carries the PLC thread at FIFO 80"}},
		{"network card, low priority", network(machine(2, 1, 1), 0, 1),
			"opcua: {endpoint: \"opc.tcp://0.0.0.0:4840\"}\nplacement: {priority: 50, rt: require}", "1", 1, "0", "0",
			[]string{"housekeeping shares", oneCPU}},
	}
}

// decoded is a valid configuration.
func decoded(t *testing.T, yaml string) Config {
	t.Helper()
	c, o, err := Decode("p.yaml", []byte(yaml))
	if err == nil {
		err = Validate(c, o)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestResolvePlaces(t *testing.T) {
	for _, tt := range resolveCases() {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Resolve(decoded(t, tt.yaml), tt.host)
			if err != nil {
				t.Fatal(err)
			}
			got := []any{p.Server.TaskFirst().String(), p.Server.MaxProcs, p.Client.TaskFirst().String(), CPUList(p.Housekeeping.CPUs).String()}
			if diff := cmp.Diff([]any{tt.server, tt.procs, tt.client, tt.housekeeping}, got); diff != "" {
				t.Error(diff)
			}
			if len(p.Notes) != len(tt.notes) {
				t.Fatalf("notes %q, want %q", p.Notes, tt.notes)
			}
			for i, n := range p.Notes {
				if !strings.Contains(n, tt.notes[i]) {
					t.Errorf("note %q, want %q", n, tt.notes[i])
				}
			}
			for _, m := range []Process{p.Server, p.Client} {
				if len(m.CPUs) == 1 && (m.MaxProcs != 1 || m.TaskCPUs != nil) {
					t.Errorf("%+v: one CPU and more than one P hang", m)
				}
				if m.FIFO == 0 || m.RTTime == 0 {
					t.Errorf("%+v: no FIFO, or no guard", m)
				}
			}
		})
	}
}

// The plan that --dry-run prints is the plan.
func TestPlanYAMLRoundTrip(t *testing.T) {
	configs := []string{"", "plc: {host: client, iterations: auto, publish: start}\nopcua: {items: 1000}\nplacement: {rt: off}", "budgets: []",
		"stress-ng: on\ncyclictest: on\ntracing: on\nbeside: {trace_stop_above: 200us, with: [lmbench], cyclictest_cpus: 0}"}
	for _, tt := range resolveCases() {
		for _, yaml := range append(configs, tt.yaml) {
			c := decoded(t, yaml)
			want, err := Resolve(c, tt.host)
			if err != nil {
				t.Fatal(err)
			}
			text, err := PlanYAML(c, want)
			if err != nil {
				t.Fatal(err)
			}
			got, err := Resolve(decoded(t, string(text)), tt.host)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s, %q: %s\n%s", tt.name, yaml, diff, text)
			}
		}
	}
}

func TestPlanYAMLGolden(t *testing.T) {
	for name, tt := range map[string]struct {
		host Host
		yaml string
	}{
		"plan-1.yaml":        {machine(1, 1, 1), ""},
		"plan-2.yaml":        {machine(2, 1, 1), "name: mine\nplc: {host: client, iterations: auto}\nplacement: {rt: off}\nbudgets: []"},
		"plan-4.yaml":        {machine(4, 1, 1), ""},
		"plan-64.yaml":       {machine(32, 2, 2), "plc: {publish: start}\nopcua: {items: 1000}\nrun: {out: here}"},
		"plan-isolated.yaml": {isolate(machine(4, 1, 1), "2-3"), ""},
	} {
		c := decoded(t, tt.yaml)
		p, err := Resolve(c, tt.host)
		if err != nil {
			t.Fatal(err)
		}
		got, err := PlanYAML(c, p)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

func TestResolveRefuses(t *testing.T) {
	for _, tt := range []struct {
		name, yaml string
		host       Host
		want       string
	}{
		{"CPU that is not there", "placement: {server_cpus: \"1,4\"}", machine(4, 1, 1),
			"placement.server_cpus 1,4: CPU 4 is not online or not allowed for this process; choose from 0-3"},
		{"CPU outside the affinity", "placement: {client_cpus: 0}", Host{CPUs: machine(4, 1, 1).CPUs, Allowed: []int{2, 3}},
			"placement.client_cpus 0: CPU 0 is not online or not allowed for this process; choose from 2-3"},
		{"housekeeping", "placement: {housekeeping_cpus: 9}", machine(2, 1, 1),
			"placement.housekeeping_cpus 9: CPU 9 is not online or not allowed for this process; choose from 0-1"},
		{"nowhere to run", "", Host{CPUs: machine(2, 1, 1).CPUs, Allowed: []int{5}},
			"this process may run on none of the online CPUs (allowed 5); set its affinity"},
		{"network card with rt: require", "opcua: {endpoint: \"opc.tcp://192.0.2.1:4840\"}\nplacement: {rt: require}",
			network(machine(2, 1, 1), 0, 1),
			"CPU 1 serves a network card and carries the PLC thread at FIFO 80, above the kernel's interrupt threads (50): packets wait for the calculation; " +
				"choose other CPUs, move the card's interrupts, lower placement.priority to 50, or use rt: auto to measure it all the same"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Resolve(decoded(t, tt.yaml), tt.host)
			if diff := cmp.Diff(tt.want, message(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestResolveDerives(t *testing.T) {
	ms := time.Millisecond
	for _, tt := range []struct {
		name, yaml string
		get        func(p *Plan) any
		want       any
	}{
		{"spin", "", func(p *Plan) any { return p.Task.Spin }, 300 * time.Microsecond},
		{"spin of 1 ms", "plc: {interval: 1ms}", func(p *Plan) any { return p.Task.Spin }, 100 * time.Microsecond},
		{"deadline", "", func(p *Plan) any { return p.Task.Deadline }, 10 * ms},
		{"deadline with publish: start", "plc: {publish: start}", func(p *Plan) any { return p.Task.Deadline }, 20 * ms},
		{"deadline said", "plc: {publish: start, deadline: 3ms}", func(p *Plan) any { return p.Task.Deadline }, 3 * ms},
		{"thief_above", "plc: {interval: 20ms}", func(p *Plan) any { return p.Task.ThiefAbove }, 20 * ms},
		{"publishing interval", "plc: {interval: 20ms}", func(p *Plan) any { return p.OPCUA.PublishingInterval }, 20 * ms},
		{"cycles", "run: {duration: 10s}", func(p *Plan) any { return p.Cycles }, int64(1000)},
		{"guard against hanging", "", func(p *Plan) any { return p.Server.RTTime }, time.Second},
		{"guard, long cycle", "plc: {interval: 2s}", func(p *Plan) any { return p.Client.RTTime }, 4 * time.Second},
		{"buffer of 199 items", "opcua: {items: 199}", func(p *Plan) any { return p.OPCUA.Buffer }, 8192},
		{"buffer of 200 items", "opcua: {items: 200}", func(p *Plan) any { return p.OPCUA.Buffer }, 65535},
		{"buffer of 20 items, 10 values each", "opcua: {items: 20, publishing_interval: 100ms}", func(p *Plan) any { return p.OPCUA.Buffer }, 65535},
		{"policy", "", func(p *Plan) any { return []int{p.Server.FIFO, p.Client.FIFO, p.Housekeeping.FIFO, p.Task.Priority} }, []int{45, 48, 0, 80}},
		{"rt: off", "placement: {rt: off}", func(p *Plan) any { return []int{p.Server.FIFO, p.Client.FIFO, p.Task.Priority} }, []int{0, 0, 0}},
		{"auto", "plc: {iterations: auto}", func(p *Plan) any { return []any{p.Task.Auto, p.Task.Iterations} }, []any{true, int64(0)}},
		{"client with two CPUs hosts the PLC", "plc: {host: client}\nplacement: {client_cpus: \"3,2\"}", func(p *Plan) any { return p.Client },
			Process{Name: "client", CPUs: []int{2, 3}, MaxProcs: 2, FIFO: 48, RTTime: time.Second, TaskCPUs: []int{3}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := Resolve(decoded(t, tt.yaml), machine(4, 1, 1))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, tt.get(&p)); diff != "" {
				t.Error(diff)
			}
		})
	}
}
