package bench

import (
	"math"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"opcycle/record"
)

const testPeriod = int64(10e6)

// summarized is the series of value(k) for n indices from first on.
func summarized(t *testing.T, first, n int64, value func(k int64) int64) Series {
	t.Helper()
	s, b := record.NewSeries(), record.NewBlocks(first, n, testPeriod)
	for k := first; k < first+n; k++ {
		s.Add(k, value(k))
		b.Add(k, value(k))
	}
	out, err := Summarize("opcua", "task", "execution_time", s, b, first, testPeriod)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestNeedsSamples(t *testing.T) {
	for q, want := range map[float64]int64{0.5: 20, 0.9: 100, 0.99: 1000, 0.999: 10_000, 0.9999: 100_000} {
		if got := NeedsSamples(q); got != want {
			t.Errorf("NeedsSamples(%v) = %d, want %d", q, got, want)
		}
		for n, ok := range map[int64]bool{want - 1: false, want: true} {
			s := record.NewSeries()
			for k := range n {
				s.Add(k, k)
			}
			if got := s.Beyond(q) >= SamplesBeyond; got != ok {
				t.Errorf("%d samples: %d beyond %v, want enough = %v", n, s.Beyond(q), q, ok)
			}
		}
	}
}

func TestSummarizeExactFigures(t *testing.T) {
	s := summarized(t, 500, 6000, func(k int64) int64 { return k - 3500 }) // −3000 … 2999
	if s.Count != 6000 || *s.Min != -3000 || *s.Max != 2999 || s.Sum != -3000 || *s.Avg != -0.5 {
		t.Errorf("count, min, max, sum, avg = %d, %d, %d, %d, %v", s.Count, *s.Min, *s.Max, s.Sum, *s.Avg)
	}
	if want := math.Sqrt((6000*6000 - 1) / 12.0); math.Abs(*s.StdDev-want) > 1e-6 {
		t.Errorf("stddev = %v, want %v", *s.StdDev, want)
	}
	if s.Squares != "18000001000" { // n((n²−1)/12 + avg²)
		t.Errorf("sum of squares = %s", s.Squares)
	}
	for i, want := range []struct {
		value  int64
		beyond int64
		na     string
	}{{-1, 3000, ""}, {2399, 600, ""}, {2939, 60, ""}, {0, 6, "needs 10000 samples"}, {0, 0, "needs 100000 samples"}} {
		q := s.Quantiles[i]
		if q.Beyond != want.beyond || q.NA != want.na || !q.Exact || (q.Value == nil) != (want.na != "") {
			t.Errorf("quantile %v = %+v, want %+v", q.Q, q, want)
		}
		if q.Value != nil && *q.Value != want.value {
			t.Errorf("quantile %v = %d, want %d", q.Q, *q.Value, want.value)
		}
	}
	var inBlocks int64
	for _, b := range s.Blocks {
		inBlocks += b.Count
	}
	if len(s.Blocks) != 60 || inBlocks != 6000 {
		t.Errorf("%d seconds hold %d values, want 60 and 6000", len(s.Blocks), inBlocks)
	}
	for name, e := range map[string]string{"positive": s.Positive, "negative": s.Negative} {
		h, err := hdrhistogram.Decode([]byte(e))
		if err != nil || h.TotalCount() != 3000 {
			t.Errorf("%s histogram: %v, %v", name, h, err)
		}
	}
}

func TestSummarizeEmpty(t *testing.T) {
	s, err := Summarize("opcua", "item", "arrival_offset", record.NewSeries(), record.NewBlocks(0, 100, testPeriod), 0, testPeriod)
	if err != nil {
		t.Fatal(err)
	}
	if s.Min != nil || s.Max != nil || s.Avg != nil || s.StdDev != nil || s.NA == "" || len(s.Blocks) != 0 || s.Positive+s.Negative != "" {
		t.Errorf("an empty series has figures: %+v", s)
	}
	for _, q := range s.Quantiles {
		if q.Value != nil || q.NA == "" {
			t.Errorf("quantile %v of nothing = %+v", q.Q, q)
		}
	}
	if s, _ := Summarize("opcua", "", "x", record.NewSeries(), nil, 0, testPeriod); s.Blocks == nil {
		t.Error("no seconds must be an empty list, not null")
	}
}

func TestBursts(t *testing.T) {
	everyTenSeconds := func(k int64) int64 { return 1000 + 9000*b2i(k%1000 < 10) }
	oneStall := func(k int64) int64 { return 1000 + 9000*b2i(k >= 3000 && k < 3060) }
	even := func(k int64) int64 { return k * 7919 % 1000 }
	tests := []struct {
		name  string
		value func(int64) int64
		q     int
		want  int
	}{
		{"60 slow cycles in 6 places", everyTenSeconds, 2, 6},
		{"60 slow cycles at once", oneStall, 2, 1},
		{"the median of an even run is no single burst", even, 0, 60},
		{"all equal", func(int64) int64 { return 5 }, 2, 60},
	}
	for _, tt := range tests {
		s := summarized(t, 100, 6000, func(k int64) int64 { return tt.value(k - 100) })
		if got := s.Quantiles[tt.q].Bursts; got != tt.want {
			t.Errorf("%s: %d bursts, want %d", tt.name, got, tt.want)
		}
	}
}

// Beyond ExactSamples the seconds' maxima tell the bursts, and give the same answer.
func TestBurstsFromSeconds(t *testing.T) {
	const n = 2 * record.ExactSamples // 2000 s
	s := summarized(t, 0, n, func(k int64) int64 { return 1000 + 9000*b2i(k%50_000 < 100) })
	q := s.Quantiles[3]
	if q.Exact || q.Value == nil || q.Bursts != 4 {
		t.Errorf("p99.9 = %+v, want 4 bursts from the seconds", q)
	}
	if q := s.Quantiles[0]; q.Bursts < 4 {
		t.Errorf("p50 = %+v", q)
	}
}

func b2i(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// A run of 48 hours has as many blocks as one of an hour, over all its seconds.
func TestSummarizeLongRun(t *testing.T) {
	const second, n = int64(1e9), int64(48 * 3600)
	s, b := record.NewSeries(), record.NewBlocks(0, n, second)
	for k := range n {
		s.Add(k, k)
		b.Add(k, k)
	}
	got, err := Summarize("opcua", "task", "execution_time", s, b, 0, second)
	if err != nil {
		t.Fatal(err)
	}
	first, last, count := got.Blocks[0], got.Blocks[len(got.Blocks)-1], int64(0)
	for _, x := range got.Blocks {
		count += x.Count
	}
	if len(got.Blocks) > BlocksMost || first.Length() != 48 || last.Second+last.Length() != n || count != n || last.Max != n-1 {
		t.Errorf("%d blocks, from %+v to %+v, %d values", len(got.Blocks), first, last, count)
	}
	// The values above p99.9 stand in 172 of the seconds one after the other: one burst, as
	// the seconds tell, not the blocks.
	if q := got.Quantiles[3]; q.Exact || q.Bursts != 1 {
		t.Errorf("%+v", q)
	}
}
