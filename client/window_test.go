package client

import (
	"math"
	"slices"
	"testing"
)

type partialOf struct{ k, count, again int64 }

func TestWindow(t *testing.T) {
	type step struct {
		k           int64
		item        uint32
		again, done bool // it had come before; settled by this value
	}
	const wide = 10000
	for name, c := range map[string]struct {
		items   int
		steps   []step
		partial []partialOf // while adding
		rest    []partialOf // by flush
	}{
		"one item, in order":    {1, []step{{0, 0, false, true}, {1, 0, false, true}, {2, 0, false, true}}, nil, nil},
		"one item, re-ordered":  {1, []step{{1, 0, false, true}, {0, 0, false, true}}, nil, nil},
		"one item, twice":       {1, []step{{4, 0, false, true}, {4, 0, true, false}}, nil, nil},
		"two items":             {2, []step{{4, 0, false, false}, {4, 1, false, true}, {4, 1, true, false}}, nil, nil},
		"one of two, twice":     {2, []step{{4, 0, false, false}, {4, 0, true, false}, {4, 0, true, false}}, nil, []partialOf{{4, 1, 2}}},
		"twice, then the other": {2, []step{{4, 1, false, false}, {4, 1, true, false}, {4, 0, false, true}}, nil, nil},
		"beyond one word":       {wide, []step{{4, 0, false, false}, {4, 64, false, false}, {4, wide - 1, false, false}, {4, 64, true, false}}, nil, []partialOf{{4, 3, 1}}},
		"two items, interlaced": {2, []step{{4, 0, false, false}, {5, 0, false, false}, {4, 1, false, true}, {5, 1, false, true}}, nil, nil},
		"never complete":        {2, []step{{4, 0, false, false}, {5, 0, false, false}, {5, 1, false, true}}, nil, []partialOf{{4, 1, 0}}},
		"row taken over": {2, []step{{4, 0, false, false}, {4 + windowRows, 0, false, false}, {4 + windowRows, 1, false, true}},
			[]partialOf{{4, 1, 0}}, nil},
		"complete row taken":    {1, []step{{4, 0, false, true}, {4 + windowRows, 0, false, true}}, nil, nil},
		"older than the window": {1, []step{{4 + windowRows, 0, false, true}, {4, 0, false, false}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var w window
			w.init(c.items)
			var partial, rest []partialOf
			for i, s := range c.steps {
				if again := w.add(s.k, s.item, func(r *row) { partial = append(partial, partialOf{r.k, r.count, r.again}) }); again != s.again {
					t.Errorf("step %d: again %v", i, again)
				}
				r := w.settle(s.k)
				if (r != nil) != s.done || r != nil && (r.k != s.k || r.count != int64(c.items)) {
					t.Errorf("step %d: settled %+v", i, r)
				}
			}
			w.flush(func(r *row) { rest = append(rest, partialOf{r.k, r.count, r.again}) })
			w.flush(func(r *row) { t.Errorf("%d was handed out twice", r.k) })
			if !slices.Equal(partial, c.partial) || !slices.Equal(rest, c.rest) {
				t.Errorf("partial %v, rest %v", partial, rest)
			}
		})
	}
}

// The item sets are as many as rows are incomplete at once, never one for each row.
func TestWindowReusesItsItemSets(t *testing.T) {
	for _, items := range []int{2, 65} {
		var w window
		w.init(items)
		sets, k := len(w.spare), int64(0)
		partial := func(r *row) {}
		packet := func() {
			for i := range items {
				w.add(k, uint32(i), partial)
			}
			w.touched(k)
			for _, k := range w.drainTouched() {
				w.settle(k)
			}
			k++
		}
		if n := testing.AllocsPerRun(2*windowRows, packet); n != 0 {
			t.Errorf("%d items: %v allocations a packet", items, n)
		}
		if len(w.spare) != sets {
			t.Errorf("%d items: %d spare sets of %d", items, len(w.spare), sets)
		}
		for range 3 * windowRows { // item 1 never comes again: no row is complete
			w.add(k, 0, partial)
			k++
		}
		w.flush(partial)
		if len(w.spare) != windowRows {
			t.Errorf("%d items: %d sets for %d rows", items, len(w.spare), windowRows)
		}
		for _, set := range w.spare {
			if slices.Max(set) != 0 {
				t.Fatalf("%d items: a spare set holds %x", items, set)
			}
		}
	}
}

func TestWindowTouched(t *testing.T) {
	var w window
	w.init(1)
	for _, k := range []int64{3, 3, 4, 4, 4} {
		w.touched(k)
	}
	if got := w.drainTouched(); !slices.Equal(got, []int64{3, 4}) {
		t.Error(got)
	}
	if got := w.drainTouched(); len(got) != 0 {
		t.Error(got)
	}
}

func TestSequence(t *testing.T) {
	const top = math.MaxUint32
	for name, c := range map[string]struct {
		numbers []uint32
		missing int64
	}{
		"in order":                    {[]uint32{1, 2, 3}, 0},
		"begins anywhere":             {[]uint32{17, 18}, 0},
		"gap":                         {[]uint32{1, 2, 5}, 2},
		"re-ordered":                  {[]uint32{1, 3, 2, 5, 4}, 0},
		"twice":                       {[]uint32{1, 2, 2, 3, 1}, 0},
		"gap filled twice":            {[]uint32{1, 3, 2, 2}, 0},
		"wrap: 0 is none":             {[]uint32{top - 1, top, 1, 2}, 0},
		"wrap with a gap":             {[]uint32{top - 1, 2}, 2},
		"wrap, re-ordered":            {[]uint32{top - 1, 1, top, 2}, 0},
		"older than the first is old": {[]uint32{9, 8, 10}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var s sequence
			s.reset()
			for _, n := range c.numbers {
				s.take(n)
			}
			if got := s.missing(); got != c.missing {
				t.Errorf("%d missing, not %d", got, c.missing)
			}
			s.reset() // a new subscription: what is missing stays so
			s.take(1)
			if got := s.missing(); got != c.missing {
				t.Errorf("%d missing after a new subscription, not %d", got, c.missing)
			}
		})
	}
}
