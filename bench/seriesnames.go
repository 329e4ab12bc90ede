package bench

// The table "Series of opcua" of metrics.md: the machine names of every figure that an
// OPC UA report may hold, in the order of the report. Nothing else is a valid name.

// seriesKind is a family of series that share their statistics.
type seriesKind struct {
	series     []string
	statistics []statistic
}

type statistic struct{ name, unit string }

func distribution() []statistic {
	s := []statistic{{"count", "1"}}
	for _, n := range []string{"min", "avg", "max", "stddev", "p50", "p90", "p99", "p99.9", "p99.99"} {
		s = append(s, statistic{n, "ns"})
	}
	return append(s, statistic{"underflow", "1"}, statistic{"overflow", "1"})
}

func plain(unit string, names ...string) []statistic {
	var s []statistic
	for _, n := range names {
		s = append(s, statistic{n, unit})
	}
	return s
}

func causes(list []Cause) []statistic {
	var s []statistic
	for _, c := range list {
		s = append(s, statistic{string(c), "1"})
	}
	return s
}

func seriesTable() []seriesKind {
	run := append(plain("1", "valid"), plain("ns", "duration")...)
	run = append(run, plain("1", "cycles")...)
	run = append(run, plain("ns", "control_cycle_period", "publishing_interval_requested",
		"publishing_interval_revised", "sampling_interval_revised")...)
	run = append(run, plain("1", "queue_size_revised")...)
	return []seriesKind{
		{[]string{"run"}, run},
		{[]string{"packets"}, plain("1", "expected", "on_time", "late", "late_run_max", "missed", "total",
			"duplicate", "reordered", "partial", "messages", "keep_alives", "values", "values_in_message_max", "unstamped")},
		{[]string{"missed"}, causes(MissedCauses())},
		{[]string{"late"}, causes(LateCauses())},
		{[]string{"calculation_time", "execution_time", "execution_time_jitter", "task_time", "response_time",
			"client_transmit_time", "client_encode_time", "client_write_time", "server_transmit_jitter",
			"arrival_offset", "dead_time", "start_latency", "server_transmit_time", "network_time",
			"client_receive_time", "loop_time", "write_round_trip", "inter_arrival_deviation", "control_cycle_period"}, distribution()},
		{[]string{"floor_transmit", "floor_wake_up"}, distribution()},
		{[]string{"ratio"}, plain("ratio", "server_transmit_to_floor", "start_latency_to_clock_nanosleep")},
		{[]string{"thieves"}, plain("ns", "run_queue", "fault", "gc", "throttle", "rest")},
		{[]string{"gc_pause"}, append(plain("1", "count"), plain("ns", "sum", "max")...)},
		{[]string{"context_switches", "page_faults", "migrations"}, plain("1", "count", "sum", "max")},
		{[]string{"allocations"}, plain("1", "count", "sum", "max", "per_packet")},
		// Beyond the table of metrics.md; defined in the README, "Further figures".
		{[]string{"clock"}, append(plain("ns", "offset", "bound_max"), plain("1", "estimates", "failed")...)},
		{[]string{"tcp"}, append(plain("1", "retransmissions"), plain("ns", "rtt", "rtt_min", "rto")...)},
		{[]string{"writes"}, plain("1", "sent", "acknowledged", "no_ack", "failed", "late_ack", "echo_skipped")},
		{[]string{"inputs"}, plain("1", "fresh", "stale", "skipped_values")},
		{[]string{"cpu"}, plain("ns", "sum", "per_packet")},
		{[]string{"memory"}, plain("1", "heap_bytes", "goroutines", "descriptors")},
	}
}

// SeriesNames returns the series of the suite opcua in the order of metrics.md.
func SeriesNames() []string {
	var out []string
	for _, k := range seriesTable() {
		out = append(out, k.series...)
	}
	return out
}

// Statistics returns the statistics of a series in order; nil: there is no such series.
func Statistics(series string) []string {
	var out []string
	for _, s := range statisticsOf(series) {
		out = append(out, s.name)
	}
	return out
}

// StatisticUnit is the unit of a figure: "ns", "1" or "ratio"; empty: no such figure.
func StatisticUnit(series, name string) string {
	for _, s := range statisticsOf(series) {
		if s.name == name {
			return s.unit
		}
	}
	return ""
}

func statisticsOf(series string) []statistic {
	for _, k := range seriesTable() {
		for _, n := range k.series {
			if n == series {
				return k.statistics
			}
		}
	}
	return nil
}
