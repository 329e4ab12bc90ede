package report

import (
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// referenceFigures are machine names of one suite that references may have, with the
// units in which they may be published. The suite opcua has its own in bench.Statistics.
type referenceFigures struct {
	suite, object string
	series        []string
	statistics    []string
	units         []string
}

func referenceNames() []referenceFigures {
	us := []string{"us"}
	switches := []string{"context_switch_2p_0k", "context_switch_2p_16k", "context_switch_2p_64k", "context_switch_8p_16k",
		"context_switch_8p_64k", "context_switch_16p_16k", "context_switch_16p_64k"}
	lmbench := []string{"median", "min", "max", "n"}
	return []referenceFigures{
		{"cyclictest", "", []string{"latency"}, []string{"min", "avg", "max"}, us},
		{"cyclictest", "", []string{"latency"}, []string{"count"}, []string{"1"}},
		{"caterpillar", "", []string{"sample_jitter", "sample_spread"}, []string{"min", "max", "stddev"}, []string{"cycles"}},
		{"lmbench", "processor", []string{"null_call", "null_io", "stat", "open_close", "select", "signal_install",
			"signal_handler", "fork", "exec", "sh"}, lmbench, us},
		{"lmbench", "processor", []string{"clock"}, lmbench, []string{"MHz"}},
		{"lmbench", "context_switching", switches, lmbench, us},
		{"lmbench", "local_latency", []string{"context_switch_2p_0k", "pipe", "af_unix", "udp", "rpc_udp", "tcp",
			"rpc_tcp", "tcp_connect"}, lmbench, us},
		{"lmbench", "file_vm", []string{"create_0k", "delete_0k", "create_10k", "delete_10k", "mmap",
			"protection_fault", "page_fault"}, lmbench, us},
		{"lmbench", "local_bandwidth", []string{"pipe", "af_unix", "tcp", "file_reread", "mmap_reread", "bcopy_libc",
			"bcopy_hand", "memory_read", "memory_write"}, lmbench, []string{"MB/s"}},
		{"lmbench", "memory_latency", []string{"l1", "l2", "main"}, append(slices.Clone(lmbench), "minimum_of_tries"), []string{"ns"}},
		{"lmbench", "memory_latency", []string{"clock"}, lmbench, []string{"MHz"}},
		{"lmbench", "memory_latency", []string{"guess"}, []string{"text"}, []string{"text"}},
		{"sel4bench", "sel4", []string{"irq_invoke", "ipc_call", "ipc_reply", "notify"},
			[]string{"mean", "stddev", "min", "median", "p99"}, []string{"cycles"}},
	}
}

// referenceSuites are the suites in the order of metrics.md.
func referenceSuites() []string {
	return []string{"opcua", "cyclictest", "caterpillar", "lmbench", "sel4bench"}
}

// checkName refuses a suite, a figure or a unit that metrics.md does not know.
func checkName(r bench.Reference) error {
	if !slices.Contains(referenceSuites(), r.Suite) {
		return fmt.Errorf("suite %q is not known; write one of %s", r.Suite, strings.Join(referenceSuites(), ", "))
	}
	units, ok := referenceUnits(r)
	if !ok {
		return fmt.Errorf("no figure is called %s in the suite %s; use the names at the end of metrics.md", machineName(r), r.Suite)
	}
	if !slices.Contains(units, r.Unit) {
		return fmt.Errorf("the unit %q is not one of %s; write %s", r.Unit, machineName(r), strings.Join(units, " or "))
	}
	return nil
}

// referenceUnits are the units in which the figure may be published.
func referenceUnits(r bench.Reference) (units []string, ok bool) {
	if r.Suite == "opcua" {
		switch {
		case !slices.Contains(bench.Statistics(r.Series), r.Statistic) || r.Object != "":
			return nil, false
		case bench.StatisticUnit(r.Series, r.Statistic) == "ns":
			return []string{"us", "ns"}, true
		}
		return []string{"1"}, true
	}
	for _, n := range referenceNames() {
		if n.suite == r.Suite && n.object == r.Object && slices.Contains(n.series, r.Series) && slices.Contains(n.statistics, r.Statistic) {
			return n.units, true
		}
	}
	return nil, false
}

// machineName is [object/]series.statistic.
func machineName(r bench.Reference) string {
	name := r.Series + "." + r.Statistic
	if r.Object != "" {
		name = r.Object + "/" + name
	}
	return name
}
