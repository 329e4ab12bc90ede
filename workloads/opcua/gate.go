package opcua

import (
	"fmt"
	"sync"
	"time"

	"opcycle/bench"
	"opcycle/server"
)

// What an anonymous peer may ask of the books. A second block of a series is 56 bytes: the
// longest phase, 24 h, costs the conductor 86,400 × 56 B for each of the nine series of
// the server's side, 43 MB, and its join 30 MB, once: books that are opened anew replace
// the old. Everything else in them is bounded by bench.PartMax.
const (
	windowText  = 1024           // bytes of the request
	windowSpan  = 24 * time.Hour // N·T
	windowReach = 60 * time.Second
	windowPause = 100 * time.Millisecond // between two accepted requests to open
)

// gate decides which windows the conductor hears of. Any goroutine.
type gate struct {
	grid bench.Grid

	mu     sync.Mutex
	first  int64 // of the open window, when open
	open   bool
	opened int64 // CLOCK_MONOTONIC ns of the last accepted opening; 0 never
}

// admit refuses a window that is out of range (what refuses it says which) or comes too
// soon after another (server.ErrTooSoon). One that opens replaces the one that is open.
func (g *gate) admit(w bench.Window, now int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if w.Done {
		if !g.open || w.First != g.first {
			return fmt.Errorf("window: none is open from index %d", w.First)
		}
		if w.N < 0 {
			return fmt.Errorf("window: %d cycles; write 0 or more", w.N)
		}
		g.open = false
		return nil
	}
	if most := int64(windowSpan) / g.grid.Period; w.N < 1 || w.N > most {
		return fmt.Errorf("window: %d cycles; write 1 to %d (%s)", w.N, most, windowSpan)
	}
	here, reach := g.grid.Index(now), max(int64(windowReach)/g.grid.Period, 20) // 20: cycles of a minute and longer
	if w.First < max(here-reach, 0) || w.First > here+reach {
		return fmt.Errorf("window: index %d is not within %d of the present one, %d", w.First, reach, here)
	}
	if g.opened != 0 && now-g.opened < int64(windowPause) {
		return fmt.Errorf("window: %w", server.ErrTooSoon)
	}
	g.first, g.open, g.opened = w.First, true, now
	return nil
}
