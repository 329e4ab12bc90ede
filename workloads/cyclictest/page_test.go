package cyclictest

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"opcycle/record"
)

func TestLogBucketsHoldWhatTheyAreFor(t *testing.T) {
	values := []int64{0, 1, 63, 64, 65, 127, 128, 1000, 999_999, 1 << 40, math.MaxInt64 - 1, math.MaxInt64}
	for shift := range 63 {
		values = append(values, 1<<shift, 1<<shift-1, 1<<shift+1)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 10_000 {
		values = append(values, r.Int64()>>r.IntN(63))
	}
	for _, v := range values {
		i := logBucket(v)
		if i < 0 || i >= logBuckets {
			t.Fatalf("%d is in bucket %d of %d", v, i, logBuckets)
		}
		from, to := logEdges(i)
		if v < from || v > to {
			t.Errorf("%d is in bucket %d, from %d to %d", v, i, from, to)
		}
		if width := to - from; from >= 64 && width+1 > from/64 {
			t.Errorf("bucket %d from %d is %d wide", i, from, width+1)
		}
	}
	for i := 1; i < logBuckets; i++ {
		_, before := logEdges(i - 1)
		if from, _ := logEdges(i); from != before+1 {
			t.Fatalf("bucket %d begins at %d, the one before ends at %d", i, from, before)
		}
	}
}

// latencies are n that look like those of a machine: mostly short, some very long.
func latencies(seed uint64, n int) []int64 {
	r := rand.New(rand.NewPCG(seed, 7))
	out := make([]int64, n)
	for i := range out {
		out[i] = 1000 + int64(r.ExpFloat64()*20_000)
		if r.IntN(200) == 0 {
			out[i] += r.Int64N(30e6)
		}
	}
	return out
}

// filled is a page into which the latencies went, on a grid of interval from first on.
func filled(values []int64, limit, first, interval int64) (*page, []record.Moments) {
	p, seconds := &page{first: first, limit: limit}, make([]record.Moments, 8)
	for i, v := range values {
		due := first + int64(i)*interval
		p.second = (due - first) / 1e9
		p.add(&seconds[p.second], int64(i), due, v)
	}
	return p, seconds
}

// What a page keeps is what a plain count of the same values gives.
func TestAPageKeepsWhatWasMeasured(t *testing.T) {
	const limit, first, interval = 400, 5e9, 250_000
	values := latencies(1, 20_000)
	p, seconds := filled(values, limit, first, interval)
	var want record.Moments
	micro, over, outlying, sum := make([]int64, microBuckets), int64(0), []int64{}, int64(0)
	var all []worst
	for i, v := range values {
		want.Add(v)
		sum += v / 1000
		if v/1000 < microBuckets {
			micro[v/1000]++
		} else {
			over++
		}
		if v/1000 >= limit {
			outlying = append(outlying, int64(i))
		}
		all = append(all, worst{first + int64(i)*interval, v, int64(i)})
	}
	byValue := func(a, b worst) int { return cmp.Or(cmp.Compare(b.Value, a.Value), cmp.Compare(a.Index, b.Index)) }
	slices.SortFunc(all, byValue)
	kept := slices.Clone(p.worst[:])
	slices.SortFunc(kept, byValue)
	if d := gocmp.Diff(all[:worstKept], kept); d != "" {
		t.Error("the worst:", d)
	}
	if p.latency != want || p.microSum != sum || p.microOver != over || !slices.Equal(p.micro[:], micro) || p.act != values[len(values)-1]/1000 {
		t.Errorf("%+v, want %+v; sum %d, want %d; over %d, want %d", p.latency, want, p.microSum, sum, p.microOver, over)
	}
	if n := min(len(outlying), outliersKept); p.outlying != int64(len(outlying)) || !slices.Equal(p.outliers[:n], outlying[:n]) {
		t.Errorf("%d outliers, want %d", p.outlying, len(outlying))
	}
	var held, inSeconds int64
	for _, n := range p.log {
		held += n
	}
	for _, s := range seconds {
		inSeconds += s.Count
	}
	if held != want.Count || inSeconds != want.Count {
		t.Errorf("%d in the buckets, %d in the seconds, of %d", held, inSeconds, want.Count)
	}
}

func TestASnapshotIsTheWholePage(t *testing.T) {
	values := latencies(2, 5000)
	var copied page
	for _, n := range []int{0, 1, 100, 5000} { // brought up to date each time
		p, seconds := filled(values[:n], 400, 0, 250_000)
		second, ok := p.snapshot(&copied, seconds)
		if !ok || second != seconds[p.second] {
			t.Fatalf("of %d values: %v, %v", n, second, ok)
		}
		if copied.counts != p.counts || copied.micro != p.micro || copied.log != p.log {
			t.Errorf("the snapshot of %d values differs", n)
		}
	}
	p, seconds := filled(values, 400, 0, 250_000)
	p.sequence = 1 // its thread died while it wrote
	if _, ok := p.snapshot(&copied, seconds); ok {
		t.Error("a page that is being written was copied")
	}
}

// A run that was cut in two, and put together again, is one run.
func TestPartsAddUpToTheWhole(t *testing.T) {
	const first, interval, cut = 1e9, 250_000, 7000
	values := latencies(3, 20_000)
	part := func(values []int64, before int64) tally {
		p, _ := filled(values, 400, first+before*interval, interval)
		p.missed, p.early, p.interrupted = int64(len(values)/100), 1, 2
		t := tallyOf(3, p, 100, before, interval)
		t.Usage = usage{int64(len(values)), 1, 0, 0}
		return t
	}
	whole, sum, rest := part(values, 0), part(values[:cut], 0), part(values[cut:], cut)
	whole.Early, whole.Interrupted, whole.Usage.Involuntary = 2, 4, 2
	sum.add(&rest)
	for _, x := range []*tally{&whole, &sum} {
		slices.SortFunc(x.Worst, func(a, b long) int { return cmp.Compare(a.Index, b.Index) })
	}
	if d := gocmp.Diff(whole, sum); d != "" {
		t.Error(d)
	}
	rest.Usage = unknownUsage()
	if sum.add(&rest); sum.Usage != unknownUsage() {
		t.Errorf("with a part that is unknown: %+v", sum.Usage)
	}
}

func TestFoldKeepsEveryValue(t *testing.T) {
	for _, c := range []struct{ seconds, width int }{{0, 1}, {1, 1}, {3600, 1}, {3601, 2}, {86_400, 24}, {172_800, 48}} {
		if w := widthOf(c.seconds); w != c.width {
			t.Errorf("%d seconds are folded by %d, want %d", c.seconds, w, c.width)
		}
	}
	var seconds []record.Moments
	var want record.Moments
	for i, v := range latencies(4, 700) {
		if i%100 == 0 {
			seconds = append(seconds, record.Moments{})
		}
		seconds[len(seconds)-1].Add(v)
		want.Add(v)
	}
	got := fold(seconds, 3)
	if len(got) != 3 || got[0].Count != 300 || got[2].Count != 100 || fold(got, 3)[0] != want {
		t.Errorf("%d blocks: %+v, want the sum %+v", len(got), got, want)
	}
}
