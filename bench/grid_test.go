package bench

import (
	"math"
	"testing"
)

func TestGrid(t *testing.T) {
	for _, g := range []Grid{{0, 10}, {7, 10}, {-13, 10}, {1 << 60, 10_000_000}} {
		for k := int64(-3); k <= 3; k++ {
			due := g.Due(k)
			for _, tc := range []struct{ at, index int64 }{{due - 1, k - 1}, {due, k}, {due + g.Period - 1, k}, {due + g.Period, k + 1}} {
				if got := g.Index(tc.at); got != tc.index {
					t.Errorf("%+v: index at %d is %d, want %d", g, tc.at, got, tc.index)
				}
				if got := g.Next(tc.at); got != tc.index+1 || g.Due(got) <= tc.at {
					t.Errorf("%+v: next after %d is %d, want %d", g, tc.at, got, tc.index+1)
				}
			}
		}
	}
}

// TestUnwrap: the Int32 carries the low 31 bits; the index nearest to a near one is meant.
func TestUnwrap(t *testing.T) {
	for _, k := range []int64{0, 1, math.MaxInt32 - 1, math.MaxInt32, 1 << 31, 1<<31 + 1, 17_280_000, 1 << 40} {
		if v := Value(k); v < 0 {
			t.Errorf("value of %d is %d", k, v)
		}
		for _, off := range []int64{0, 1, -1, 1000, -1000, 1<<30 - 1, -(1<<30 - 1)} {
			if got := Unwrap(Value(k), k+off); got != k {
				t.Errorf("%d near %d comes back as %d", k, k+off, got)
			}
		}
	}
}
