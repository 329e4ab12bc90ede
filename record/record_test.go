package record

import (
	"math"
	"math/big"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"unsafe"
)

func TestARecordIsTwoCacheLines(t *testing.T) {
	if n := unsafe.Sizeof(Record{}); n != Size {
		t.Errorf("%d bytes, want %d", n, Size)
	}
}

// TestKindsComeBackAsTheyWent fills every field of every kind with its own number.
func TestKindsComeBackAsTheyWent(t *testing.T) {
	fill := func(p any) {
		v := reflect.ValueOf(p).Elem()
		for i := range v.NumField() {
			if v.Field(i).Kind() == reflect.Int64 {
				v.Field(i).SetInt(int64(i) + 100)
			} else {
				v.Field(i).SetUint(uint64(FlagOverflow | FlagSlow))
			}
		}
	}
	check := func(name string, p interface{ Record(*Record) }, back func(*Record) any, kind Kind) {
		fill(p)
		var r Record
		p.Record(&r)
		if r.Kind != kind {
			t.Errorf("%s: kind %d, want %d", name, r.Kind, kind)
		}
		if got := back(&r); !reflect.DeepEqual(got, reflect.ValueOf(p).Elem().Interface()) {
			t.Errorf("%s: %+v came back as %+v", name, p, got)
		}
	}
	check("release", &Release{}, func(r *Record) any { return r.Release() }, KindRelease)
	check("sent", &Sent{}, func(r *Record) any { return r.Sent() }, KindSent)
	check("drop", &Drop{}, func(r *Record) any { return r.Drop() }, KindDrop)
	check("arrival", &Arrival{}, func(r *Record) any { return r.Arrival() }, KindArrival)
	check("write", &Write{}, func(r *Record) any { return r.Write() }, KindWrite)
	check("gap", &Gap{}, func(r *Record) any { return r.Gap() }, KindGap)
	check("echo", &Echo{}, func(r *Record) any { return r.Echo() }, KindEcho)
}

func newRing(t testing.TB, slots int) *Ring {
	t.Helper()
	r, err := NewRing(make([]byte, RingBytes(slots)), true)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRingCountsWhatItCannotTake: a full ring loses the newest records and says how many.
func TestRingCountsWhatItCannotTake(t *testing.T) {
	r := newRing(t, 8)
	for k := range int64(11) {
		if got, want := r.Put(&Record{K: k}), k < 8; got != want {
			t.Errorf("record %d: taken %v, want %v", k, got, want)
		}
	}
	var got []int64
	n := r.Drain(func(x *Record) { got = append(got, x.K) })
	if n != 8 || !slices.Equal(got, []int64{0, 1, 2, 3, 4, 5, 6, 7}) || r.Lost() != 3 || r.Written() != 8 {
		t.Errorf("%d drained %v, %d lost, %d written", n, got, r.Lost(), r.Written())
	}
	if !r.Put(&Record{K: 11}) {
		t.Error("a drained ring takes nothing")
	}
}

func TestRingRefusesForeignMemory(t *testing.T) {
	for _, tc := range []struct {
		name  string
		mem   []byte
		fresh bool
	}{
		{"too small", make([]byte, 100), true},
		{"no power of two", make([]byte, RingBytes(6)), true},
		{"one byte more", make([]byte, RingBytes(8)+1), true},
		{"empty memory of somebody else", make([]byte, RingBytes(8)), false},
	} {
		if _, err := NewRing(tc.mem, tc.fresh); err == nil {
			t.Errorf("%s is taken for a ring", tc.name)
		}
	}
}

// TestSeriesIsExact compares with sums of any size, below and beyond ExactSamples.
func TestSeriesIsExact(t *testing.T) {
	for _, n := range []int{1, 2, 1000, ExactSamples, ExactSamples + 5000} {
		rng := rand.New(rand.NewPCG(1, uint64(n)))
		s := NewSeries()
		values := make([]int64, n)
		sum, squares := new(big.Int), new(big.Int)
		for i := range values {
			v := rng.Int64N(2e12) - 1e12 // beyond the histograms' ±600 s, too
			if i%3 > 0 {
				v = rng.Int64N(2e7) - 1e7
			}
			values[i] = v
			s.Add(int64(i), v)
			b := big.NewInt(v)
			sum.Add(sum, b)
			squares.Add(squares, new(big.Int).Mul(b, b))
		}
		slices.Sort(values)
		if s.Count != int64(n) || s.Min != values[0] || s.Max != values[n-1] || big.NewInt(s.Sum).Cmp(sum) != 0 || s.Squares.Big().Cmp(squares) != 0 {
			t.Errorf("n = %d: %+v, want sum %v, squares %v", n, s.Moments, sum, squares)
		}
		pos, neg := s.Histograms()
		if got := pos.TotalCount() + neg.TotalCount() + s.Underflow + s.Overflow; got != int64(n) {
			t.Errorf("n = %d: %d values in the histograms and beside them", n, got)
		}
		for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 1} {
			got, ok := s.Quantile(q)
			want := values[rankOf(q, int64(n))-1]
			tolerance := float64(0)
			if !s.Exact() {
				tolerance = math.Abs(float64(want))/500 + 2 // three significant digits
			}
			if !ok || math.Abs(float64(got-want)) > tolerance && want < histogramMax && want > -histogramMax {
				t.Errorf("n = %d: q %v is %d, want %d", n, q, got, want)
			}
			if got < s.Min || got > s.Max {
				t.Errorf("n = %d: q %v is %d, outside %d … %d", n, q, got, s.Min, s.Max)
			}
		}
	}
}

func TestRank(t *testing.T) {
	for _, tc := range []struct {
		q    float64
		n    int64
		want int64
	}{{0.5, 1, 1}, {0.5, 2, 1}, {0.5, 3, 2}, {0.99, 100, 99}, {0.99, 1000, 990}, {0.999, 10000, 9990}, {1, 7, 7}, {0.9, 10, 9}} {
		if got := rankOf(tc.q, tc.n); got != tc.want {
			t.Errorf("rank of %v in %d is %d, want %d", tc.q, tc.n, got, tc.want)
		}
	}
}

func TestAnEmptySeriesKnowsNothing(t *testing.T) {
	s := NewSeries()
	if _, ok := s.Quantile(0.5); ok {
		t.Error("a quantile of nothing")
	}
	if _, ok := s.Average(); ok {
		t.Error("an average of nothing")
	}
	if _, ok := s.StdDev(); ok {
		t.Error("a deviation of nothing")
	}
}

// TestShiftMovesEveryFigure: moments exactly, quantiles as far as they are exact.
func TestShiftMovesEveryFigure(t *testing.T) {
	const by = -4_000_000
	s, want := NewSeries(), NewSeries()
	b, wantBlocks := NewBlocks(0, 1000, 10e6), NewBlocks(0, 1000, 10e6)
	rng := rand.New(rand.NewPCG(3, 4))
	for k := range int64(1000) {
		v := rng.Int64N(8e6)
		s.Add(k, v)
		want.Add(k, v+by)
		b.Add(k, v)
		wantBlocks.Add(k, v+by)
	}
	got := s.Shift(by)
	if got.Moments != want.Moments {
		t.Errorf("moments %+v, want %+v", got.Moments, want.Moments)
	}
	if m := s.Moments.Shift(by); m != want.Moments {
		t.Errorf("shifted moments %+v, want %+v", m, want.Moments)
	}
	if !reflect.DeepEqual(b.Shift(by), wantBlocks) {
		t.Error("the second blocks differ")
	}
	for _, q := range []float64{0.5, 0.99} {
		x, _ := got.Quantile(q)
		y, _ := want.Quantile(q)
		if x != y {
			t.Errorf("q %v: %d, want %d", q, x, y)
		}
	}
}

// A fold loses nothing but when in a block a value fell.
func TestBlocksFold(t *testing.T) {
	b := NewBlocks(0, 1000, 10e6) // 10 s, the seventh without a value
	for k := range int64(1000) {
		if k/100 != 6 {
			b.Add(k, k)
		}
	}
	for _, tt := range []struct {
		most  int
		width int64
		ends  []int64 // the largest value of each block
	}{{3, 4, []int64{399, 799, 999}}, {9, 2, []int64{199, 399, 599, 799, 999}}, {1, 10, []int64{999}}} {
		f := b.Fold(tt.most)
		var all Moments
		var ends []int64
		for _, m := range f.Seconds {
			all = all.With(m)
			ends = append(ends, m.Max)
		}
		if f.Width != tt.width || !slices.Equal(ends, tt.ends) || all.Count != 900 || all.Min != 0 || all.Sum != 999*500-100*650+50 {
			t.Errorf("at most %d: width %d, ends %v, all %+v", tt.most, f.Width, ends, all)
		}
	}
	if f := b.Fold(10); f != b {
		t.Errorf("10 blocks of 10 were folded to %d", len(f.Seconds))
	}
}

// TestBlocksRefuseOtherIndices: only indices of the phase have a second.
func TestBlocksRefuseOtherIndices(t *testing.T) {
	b := NewBlocks(100, 250, 10e6) // 2.5 s
	for _, tc := range []struct {
		k      int64
		ok     bool
		second int
	}{{99, false, 0}, {100, true, 0}, {199, true, 0}, {200, true, 1}, {349, true, 2}, {400, false, 0}} {
		if got := b.Add(tc.k, 1); got != tc.ok {
			t.Errorf("index %d: taken %v, want %v", tc.k, got, tc.ok)
		}
	}
	if len(b.Seconds) != 3 || b.Seconds[0].Count != 2 || b.Seconds[1].Count != 1 || b.Seconds[2].Count != 1 {
		t.Errorf("%+v", b.Seconds)
	}
}

// TestHotMemoryAllocatesNothing: everything that is called once a cycle.
func TestHotMemoryAllocatesNothing(t *testing.T) {
	r, s, b := newRing(t, 1024), NewSeries(), NewBlocks(0, 1<<20, 1e6)
	k := int64(0)
	if n := testing.AllocsPerRun(2000, func() {
		rel := Release{K: k, Due: k, Wake: k + 1}
		var rec Record
		rel.Record(&rec)
		r.Put(&rec)
		r.Drain(func(x *Record) { s.Add(x.K, x.Release().Wake) })
		b.Add(k, k)
		k++
	}); n != 0 {
		t.Errorf("%v allocations a cycle", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	r, s := newRing(b, 1024), NewSeries()
	b.ReportAllocs()
	for b.Loop() {
		rel := Release{K: 1}
		var rec Record
		rel.Record(&rec)
		r.Put(&rec)
		r.Drain(func(x *Record) { s.Add(x.K, x.Release().Wake) })
	}
}
