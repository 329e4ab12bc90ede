package run

import (
	"encoding/json"
	"fmt"
	"slices"

	"opcycle/bench"
	"opcycle/host"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// books are the server's side of a phase that a client asked for: the same collector as
// in a run of our own, without a client's half. What leaves is bounded (bench.Part), and so
// is what they take: the window by the server process (opcua.gate), the series to those of
// the server's side, the present for their end.
//
// NB: one owner, the drain loop of Serving.
type books struct {
	*collect
	window     bench.Window
	exceptions []bench.Exception
	leftOut    int64
	before     *opcua.Snapshot
	counters   host.CPUCounters // of this machine, before
	boot       int64            // rt.SuspendedTime, before
}

// serverSeries are the series that the server's clock alone can tell.
func serverSeries(host bench.PLCHost) []string {
	if host == bench.HostClient {
		return []string{"loop_time"}
	}
	return []string{"calculation_time", "execution_time", "execution_time_jitter", "task_time", "response_time",
		"dead_time", "start_latency", "loop_time", "control_cycle_period"}
}

func newBooks(plan bench.Plan, grid bench.Grid, w bench.Window, before *opcua.Snapshot) *books {
	phase := bench.Phase{Grid: grid, Task: grid, First: w.First, N: w.N, Ran: w.N}
	b := &books{collect: &collect{tally: newTally("item", plan, phase, true), lastInput: -1, lastCPU: -1}, window: w, before: before}
	for _, s := range seriesOf() {
		p := phase
		if !slices.Contains(serverSeries(plan.Task.Host), s[1]) {
			p.N = 1 // asked for by thieves at the most
		}
		b.series[s[1]] = newMeasured(s[0], p)
	}
	b.join = newJoin(w.First-1, w.Subscription, plan.Task, b.take)
	return b
}

// take is called by the join for every index.
func (b *books) take(r *row) {
	rel, executed := b.join.program(r)
	if executed {
		b.respond(rel)
	}
	if r.k >= b.phase.First && r.k <= b.last() {
		b.index(r)
		b.sentMessages += r.messages
		if b.join.client { // the program runs elsewhere: only the I/O simulator's release is here
			rel, executed = &r.pub, r.hasPub
		} else if executed {
			b.release(r, rel)
		} else {
			b.waiting = append(b.waiting, r.k)
		}
		b.loop(r)
		b.except(r, rel, executed)
	}
	if executed {
		b.prevStore = *rel
		b.prev = &b.prevStore
		b.lastCPU = rel.OnCPU
	}
}

// except keeps an index that did not leave as it should, and one whose time was lost.
func (b *books) except(r *row, rel *record.Release, executed bool) {
	took := rel.Done - rel.Due
	slow := executed && (took > int64(b.plan.Task.ThiefAbove) || took > b.phase.Task.Period)
	if !executed || slow {
		if len(b.abnormal) < bench.PartMax {
			b.keep(r, rel, executed, "", "") // the outcome is the client's to tell
		} else {
			b.collect.leftOut++
		}
	}
	e := bench.Exception{K: r.k, Executed: executed, Sent: r.hasSent, Waited: r.hasSent && r.sent.Release > r.k+b.join.behind,
		Dropped: r.dropped, DroppedOne: r.droppedOne}
	if executed {
		e.Took = took
	}
	if e.Sent {
		e.Before = r.sent.Before - b.phase.Grid.Due(r.k)
	}
	if executed && e.Sent && !e.Waited && !e.Dropped && took <= int64(b.plan.Task.Deadline) {
		return
	}
	if len(b.exceptions) == bench.PartMax {
		b.leftOut++
		return
	}
	b.exceptions = append(b.exceptions, e)
}

// part closes the books at w.N indices, or at the present one: nobody can ask for more.
func (b *books) part(w bench.Window, h bench.Host, info bench.ProcessInfo, after *opcua.Snapshot, throttled bool) bench.Part {
	b.phase.Ran = max(min(w.N, b.window.N, b.phase.Grid.Index(rt.Now())-b.phase.First), 0)
	b.join.finish(max(b.join.newest, b.last()))
	sums, list := b.thieves(pausesOf(after), nil, throttled)
	p := bench.Part{Window: w, Executed: b.executed, Messages: b.sentMessages, Exceptions: b.exceptions, ExceptionsLeftOut: b.leftOut,
		Abnormal: list, LeftOut: b.collect.leftOut, Process: info, Host: h}
	for _, name := range serverSeries(b.plan.Task.Host) {
		m := b.series[name]
		sum, err := bench.Summarize(suite, m.object, name, m.series, m.blocks, b.phase.First, b.phase.Grid.Period)
		if err != nil {
			p.Invalid = append(p.Invalid, err.Error())
		}
		p.Series = append(p.Series, sum)
	}
	if n := b.plan.Task.Iterations; n > 0 && b.plan.Task.Host == bench.HostServer {
		if v, ok := b.series["calculation_time"].series.Quantile(0.5); ok {
			p.Attained.Iterations, p.Attained.IterationTime = n, float64(v)/float64(n)
		}
	}
	var f figures
	if b.plan.Task.Host == bench.HostServer {
		f.thieves(sums)
		f.thread(b.collect)
	}
	f.process(bench.ProcessServer, b.before, after, notifications(b.before, after)) // of all clients, as its time is
	serverCounters(&f, b.before, after)
	p.Figures = f.list
	return p
}

// notifications are the messages that the server sent between two snapshots; 0 unknown.
func notifications(before, after *opcua.Snapshot) int64 {
	if before == nil || after == nil {
		return 0
	}
	return after.Server["Notifications"] - before.Server["Notifications"]
}

// bounded is p as JSON of at most limit bytes. What has to go for that is counted or said:
// the abnormal cycles first, then the second blocks, then the exceptions, and at last when
// segments were sent again.
func bounded(p bench.Part, limit int) ([]byte, error) {
	for _, drop := range []func(){
		func() {},
		func() { p.LeftOut, p.Abnormal = p.LeftOut+int64(len(p.Abnormal)), nil },
		func() {
			p.Series = slices.Clone(p.Series)
			for i := range p.Series {
				p.Series[i].Blocks = nil
			}
			p.Warnings = append(p.Warnings, fmt.Sprintf("the seconds of the server's series are left out: they do not fit in %d bytes", limit))
		},
		func() { p.ExceptionsLeftOut, p.Exceptions = p.ExceptionsLeftOut+int64(len(p.Exceptions)), nil },
		func() { p.End = p.End.WithoutTimes() },
	} {
		drop()
		text, err := json.Marshal(p)
		if err != nil {
			return nil, fmt.Errorf("the books as JSON: %w", err)
		}
		if len(text) <= limit {
			return text, nil
		}
	}
	return nil, fmt.Errorf("the books do not fit in %d bytes", limit)
}

// merge puts the server's part beside what the client measured.
func (s *session) merge(p bench.Part) {
	known := make(map[int64]bench.Exception, len(p.Exceptions))
	for _, e := range p.Exceptions {
		known[e.K] = e
	}
	again := s.retransmissions()
	decided := s.collect.settle(&p, known, again)
	for _, t := range s.further {
		t.settle(&p, known, again)
	}
	s.file.Series = slices.DeleteFunc(s.file.Series, func(x bench.Series) bool {
		return slices.ContainsFunc(p.Series, func(y bench.Series) bool { return y.Name == x.Name })
	})
	s.file.Series = append(p.Series, s.file.Series...)
	s.file.Invalid = append(s.file.Invalid, p.Invalid...)
	s.file.Warnings = append(s.file.Warnings, p.Warnings...)
	s.file.ServerFindings = p.Findings
	s.file.Abnormal = mergeAbnormal(p.Abnormal, s.file.Abnormal, decided)
	s.file.AbnormalLeftOut += p.LeftOut
	s.file.Processes = append([]bench.ProcessInfo{p.Process}, s.file.Processes...)
	if p.Attained.Iterations > 0 {
		s.file.Attained.Iterations, s.file.Attained.IterationTime = p.Attained.Iterations, p.Attained.IterationTime
	}
	if p.ExceptionsLeftOut > 0 {
		s.invalid("the server's books are full: the causes of some cycles are lost")
	}
}

// mergeAbnormal joins the abnormal indices of both sides: the server's know the release
// and its thieves, ours the arrival; decided is what became of them.
func mergeAbnormal(server, ours []bench.Release, decided map[int64]verdictOf) []bench.Release {
	at := map[int64]int{}
	out := append([]bench.Release(nil), server...)
	for i := range out {
		at[out[i].K] = i
		out[i].Outcome = bench.OnTime
	}
	for _, r := range ours {
		if i, both := at[r.K]; both {
			out[i].Received, out[i].Kernel = r.Received, r.Kernel
			continue
		}
		at[r.K] = len(out)
		out = append(out, r)
	}
	for k, v := range decided {
		if i, ok := at[k]; ok {
			out[i].Outcome, out[i].Cause = v.out, v.cause
		}
	}
	slices.SortFunc(out, func(a, b bench.Release) int { return int(a.K - b.K) })
	return out
}
