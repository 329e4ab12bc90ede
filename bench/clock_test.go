package bench

import "testing"

// The true offset is never further away than the bound, whatever the two ways take.
func TestOffsetOfAnExchange(t *testing.T) {
	for _, tc := range []struct{ there, back, offset int64 }{
		{100, 100, 5000}, {0, 200, 5000}, {200, 0, -5000}, {1, 0, 0}, {0, 0, 7}, {150_000, 7, 1e15},
	} {
		const sent = int64(1_000_000)
		server := sent + tc.there + tc.offset
		o := OffsetOf(sent, server, sent+tc.there+tc.back)
		if d := o.NS - tc.offset; d > o.Bound || -d > o.Bound {
			t.Errorf("%+v: %+v is %d away", tc, o, d)
		}
		if o.Bound > (tc.there+tc.back+1)/2 {
			t.Errorf("%+v: bound %d", tc, o.Bound)
		}
	}
}

func TestOffsetsAt(t *testing.T) {
	// 1 ppm apart; the third estimate comes after a gap.
	o := Offsets{{At: 1e9, NS: 5000, Bound: 100}, {At: 2e9, NS: 6000, Bound: 50}, {At: 10e9, NS: 14000, Bound: 80}}
	for _, tc := range []struct {
		name      string
		at        int64
		ns, bound int64
	}{
		{"at an estimate", 1e9, 5000, 100},
		{"a quarter of the way", 1.25e9, 5250, 100 + 250},
		{"nearer to the next", 1.75e9, 5750, 50 + 250},
		{"in the gap", 6e9, 10000, 50 + 4000},
		{"before the first", 0, 5000, 100 + 1000},
		{"after the last", 12e9, 14000, 80 + 2000},
	} {
		ns, bound, ok := o.At(tc.at)
		if !ok || ns != tc.ns || bound != tc.bound {
			t.Errorf("%s: %d ± %d %v, want %d ± %d", tc.name, ns, bound, ok, tc.ns, tc.bound)
		}
	}
	for n := range 2 {
		if _, _, ok := o[:n].At(1e9); ok {
			t.Errorf("%d estimates tell an offset", n)
		}
	}
}
