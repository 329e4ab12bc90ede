package run

import (
	"fmt"
	"slices"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/workloads/opcua"
)

// results fills figures, series and abnormal releases.
func (s *session) results() {
	c := s.collect
	c.jitter()
	sums, list := c.thieves(pausesOf(s.after[taskSide(s.Plan)]), pausesOf(s.after[1]), throttling(s.Host, s.Plan))
	s.file.Abnormal, s.file.AbnormalLeftOut = list, c.leftOut
	for _, r := range list {
		if r.Thieves.Throttle > 0 {
			s.invalid("suspected real-time throttling: a gap of 40 to 60 ms that nothing else explains; set kernel.sched_rt_runtime_us to −1")
			break
		}
	}
	if n := s.file.Attained.Iterations; n > 0 {
		if v, ok := c.series["calculation_time"].series.Quantile(0.5); ok {
			s.file.Attained.IterationTime = float64(v) / float64(n)
		}
	}
	if s.clocks != nil {
		s.file.Nodes = s.nodes()
	}
	if s.Remote == nil {
		s.resentHere()
	}
	if s.Remote != nil && s.part == nil {
		again := s.retransmissions()
		c.settle(nil, nil, again)
		for _, t := range s.further {
			t.settle(nil, nil, again)
		}
	}
	var f figures
	s.series(&f)
	ratios := f.list
	f.list = nil
	if s.part != nil {
		s.merge(*s.part)
	}
	f.run(&s.file, s.Plan)
	f.packets(&c.tally, 0, s.before[1], s.after[1])
	for i, t := range s.further {
		f.packets(t, i+1, s.before[1], s.after[1])
	}
	f.writes(c, s.before[1], s.after[1])
	switch {
	case c.hosted():
		f.thieves(sums)
		f.thread(c)
		if s.after[taskSide(s.Plan)] == nil {
			f.override([]bench.Figure{{Suite: suite, Object: "task", Series: "thieves", Statistic: "gc", Unit: "ns", NA: "the task's process ended before it told its collector pauses"}})
		}
	case s.part == nil:
		f.foreignTask()
	}
	messages := int64(0)
	for i := range s.subs {
		f.pump(fmt.Sprintf("client %d", i+1), i, s.before[1], s.after[1])
		if d, ok := counted(i, s.before[1], s.after[1]); ok {
			messages += d.Messages
		}
	}
	f.process(bench.ProcessServer, s.before[0], s.after[0], messages)
	f.process(bench.ProcessClient, s.before[1], s.after[1], messages)
	serverCounters(&f, s.before[0], s.after[0])
	f.clock(s.file.Nodes, s.phase.Clock)
	f.network(s.file.Nodes, s.phase, s.local)
	f.list = append(f.list, ratios...)
	if s.part != nil {
		f.override(s.part.Figures)
	}
	s.file.Figures = f.list
}

// nodes is what is known of the way between two ends.
func (s *session) nodes() *bench.Nodes {
	var worst *int64
	if t := &s.collect.tally; t.clocks != nil && t.unplaced == 0 && t.live > 0 {
		worst = &t.worst
	}
	if text := s.clocks.remark(); text != "" {
		s.warn(text)
	}
	n := &bench.Nodes{Clock: s.clocks.result(worst, s.collect.fit.slopes)}
	n.Client = endOf(s.Root, s.after[1], s.Plan.Client.CPUs, s.countersFrom, s.countersTo)
	if s.part != nil {
		n.Server = s.part.End.Between(n.Client)
	}
	return n
}

// serverCounters are the embedded server's own counts over the phase.
func serverCounters(f *figures, b, a *opcua.Snapshot) {
	if b == nil || a == nil {
		return
	}
	names := make([]string, 0, len(a.Server))
	for name := range a.Server {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		n := a.Server[name]
		if !slices.Contains(gauges(), name) {
			n -= b.Server[name]
		}
		f.count(bench.ProcessServer, "counters", name, n)
	}
}

// gauges are the server's counters that say how many there are, not how many there were.
func gauges() []string {
	return []string{"Connections", "Sessions", "Subscriptions", "MonitoredItems", "PublishWaiting", "BytesBound"}
}

func pausesOf(s *opcua.Snapshot) []opcua.Pause {
	if s == nil {
		return nil
	}
	return s.Pauses
}

// taskSide is the index of the process that hosts the program.
func taskSide(p bench.Plan) int {
	if p.Task.Host == bench.HostClient {
		return 1
	}
	return 0
}

// throttling reports whether anything limits real-time threads here: bandwidth control
// (sched_rt_runtime_us other than −1). What cannot be read counts as "may".
func throttling(h bench.Host, p bench.Plan) bool {
	return p.Server.FIFO > 0 && (h.RTRuntimeUS == nil || *h.RTRuntimeUS >= 0)
}

// series summarises every series and the floor, and takes the ratios.
func (s *session) series(f *figures) {
	c := s.collect
	for _, t := range s.tallies() {
		if t.blurred() != "" {
			t.series["arrival_offset"] = newMeasured(t.series["arrival_offset"].object, s.phase)
		}
	}
	for _, name := range seriesOf() {
		m := c.series[name[1]]
		sum, err := bench.Summarize(suite, m.object, name[1], m.series, m.blocks, s.phase.First, s.phase.Grid.Period)
		if err != nil {
			s.invalid(err.Error())
		}
		if sum.Count == 0 {
			sum.NA = s.absent(name[1])
		}
		if name[1] == "server_transmit_jitter" && !c.common {
			sum.Avg = nil // of residuals: 0 by construction
		}
		s.file.Series = append(s.file.Series, sum)
	}
	for _, t := range s.further {
		for _, name := range furtherSeries() {
			sum, err := bench.Summarize(suite, t.object, name, t.series[name].series, t.series[name].blocks, s.phase.First, s.phase.Grid.Period)
			if err != nil {
				s.invalid(err.Error())
			}
			s.file.Series = append(s.file.Series, sum)
		}
	}
	transmit, wakeUp, na := floorSeries(s.floors)
	for i, r := range []*record.Series{transmit, wakeUp} {
		name := []string{"floor_transmit", "floor_wake_up"}[i]
		sum, err := bench.Summarize(suite, "item", name, r, nil, 0, s.phase.Grid.Period)
		if err != nil {
			s.invalid(err.Error())
		}
		s.file.Series = append(s.file.Series, sum)
	}
	s.ratio(f, "server_transmit_to_floor", "server_transmit_time", transmit, na)
	s.ratio(f, "start_latency_to_clock_nanosleep", "start_latency", wakeUp, na)
}

func (s *session) ratio(f *figures, statistic, of string, floor *record.Series, na string) {
	a, okA := s.collect.series[of].series.Quantile(0.5)
	b, okB := floor.Quantile(0.5)
	switch {
	case na != "":
		f.na("item", "ratio", statistic, "ratio", na)
	case !okA || !okB || b == 0:
		f.na("item", "ratio", statistic, "ratio", "one side was not measured")
	default:
		f.value("item", "ratio", statistic, "ratio", float64(a)/float64(b))
	}
}

// absent says why a series has no value in this topology.
func (s *session) absent(name string) string {
	switch {
	case s.phase.Ran == 0:
		return "no cycle was measured"
	case name == "arrival_offset" && s.collect.blurred() != "":
		return s.collect.blurred()
	case s.phase.Clock != "common" && (name == "server_transmit_time" || name == "network_time"):
		return s.phase.Clock
	case s.Remote != nil && (name == "server_transmit_time" || name == "network_time"):
		return "the server's record of every message does not travel"
	case name == "network_time" || name == "client_receive_time":
		return "no message had an exact kernel stamp"
	}
	return "no value was measured"
}

// jitter fills server_transmit_jitter with host = server: the deviation of R − S from its
// median over the phase.
func (c *collect) jitter() {
	c.fit.flush()
	if c.join.client || !c.common {
		return
	}
	offset := c.series["arrival_offset"]
	mid, ok := offset.series.Quantile(0.5)
	if !ok {
		return
	}
	m := c.series["server_transmit_jitter"]
	m.series, m.blocks = offset.series.Shift(-mid), offset.blocks.Shift(-mid)
}
