package run

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/workloads/opcua"
)

// Serving conducts a server that waits for clients started by hand.
type Serving struct {
	Starter Starter
	Plan    bench.Plan
	Host    bench.Host
	Ready   func(endpoint string, info bench.ProcessInfo) // called once, when it listens
}

// Served is what a server did until it was told to stop.
type Served struct {
	Executed, Skipped, Messages int64
}

// serving is a Serving under way; its goroutine is the only one that touches it.
type serving struct {
	Serving
	server *child
	grid   bench.Grid
	info   bench.ProcessInfo
	books  *books
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
	release, err := claim(p.Server.CPUs)
	if err != nil {
		return Served{}, err
	}
	defer release()
	c, err := s.Starter.start(bench.ProcessServer, p.Server, p.RT, Rings{Large: opcua.ServerRings})
	if err != nil {
		return Served{}, err
	}
	defer c.free()
	defer c.kill() // no matter after an orderly stop
	r, err := c.order(ctx, opcua.Order{Do: opcua.DoStart, Plan: &p}, orderLimit)
	if err != nil {
		return Served{}, fmt.Errorf("start the server: %w", err)
	}
	if lost := lacking(r.Info, p); len(lost) > 0 && p.RT == bench.RTRequire {
		return Served{}, fmt.Errorf("rt require, and not had: %s; give the capability or the limit, or use --rt auto", lost[0])
	}
	s.Ready(r.Endpoint, *r.Info)
	w := &serving{Serving: s, server: c, grid: r.Grid, info: *r.Info}
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
			last, err := s.server.stop()
			s.drain()
			if err == nil && last.Snapshot != nil {
				s.out.Executed, s.out.Skipped = last.Snapshot.Executed, last.Snapshot.Skipped
			}
			return err
		case err := <-s.server.events:
			return err
		case w := <-s.server.windows:
			if err := s.window(w); err != nil {
				return err
			}
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
// asks while another one's books are open takes them over: the last one counts.
func (s *serving) window(w bench.Window) error {
	r, err := s.server.order(context.Background(), opcua.Order{Do: opcua.DoSnapshot}, time.Second)
	if err != nil {
		return err
	}
	if !w.Done {
		s.drain()
		s.books = newBooks(s.Plan, s.grid, w, r.Snapshot)
		for i := range s.recent {
			s.books.join.server(&s.recent[i])
		}
		s.recent = s.recent[:0]
		return nil
	}
	if s.books == nil || s.books.window.First != w.First {
		return nil // asked for by nobody we know: its reader waits in vain and says so
	}
	s.drain()
	part := s.books.part(w, s.Host, *r.Info, r.Snapshot, throttling(s.Host, s.Plan))
	s.books = nil
	text, err := json.Marshal(part)
	if err != nil {
		return fmt.Errorf("the books as JSON: %w", err)
	}
	_, err = s.server.order(context.Background(), opcua.Order{Do: opcua.DoResult, Result: text}, orderLimit)
	return err
}
