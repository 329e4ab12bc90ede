package run

import (
	"maps"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// Watch is who looks at a run from outside while it measures.
type Watch struct {
	Series []string          // the series it wants, by their machine names
	Bounds []int64           // ns, ascending: see bench.LiveSeries.AtMost
	See    func(*bench.Live) // called at each new phase and at most once a second in between; keeps what it gets

	seen  time.Time
	phase string
}

// watched shows the watcher where the run is.
func (s *session) watched(p bench.Progress) {
	w := s.Watch
	if w == nil || p.Phase == w.phase && time.Since(w.seen) < time.Second {
		return
	}
	w.phase, w.seen = p.Phase, time.Now()
	now := &bench.Live{Progress: p}
	if s.collect != nil {
		s.measuredSoFar(now)
	}
	w.See(now)
}

// measuredSoFar fills what the measuring phase has brought until now.
func (s *session) measuredSoFar(now *bench.Live) {
	now.Due = s.due()
	for _, t := range s.tallies() {
		now.Clients = append(now.Clients, bench.LiveClient{Object: t.object,
			Outcomes: maps.Clone(t.outcome), Missed: maps.Clone(t.missed), Late: maps.Clone(t.late)})
	}
	for _, name := range s.Watch.Series {
		m := s.collect.series[name]
		if m == nil || m.series.Count == 0 {
			continue
		}
		now.Series = append(now.Series, bench.LiveSeries{Object: m.object, Name: name, Count: m.series.Count, Sum: m.series.Sum,
			Min: m.series.Min, Max: m.series.Max, AtMost: m.series.AtMost(s.Watch.Bounds)})
	}
}

// due is how many indices of the measuring phase have come due.
func (s *session) due() int64 {
	newest := min(s.local.Index(rt.Now()-s.local.Period), s.collect.last())
	return max(newest-s.phase.First+1, 0)
}
