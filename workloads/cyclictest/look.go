package cyclictest

import (
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

// read takes what the pages hold behind what was there before. ok is false when a page was
// being written at every look.
func (m *measurement) read() (ok bool) {
	whole := true
	m.now = state{Version: stateVersion, Width: m.width(), Interval: m.interval}
	for i, p := range m.pages {
		c := &m.copies[i]
		second, ok := p.snapshot(c, m.seconds[i])
		whole = whole && ok
		m.keepSeconds(i, c.second, second)
		var before int64
		if i < len(m.before.Threads) {
			before = m.before.Threads[i].instants()
		}
		t := tallyOf(m.order.CPUs[i], c, m.wall.Offset, before, int64(m.interval))
		t.Seconds = fold(m.kept[i], m.now.Width)
		t.Usage = m.answer.of(t.CPU).Usage
		if i < len(m.before.Threads) {
			all := m.before.Threads[i]
			all.add(&t)
			t = all
		}
		m.now.Threads = append(m.now.Threads, t)
	}
	return whole
}

// keepSeconds takes the seconds up to the present one: those before it change no more. The
// last room for one gathers what is beyond, and is no second.
func (m *measurement) keepSeconds(i int, present int64, second record.Moments) {
	kept := m.kept[i]
	if int(present) == len(m.seconds[i])-1 {
		m.warn(fmt.Sprintf("the run was longer than the %d seconds that are kept one by one: its blocks of time end there", present))
		if len(kept) < int(present) {
			m.kept[i] = slices.Clone(m.seconds[i][:present])
		}
		return
	}
	if len(kept) > 0 {
		kept = kept[:len(kept)-1] // it was the present one
	}
	kept = append(kept, m.seconds[i][len(kept):present]...)
	m.kept[i] = append(kept, second)
}

// width is how many seconds a block of the result has.
func (m *measurement) width() int {
	if m.job.End == nil {
		return widthOf(int(m.length() / time.Second))
	}
	longest := 0
	for i := range m.kept {
		longest = max(longest, len(m.kept[i]))
	}
	return widthOf(longest)
}

// glance tells how far the run is, without disturbing the threads by a snapshot.
func (m *measurement) glance() {
	var worst int64
	far := m.planned()
	for i, p := range m.pages {
		worst = max(worst, atomic.LoadInt64(&p.latency.Max))
		done := atomic.LoadInt64(&p.latency.Count)
		if m.loops == 0 {
			done += atomic.LoadInt64(&p.missed)
		}
		if i < len(m.before.Threads) {
			t := &m.before.Threads[i]
			worst, done = max(worst, t.Latency.Max), done+m.done(t)
		}
		far = min(far, done)
	}
	now := bench.Progress{Phase: bench.PhaseMeasure, Share: -1, Text: fmt.Sprintf("worst %.0f us", float64(worst)/1e3)}
	if m.job.End == nil {
		now.Share = min(float64(far)/float64(m.planned()), 1)
	}
	m.job.Progress(now)
}
