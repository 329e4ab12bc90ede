package cyclictest_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/host"
	"opcycle/rt"
	"opcycle/run"
	"opcycle/workloads"
	"opcycle/workloads/cyclictest"
)

// The tests of this file conduct whole runs: this test binary is also the probe.
func TestMain(m *testing.M) {
	runtime.LockOSThread() // as main does
	if len(os.Args) != 5 || os.Args[1] != "probe" {
		os.Exit(m.Run())
	}
	size, err := strconv.Atoi(os.Args[4])
	if err == nil {
		err = workloads.Serve(os.Args[2], os.Args[3], 3, 4, size)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// suite is a run with settings "name=value".
func suite(t *testing.T, settings ...string) run.Suite {
	t.Helper()
	h, err := host.Read("/")
	if err != nil {
		t.Fatal(err)
	}
	s := run.Suite{Suite: cyclictest.Suite(), Host: h, Root: "/", Options: run.DefaultSuiteOptions(), Progress: func(bench.Progress) {}, Claimed: true,
		Prober: run.Prober{Exe: "/proc/self/exe", Args: func(suite, probe string, size int) []string {
			return []string{"probe", suite, probe, strconv.Itoa(size)}
		}}}
	s.Runner = s.Suite.New()
	options := map[string]bench.Option{}
	for _, o := range append(s.Runner.Options(), s.Options.Table()...) {
		options[o.Name] = o
	}
	for _, x := range settings {
		name, value, _ := strings.Cut(x, "=")
		if err := options[name].Set(value); err != nil {
			t.Fatalf("%s: %v", x, err)
		}
	}
	return s
}

func conduct(t *testing.T, ctx context.Context, s run.Suite) bench.SuiteResult {
	t.Helper()
	r, err := s.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// real skips where a real-time policy is refused.
func real(t *testing.T) {
	t.Helper()
	refused := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: its policy ends with it
		refused <- rt.SetThread(0, rt.Attr{Policy: rt.FIFO, Priority: 1, ResetOnFork: true})
	}()
	if err := <-refused; err != nil {
		needs(t, err.Error())
	}
}

// needs skips for want of something, except in CI, which has to have it.
func needs(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI has to have it: %s", what)
	}
	t.Skip(what)
}

func figure(t *testing.T, r *bench.SuiteResult, object, series, statistic string) int64 {
	t.Helper()
	for _, f := range r.Figures {
		if f.Object == object && f.Series == series && f.Statistic == statistic {
			if f.Value == nil {
				t.Errorf("%s/%s.%s is n/a: %s", object, series, statistic, f.NA)
				return -1
			}
			return int64(*f.Value)
		}
	}
	t.Errorf("there is no %s/%s.%s", object, series, statistic)
	return -1
}

// identities are what must hold of every series; it returns how many instants there were.
func identities(t *testing.T, r *bench.SuiteResult) (instants int64) {
	t.Helper()
	for i := range r.Series {
		s := &r.Series[i]
		if s.Count == 0 || s.Min == nil || s.Max == nil || s.Avg == nil {
			t.Fatalf("%s: nothing was measured", s.Object)
		}
		pos, neg, err := s.Histograms()
		if err != nil || neg != nil || pos.TotalCount()+s.Overflow != s.Count {
			t.Errorf("%s: the histogram holds %d of %d, %v", s.Object, pos.TotalCount(), s.Count, err)
		}
		before := *s.Min
		for _, q := range s.Quantiles {
			if q.Value != nil && (*q.Value < before || *q.Value > *s.Max) {
				t.Errorf("%s: quantile %v is %d, the one before %d, the maximum %d", s.Object, q.Q, *q.Value, before, *s.Max)
			}
			if q.Value != nil {
				before = *q.Value
			}
		}
		if *s.Avg < float64(*s.Min) || *s.Avg > float64(*s.Max) {
			t.Errorf("%s: average %v between %d and %d", s.Object, *s.Avg, *s.Min, *s.Max)
		}
		var inBlocks int64
		for _, b := range s.Blocks {
			inBlocks += b.Count
		}
		if cycles := figure(t, r, s.Object, "wake_ups", "cycles"); cycles != s.Count || inBlocks != s.Count {
			t.Errorf("%s: %d cycles, %d in the series, %d in its seconds", s.Object, cycles, s.Count, inBlocks)
		}
		if n := figure(t, r, s.Object, "wake_ups", "interrupted"); n != 0 {
			t.Errorf("%s: %d sleeps were interrupted: the Go runtime signals its thread", s.Object, n)
		}
		instants = s.Count + figure(t, r, s.Object, "wake_ups", "missed") + figure(t, r, s.Object, "wake_ups", "early")
	}
	if len(r.Invalid) > 0 {
		t.Errorf("invalid: %q", r.Invalid)
	}
	worst(t, r)
	return instants
}

// worst checks the moments: in order of time, on the grid, the maximum among them.
func worst(t *testing.T, r *bench.SuiteResult) {
	t.Helper()
	high := int64(0)
	for i, m := range r.Moments {
		if i > 0 && m.At.Before(r.Moments[i-1].At) {
			t.Errorf("moment %d is before the one before it", i)
		}
		high = max(high, m.Value)
	}
	for i := range r.Series {
		if *r.Series[i].Max > high {
			t.Errorf("the maximum is %d, the longest of the worst %d", *r.Series[i].Max, high)
		}
	}
	if len(r.Moments) == 0 || len(r.Moments) > 16 {
		t.Errorf("%d moments", len(r.Moments))
	}
}

const quarter = int64(250 * time.Microsecond)

func TestARunMeasuresEveryInstant(t *testing.T) {
	real(t)
	cpus, err := rt.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	all := "cpus=" + bench.CPUList(cpus).String()
	for name, c := range map[string]struct {
		settings []string
		instants int64 // 0: not known
		cycles   int64
	}{
		"a second":              {[]string{"duration=1s"}, 4000, 0},
		"every CPU, 1 ms":       {[]string{"duration=500ms", "interval=1ms", all}, 500, 0},
		"loops":                 {[]string{"loops=1000"}, 0, 1000},
		"the shortest, no hist": {[]string{"duration=200ms", "interval=20us", "histogram=0"}, 10_000, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := conduct(t, t.Context(), suite(t, c.settings...))
			instants := identities(t, &r)
			if !r.Complete || c.instants > 0 && instants != c.instants || c.cycles > 0 && r.Series[0].Count != c.cycles {
				t.Errorf("complete %v, %d instants, %d cycles", r.Complete, instants, r.Series[0].Count)
			}
			for _, f := range r.Figures {
				if f.Statistic == "policy" && f.Text != "SCHED_FIFO 99" {
					t.Errorf("%s at %q", f.Object, f.Text)
				}
			}
			for _, w := range r.Warnings { // R5: it blocks once a wake-up, or was preempted by the runtime
				if strings.Contains(w, "blocked") && c.cycles+c.instants < 10_000 { // 20 us are often past when it sleeps
					t.Error(w)
				}
			}
			if p := r.Processes[0]; p.MaxProcs != len(r.Series)+1 || p.GOGC != "off" {
				t.Errorf("%+v", p)
			}
		})
	}
}

func TestWithoutARealTimePolicy(t *testing.T) {
	r := conduct(t, t.Context(), suite(t, "duration=200ms", "rt=off"))
	if n := identities(t, &r); n != 800 {
		t.Errorf("%d instants", n)
	}
	for _, f := range r.Figures {
		if f.Statistic == "policy" && f.Text != "SCHED_OTHER, timer slack 1ns" {
			t.Errorf("the policy is %q", f.Text)
		}
	}
	for _, a := range r.Absent {
		if strings.Contains(a.What, "SCHED_FIFO") {
			t.Errorf("not had, and not asked for: %+v", a)
		}
	}
}

// A context that ends gives what was measured until then.
func TestAnInterruptKeepsWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := suite(t, "duration=10m", "rt=off")
	s.Progress = func(p bench.Progress) {
		if p.Phase == bench.PhaseMeasure && p.Share > 0 {
			cancel()
		}
	}
	r := conduct(t, ctx, s)
	identities(t, &r)
	if r.Complete || r.Ended.Sub(r.Started) > time.Minute {
		t.Errorf("complete %v after %s", r.Complete, r.Ended.Sub(r.Started))
	}
}

// Beside another suite the instants lie within its frame, and the run ends with it.
func TestARunIsFramed(t *testing.T) {
	begin, end := make(chan struct{}), make(chan struct{})
	s := suite(t, "duration=10ms", "rt=off")
	s.Begin, s.End = begin, end
	var from, to int64
	prepared := time.AfterFunc(500*time.Millisecond, func() { from = rt.Now(); close(begin) })
	defer prepared.Stop()
	over := make(chan struct{})
	go func() {
		defer close(over)
		<-begin
		time.Sleep(400 * time.Millisecond) // the length of the frame is the test's input
		to = rt.Now()
		close(end)
	}()
	r := conduct(t, t.Context(), s)
	<-over
	instants, wall := identities(t, &r), rt.ReadWallOffset().Offset
	if !r.Complete || instants == 0 || instants > (to-from)/quarter+1+10_000_000/quarter {
		t.Errorf("complete %v, %d instants in %d ns", r.Complete, instants, to-from)
	}
	for _, m := range r.Moments {
		if at := m.At.UnixNano() - wall; at < from || at > rt.Now() {
			t.Errorf("instant %d lies %d ns before the begin", m.Index, from-at)
		}
	}
}

func TestAnInterruptBeforeTheBeginIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := suite(t, "rt=off")
	s.Begin, s.End = make(chan struct{}), make(chan struct{})
	time.AfterFunc(300*time.Millisecond, cancel)
	if r := conduct(t, ctx, s); r.Complete || len(r.Series) > 0 {
		t.Errorf("complete %v, %d series", r.Complete, len(r.Series))
	}
}

// checkpoints are kept by the test as a campaign keeps them.
func checkpoints(s *run.Suite, keep func(n int, so bench.SuiteResult, state []byte)) {
	n := 0
	s.Every = 100 * time.Millisecond
	s.Checkpoint = func(so bench.SuiteResult, state []byte) error {
		n++
		keep(n, so, bytes.Clone(state))
		return nil
	}
}

// A run that goes on from a checkpoint measures what its plan still lacks, whether it was
// ended cleanly, and then loses nothing, or killed after the checkpoint.
func TestAResumedRunAddsUp(t *testing.T) {
	for _, settings := range [][]string{{"duration=900ms"}, {"loops=3000"}} {
		t.Run(settings[0], func(t *testing.T) {
			settings := append(settings, "rt=off")
			ctx, cancel := context.WithCancel(t.Context())
			first := suite(t, settings...)
			var states [][]byte
			var so bench.SuiteResult
			checkpoints(&first, func(n int, r bench.SuiteResult, state []byte) {
				so, states = r, append(states, state)
				if n == 2 {
					cancel()
				}
			})
			r := conduct(t, ctx, first)
			cut := identities(t, &r)
			if r.Complete || len(states) < 3 {
				t.Fatalf("complete %v, %d checkpoints", r.Complete, len(states))
			}
			if n := identities(t, &so); n != cut {
				t.Errorf("the last checkpoint has %d instants, the result %d", n, cut)
			}
			for i, state := range [][]byte{states[0], states[len(states)-1]} { // killed; ended cleanly
				again := suite(t, settings...)
				again.Resume = state
				r := conduct(t, t.Context(), again)
				instants := identities(t, &r)
				if !r.Complete || settings[0] == "duration=900ms" && instants != 3600 || settings[0] == "loops=3000" && r.Series[0].Count != 3000 {
					t.Errorf("from checkpoint %d: complete %v, %d instants, %d cycles", i, r.Complete, instants, r.Series[0].Count)
				}
				if i == 0 != strings.Contains(fmt.Sprint(r.Figures), "was killed") {
					t.Errorf("from checkpoint %d: the kernel's counts are %v", i, r.Figures)
				}
			}
		})
	}
}

// A checkpoint that can't be kept is told and ends nothing.
func TestACheckpointThatFailsEndsNothing(t *testing.T) {
	s := suite(t, "duration=600ms", "rt=off")
	s.Every, s.Checkpoint = 100*time.Millisecond, func(bench.SuiteResult, []byte) error { return syscall.ENOSPC }
	r := conduct(t, t.Context(), s)
	if n := identities(t, &r); n != 2400 || !strings.Contains(fmt.Sprint(r.Warnings), "no space left") {
		t.Errorf("%d instants, %q", n, r.Warnings)
	}
}

// probes are the processes that this one has started as probes.
func probes(t *testing.T) []int {
	t.Helper()
	var out []int
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range stats {
		line, err1 := os.ReadFile(filepath.Join(filepath.Dir(path), "cmdline"))
		stat, err2 := os.ReadFile(path)
		if err1 != nil || err2 != nil || !bytes.Contains(line, []byte("\x00probe\x00")) {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		if pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path))); fields[1] == strconv.Itoa(os.Getpid()) {
			out = append(out, pid)
		}
	}
	return out
}

// A probe that is killed leaves what it measured, and a result that is invalid and says why.
func TestAProbeThatDiesLeavesWhatItMeasured(t *testing.T) {
	s := suite(t, "duration=10m", "rt=off")
	s.Progress = func(p bench.Progress) {
		if p.Phase == bench.PhaseMeasure && p.Share > 0 {
			for _, pid := range probes(t) {
				_ = syscall.Kill(pid, syscall.SIGKILL)
			}
		}
	}
	r := conduct(t, t.Context(), s)
	if r.Complete || !strings.Contains(fmt.Sprint(r.Invalid), "signal: killed") || len(r.Series) != 1 || r.Series[0].Count == 0 {
		t.Errorf("complete %v, invalid %q, %d series", r.Complete, r.Invalid, len(r.Series))
	}
	if left := probes(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// A hog of the same priority that is on the CPU first delays the wake-ups that fall due in
// its time: the longest by its whole time but an interval, and the rest are missed.
func TestAnInjectedDelayIsSeen(t *testing.T) {
	real(t)
	const hold = 20 * time.Millisecond
	if err := rt.LimitRealTime(time.Second); err != nil { // of the hog, which is this process's
		t.Fatal(err)
	}
	s := suite(t, "duration=2s")
	measured, _ := bench.SuitePlace(s.Host)
	var from, to int64
	s.Progress = func(p bench.Progress) {
		if p.Phase != bench.PhaseMeasure || p.Share < 0.2 || to > 0 {
			return
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			runtime.LockOSThread() // never unlocked: its policy ends with it
			if err := rt.SetThread(0, rt.Attr{Policy: rt.FIFO, Priority: 99, ResetOnFork: true, CPUs: measured}); err != nil {
				t.Error(err)
				return
			}
			from = rt.Now()
			to = rt.SpinUntil(from + int64(hold))
		}()
		<-done
	}
	r := conduct(t, t.Context(), s)
	identities(t, &r)
	if to == 0 {
		t.Fatal("nothing was injected")
	}
	wall, longest := rt.ReadWallOffset().Offset, int64(0)
	for _, m := range r.Moments {
		if due := m.At.UnixNano() - wall; due > from-quarter && due < to {
			longest = max(longest, m.Value)
		}
	}
	missed := figure(t, &r, fmt.Sprintf("cpu%d", measured[0]), "wake_ups", "missed")
	if longest < int64(hold)-quarter || missed < int64(hold)/quarter-2 {
		t.Errorf("held for %s: the longest wake-up in that time is %s, %d instants were missed", time.Duration(to-from), time.Duration(longest), missed)
	}
}

func TestTheEngineOfRTTests(t *testing.T) {
	real(t)
	if _, err := exec.LookPath("cyclictest"); err != nil {
		needs(t, "cyclictest (package rt-tests)")
	}
	s := suite(t, "engine=rt-tests", "loops=1000", "text=c.txt", "json=c.json")
	folder, err := run.Create(filepath.Join(t.TempDir(), "out"), 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Folder = folder
	r := conduct(t, t.Context(), s)
	if len(r.Series) != 1 || r.Series[0].Count != 1000 || !r.Complete || len(r.Files) != 2 {
		t.Errorf("%d series, complete %v, files %q", len(r.Series), r.Complete, r.Files)
	}
	for name, want := range map[string]string{"c.txt": "# Histogram", "c.json": `"cmdline:"`} {
		if data, err := os.ReadFile(filepath.Join(folder.Dir, name)); err != nil || !bytes.Contains(data, []byte(want)) {
			t.Errorf("%s: %v, %d bytes", name, err, len(data))
		}
	}
}

// Both engines, six short pairs: the form, and that the figures follow from the samples.
func TestTheCrossCheck(t *testing.T) {
	real(t)
	if testing.Short() {
		t.Skip("runs both engines in turns")
	}
	if _, err := exec.LookPath("cyclictest"); err != nil {
		needs(t, "cyclictest (package rt-tests)")
	}
	r := conduct(t, t.Context(), suite(t, "cross-check=on", "pairs=6", "slice=150ms"))
	if !r.Complete || len(r.Series) != 2 || len(r.Readings) != 6 || r.Samples == nil || len(r.Samples.Rows) != 6 || len(r.Processes) == 0 {
		t.Fatalf("complete %v, %d series, %d readings, %d processes", r.Complete, len(r.Series), len(r.Readings), len(r.Processes))
	}
	if r.Series[0].Object != "opcycle" || r.Series[1].Object != "rt-tests" || r.Series[1].Count == 0 || r.Series[0].Count > 6*600 {
		t.Errorf("%s: %d, %s: %d", r.Series[0].Object, r.Series[0].Count, r.Series[1].Object, r.Series[1].Count)
	}
	least := 1e9
	for i, row := range r.Samples.Rows {
		if *row[1] != float64(1-i%2) || *row[4] != *row[2] / *row[3] || *row[7] != *row[5] / *row[6] {
			t.Errorf("pair %d: %v", i, row)
		}
		least = min(least, *row[4])
	}
	for _, f := range r.Figures {
		if f.Series == "p50_ratio" && f.Statistic == "low" && *f.Value != least {
			t.Errorf("of six pairs the interval begins at %v, the least ratio is %v", *f.Value, least)
		}
	}
}
