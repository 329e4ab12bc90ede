package run

import (
	"context"
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
	Ready   func(endpoint string, info bench.ProcessInfo) // called once, when it listens
}

// Served is what a server did until it was told to stop.
type Served struct {
	Executed, Skipped, Messages int64
}

// Run serves until ctx ends. An error means that the server did not start, or ended by
// itself.
func (s Serving) Run(ctx context.Context) (Served, error) {
	var out Served
	p := s.Plan
	c, err := s.Starter.start(bench.ProcessServer, p.Server, p.RT, Rings{Large: opcua.ServerRings})
	if err != nil {
		return out, err
	}
	defer c.free()
	defer c.kill() // no matter after an orderly stop
	r, err := c.order(ctx, opcua.Order{Do: opcua.DoStart, Plan: &p}, orderLimit)
	if err != nil {
		return out, fmt.Errorf("start the server: %w", err)
	}
	if lost := lacking(r.Info, p); len(lost) > 0 && p.RT == bench.RTRequire {
		return out, fmt.Errorf("rt require, and not had: %s; give the capability or the limit, or use --rt auto", lost[0])
	}
	s.Ready(r.Endpoint, *r.Info)
	count := func(r *record.Record) {
		if r.Kind == record.KindSent {
			out.Messages++
		}
	}
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		c.rings[opcua.RingTask].Drain(count)
		select {
		case <-ctx.Done():
			last, err := c.stop()
			c.rings[opcua.RingTask].Drain(count)
			if err == nil && last.Snapshot != nil {
				out.Executed, out.Skipped = last.Snapshot.Executed, last.Snapshot.Skipped
			}
			return out, err
		case err := <-c.events:
			return out, err
		case <-tick.C:
		}
	}
}
