package run

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"opcycle/bench"
	"opcycle/host"
	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// measure is the measuring phase: N consecutive indices, the first announced before it
// comes. All memory is there before the first is chosen.
func (s *session) measure() error {
	wall, boot := rt.ReadWallOffset(), rt.SuspendedTime()
	s.phase.N, s.phase.Ran, s.phase.WallOffset = s.Plan.Cycles, s.Plan.Cycles, wall.Offset
	s.openBooks()
	if err := s.watchBudgets(); err != nil {
		return err
	}
	quiet := quietHeap()
	defer quiet()
	s.before = s.snapshots()
	s.countersFrom, _ = host.Counters(s.Root) // a nil field says what is missing
	s.begin()
	end := s.local.Due(s.phase.First + s.phase.N)
	s.beginBesides(s.local.Due(s.phase.First), end)
	err := s.until(bench.PhaseMeasure, s.local.Due(s.phase.First), end)
	s.endBesides()
	if err != nil {
		s.cutShort()
	}
	s.countersTo, _ = host.Counters(s.Root)
	s.after = s.snapshots()
	s.steady(wall, boot)
	limit := drainLimit
	if err != nil {
		limit = 200 * time.Millisecond
	}
	s.drain(limit)
	if err != nil {
		return err
	}
	return s.floor()
}

// conductorHeap is the garbage that the conductor may make before its collector runs.
const conductorHeap = 48 << 20

// quietHeap makes the conductor's heap resident and keeps its collector off while less
// than conductorHeap of garbage has come, until the returned function is called: what the
// conductor faults in or sweeps, it does on a CPU that may be measured.
func quietHeap() (restore func()) {
	opcua.WarmHeap(conductorHeap)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	percent := debug.SetGCPercent(-1)
	limit := debug.SetMemoryLimit(int64(m.Sys))
	return func() {
		debug.SetMemoryLimit(limit)
		debug.SetGCPercent(percent)
	}
}

// openBooks makes the collectors of all clients.
func (s *session) openBooks() {
	common := s.phase.Clock == "common"
	s.collect = newCollect(s.Plan, s.phase, common)
	s.collect.join = newJoin(0, s.file.Attained.Subscription, s.Plan.Task, s.collect.take)
	s.collect.join.foreign = s.server == nil
	if !common {
		s.collect.clocks = s.clocks
	}
	for i, sub := range s.subs[1:] {
		t := newFurther(fmt.Sprintf("client %d", i+2), s.Plan, s.phase, common, sub)
		t.join.foreign = s.server == nil
		t.clocks = s.collect.clocks
		s.further = append(s.further, t)
	}
}

// begin chooses the first index, tells it to a server that keeps its own books, and opens
// ours.
func (s *session) begin() {
	t := s.Plan.Task.Interval
	s.phase.First = s.local.Next(rt.Now()) + int64(max(200*time.Millisecond, 10*t)/t)
	s.collect.begin(s.phase)
	for _, f := range s.further {
		f.begin(s.phase)
	}
	s.join = s.collect.join
	if s.Remote == nil {
		return
	}
	w := bench.Window{First: s.phase.First, N: s.phase.N}
	if _, err := s.client.order(s.ctx, opcua.Order{Do: opcua.DoWindow, Window: &w}, orderLimit); err != nil {
		s.warn(err.Error())
	}
}

// cutShort ends the phase by index, without the one that is under way.
func (s *session) cutShort() {
	s.phase.Ran = min(max(s.local.Index(rt.Now())-s.phase.First, 0), s.phase.N)
	s.collect.phase.Ran = s.phase.Ran
	for _, t := range s.further {
		t.phase.Ran = s.phase.Ran
	}
}

// steady tells whether the clocks went on as they should during the phase.
func (s *session) steady(wall rt.WallOffset, boot int64) {
	now := rt.ReadWallOffset()
	s.phase.WallMoved = now.Offset - wall.Offset
	if moved := abs(s.phase.WallMoved); moved > 1000+wall.Bracket+now.Bracket {
		s.invalid(fmt.Sprintf("CLOCK_REALTIME was set during the run (by %s): kernel receive stamps cannot be placed", time.Duration(s.phase.WallMoved)))
	}
	if text := suspended(boot); text != "" {
		s.invalid(text)
	}
}

// suspended says that the machine slept since boot, an earlier rt.SuspendedTime; empty: it
// did not.
func suspended(boot int64) string {
	if d := rt.SuspendedTime() - boot; d > 1e6 {
		return fmt.Sprintf("the machine was suspended for %s", time.Duration(d))
	}
	return ""
}

// snapshotLimit is how long both processes may take to tell their accounts; after an
// interrupt there is less time.
const (
	snapshotLimit     = time.Second
	snapshotInterrupt = 200 * time.Millisecond
)

// snapshots are the accounts of server and client now, nil for one that does not tell.
func (s *session) snapshots() (out [2]*opcua.Snapshot) {
	limit := snapshotLimit
	if s.ctx.Err() != nil {
		limit = snapshotInterrupt
	}
	var errs [2]error
	var wg sync.WaitGroup
	for i, c := range []*child{s.server, s.client} {
		if c == nil {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			r, err := c.order(context.WithoutCancel(s.ctx), opcua.Order{Do: opcua.DoSnapshot}, limit)
			out[i], errs[i] = r.Snapshot, err
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			s.warn("no snapshot: " + err.Error())
		}
	}
	return out
}
