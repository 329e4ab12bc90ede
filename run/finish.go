package run

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/workloads/opcua"
)

// finish stops both processes, joins what they wrote and fills the file.
func (s *session) finish() {
	s.tell(bench.PhaseCollect, -1)
	s.file.Ended = time.Now().UTC()
	s.file.Complete = s.failed == nil
	if s.failed != nil {
		s.invalid("ended early: " + s.failed.Error())
	}
	s.fetchPart()
	s.stopBoth()
	s.pull()
	if s.collect == nil {
		s.invalid("nothing was measured: the run ended before the measuring phase")
		s.file.Phase = s.phase
		return
	}
	s.join.finish(max(s.join.newest, s.collect.last()))
	for _, t := range s.further {
		t.join.finish(t.last())
	}
	s.validity()
	s.file.Phase = s.phase
	s.results()
}

// fetchPart asks a server that was started by hand for its side of the phase.
func (s *session) fetchPart() {
	if s.Remote == nil || s.collect == nil {
		return
	}
	w := bench.Window{First: s.phase.First, N: s.phase.Ran, Done: true}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(s.ctx), 12*time.Second)
	defer cancel()
	if s.ctx.Err() != nil { // interrupted: no time for it
		return
	}
	_, err := s.client.order(ctx, opcua.Order{Do: opcua.DoWindow, Window: &w}, orderLimit)
	var r opcua.Reply
	if err == nil {
		r, err = s.client.order(ctx, opcua.Order{Do: opcua.DoBooks}, orderLimit)
	}
	var p bench.Part
	if err == nil {
		err = json.Unmarshal(r.Books, &p)
	}
	if err != nil {
		s.warn("the server's side is n/a: " + err.Error())
		return
	}
	s.part = &p
}

// stopBoth ends the client first: an orderly CloseSession needs the server. The server is
// told soon after, so that the two limits do not add up.
func (s *session) stopBoth() {
	done := make(chan struct{})
	go func() {
		defer close(done)
		r, err := s.client.stop()
		s.stopped(s.client, r, err)
	}()
	if s.server != nil {
		select {
		case <-done:
		case <-time.After(300 * time.Millisecond):
		}
		r, err := s.server.stop()
		<-done
		s.stopped(s.server, r, err)
	}
	<-done
}

// stopped keeps what a process said at its end.
func (s *session) stopped(c *child, r opcua.Reply, err error) {
	i := slices.IndexFunc(s.file.Processes, func(p bench.ProcessInfo) bool { return p.Name == c.name })
	if err != nil {
		s.file.Processes[i].Error = err.Error()
		if s.failed == nil {
			s.warn("stop the " + c.name + ": " + err.Error())
		}
		return
	}
	s.compare(i, r.Info)
}

// compare keeps the last reading of a process's threads and tells when they moved.
func (s *session) compare(i int, now *bench.ProcessInfo) {
	if now == nil {
		return
	}
	was := s.file.Processes[i].Threads
	for _, t := range now.Threads {
		j := slices.IndexFunc(was, func(o bench.ThreadInfo) bool { return o.TID == t.TID })
		if j >= 0 && !slices.Equal(was[j].CPUs, t.CPUs) {
			s.invalid(fmt.Sprintf("the affinity of thread %d of the %s process changed from %v to %v", t.TID, now.Name, was[j].CPUs, t.CPUs))
		}
	}
	s.file.Processes[i] = *now
}

// lacking says what a process was to have and has not.
func lacking(info *bench.ProcessInfo, plan bench.Plan) []string {
	var out []string
	p := plan.Client
	if info.Name == bench.ProcessServer {
		p = plan.Server
	}
	if p.FIFO > 0 {
		for _, t := range info.Threads {
			if t.Policy != "SCHED_FIFO" {
				why := info.Error
				if why == "" {
					why = "the kernel reports " + t.Policy
				}
				out = append(out, fmt.Sprintf("not real-time: %s process: %s", info.Name, why))
				break
			}
		}
		if !info.Locked {
			out = append(out, fmt.Sprintf("memory not locked: %s process: %s", info.Name, info.LockError))
		}
	}
	for _, t := range info.Threads {
		if len(intersection(t.CPUs, p.CPUs)) != len(t.CPUs) {
			out = append(out, fmt.Sprintf("not pinned: thread %d of the %s process may run on CPUs %v, planned %v", t.TID, info.Name, t.CPUs, p.CPUs))
			break
		}
	}
	return out
}

func intersection(a, b []int) []int {
	var out []int
	for _, v := range a {
		if slices.Contains(b, v) {
			out = append(out, v)
		}
	}
	return out
}

// validity applies the rules of metrics.md, "Validity".
func (s *session) validity() {
	a, o := s.file.Attained, s.Plan.OPCUA
	want := float64(o.PublishingInterval) / float64(time.Millisecond)
	if a.PublishingInterval != want {
		s.invalid(fmt.Sprintf("publishing interval: asked for %v ms, the server revised it to %v ms", want, a.PublishingInterval))
	}
	period := float64(s.Plan.Task.Interval) / float64(time.Millisecond)
	switch sampling := float64(o.SamplingInterval) / float64(time.Millisecond); {
	case sampling > 0 && a.SamplingInterval != sampling,
		sampling == 0 && a.SamplingInterval > period,
		sampling < 0 && a.SamplingInterval != a.PublishingInterval:
		s.invalid(fmt.Sprintf("sampling interval: asked for %v ms, the server revised it to %v ms", sampling, a.SamplingInterval))
	}
	if a.QueueSize < uint32(o.QueueSize) {
		s.invalid(fmt.Sprintf("queue size: asked for %d, the server revised it to %d", o.QueueSize, a.QueueSize))
	}
	for _, g := range s.join.gaps {
		if g.Last >= s.phase.First && g.K <= s.collect.last() {
			s.invalid(fmt.Sprintf("reconnect inside the measuring phase, after index %d", g.K-1))
		}
	}
	for _, c := range s.children() {
		for _, r := range c.rings {
			if n := r.Lost(); n > 0 {
				s.invalid(fmt.Sprintf("the record ring of the %s process overran: %d records are lost", c.name, n))
			}
		}
	}
	if s.join.stray > 0 {
		s.warn(fmt.Sprintf("%d records came for cycles that were decided already", s.join.stray))
	}
	s.machine()
}

// machine tells what the kernel counted on the measured CPUs during the phase.
func (s *session) machine() {
	cpus := append(append([]int(nil), s.Plan.Server.CPUs...), s.Plan.Client.CPUs...)
	slices.Sort(cpus)
	d := s.countersTo.Since(s.countersFrom, slices.Compact(cpus))
	phase := time.Duration(s.phase.Ran * s.phase.Grid.Period)
	for _, c := range d.CPUs {
		if c.Steal != nil && phase > 0 && *c.Steal > phase/100 {
			s.warn(fmt.Sprintf("steal on CPU %d: %.1f %% of the time", c.CPU, 100*float64(*c.Steal)/float64(phase)))
		}
	}
	if d.Throttled != nil && *d.Throttled > 0 {
		s.invalid(fmt.Sprintf("the cgroup's CPU quota was hit %d times", *d.Throttled))
	}
}

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
	if s.Remote != nil && s.part == nil {
		c.settle(nil, nil)
		for _, t := range s.further {
			t.settle(nil, nil)
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
	f.thieves(sums)
	f.thread(c)
	messages := int64(0)
	for i := range s.subs {
		if d, ok := counted(i, s.before[1], s.after[1]); ok {
			messages += d.Messages
		}
	}
	f.process(bench.ProcessServer, s.before[0], s.after[0], messages)
	f.process(bench.ProcessClient, s.before[1], s.after[1], messages)
	serverCounters(&f, s.before[0], s.after[0])
	f.list = append(f.list, ratios...)
	if s.part != nil {
		f.override(s.part.Figures)
	}
	s.file.Figures = f.list
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
	for _, name := range seriesOf() {
		m := c.series[name[1]]
		sum, err := bench.Summarize(suite, m.object, name[1], m.series, m.blocks, s.phase.First, s.phase.Grid.Period)
		if err != nil {
			s.invalid(err.Error())
		}
		if sum.Count == 0 {
			sum.NA = s.absent(name[1])
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
	case s.phase.Clock != "common" && name != "write_round_trip" && name != "inter_arrival_deviation":
		return s.phase.Clock
	case name == "network_time" || name == "client_receive_time":
		return "no message had an exact kernel stamp"
	}
	return "no value was measured"
}

// jitter fills server_transmit_jitter with host = server: the deviation of R − S from its
// median over the phase.
func (c *collect) jitter() {
	if c.join.client {
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
