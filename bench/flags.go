package bench

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// Flag is one flag of run that overrides a key; the key's reader reads its value too.
type Flag struct {
	Name  string // without dashes
	Key   string
	Usage string
	Alone string // the value that the flag has without one; empty: it needs one
}

// Flags returns the overriding flags in the order of the help text.
func Flags() []Flag {
	return []Flag{
		{"duration", "run.duration", "length of the measuring phase, a whole number of cycles (60s)", ""},
		{"warm-up", "run.warm_up", "time before the measuring phase (2s)", ""},
		{"interval", "plc.interval", "control cycle (10ms)", ""},
		{"items", "opcua.items", "monitored Int32 items, 1 to 10000 (1)", ""},
		{"clients", "opcua.clients", "measuring clients, each with its own subscription of all items, 1 to 50 (1)", ""},
		{"workload", "plc.workload", "FLOAT, ARITHMETIC, BITWISE or MEMORY (FLOAT)", ""},
		{"iterations", "plc.iterations", "workload iterations a cycle, or auto (10001)", ""},
		{"plc", "plc.host", "which end runs the control task: server or client (server)", ""},
		{"server-cpus", "placement.server_cpus", "CPUs of the server, as 2 or 2,4-5; the first is the PLC thread's (auto)", ""},
		{"client-cpus", "placement.client_cpus", "CPUs of the client (auto)", ""},
		{"priority", "placement.priority", "SCHED_FIFO priority of the PLC thread (80)", ""},
		{"rt", "placement.rt", "real-time policy: auto, require or off (auto)", ""},
		{"out", "run.out", "folder of the result (results/<UTC time>)", ""},
		{"abort-on-fail", "run.abort_on_fail", "end the run when a budget can't hold any more, with exit code 1 (off)", "on"},
		{"cat", "cat.mode", "cache allocation for the measured CPUs: off, auto (the result says if it could not be had) or require (off)", ""},
		{"cat-rt-mask", "cat.rt_mask", "cache ways of the measured CPUs: auto (the upper half) or hexadecimal, as f0 (auto)", ""},
		{"cat-rest-mask", "cat.rest_mask", "cache ways of the other CPUs: auto (the lower half) or hexadecimal, as 0f (auto)", ""},
		{"cat-level", "cat.level", "cache to allocate: auto (L3, else L2), 3 or 2 (auto)", ""},
		{"stress-ng", "stress-ng", "noise by stress-ng on the housekeeping CPUs while measuring (off)", "on"},
		{"cyclictest", "cyclictest", "cyclictest on the measured CPUs while measuring (off)", "on"},
		{"trace", "tracing", "trace the kernel while measuring (off)", "on"},
		{"trace-stop-above", "beside.trace_stop_above", "stop the tracer at the first release that begins later than this, such as 200us, or overruns its cycle (never)", ""},
	}
}

// ApplyFlags overrides c by the flags that the user gave (name without dashes to text),
// in the order of Flags, and notes it in o. Complaints come all at once.
func ApplyFlags(c *Config, o *Origins, given map[string]string) error {
	keys := keysOf(c)
	var out Complaints
	for _, f := range Flags() {
		text, ok := given[f.Name]
		if !ok {
			continue
		}
		node := &yaml.Node{Kind: yaml.ScalarNode, Value: text}
		if f.Key == "run.out" || strings.HasPrefix(f.Key, "cat.") || text == "" {
			node.Tag = "!!str" // a folder may be called 2026, a mask 70; an empty text is no null
		}
		what, way := setLeaf(keys[f.Key], node)
		o.Flag(f.Key, "--"+f.Name)
		if what != "" {
			o.reject(f.Key)
			out = append(out, Complaint{"--" + f.Name, f.Key, what, way})
		}
	}
	normalise(c)
	return out.err()
}
