package run

import (
	"context"
	"fmt"
	"os"
	"time"

	"opcycle/bench"
	"opcycle/host"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// Serving conducts a server that waits for clients started by hand.
type Serving struct {
	Starter Starter
	Tool    bench.Tool
	Plan    bench.Plan
	Host    bench.Host
	// Ready is called once, when it listens; the announced plan has the iterations that the
	// task runs with.
	Ready func(endpoint string, a bench.Announcement)
	// Listener is where it listens, nil for the plan's endpoint; it may be closed after Ready.
	Listener *os.File
	// Look is what check finds on this machine for the plan, asked once before anything is
	// started; the client's result has it. May be nil.
	Look func(bench.Plan) []bench.Finding
	Busy string            // why no client may give it another plan
	Warn func(text string) // what a client that asked for books will not get; may be nil
}

// servingStop is how long the server may take to stop. It is the only child: with
// killAfter and the rest it still ends within 2 s of an interrupt.
const servingStop = 1200 * time.Millisecond

// Served is what a server did until it was told to stop.
type Served struct {
	Told              bool // the server process told of its releases before it ended
	Executed, Skipped int64
	Messages          int64
}

func (d Served) String() string {
	releases := "releases n/a"
	if d.Told {
		releases = fmt.Sprintf("executed %d releases, skipped %d", d.Executed, d.Skipped)
	}
	return fmt.Sprintf("%s, sent %d notification messages", releases, d.Messages)
}

// serving is a Serving under way; its goroutine is the only one that touches it.
type serving struct {
	Serving
	server *child
	grid   bench.Grid
	info   bench.ProcessInfo
	books  *books
	found  []bench.Finding
	recent []record.Record // the newest records, for books that are opened late
	out    Served
}

// recentRecords is how many of them are kept: with a record a release and one a message,
// the last 5 seconds of cycles of 10 ms.
const recentRecords = 1024

// Run serves until ctx ends. An error means that the server did not start, or ended by
// itself.
func (s Serving) Run(ctx context.Context) (Served, error) {
	p := s.Plan
	var found []bench.Finding
	if s.Look != nil {
		found = s.Look(p)
	}
	release, err := claim(p.Server.CPUs)
	if err != nil {
		return Served{}, err
	}
	defer release()
	c, err := s.Starter.start(bench.ProcessServer, p.Server, p.RT, Rings{Large: opcua.ServerRings, Listener: s.Listener})
	if err != nil {
		return Served{}, err
	}
	defer c.free()
	defer c.kill() // no matter after an orderly stop
	o := opcua.Order{Do: opcua.DoStart, Plan: &p, Busy: s.Busy, Tool: s.Tool}
	if p.Task.Auto && p.Task.Host == bench.HostServer {
		o.NS = int64(p.Task.Target)
	}
	r, err := c.order(ctx, o, orderLimit)
	if err != nil {
		return Served{}, fmt.Errorf("start the server: %w", err)
	}
	if lost := lacking(r.Info, p); len(lost) > 0 && p.RT == bench.RTRequire {
		return Served{}, fmt.Errorf("rt require, and not had: %s; give the capability or the limit, or use --rt auto", lost[0])
	}
	if o.NS > 0 {
		s.Plan.Task.Iterations = r.Count
	}
	s.Ready(r.Endpoint, bench.Announcement{Tool: s.Tool, Plan: s.Plan, Grid: r.Grid, Server: *r.Info})
	w := &serving{Serving: s, server: c, grid: r.Grid, info: *r.Info, found: found}
	err = w.loop(ctx)
	return w.out, err
}

// loop drains the ring and keeps the books that clients ask for.
func (s *serving) loop(ctx context.Context) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		s.drain()
		select {
		case <-ctx.Done():
			last, err := s.server.stopWithin(servingStop)
			s.drain()
			if err == nil && last.Snapshot != nil {
				s.out.Told, s.out.Executed, s.out.Skipped = true, last.Snapshot.Executed, last.Snapshot.Skipped
			}
			return err
		case err := <-s.server.events:
			return err
		case w := <-s.server.windows:
			s.window(ctx, w)
		case <-tick.C:
		}
	}
}

func (s *serving) drain() {
	s.server.rings[opcua.RingTask].Drain(func(r *record.Record) {
		if r.Kind == record.KindSent {
			s.out.Messages++
		}
		if s.books != nil {
			s.books.join.server(r)
			return
		}
		if len(s.recent) == recentRecords {
			s.recent = append(s.recent[:0], s.recent[recentRecords/2:]...)
		}
		s.recent = append(s.recent, *r)
	})
}

// window opens the books of a phase, or closes them and hands the part out. A client that
// asks while another one's books are open takes them over: the last one counts. Nothing
// that goes wrong here ends the server: what is not known is n/a.
func (s *serving) window(ctx context.Context, w bench.Window) {
	if w.Done && (s.books == nil || s.books.window.First != w.First) {
		return // asked for by nobody we know: its reader waits in vain and says so
	}
	now, warning := s.snapshot(ctx)
	s.drain()
	if !w.Done {
		s.books = newBooks(s.Plan, s.grid, w, now)
		s.books.counters, _ = host.Counters("/") // a nil field says what is missing
		s.books.boot = rt.SuspendedTime()
		for i := range s.recent {
			s.books.join.server(&s.recent[i])
		}
		s.recent = s.recent[:0]
		return
	}
	part := s.books.part(w, s.Host, s.info, now, throttling(s.Host, s.Plan))
	s.machine(&part, now)
	s.books, part.Findings = nil, s.found
	if warning != "" {
		part.Warnings = append(part.Warnings, warning)
	}
	text, err := bounded(part, bench.PartBytes)
	if err == nil {
		_, err = s.server.order(ctx, opcua.Order{Do: opcua.DoResult, Result: text}, orderLimit)
	}
	if err != nil && ctx.Err() == nil {
		s.warn("the books of a client were not handed out: " + err.Error())
	}
}

// machine puts into part what this machine's kernel told of the phase.
func (s *serving) machine(part *bench.Part, now *opcua.Snapshot) {
	const where = "the server's host: "
	b := s.books
	counters, _ := host.Counters("/")
	part.End = endOf("/", now, s.Plan.Server.CPUs, b.counters, counters)
	warnings, invalid := quotaAndSteal(counters.Since(b.counters, s.Plan.Server.CPUs), time.Duration(b.phase.Ran*b.phase.Grid.Period), where)
	if text := suspended(b.boot); text != "" {
		invalid = append(invalid, where+text)
	}
	part.Warnings, part.Invalid = append(part.Warnings, warnings...), append(part.Invalid, invalid...)
}

// snapshot asks the server for its accounts and its threads; without an answer the
// snapshot is nil, and the warning says so.
func (s *serving) snapshot(ctx context.Context) (now *opcua.Snapshot, warning string) {
	r, err := s.server.order(ctx, opcua.Order{Do: opcua.DoSnapshot}, time.Second)
	if err != nil {
		warning = "no snapshot of the server: " + err.Error()
		s.warn(warning)
		return nil, warning
	}
	if r.Info != nil {
		s.info = *r.Info
	}
	return r.Snapshot, ""
}

func (s *serving) warn(text string) {
	if s.Warn != nil {
		s.Warn(text)
	}
}
