package caterpillar

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat"

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
	got := s.next(&r, 2e9, false)
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
	var all, means, squares []float64 // squares: SampleJitter²
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
		got := s.next(&x, 2e9, i == 0)
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
		means, squares = append(means, float64(x.Sum)/float64(x.Count)), append(squares, got.Jitter*got.Jitter)
		if want := math.Sqrt(stat.Mean(squares, nil) + stat.PopVariance(means, nil)); math.Abs(got.SessionJitter-want) > 1e-9*want {
			t.Errorf("sample %d: session jitter %v, pooled from the samples %v", i, got.SessionJitter, want)
		}
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

func cache(level int, bytes int64, cpus int) bench.Cache {
	c := bench.Cache{Level: level, Type: "Unified", Bytes: bytes}
	for i := range cpus {
		c.Shared = append(c.Shared, i)
	}
	return c
}

func TestBufferSize(t *testing.T) {
	for name, c := range map[string]struct {
		caches []bench.Cache
		asked  string
		want   int64
		says   string
		small  bool
	}{
		"one and a half L2":    {[]bench.Cache{cache(2, 1<<20, 1), cache(3, 32<<20, 8)}, "auto", 3 << 19, "1.5 x L2", false},
		"a small share of L3":  {[]bench.Cache{cache(2, 1<<20, 1), cache(3, 8<<20, 8)}, "auto", 1 << 20, "share of L3", true},
		"L2 of four, as x6425": {[]bench.Cache{cache(2, 1536<<10, 4), cache(3, 4<<20, 4)}, "auto", 1 << 20, "share of L3", true},
		"no L3":                {[]bench.Cache{cache(2, 512<<10, 2)}, "auto", 768 << 10, "1.5 x L2", false},
		"instructions only":    {[]bench.Cache{{Level: 2, Type: "Instruction", Bytes: 1 << 20}}, "auto", 0, "give --buffer", false},
		"asked for":            {nil, "2M", 2 << 20, "asked", false},
		"asked for too little": {[]bench.Cache{cache(2, 2<<20, 1)}, "2048K", 2 << 20, "asked", true},
		"no L2":                {[]bench.Cache{cache(1, 48<<10, 1)}, "auto", 0, "give --buffer", false},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRunner()
			r.buffer = c.asked
			got, from, small, err := r.bufferOf(&bench.Host{CPUs: []bench.CPU{{ID: 3, Caches: c.caches}}}, 3)
			if err != nil {
				from = err.Error()
			}
			if got != c.want || !strings.Contains(from, c.says) || (small != "") != c.small {
				t.Errorf("%d, %q, %q", got, from, small)
			}
		})
	}
	for _, bad := range []string{"", "2G", "-1", "1", "4097M", "x", "9223372036854775807K"} {
		if _, err := bufferBytes(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

// On a hybrid processor the buffer is of the measured CPU's kind of core.
func TestBufferSizeOfAHybridProcessor(t *testing.T) {
	h := bench.Host{CPUs: []bench.CPU{{ID: 0, Caches: []bench.Cache{cache(2, 2<<20, 1), cache(3, 24<<20, 4)}},
		{ID: 4, Caches: []bench.Cache{cache(2, 4<<20, 4), cache(3, 32<<20, 4)}}}}
	for cpu, want := range map[int]int64{0: 3 << 20, 4: 6 << 20} {
		if got, _, _, err := newRunner().bufferOf(&h, cpu); got != want || err != nil {
			t.Errorf("CPU %d: %d bytes, %v", cpu, got, err)
		}
	}
}

// The thread stays below 90 % of each period, and below 90 % of what the kernel allows.
func TestPace(t *testing.T) {
	limit := func(runtime, period time.Duration) *bench.FIFOLimit {
		return &bench.FIFOLimit{By: bench.FIFOBandwidth, RuntimeNS: int64(runtime), PeriodNS: int64(period)}
	}
	for name, c := range map[string]struct {
		limit    *bench.FIFOLimit
		busy, of time.Duration
	}{
		"the default":     {limit(950*time.Millisecond, time.Second), 85500 * time.Microsecond, 100 * time.Millisecond},
		"not known":       {nil, 85500 * time.Microsecond, 100 * time.Millisecond},
		"unknown":         {&bench.FIFOLimit{By: bench.FIFOUnknown}, 85500 * time.Microsecond, 100 * time.Millisecond},
		"half":            {limit(500*time.Millisecond, time.Second), 45 * time.Millisecond, 100 * time.Millisecond},
		"a short period":  {limit(8*time.Millisecond, 10*time.Millisecond), 720 * time.Microsecond, time.Millisecond},
		"a long period":   {limit(9*time.Second, 10*time.Second), 81 * time.Millisecond, 100 * time.Millisecond},
		"nothing at all":  {limit(0, time.Second), 85500 * time.Microsecond, 100 * time.Millisecond},
		"nearly a period": {limit(999*time.Millisecond, time.Second), 89910 * time.Microsecond, 100 * time.Millisecond},
	} {
		if busy, of := paceOf(c.limit); busy.Round(time.Microsecond) != c.busy || of != c.of {
			t.Errorf("%s: %s of %s, want %s of %s", name, busy, of, c.busy, c.of)
		}
	}
}

func TestTheRecurrenceAhead(t *testing.T) {
	w := work{steps: 1000, state: seed}
	for n := range 5 {
		if got, want := w.check(); got != want || w.done != int64(n)*1000 {
			t.Errorf("after %d steps: %d, not %d", w.done, got, want)
		}
		w.once()
	}
	w.state++
	if got, want := w.check(); got == want {
		t.Error("a state that changed by itself is not seen")
	}
}

// The loop itself, here without a policy: its counts and checksum.
func TestMeasure(t *testing.T) {
	chain, err := rt.NewCaterpillar(64<<10, seed, false)
	if err != nil {
		t.Fatal(err)
	}
	defer chain.Close()
	for name, w := range map[string]*work{"memory": {chain: chain, steps: 8}, "compute": {steps: 8, state: seed}} {
		t.Run(name, func(t *testing.T) {
			p, stop := &page{}, uint32(0)
			pace := pace{rest: true, busy: int64(850 * time.Microsecond), of: int64(time.Millisecond), turn: w.turn(), refill: math.MaxInt64, low: 1, top: 0}
			if n := testing.AllocsPerRun(1, func() { _ = measure(p, w, &stop, 5, 2, &pace) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
			got, lost := p.take(0)
			if len(got) != 2 || lost != 0 || got[0].Index != 5 || got[1].Index != 6 {
				t.Fatalf("%+v, lost %d", got, lost)
			}
			for _, r := range got {
				if r.Count != iterations || r.LeftOut != r.Rests*w.turn() || r.Min <= 0 || r.Min > r.Max || r.Ended <= r.Began {
					t.Errorf("%+v", r)
				}
			}
			if got, want := w.check(); got != want {
				t.Errorf("checksum %d, not %d", got, want)
			}
			stop = 1
			if errno := measure(p, w, &stop, 0, 1, &pace); errno != 0 || p.written != 2 || p.unfinished != 0 {
				t.Errorf("stopped at once: errno %d, %d samples, %d iterations", errno, p.written, p.unfinished)
			}
		})
	}
}

// A rest is as long as it has to be, and what refills the caches after it ends in time.
func TestRestAndRefill(t *testing.T) {
	chain, err := rt.NewCaterpillar(1<<20, seed, false)
	if err != nil {
		t.Fatal(err)
	}
	defer chain.Close()
	w := &work{chain: chain, steps: 1}
	pace := pace{busy: 1e6, of: 2e6, turn: w.turn(), refill: math.MaxInt64}
	begin := rt.Now() - 3e6 // an iteration that was longer than the stretch: it rests for as long
	if errno := rest(begin, &pace); errno != 0 || rt.Now()-begin < 6e6 {
		t.Errorf("errno %d, after %d ns of which 3 ms were busy", errno, rt.Now()-begin)
	}
	var r row
	w.refill(&r, rt.Now(), &pace)
	if r.Rests != 1 || r.LeftOut != chain.Nodes() {
		t.Errorf("once round %d nodes: %+v", chain.Nodes(), r)
	}
	pace.refill = -1
	if w.refill(&r, rt.Now(), &pace); r.LeftOut != chain.Nodes()+1 {
		t.Errorf("without time for it one iteration is left out: %+v", r)
	}
}

// Twice the buffer raises the least iteration where a cache level ends, and never lowers it:
// on minima, as neighbours come and go.
func TestALargerBufferTakesLonger(t *testing.T) {
	least := func(bytes int64) int64 {
		chain, err := rt.NewCaterpillar(bytes, seed, false)
		if err != nil {
			t.Fatal(err)
		}
		defer chain.Close()
		best := int64(math.MaxInt64)
		for range 2*bytes/rt.CaterpillarNodeBytes/4096 + 50 { // twice round, at least
			c := rt.Cycles()
			chain.Walk(4096)
			best = min(best, rt.Cycles()-c)
		}
		return best
	}
	for try := range 3 {
		ok, first, last := true, int64(0), int64(0)
		for bytes := int64(16 << 10); bytes <= 64<<20; bytes *= 2 {
			now := least(bytes)
			t.Logf("try %d: %d KiB: %d cycles", try, bytes>>10, now)
			if first == 0 {
				first = now
			}
			ok, last = ok && float64(now) >= 0.9*float64(last), now
		}
		if ok && last > 2*first {
			return
		}
	}
	t.Error("larger buffers take no longer")
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
