package bench

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestValidate(t *testing.T) {
	type flags = map[string]string
	for _, tt := range []struct {
		name  string
		yaml  string
		flags flags
		want  string
	}{
		{"defaults", "", nil, ""},
		{"vendor's topology", "plc: {host: client}", nil, ""},
		{"publishing every third cycle", "opcua: {publishing_interval: 30ms}", nil, ""},
		{"1 ms needs no guard in the server", "", flags{"interval": "250us"}, ""},

		{"interval too short", "plc: {interval: 99us}", nil,
			"p.yaml:1: plc.interval: 99µs is out of range; use 100µs to 1h0m0s"},
		{"interval zero by flag", "", flags{"interval": "0"},
			"--interval: plc.interval: 0s is out of range; use 100µs to 1h0m0s"},
		{"publishing interval", "plc: {interval: 10ms}\nopcua: {publishing_interval: 25ms}", nil,
			"p.yaml:2: opcua.publishing_interval: 25ms contradicts plc.interval 10ms (p.yaml:1): it is no whole multiple of the cycle; use 20ms or 30ms"},
		{"publishing faster than the cycle", "opcua: {publishing_interval: 5ms}", nil,
			"p.yaml:1: opcua.publishing_interval: 5ms contradicts plc.interval 10ms (default): it is no whole multiple of the cycle; use 10ms or 20ms"},
		{"publishing interval against a flag", "opcua: {publishing_interval: 30ms}", flags{"interval": "7ms", "duration": "70s"},
			"p.yaml:1: opcua.publishing_interval: 30ms contradicts plc.interval 7ms (--interval): it is no whole multiple of the cycle; use 28ms or 35ms"},
		{"queue", "opcua:\n  publishing_interval: 200ms\n", nil,
			"p.yaml:2: opcua.publishing_interval: 200ms contradicts opcua.queue_size 10 (default): 20 values come due in one publishing interval; use a queue size of at least 20"},
		{"queue said", "opcua:\n  publishing_interval: 200ms\n  queue_size: 19\n", nil,
			"p.yaml:3: opcua.queue_size: 19 contradicts opcua.publishing_interval 200ms (p.yaml:2): 20 values come due in one publishing interval; use a queue size of at least 20"},
		{"counts", "opcua: {items: 0, queue_size: 10001, publish_requests: 101}\nrun: {floor: -1}", nil,
			"p.yaml:1: opcua.items: 0 is out of range; use 1 to 10000\n" +
				"p.yaml:1: opcua.queue_size: 10001 is out of range; use 1 to 10000\n" +
				"p.yaml:1: opcua.publish_requests: 101 is out of range; use 1 to 100\n" +
				"p.yaml:2: run.floor: -1 is out of range; use 0 to 100000"},
		{"target fills the cycle", "plc: {iterations: auto, target: 8ms}", nil,
			"p.yaml:1: plc.target: 8ms contradicts plc.interval 10ms (default): iterations: auto would fill 80 % of the cycle or more; lower the target or lengthen the interval"},
		{"default target, short cycle", "", flags{"interval": "4ms", "iterations": "auto"},
			"--interval: plc.interval: 4ms contradicts plc.target 3.305ms (default): iterations: auto would fill 80 % of the cycle or more; lower the target or lengthen the interval"},
		{"no target", "plc: {iterations: auto, target: 0s}", nil,
			"p.yaml:1: plc.target: 0s is no time to aim at; use more than 0 with iterations: auto"},
		{"guard", "plc: {host: client, guard: 10ms}", nil,
			"p.yaml:1: plc.guard: 10ms contradicts plc.interval 10ms (default): the guard does not fit in a cycle; lower the guard or lengthen the interval"},
		{"default guard, short cycle in the client", "plc: {host: client}", flags{"interval": "500us"},
			"--interval: plc.interval: 500µs contradicts plc.guard 500µs (default): the guard does not fit in a cycle; lower the guard or lengthen the interval"},
		{"negative times", "plc: {deadline: -1ms, guard: -1ms, thief_above: -1ms}\nopcua: {publishing_interval: -1ms, reconnect: -1s}\nrun: {warm_up: -1s}", nil,
			"p.yaml:1: plc.deadline: -1ms is negative; use more than 0, or 0 for the default\n" +
				"p.yaml:1: plc.guard: -1ms is negative; use 0 or more\n" +
				"p.yaml:1: plc.thief_above: -1ms is negative; use more than 0, or 0 for the default\n" +
				"p.yaml:2: opcua.publishing_interval: -1ms is negative; use a whole multiple of plc.interval, or 0 for the default\n" +
				"p.yaml:2: opcua.reconnect: -1s is negative; use 0 or more\n" +
				"p.yaml:3: run.warm_up: -1s is negative; use 0 or more"},
		{"cache allocation", "cat: {mode: require, rt_mask: f0, rest_mask: \"0x0F\", level: \"3\"}", nil, ""},
		{"cache allocation by flags", "", flags{"cat": "auto", "cat-rt-mask": "70"}, ""},
		{"words of a cache allocation", "cat: {mode: on, rt_mask: \"0b11\", level: \"1\"}", nil,
			"p.yaml:1: cat.mode: \"on\" is not known; use off, auto or require\n" +
				"p.yaml:1: cat.level: \"1\" is not known; use auto, 3 or 2"},
		{"ways that are none", "", flags{"cat": "auto", "cat-rest-mask": "0b11x"},
			"--cat-rest-mask: cat.rest_mask: \"0b11x\" is no mask of cache ways; write hexadecimal digits in quotes, such as \"f0\", or auto"},
		{"ways of no allocation", "", flags{"cat-rt-mask": "f0"},
			"--cat-rt-mask: cat.rt_mask: given, and cat is off; ask for an allocation, cat.mode: auto"},
		{"broken cycle", "", flags{"duration": "1005ms"},
			"--duration: run.duration: 1.005s contradicts plc.interval 10ms (default): the measuring phase is no whole number of cycles; use 1s or 1.01s"},
		{"default duration, odd cycle", "", flags{"interval": "7ms"},
			"--interval: plc.interval: 7ms contradicts run.duration 1m0s (default): the measuring phase is no whole number of cycles; use 59.997s or 1m0.004s"},
		{"too few cycles", "", flags{"duration": "90ms"},
			"--duration: run.duration: 90ms contradicts plc.interval 10ms (default): the measuring phase has fewer than 10 cycles; use at least 100ms"},
		{"no duration", "run: {duration: 0s}", nil,
			"p.yaml:1: run.duration: 0s contradicts plc.interval 10ms (default): the measuring phase is no whole number of cycles; use 100ms or 110ms"},
		{"words", "plc: {host: sever, workload: double, publish: middle}\nplacement: {rt: on}", nil,
			"p.yaml:1: plc.host: \"sever\" is not known; use server or client\n" +
				"p.yaml:1: plc.workload: \"DOUBLE\" is not known; use FLOAT, ARITHMETIC, BITWISE or MEMORY\n" +
				"p.yaml:1: plc.publish: \"middle\" is not known; use end or start\n" +
				"p.yaml:2: placement.rt: \"on\" is not known; use auto, require or off"},
		{"priorities out of range", "placement: {priority: 100, client_priority: 0}", nil,
			"p.yaml:1: placement.priority: 100 is out of range; use 1 to 99\n" +
				"p.yaml:1: placement.client_priority: 0 is out of range; use 1 to 99"},
		{"PLC not above its process", "", flags{"priority": "45"},
			"--priority: placement.priority: 45 contradicts placement.server_priority 45 (default): the PLC thread must be strictly above the rest of its process; raise placement.priority or lower the other"},
		{"PLC not above the client", "plc: {host: client}\nplacement:\n  client_priority: 80", nil,
			"p.yaml:3: placement.client_priority: 80 contradicts placement.priority 80 (default): the PLC thread must be strictly above the rest of its process; raise placement.priority or lower the other"},
		{"CPU lists", "placement: {server_cpus: [1, 1], client_cpus: [-1]}", nil,
			"p.yaml:1: placement.server_cpus: CPU 1 is listed twice; list each CPU once\n" +
				"p.yaml:1: placement.client_cpus: there is no CPU -1; CPUs are numbered from 0"},
		{"endpoint", "opcua: {endpoint: \"http://localhost:4840\"}", nil,
			"p.yaml:1: opcua.endpoint: \"http://localhost:4840\" is no endpoint; write opc.tcp://host:port; port 0 takes a free one"},
		{"endpoint without port", "opcua: {endpoint: \"opc.tcp://localhost\"}", nil,
			"p.yaml:1: opcua.endpoint: \"opc.tcp://localhost\" is no endpoint; write opc.tcp://host:port; port 0 takes a free one"},
		{"switches", "stress-ng: on\nbeside:\n  stress_engine: stressng\n  cyclictest_priority: 100\n  cyclictest_interval: 1us\n  trace_stop_above: 200us\n", nil,
			"p.yaml:3: beside.stress_engine: \"stressng\" is not known; use auto, stress-ng or builtin\n" +
				"p.yaml:4: beside.cyclictest_priority: 100 is out of range; use 1 to 99\n" +
				"p.yaml:5: beside.cyclictest_interval: 1µs is too short; use 20us or more\n" +
				"p.yaml:6: beside.trace_stop_above: nothing is traced; set tracing: on (--trace)"},
		{"twice beside", "stress-ng: on\nbeside: {with: [lmbench, stress, lmbench]}", flags{"cyclictest": "on"},
			"p.yaml:2: beside.with[1]: stress runs beside already: stress-ng is on; leave one of them away\n" +
				"p.yaml:2: beside.with[2]: the suite lmbench is there twice; name it once"},
		{"its switch and its name", "beside: {with: [cyclictest]}", flags{"cyclictest": "on"},
			"p.yaml:1: beside.with[0]: cyclictest runs beside already: its switch is on; leave one of them away"},
		{"budgets", "budgets:\n  - packets.late <= 0\n  - packets.lost <= 0\n", nil,
			"p.yaml:3: budgets[1]: packets has no statistic \"lost\"; it is one of expected, on_time, late, late_run_max, missed, total, duplicate, reordered, partial, messages, keep_alives, values, values_in_message_max, unstamped"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, o, err := Decode("p.yaml", []byte(tt.yaml))
			if err := errors.Join(err, ApplyFlags(&c, &o, tt.flags)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, message(Validate(c, o))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// What Decode could not read is complained about once.
func TestValidateSkipsBrokenKeys(t *testing.T) {
	c, o, err := Decode("p.yaml", []byte("plc: {interval: 7}\nopcua: {publishing_interval: 14ms}\nrun: {duration: 70s}\n"))
	if err == nil {
		t.Fatal("no complaint about the interval")
	}
	if err := Validate(c, o); err != nil {
		t.Error(err)
	}
}

func TestComplaintsAreErrors(t *testing.T) {
	_, _, err := Decode("p.yaml", []byte("a: 1\nb: 2\n"))
	var one Complaint
	if !errors.As(err, &one) || one.Key != "a" || one.Where != "p.yaml:1" {
		t.Errorf("%+v", one)
	}
}
