package client

import (
	"math"
	"slices"
	"testing"
)

type partialOf struct{ k, count int64 }

func TestWindow(t *testing.T) {
	type step struct {
		k    int64
		done bool // settled by this value
	}
	for name, c := range map[string]struct {
		items   int64
		steps   []step
		partial []partialOf // while adding
		rest    []partialOf // by flush
	}{
		"one item, in order":    {1, []step{{0, true}, {1, true}, {2, true}}, nil, nil},
		"one item, re-ordered":  {1, []step{{1, true}, {0, true}}, nil, nil},
		"one item, twice":       {1, []step{{4, true}, {4, false}}, nil, nil},
		"two items":             {2, []step{{4, false}, {4, true}, {4, false}}, nil, nil},
		"two items, interlaced": {2, []step{{4, false}, {5, false}, {4, true}, {5, true}}, nil, nil},
		"never complete":        {2, []step{{4, false}, {5, false}, {5, true}}, nil, []partialOf{{4, 1}}},
		"row taken over":        {2, []step{{4, false}, {4 + windowRows, false}}, []partialOf{{4, 1}}, []partialOf{{4 + windowRows, 1}}},
		"complete row taken":    {1, []step{{4, true}, {4 + windowRows, true}}, nil, nil},
		"older than the window": {1, []step{{4 + windowRows, true}, {4, false}}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var w window
			w.init()
			var partial, rest []partialOf
			for i, s := range c.steps {
				w.add(s.k, c.items, func(k, n int64) { partial = append(partial, partialOf{k, n}) })
				n, done := w.settle(s.k, c.items)
				if done != s.done || done && n != c.items {
					t.Errorf("step %d: settled %v with %d", i, done, n)
				}
				if s.done && !w.complete(s.k) {
					t.Errorf("step %d: not complete", i)
				}
			}
			w.flush(c.items, func(k, n int64) { rest = append(rest, partialOf{k, n}) })
			w.flush(c.items, func(k, n int64) { t.Errorf("%d was handed out twice", k) })
			if !slices.Equal(partial, c.partial) || !slices.Equal(rest, c.rest) {
				t.Errorf("partial %v, rest %v", partial, rest)
			}
		})
	}
}

func TestWindowTouched(t *testing.T) {
	var w window
	w.init()
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
