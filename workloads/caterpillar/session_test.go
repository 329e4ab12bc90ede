package caterpillar

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"opcycle/bench"
	"opcycle/rt"
)

func rowOf(index int64, values ...int64) row {
	r := row{Index: index}
	for _, v := range values {
		r.add(v)
	}
	return r
}

// A standard deviation of N values with one outlier D is D/sqrt N: the key to what the
// published columns are (suites.md 4).
func TestOneOutlierGivesAHundredth(t *testing.T) {
	r := row{}
	for range iterations - 1 {
		r.add(250_000)
	}
	r.add(250_000 + 1_000_000)
	var s session
	got := s.next(&r, false)
	if want := 1_000_000 / 100.0 * math.Sqrt(1-1.0/iterations); math.Abs(got.Jitter-want) > 1e-6*want {
		t.Errorf("jitter %v, want %v", got.Jitter, want)
	}
	if got.Spread != 1_000_000 || got.Min != 250_000 || got.Max != 1_250_000 {
		t.Errorf("%+v", got)
	}
}

func TestIdentitiesOfSamplesAndSession(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s session
	var all []float64
	lastMin, lastMax := int64(math.MaxInt64), int64(0)
	for i := range int64(20) {
		x := row{Index: i}
		for range 1000 {
			v := 200_000 + int64(r.ExpFloat64()*5000) + i*300 // it drifts
			x.add(v)
			if i > 0 {
				all = append(all, float64(v))
			}
		}
		got := s.next(&x, i == 0)
		if got.Min > got.Max || got.Jitter < 0 || got.Jitter > float64(got.Spread)/2*(1+1e-9) {
			t.Errorf("sample %d: %+v", i, got)
		}
		if i == 0 {
			if got.hasSession {
				t.Error("the first sample, which warms up, is in the session")
			}
			continue
		}
		if got.SessionMin > lastMin || got.SessionMax < lastMax {
			t.Errorf("sample %d: the session's bounds shrank: %+v", i, got)
		}
		lastMin, lastMax = got.SessionMin, got.SessionMax
		if want := direct(all); math.Abs(got.SessionJitter-want) > 1e-9*want {
			t.Errorf("sample %d: session jitter %v, directly %v", i, got.SessionJitter, want)
		}
	}
}

// direct is the population standard deviation in two passes.
func direct(v []float64) float64 {
	var sum, squares float64
	for _, x := range v {
		sum += x
	}
	for _, x := range v {
		squares += (x - sum/float64(len(v))) * (x - sum/float64(len(v)))
	}
	return math.Sqrt(squares / float64(len(v)))
}

func TestTheRingTellsWhatItLost(t *testing.T) {
	p := &page{}
	for i := range int64(rows + 10) {
		p.row[i%rows] = rowOf(i, 5)
		p.written = i + 1
	}
	got, lost := p.take(0)
	if lost != 11 || len(got) != rows-1 || got[0].Index != 11 {
		t.Errorf("%d rows from %d on, lost %d", len(got), got[0].Index, lost)
	}
	if got, lost := p.take(p.written); len(got) != 0 || lost != 0 {
		t.Errorf("nothing new: %d, %d", len(got), lost)
	}
}

func TestBufferSize(t *testing.T) {
	cache := func(level int, bytes int64, cpus int) bench.Cache {
		c := bench.Cache{Level: level, Type: "Unified", Bytes: bytes}
		for i := range cpus {
			c.Shared = append(c.Shared, i)
		}
		return c
	}
	for name, c := range map[string]struct {
		caches []bench.Cache
		asked  string
		want   int64
		says   string
	}{
		"one and a half L2":   {[]bench.Cache{cache(2, 1<<20, 1), cache(3, 32<<20, 8)}, "auto", 3 << 19, "1.5 x L2"},
		"a small share of L3": {[]bench.Cache{cache(2, 1<<20, 1), cache(3, 8<<20, 8)}, "auto", 1 << 20, "share of L3"},
		"no L3":               {[]bench.Cache{cache(2, 512<<10, 2)}, "auto", 768 << 10, "1.5 x L2"},
		"asked for":           {nil, "2M", 2 << 20, "asked"},
		"no L2":               {[]bench.Cache{cache(1, 48<<10, 1)}, "auto", 0, "give --buffer"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			r.buffer = c.asked
			got, from, err := r.bufferOf(&bench.Host{CPUs: []bench.CPU{{ID: 3, Caches: c.caches}}}, 3)
			if err != nil {
				from = err.Error()
			}
			if got != c.want || !strings.Contains(from, c.says) {
				t.Errorf("%d, %q", got, from)
			}
		})
	}
	for _, bad := range []string{"", "2G", "-1", "1", "4097M", "x", "9223372036854775807K"} {
		if _, err := bufferBytes(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// The loop itself, here without a policy: its counts and checksum.
func TestMeasure(t *testing.T) {
	chain, err := rt.NewCaterpillar(64<<10, seed, false)
	if err != nil {
		t.Fatal(err)
	}
	defer chain.Close()
	p, w, stop := &page{}, work{chain: chain, steps: 8}, uint32(0)
	pace := pace{rest: true, busy: int64(restBusy) / 100, of: int64(restOf) / 100, low: 1, top: 0}
	if n := testing.AllocsPerRun(1, func() { _ = measure(p, &w, &stop, 5, 2, &pace) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	got, lost := p.take(0)
	if len(got) != 2 || lost != 0 || got[0].Index != 5 || got[1].Index != 6 || p.ended != 1 {
		t.Fatalf("%+v, lost %d", got, lost)
	}
	for _, r := range got {
		if r.Count != iterations || r.Rests != r.LeftOut || r.Rests == 0 || r.Min <= 0 || r.Min > r.Max || r.Ended <= r.Began {
			t.Errorf("%+v", r)
		}
	}
	if got, want := chain.Check(); got != want {
		t.Errorf("checksum %d, not %d", got, want)
	}
	stop = 1
	if errno := measure(p, &w, &stop, 0, 1, &pace); errno != 0 || p.written != 2 {
		t.Errorf("stopped at once: errno %d, %d samples", errno, p.written)
	}
}

// Twice the buffer, beyond a cache level, makes an iteration take longer: on minima, as
// neighbours come and go.
func TestALargerBufferTakesLonger(t *testing.T) {
	least := func(bytes int64) int64 {
		chain, err := rt.NewCaterpillar(bytes, seed, false)
		if err != nil {
			t.Fatal(err)
		}
		defer chain.Close()
		best := int64(math.MaxInt64)
		for range 50 {
			c := rt.Cycles()
			chain.Walk(4096)
			best = min(best, rt.Cycles()-c)
		}
		return best
	}
	for try := range 3 {
		small, large := least(16<<10), least(64<<20)
		if large > small {
			return
		}
		t.Logf("try %d: 16 KiB %d cycles, 64 MiB %d", try, small, large)
	}
	t.Error("64 MiB take no longer than 16 KiB")
}

func BenchmarkIteration(b *testing.B) {
	chain, err := rt.NewCaterpillar(3<<19, seed, false)
	if err != nil {
		b.Fatal(err)
	}
	defer chain.Close()
	for name, w := range map[string]work{"memory": {chain: chain, steps: 4096}, "compute": {steps: 4096}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w.once()
			}
		})
	}
}
