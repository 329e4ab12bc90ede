package run

import (
	"math"
	"testing"
)

// Clocks 20 ppm apart leave residuals of the jitter alone, and the slope; one window does
// not know of the other.
func TestFitTakesTheDriftOut(t *testing.T) {
	const first, period = int64(1000), int64(10e6)
	var got []int64
	f := &fit{first: first, period: period, emit: func(k, v int64) {
		if k != first+int64(len(got)) {
			t.Fatalf("index %d after %d values", k, len(got))
		}
		got = append(got, v)
	}}
	jitter := func(i int64) int64 { return (i%3 - 1) * 40_000 } // −40, 0, 40 µs
	for i := range int64(9000) {                                // 60 s and 30 s
		drift := int64(20e-6 * float64(i*period))
		if i >= 6000 {
			drift += 7_000_000 // a step between the windows is no jitter
		}
		f.add(first+i, 1e15+drift+jitter(i))
	}
	f.flush()
	if len(got) != 9000 || len(f.slopes) != 2 {
		t.Fatalf("%d residuals, %d slopes", len(got), len(f.slopes))
	}
	for i, v := range got {
		if d := v - jitter(int64(i)); d > 1000 || d < -1000 {
			t.Fatalf("residual %d is %d ns, jitter %d", i, v, jitter(int64(i)))
		}
	}
	for _, s := range f.slopes {
		if math.Abs(s-20) > 0.1 {
			t.Errorf("drift %v ppm, want 20", s)
		}
	}
}

// Less than 10 s have no slope: the median is taken off.
func TestFitOfAFewSeconds(t *testing.T) {
	var got []int64
	f := &fit{period: 10e6, emit: func(_, v int64) { got = append(got, v) }}
	for i := range int64(100) {
		f.add(i, 500+i%2*10)
	}
	f.flush()
	if len(f.slopes) != 0 || len(got) != 100 || got[0]-got[1] != -10 {
		t.Errorf("%d slopes, residuals %v …", len(f.slopes), got[:min(len(got), 4)])
	}
}
