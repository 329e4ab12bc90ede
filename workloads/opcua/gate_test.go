package opcua

import (
	"errors"
	"math"
	"testing"

	"opcycle/bench"
	"opcycle/server"
)

// Anybody may write the node Window: what it costs is bounded before the conductor hears
// of it.
func TestGate(t *testing.T) {
	const ms = int64(1e6)
	g := &gate{grid: bench.Grid{Origin: 1e9, Period: 10 * ms}}
	now := g.grid.Due(10_000)
	for _, tc := range []struct {
		name  string
		after int64 // ns since the step before
		w     bench.Window
		ok    bool
		soon  bool
	}{
		{"done without an open one", 0, bench.Window{First: 10_020, N: 5, Done: true}, false, false},
		{"no cycles", 0, bench.Window{First: 10_020}, false, false},
		{"negative", 0, bench.Window{First: 10_020, N: -1}, false, false},
		{"longer than a day", 0, bench.Window{First: 10_020, N: 8_640_001}, false, false},
		{"endless", 0, bench.Window{First: 10_020, N: math.MaxInt64}, false, false},
		{"far ahead", 0, bench.Window{First: 16_001, N: 1}, false, false},
		{"farther", 0, bench.Window{First: math.MaxInt64, N: 1}, false, false},
		{"long ago", 0, bench.Window{First: 3_999, N: 1}, false, false},
		{"negative first", 0, bench.Window{First: math.MinInt64, N: 1}, false, false},
		{"a day", 0, bench.Window{First: 16_000, N: 8_640_000}, true, false},
		{"another at once", 99 * ms, bench.Window{First: 10_020, N: 1}, false, true},
		{"refusals do not shut the gate", ms, bench.Window{First: 10_020, N: 1}, true, false},
		{"the end of the one replaced", 0, bench.Window{First: 16_000, N: 1, Done: true}, false, false},
		{"a negative end", 0, bench.Window{First: 10_020, N: -1, Done: true}, false, false},
		{"its end", 0, bench.Window{First: 10_020, N: 1, Done: true}, true, false},
		{"its end again", 0, bench.Window{First: 10_020, N: 1, Done: true}, false, false},
	} {
		now += tc.after
		err := g.admit(tc.w, now)
		if (err == nil) != tc.ok || errors.Is(err, server.ErrTooSoon) != tc.soon {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// Cycles of an hour are announced ten cycles ahead, which is more than a minute.
func TestGateOfALongCycle(t *testing.T) {
	g := &gate{grid: bench.Grid{Period: 3600e9}}
	if err := g.admit(bench.Window{First: 11, N: 10}, 1); err != nil {
		t.Error(err)
	}
}
