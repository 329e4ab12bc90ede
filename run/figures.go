package run

import (
	"slices"

	"opcycle/bench"
	"opcycle/client"
	"opcycle/workloads/opcua"
)

const suite = "opcua"

// figures gathers scalars in the order of metrics.md, "Machine names".
type figures struct{ list []bench.Figure }

func (f *figures) count(object, series, statistic string, v int64) {
	f.value(object, series, statistic, "1", float64(v))
}

func (f *figures) value(object, series, statistic, unit string, v float64) {
	f.list = append(f.list, bench.Figure{Suite: suite, Object: object, Series: series, Statistic: statistic, Value: &v, Unit: unit})
}

func (f *figures) na(object, series, statistic, unit, why string) {
	f.list = append(f.list, bench.Figure{Suite: suite, Object: object, Series: series, Statistic: statistic, Unit: unit, NA: why})
}

// known adds v, or n/a with why when it is nil.
func (f *figures) known(object, series, statistic, unit string, v *int64, why string) {
	if v == nil {
		f.na(object, series, statistic, unit, why)
		return
	}
	f.value(object, series, statistic, unit, float64(*v))
}

// run are the conditions of the run.
func (f *figures) run(file *bench.File, plan bench.Plan) {
	valid := int64(1)
	if len(file.Invalid) > 0 {
		valid = 0
	}
	f.count("task", "run", "valid", valid)
	f.value("task", "run", "duration", "ns", float64(file.Phase.Ran*file.Phase.Grid.Period))
	f.count("task", "run", "cycles", file.Phase.Ran)
	f.value("task", "run", "control_cycle_period", "ns", float64(plan.Period()))
	f.value("item", "run", "publishing_interval_requested", "ns", float64(plan.OPCUA.PublishingInterval))
	f.value("item", "run", "publishing_interval_revised", "ns", file.Attained.PublishingInterval*1e6)
	f.value("item", "run", "sampling_interval_revised", "ns", file.Attained.SamplingInterval*1e6)
	f.count("item", "run", "queue_size_revised", int64(file.Attained.QueueSize))
}

// counted is what client i counted between two snapshots; ok is false when the client
// process ended before it told.
func counted(i int, before, after *opcua.Snapshot) (d client.Counts, ok bool) {
	if before == nil || after == nil || i >= len(before.Clients) || i >= len(after.Clients) {
		return d, false
	}
	b, a := before.Clients[i], after.Clients[i]
	return client.Counts{Messages: a.Messages - b.Messages, KeepAlives: a.KeepAlives - b.KeepAlives,
		Duplicates: a.Duplicates - b.Duplicates, Reordered: a.Reordered - b.Reordered, EchoSkip: a.EchoSkip - b.EchoSkip,
		Gaps: a.Gaps - b.Gaps, Overflows: a.Overflows - b.Overflows, Bad: a.Bad - b.Bad, Faults: a.Faults - b.Faults, Reconnects: a.Reconnects - b.Reconnects}, true
}

// packets are the counts of what reached client i, and of what did not by cause.
func (f *figures) packets(t *tally, i int, before, after *opcua.Snapshot) {
	o := t.object
	f.count(o, "packets", "expected", t.phase.Ran)
	blurred := t.blurred()
	for _, x := range []struct {
		statistic string
		n         int64
	}{{"on_time", t.outcome[bench.OnTime]}, {"late", t.outcome[bench.Late]}, {"late_run_max", t.lateRunMax}} {
		if blurred == "" {
			f.count(o, "packets", x.statistic, x.n)
		} else {
			f.na(o, "packets", x.statistic, "1", blurred)
		}
	}
	f.count(o, "packets", "missed", t.outcome[bench.Missed])
	f.count(o, "packets", "total", t.outcome[bench.OnTime]+t.outcome[bench.Late])
	d, ok := counted(i, before, after)
	f.counted(o, "duplicate", d.Duplicates, ok)
	f.counted(o, "reordered", d.Reordered, ok)
	f.count(o, "packets", "partial", t.partial)
	messages := t.messages
	if !t.join.foreign {
		messages = t.sentMessages
	}
	f.count(o, "packets", "messages", messages)
	f.counted(o, "keep_alives", d.KeepAlives, ok)
	f.count(o, "packets", "values", t.values)
	f.count(o, "packets", "values_in_message_max", t.mostValues)
	for _, cause := range bench.MissedCauses() {
		f.count(o, "missed", string(cause), t.missed[cause])
	}
	f.count(o, "packets", "unstamped", t.unstamped)
	if blurred != "" { // what is late nobody can tell
		for _, cause := range bench.LateCauses() {
			f.na(o, "late", string(cause), "1", blurred)
		}
		return
	}
	for _, cause := range bench.LateCauses() {
		f.count(o, "late", string(cause), t.late[cause])
	}
}

// counted adds a count that the client process told, or n/a when it did not.
func (f *figures) counted(object, statistic string, v int64, ok bool) {
	if !ok {
		f.na(object, "packets", statistic, "1", "the client process ended before it told")
		return
	}
	f.count(object, "packets", statistic, v)
}

// writes are the client's Writes; with the PLC in the client also what its cycles ran on.
func (f *figures) writes(c *collect, before, after *opcua.Snapshot) {
	f.count("item", "writes", "sent", c.writes)
	f.count("item", "writes", "acknowledged", c.acked)
	f.count("item", "writes", "no_ack", c.noAck)
	f.count("item", "writes", "failed", c.failed)
	if c.join.client {
		f.count("item", "writes", "late_ack", c.lateAck)
		f.count("task", "inputs", "fresh", c.fresh)
		f.count("task", "inputs", "stale", c.stale)
		f.count("task", "inputs", "skipped_values", c.skippedValues)
		return
	}
	if d, ok := counted(0, before, after); ok {
		f.count("item", "writes", "echo_skipped", d.EchoSkip)
	} else {
		f.na("item", "writes", "echo_skipped", "1", "the client process ended before it told")
	}
}

// clock is how far the server's clock is ahead of the client's at the end, and the worst
// bound of that at an arrival.
func (f *figures) clock(n *bench.Nodes, clock string) {
	if n == nil {
		return
	}
	c := &n.Clock
	const why = "the two clocks were not compared"
	switch {
	case clock == "common":
		f.value("clock", "clock", "offset", "ns", 0)
		f.value("clock", "clock", "bound_max", "ns", 0)
	case len(c.Offsets) == 0:
		f.na("clock", "clock", "offset", "ns", why)
		f.na("clock", "clock", "bound_max", "ns", why)
	default:
		f.value("clock", "clock", "offset", "ns", float64(c.Offsets[len(c.Offsets)-1].NS))
		f.known("clock", "clock", "bound_max", "ns", c.WorstBound, "no arrival was placed on the server's clock")
	}
	f.count("clock", "clock", "estimates", c.Estimates)
	f.count("clock", "clock", "failed", c.Failed)
}

// pump are the client's own counts that stand nowhere else: sequence numbers never seen,
// values with the Overflow bit or unreadable, Publish requests answered with a bad status.
func (f *figures) pump(object string, i int, before, after *opcua.Snapshot) {
	d, ok := counted(i, before, after)
	if !ok {
		return // the n/a of the packets says why
	}
	f.count(object, "counters", "sequence_gaps", d.Gaps)
	f.count(object, "counters", "overflow_bits", d.Overflows)
	f.count(object, "counters", "bad_values", d.Bad)
	f.count(object, "counters", "publish_faults", d.Faults)
	f.count(object, "counters", "reconnects", d.Reconnects)
}

// thieves are the sums of the time lost by abnormal releases.
func (f *figures) thieves(sum bench.Thieves) {
	f.known("task", "thieves", "run_queue", "ns", sum.RunQueue, "schedstat is not readable")
	f.known("task", "thieves", "fault", "ns", sum.Fault, "page faults came, the kernel gives no time for them: it is in rest")
	f.value("task", "thieves", "gc", "ns", float64(sum.GC))
	f.value("task", "thieves", "throttle", "ns", float64(sum.Throttle))
	f.value("task", "thieves", "rest", "ns", float64(sum.Rest))
}

// foreignTask says that nothing is known of a task whose server told nothing.
func (f *figures) foreignTask() {
	const why = "the task ran in a server that was started by hand and did not tell"
	for _, thief := range []string{"run_queue", "fault", "gc", "throttle", "rest"} {
		f.na("task", "thieves", thief, "ns", why)
	}
	for _, series := range []string{"context_switches", "page_faults", "migrations"} {
		f.na("task", series, "count", "1", why)
	}
}

// thread are the kernel's counts for the task's thread over the phase.
func (f *figures) thread(c *collect) {
	f.count("task", "context_switches", "count", c.switches) // involuntary
	f.count("task", "page_faults", "count", c.minor+c.major)
	f.count("task", "migrations", "count", c.migrations)
}

// process is the cost of one measured process between two snapshots.
func (f *figures) process(name string, before, after *opcua.Snapshot, messages int64) {
	if before == nil || after == nil {
		for _, s := range [][2]string{{"gc_pause", "count"}, {"allocations", "count"}, {"page_faults", "count"}, {"context_switches", "count"}} {
			f.na(name, s[0], s[1], "1", "the process ended before it told")
		}
		return
	}
	n, sum, longest := pausesWithin(before, after)
	f.count(name, "gc_pause", "count", n)
	f.value(name, "gc_pause", "sum", "ns", float64(sum))
	f.value(name, "gc_pause", "max", "ns", float64(longest))
	f.count(name, "context_switches", "count", after.Voluntary-before.Voluntary+after.Involuntary-before.Involuntary)
	f.count(name, "page_faults", "count", after.MinorFaults-before.MinorFaults+after.MajorFaults-before.MajorFaults)
	f.count(name, "allocations", "count", int64(after.Mallocs-before.Mallocs))
	f.count(name, "allocations", "sum", int64(after.AllocBytes-before.AllocBytes)) // bytes
	if messages > 0 {
		f.value(name, "allocations", "per_packet", "1", float64(after.Mallocs-before.Mallocs)/float64(messages))
		f.value(name, "cpu", "per_packet", "ns", float64(after.CPU-before.CPU)/float64(messages))
	}
	f.value(name, "cpu", "sum", "ns", float64(after.CPU-before.CPU))
	f.count(name, "memory", "heap_bytes", int64(after.HeapInuse))
	f.count(name, "memory", "goroutines", int64(after.Goroutines))
	if after.Descriptors >= 0 {
		f.count(name, "memory", "descriptors", int64(after.Descriptors))
	}
}

// pausesWithin are the collector pauses between two snapshots: their number from the
// counter, sum and maximum from the pauses that the runtime still remembers (256).
func pausesWithin(before, after *opcua.Snapshot) (n, sum, longest int64) {
	n = after.GCs - before.GCs
	for i := len(after.Pauses) - 1; i >= 0 && int64(len(after.Pauses)-i) <= n; i-- {
		sum += after.Pauses[i].NS
		longest = max(longest, after.Pauses[i].NS)
	}
	return n, sum, longest
}

// override puts the figures that the server told in place of ours of the same name, or
// behind them.
func (f *figures) override(list []bench.Figure) {
	for _, x := range list {
		i := slices.IndexFunc(f.list, func(y bench.Figure) bool {
			return y.Object == x.Object && y.Series == x.Series && y.Statistic == x.Statistic
		})
		if i >= 0 {
			f.list[i] = x
		} else {
			f.list = append(f.list, x)
		}
	}
}
