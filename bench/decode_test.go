package bench

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestDecodeComplains(t *testing.T) {
	for _, tt := range []struct{ name, yaml, want string }{
		{"empty", "", ""},
		{"comments only", "# nothing\n", ""},
		{"unknown key", "name: a\nplc:\n  intervall: 5ms\n",
			"p.yaml:3: plc.intervall: unknown key; nearest: plc.interval"},
		{"right key, wrong group", "items: 3\n",
			"p.yaml:1: items: unknown key; it exists as opcua.items"},
		{"duplicate key", "name: a\nplc:\n  host: client\n  host: server\n",
			"p.yaml:4: plc.host: said before, in line 3; keep one of the two"},
		{"duplicate group", "run: {floor: 1}\nrun: {floor: 2}\n",
			"p.yaml:2: run: said before, in line 1; keep one of the two"},
		{"second document", "name: a\n---\nname: b\n",
			"p.yaml:2: a second document begins here; keep one profile a file"},
		{"duration without a unit", "plc:\n  interval: 10\n",
			`p.yaml:2: plc.interval: "10" is no duration; write it with a unit, such as 10ms, 250us or 1m30s`},
		{"count as text", "opcua:\n  items: many\n",
			`p.yaml:2: opcua.items: a whole number is expected, not "many"; write digits only`},
		{"count as fraction", "opcua: {items: 1.5}",
			"p.yaml:1: opcua.items: a whole number is expected, not the number 1.5; write digits only"},
		{"text as truth value", "placement: {rt: true}",
			"p.yaml:1: placement.rt: a text is expected, not the truth value true; put it in quotes if it is meant as text"},
		{"value instead of group", "plc: 3",
			"p.yaml:1: plc: a group of keys is expected, not the number 3; write keys below it, such as deadline: …"},
		{"list instead of file", "- a\n- b\n",
			"p.yaml:1: a group of keys is expected, not a list; write keys below it, such as beside: …"},
		{"group instead of value", "plc:\n  interval:\n    ms: 3\n",
			"p.yaml:3: plc.interval: one value is expected, not a group of keys; write it behind the colon"},
		{"no value", "plc:\n  interval:\n",
			"p.yaml:2: plc.interval: no value; give one, or leave the key out for the default"},
		{"iterations", "plc: {iterations: -1}",
			`p.yaml:1: plc.iterations: "-1" is no iteration count; write a whole number from 0 on, or auto`},
		{"CPU list", "placement: {server_cpus: 3-1}",
			`p.yaml:1: placement.server_cpus: "3-1" is no CPU list; write numbers and ranges such as 2 or 2,4-5`},
		{"CPU list of words", "placement: {server_cpus: [a]}",
			`p.yaml:1: placement.server_cpus: a list of CPU numbers is expected; write [2, 3] or "2-3"`},
		{"switch", "tracing: maybe",
			`p.yaml:1: tracing: "maybe" is neither on nor off; write on or off`},
		{"budgets as text", "budgets: packets.late <= 0",
			`p.yaml:1: budgets: a list is expected, not "packets.late <= 0"; write ["…", "…"], or one "- …" a line`},
		{"budgets of numbers", "budgets: [3]",
			"p.yaml:1: budgets: a list of texts is expected, but it holds the number 3; put each entry in quotes"},
		{"no YAML", "name: a\nplc: {",
			"p.yaml:2: not YAML: did not find expected node content; mind the indentation and the space after each colon"},
		{"all at once, in order", "opcua:\n  items: x\nfoo: 1\nplc:\n  interval: y\n",
			"p.yaml:2: opcua.items: a whole number is expected, not \"x\"; write digits only\n" +
				"p.yaml:3: foo: unknown key; it is one of beside, budgets, cat, cyclictest, name, opcua, placement, plc, run, stress-ng, tracing\n" +
				"p.yaml:5: plc.interval: \"y\" is no duration; write it with a unit, such as 10ms, 250us or 1m30s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Decode("p.yaml", []byte(tt.yaml))
			if diff := cmp.Diff(tt.want, message(err)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func TestDecodeEmptyIsDefaults(t *testing.T) {
	for _, data := range []string{"", "\n# comment\n", "{}", "---\n"} {
		c, _, err := Decode("p.yaml", []byte(data))
		if err != nil {
			t.Errorf("%q: %v", data, err)
		}
		if diff := cmp.Diff(Defaults(), c); diff != "" {
			t.Errorf("%q: %s", data, diff)
		}
	}
}

func TestDecodeReadsEveryKey(t *testing.T) {
	const text = `
name: all
plc: {host: client, interval: 5ms, workload: bitwise, iterations: auto, target: 1ms, publish: start,
  deadline: 6ms, guard: 400us, thief_above: 7ms}
opcua: {endpoint: "opc.tcp://localhost:4840/x", publishing_interval: 10ms, items: 2, clients: 2, queue_size: 3,
  publish_requests: 4, reconnect: 1s}
run: {duration: 20s, warm_up: 1s, floor: 10, out: 2026-01-01, abort_on_fail: on}
placement: {server_cpus: "3,1", client_cpus: [2], housekeeping_cpus: 0, rt: off, priority: 81,
  server_priority: 41, client_priority: 42}
stress-ng: on
cyclictest: enabled
tracing: false
beside: {stress_engine: builtin, stress_args: "--vm 1", stress_cpus: 1, cyclictest_cpus: "2-3", cyclictest_interval: 1ms,
  cyclictest_priority: 40, trace_stop_above: 200us, with: [lmbench]}
cat: {mode: auto, rt_mask: f0, rest_mask: "0x0f", level: "2"}
budgets: ["packets.late <= 1"]
`
	got, o, err := Decode("p.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	ms := func(n int) Duration { return Duration(time.Duration(n) * time.Millisecond) }
	want := Config{
		Name: "all",
		PLC: PLCConfig{Host: "client", Interval: ms(5), Workload: "BITWISE", Iterations: Iterations{Auto: true},
			Target: ms(1), Publish: "start", Deadline: ms(6), Guard: Duration(400 * time.Microsecond), ThiefAbove: ms(7)},
		OPCUA: OPCUAConfig{Endpoint: "opc.tcp://localhost:4840/x", PublishingInterval: ms(10), Items: 2, Clients: 2, QueueSize: 3,
			PublishRequests: 4, Reconnect: ms(1000)},
		Run: RunConfig{Duration: ms(20000), WarmUp: ms(1000), Floor: 10, Out: "2026-01-01", AbortOnFail: true},
		Placement: PlacementConfig{ServerCPUs: CPUList{3, 1}, ClientCPUs: CPUList{2}, HousekeepingCPUs: CPUList{0},
			RT: "off", Priority: 81, ServerPriority: 41, ClientPriority: 42},
		StressNG: true,
		Cyclic:   true,
		Beside: BesideConfig{StressEngine: "builtin", StressArgs: "--vm 1", StressCPUs: CPUList{1}, CyclictestCPUs: CPUList{2, 3},
			CyclictestEvery: ms(1), CyclictestPrio: 40, TraceStopAbove: Duration(200 * time.Microsecond), With: []string{"lmbench"}},
		CAT:     CATConfig{Mode: "auto", RTMask: "f0", RestMask: "0x0f", Level: "2"},
		Budgets: []string{"packets.late <= 1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for key, at := range map[string]string{"plc.host": "p.yaml:3", "plc.deadline": "p.yaml:4", "tracing": "p.yaml:12", "plc": "default"} {
		if got := o.At(key); got != at {
			t.Errorf("%s comes from %s, want %s", key, got, at)
		}
	}
	for key := range keysOf(&want) { // a new key must be added above
		if v := keysOf(&want)[key]; v.IsZero() && key != "tracing" {
			t.Errorf("%s is not tested", key)
		}
	}
}

func TestApplyFlags(t *testing.T) {
	c, o, err := Decode("p.yaml", []byte("plc: {interval: 5ms}"))
	if err != nil {
		t.Fatal(err)
	}
	err = ApplyFlags(&c, &o, map[string]string{
		"interval": "20ms", "workload": "memory", "iterations": "auto", "plc": "client", "server-cpus": "1,0",
		"out": "2026", "items": "12",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Defaults()
	want.PLC.Interval, want.PLC.Workload, want.PLC.Host = Duration(20*time.Millisecond), "MEMORY", "client"
	want.PLC.Iterations = Iterations{Auto: true}
	want.Placement.ServerCPUs, want.Run.Out, want.OPCUA.Items = CPUList{1, 0}, "2026", 12
	if diff := cmp.Diff(want, c); diff != "" {
		t.Error(diff)
	}
	if got := o.At("plc.interval"); got != "--interval" {
		t.Errorf("origin %s, want --interval", got)
	}
	err = ApplyFlags(&c, &o, map[string]string{"interval": "3", "items": "x", "duration": ""})
	if diff := cmp.Diff("--duration: run.duration: \"\" is no duration; write it with a unit, such as 10ms, 250us or 1m30s\n"+
		"--interval: plc.interval: \"3\" is no duration; write it with a unit, such as 10ms, 250us or 1m30s\n"+
		"--items: opcua.items: a whole number is expected, not \"x\"; write digits only", message(err)); diff != "" {
		t.Error(diff)
	}
}

func TestFlagsNameKeys(t *testing.T) {
	c := Defaults()
	for _, f := range Flags() {
		if _, ok := keysOf(&c)[f.Key]; !ok {
			t.Errorf("--%s sets %s, which is no key", f.Name, f.Key)
		}
	}
}
