package server

import (
	"fmt"
	"testing"
)

// TestEndedConnectionsTakeNoPlace: Part 4, 5.6.2.1. A connection that ended, but whose
// inbox the PLC thread has not emptied, does not count against the limit of channels; twice
// as many are the most that may wait so.
func TestEndedConnectionsTakeNoPlace(t *testing.T) {
	const most = 4
	for _, tc := range []struct {
		living, waiting, empty int
		room                   bool
	}{
		{3, 0, 0, true}, {4, 0, 0, false}, {0, 4, 0, true}, {3, 4, 0, true}, {4, 3, 0, false},
		{4, 0, 4, false}, {3, 0, 5, true}, {0, 8, 0, false}, {0, 7, 0, true}, {1, 6, 9, true},
	} {
		t.Run(fmt.Sprintf("%d living, %d waiting, %d empty", tc.living, tc.waiting, tc.empty), func(t *testing.T) {
			b := newBare(t, 1, 1)
			s := &Server{cfg: *b.cfg, engine: b.engine, counters: b.counters, connections: map[*connection]struct{}{}}
			s.cfg.Limits.Channels = most
			add := func(n int, gone, order bool) {
				for range n {
					c := &connection{}
					c.used.Store(true) // has a session: may not be evicted
					c.inbox.gone.Store(gone)
					if order {
						c.inbox.put(message{publish: &publishRequest{}})
					}
					s.connections[c] = struct{}{}
				}
			}
			add(tc.living, false, false)
			add(tc.waiting, true, true)
			add(tc.empty, true, false)
			same(t, "room", s.room(), tc.room)
			if got := len(s.connections); tc.living+tc.waiting+tc.empty >= most && got != tc.living+tc.waiting {
				t.Errorf("%d connections are kept, want the %d living and the %d waiting", got, tc.living, tc.waiting)
			}
		})
	}
}
