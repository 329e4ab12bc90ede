package oslat

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

func TestBucketsHoldTheirValues(t *testing.T) {
	for _, v := range []int64{0, 1, 63, 64, 65, 127, 128, 1000, 1e6, 123456789, 1e15} {
		from, to := edges(bucket(v))
		if v < from || v > to || float64(to-from) > float64(v)/50+1 {
			t.Errorf("%d is counted in [%d, %d]", v, from, to)
		}
	}
	last := int64(-1)
	for i := range 40 << subBits {
		from, to := edges(i)
		if from != last+1 || to < from {
			t.Fatalf("bucket %d is [%d, %d] after %d", i, from, to, last)
		}
		last = to
	}
}

// The loop, here without a policy: what it watched adds up to the clock.
func TestSpinAddsUp(t *testing.T) {
	clock, err := rt.ReadCycleClock("/")
	if err != nil {
		t.Fatal(err)
	}
	p, stop := &page{}, uint32(0)
	if n := testing.AllocsPerRun(1, func() { spin(p, &stop, int64(0.05*clock.Hz), &limits{threshold: int64(20e-6 * clock.Hz)}) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
	var held int64
	for _, n := range p.buckets {
		held += n
	}
	if held != p.cycles.Count || p.over != int64(p.head)+p.dropped || p.lost > p.cycles.Sum || p.ended != 1 || p.cycles.Min <= 0 || p.cycles.Count < 1000 {
		t.Errorf("%d of %d in buckets, %d over, %d in the ring, least %d", held, p.cycles.Count, p.over, p.head, p.cycles.Min)
	}
	// Two runs of 50 ms went into the page (AllocsPerRun runs once before it counts).
	if s := clock.NS(float64(p.cycles.Sum)) / 1e9; s < 0.1 {
		t.Errorf("%.3f s were watched, not 0.1 s", s)
	}
	if b := preheat(&stop, 1e6); b <= 0 || b > 1e6 {
		t.Errorf("bias %d cycles", b)
	}
}

func BenchmarkSpin(b *testing.B) {
	p, stop := &page{}, uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		spin(p, &stop, 100_000, &limits{threshold: 1 << 60})
	}
	b.ReportMetric(float64(p.cycles.Sum)/float64(p.cycles.Count), "cycles/reading")
}

func TestASpinnerOnEveryCPUIsRefused(t *testing.T) {
	_, err := newRunner().Run(t.Context(), bench.Job{Measured: []int{0, 1}, Housekeeping: []int{1}})
	if err == nil || !strings.Contains(err.Error(), "leave one CPU free") {
		t.Errorf("%v", err)
	}
}

// tracingTree is a tracefs of plain files.
func tracingTree(t *testing.T, tracers string) string {
	t.Helper()
	root := t.TempDir()
	dir := filepath.Join(root, "sys/kernel/tracing")
	for name, text := range map[string]string{"instances/.keep": "", "available_tracers": tracers, "current_tracer": "nop\n", "tracing_cpumask": "ff\n", "tracing_on": "1\n", "tracing_thresh": "0\n",
		"hwlat_detector/width": "500000\n", "hwlat_detector/window": "1000000\n", "trace": `# tracer: hwlat
#                                _-----=> irqs-off
           <...>-1729    [001] d....   678.473449: #1      inner/outer(us):   11/12    ts:1581527483.343962693 count:6
           <...>-1729    [004] d....   689.556542: #2      inner/outer(us):   16/9     ts:1581527494.889008092 count:1
`} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestHWLatOnATree(t *testing.T) {
	root := tracingTree(t, "hwlat blk function nop\n")
	h := HWLat().New()
	for _, o := range h.Options() {
		if o.Name == "duration" {
			if err := o.Set("20ms"); err != nil {
				t.Fatal(err)
			}
		}
	}
	r, err := h.Run(t.Context(), bench.Job{Root: root, Measured: []int{0, 33}, Progress: func(bench.Progress) {}})
	if err != nil || !r.Complete || len(r.Invalid) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if len(r.Moments) != 2 || r.Moments[0].Value != 12_000 || r.Moments[1].Value != 16_000 || r.Moments[1].CPU != 4 || r.Moments[0].At.Unix() != 1581527483 {
		t.Errorf("%+v", r.Moments)
	}
	for name, want := range map[string]float64{"count": 2, "lost": 0, "max": 16_000} {
		i := slices.IndexFunc(r.Figures, func(f bench.Figure) bool { return f.Statistic == name })
		if i < 0 || *r.Figures[i].Value != want {
			t.Errorf("%s: %+v", name, r.Figures)
		}
	}
	for name, want := range map[string]string{"current_tracer": "nop", "tracing_on": "1", "tracing_thresh": "0", "hwlat_detector/width": "500000", "hwlat_detector/window": "1000000", "tracing_cpumask": "ff"} {
		got, err := os.ReadFile(filepath.Join(root, "sys/kernel/tracing", name))
		if err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s is left at %q, was %q (%v)", name, got, want, err)
		}
	}
}

func TestHWLatWithoutTheTracer(t *testing.T) {
	busy := tracingTree(t, "hwlat function nop\n")
	if err := os.WriteFile(filepath.Join(busy, "sys/kernel/tracing/current_tracer"), []byte("function\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ root, want string }{
		"no tracefs": {t.TempDir(), "no tracefs"},
		"no tracer":  {tracingTree(t, "blk function nop\n"), "available_tracers: blk function nop"},
		"in use":     {busy, "current_tracer is function"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := HWLat().New().Run(t.Context(), bench.Job{Root: c.root, Progress: func(bench.Progress) {}})
			if err != nil || len(r.Invalid) != 1 || !strings.Contains(r.Invalid[0], c.want) || len(r.Absent) != 1 || r.Complete || !strings.Contains(r.Invalid[0], "opcycle suite oslat") {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}

func TestCPUMask(t *testing.T) {
	for want, cpus := range map[string][]int{"00000001": {0}, "00000009": {0, 3}, "00000002,80000000": {31, 33}} {
		if got := cpuMask(cpus); got != want {
			t.Errorf("the mask of %v is %s, not %s", cpus, got, want)
		}
	}
}

// What can't be set is an error, and what was set before is put back.
func TestHWLatPutsBackWhatItSet(t *testing.T) {
	root := tracingTree(t, "hwlat nop\n")
	if err := os.Remove(filepath.Join(root, "sys/kernel/tracing/tracing_thresh")); err != nil {
		t.Fatal(err)
	}
	if _, err := HWLat().New().Run(t.Context(), bench.Job{Root: root, Measured: []int{1}, Progress: func(bench.Progress) {}}); err == nil || !strings.Contains(err.Error(), "tracing_thresh") {
		t.Errorf("%v", err)
	}
	for name, want := range map[string]string{"current_tracer": "nop", "tracing_on": "1", "tracing_cpumask": "ff"} {
		if got, err := os.ReadFile(filepath.Join(root, "sys/kernel/tracing", name)); err != nil || strings.TrimSpace(string(got)) != want {
			t.Errorf("%s is left at %q (%v)", name, got, err)
		}
	}
}

func TestHWLatEndsEarly(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	r, err := HWLat().New().Run(ctx, bench.Job{Root: tracingTree(t, "hwlat\n"), Measured: []int{0}, Progress: func(bench.Progress) {}})
	if err != nil || r.Complete {
		t.Errorf("%+v, %v", r, err)
	}
}
