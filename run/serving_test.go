package run

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// A server that cannot tell its accounts goes on serving, and its books come without them.
func TestWindowWithoutASnapshot(t *testing.T) {
	c, peer := fakeChild(t, "sleep", "60")
	var warned []string
	period := int64(10 * time.Millisecond)
	s := &serving{server: c, grid: bench.Grid{Origin: rt.Now() - 200*period, Period: period}, info: bench.ProcessInfo{Name: "kept"}}
	s.Plan.Task = bench.Task{Host: bench.HostServer, Interval: 10 * time.Millisecond}
	s.Warn = func(text string) { warned = append(warned, text) }
	mem := make([]byte, record.RingBytes(record.SmallRingSlots))
	ring, err := record.NewRing(mem, true)
	if err != nil {
		t.Fatal(err)
	}
	c.rings = []*record.Ring{ring}
	var part bench.Part
	answered := make(chan error, 1)
	go func() {
		var errs []error
		for range 3 {
			o, err := peer.Next()
			r := opcua.Reply{ID: o.ID}
			if o.Do == opcua.DoSnapshot {
				r.Error = "no accounts"
			} else {
				err = errors.Join(err, json.Unmarshal(o.Result, &part))
			}
			errs = append(errs, err, peer.Answer(r))
		}
		answered <- errors.Join(errs...)
	}()
	ctx := context.Background()
	s.window(ctx, bench.Window{First: 100, N: 50, Done: true}) // of nobody: no order, no books
	s.window(ctx, bench.Window{First: 100, N: 50})
	s.window(ctx, bench.Window{First: 100, N: 50, Done: true})
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	if s.books != nil || len(warned) != 2 || part.Process.Name != "kept" || len(part.Warnings) != 1 || len(part.Exceptions) != 50 {
		t.Errorf("warned %q; process %q, part warns %q, %d exceptions", warned, part.Process.Name, part.Warnings, len(part.Exceptions))
	}
}
