package caterpillar_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/host"
	"opcycle/rt"
	"opcycle/run"
	"opcycle/workloads"
	"opcycle/workloads/caterpillar"
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

// suite is a run with settings "name=value", of short iterations.
func suite(t *testing.T, settings ...string) run.Suite {
	t.Helper()
	h, err := host.Read("/")
	if err != nil {
		t.Fatal(err)
	}
	s := run.Suite{Suite: caterpillar.Suite(), Host: h, Root: "/", Options: run.DefaultSuiteOptions(), Progress: func(bench.Progress) {}, Claimed: true,
		Prober: run.Prober{Exe: "/proc/self/exe", Args: func(suite, probe string, size int) []string {
			return []string{"probe", suite, probe, strconv.Itoa(size)}
		}}}
	s.Runner = s.Suite.New()
	options := map[string]bench.Option{}
	for _, o := range append(s.Runner.Options(), s.Options.Table()...) {
		options[o.Name] = o
	}
	for _, x := range append([]string{"buffer=64K", "steps=256"}, settings...) {
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

// real skips where a real-time policy is refused, except in CI, which has to have it.
func real(t *testing.T) {
	t.Helper()
	refused := make(chan error)
	go func() {
		runtime.LockOSThread() // never unlocked: its policy ends with it
		refused <- rt.SetThread(0, rt.Attr{Policy: rt.FIFO, Priority: 1, ResetOnFork: true})
	}()
	if err := <-refused; err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("CI has to have it: %v", err)
		}
		t.Skip(err)
	}
}

func number(t *testing.T, r *bench.SuiteResult, series, statistic string) float64 {
	t.Helper()
	for _, f := range r.Figures {
		if f.Series == series && f.Statistic == statistic {
			if f.Value == nil {
				t.Errorf("%s.%s is n/a: %s", series, statistic, f.NA)
				return -1
			}
			return *f.Value
		}
	}
	t.Errorf("there is no %s.%s", series, statistic)
	return -1
}

func words(r *bench.SuiteResult, series, statistic string) string {
	for _, f := range r.Figures {
		if f.Series == series && f.Statistic == statistic {
			return f.Text
		}
	}
	return "there is none"
}

// identities are what must hold of every table of samples.
func identities(t *testing.T, r *bench.SuiteResult) {
	t.Helper()
	if len(r.Invalid) > 0 {
		t.Errorf("invalid: %q", r.Invalid)
	}
	at := map[string]int{}
	for i, c := range r.Samples.Columns {
		at[c] = i
	}
	var rests, leftOut, low, high float64
	for i, row := range r.Samples.Rows {
		v := func(column string) float64 { return *row[at[column]] }
		if v("Sample") != float64(i) {
			t.Errorf("row %d is of sample %v", i, v("Sample"))
		}
		if v("SampleMin") <= 0 || v("SampleMin") > v("SampleMax") || v("SampleSpread") != v("SampleMax")-v("SampleMin") ||
			v("SampleJitter") < 0 || v("SampleJitter") > v("SampleSpread")/2*(1+1e-9) || v("SampleMinTime") > v("SampleMaxTime") {
			t.Errorf("sample %d: %v", i, row)
		}
		rests, leftOut = rests+v("Rests"), leftOut+v("LeftOut")
		if session := row[at["SessionMin"]]; i == 0 {
			if session != nil {
				t.Error("the first sample has a session")
			}
			continue
		}
		if row[at["SessionMin"]] == nil { // the first of a process that was resumed at once
			continue
		}
		if low > 0 && v("SessionMin") > low || v("SessionMax") < high {
			t.Errorf("sample %d: the session's bounds shrank", i)
		}
		low, high = v("SessionMin"), v("SessionMax")
	}
	for statistic, want := range map[string]float64{"count": float64(len(r.Samples.Rows)), "iterations": 10_000 * float64(len(r.Samples.Rows)), "rests": rests, "left_out": leftOut} {
		if got := number(t, r, "samples", statistic); got != want {
			t.Errorf("samples.%s is %v, the table's is %v", statistic, got, want)
		}
	}
	if lo, hi := number(t, r, "sample_jitter", "min"), number(t, r, "sample_jitter", "max"); len(r.Samples.Rows) > 1 && (lo <= 0 || lo > hi) {
		t.Errorf("sample jitter from %v to %v", lo, hi)
	}
	if got := words(r, "workload", "checksum"); got != "ok" {
		t.Errorf("the checksum is %s", got)
	}
}

func TestARun(t *testing.T) {
	real(t)
	for name, c := range map[string]struct {
		settings []string
		pace     string
	}{
		"memory":  {[]string{"samples=4"}, "rests "},
		"compute": {[]string{"samples=4", "workload=compute"}, "rests "},
		"no rest": {[]string{"samples=3", "no-rest=on"}, "without rests, as asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			s := suite(t, c.settings...)
			if l := s.Host.FIFOLimit; l.By == bench.FIFONone {
				s.Host.FIFOLimit = nil // as where it is not known: it rests
			}
			r := conduct(t, t.Context(), s)
			identities(t, &r)
			if got := words(&r, "thread", "policy"); !r.Complete || got != "SCHED_FIFO 99" {
				t.Errorf("complete %v at %s", r.Complete, got)
			}
			if got := words(&r, "thread", "pace"); !strings.HasPrefix(got, c.pace) {
				t.Errorf("pace: %s", got)
			}
			// R5: it blocks for its rests only. One more is the last word on the socket.
			if blocked, rests := number(t, &r, "thread", "voluntary_switches"), number(t, &r, "samples", "rests"); blocked < rests || blocked > rests+2 {
				t.Errorf("it blocked %v times, and rested %v times", blocked, rests)
			}
			if p := r.Processes[0]; p.GOGC != "off" {
				t.Errorf("%+v", p)
			}
		})
	}
}

// An ordinary thread is not limited, and does not rest.
func TestWithoutARealTimePolicy(t *testing.T) {
	r := conduct(t, t.Context(), suite(t, "samples=3", "rt=off"))
	identities(t, &r)
	if number(t, &r, "samples", "rests") != 0 || words(&r, "thread", "policy") != "SCHED_OTHER 0" {
		t.Errorf("%s rested", words(&r, "thread", "policy"))
	}
}

// On a machine's only CPU it rests even where nothing limits it, and is refused without.
func TestTheOnlyCPU(t *testing.T) {
	real(t)
	cpus, err := rt.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	one := fmt.Sprint(cpus[0])
	s := suite(t, "samples=2", "cpus="+one, "housekeeping-cpus="+one)
	s.Host.FIFOLimit = &bench.FIFOLimit{By: bench.FIFONone}
	r := conduct(t, t.Context(), s)
	if got := words(&r, "thread", "pace"); !strings.HasPrefix(got, "rests ") {
		t.Errorf("pace: %s", got)
	}
	s = suite(t, "no-rest=on", "cpus="+one, "housekeeping-cpus="+one)
	if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "would hang this machine") {
		t.Errorf("without rests: %v", err)
	}
}

// kept is a file beside a result.
type kept struct {
	bytes.Buffer
	closed bool
	full   bool // the disk is
}

func (k *kept) Write(p []byte) (int, error) {
	if k.full {
		return 0, fmt.Errorf("no space left on device")
	}
	return k.Buffer.Write(p)
}

func (k *kept) Close() error { k.closed = true; return nil }

// framed gives a runner a file, which run.Suite takes from a folder.
type framed struct {
	bench.Runner
	file *kept
}

func (f framed) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	job.Create = func(string) (io.WriteCloser, error) { return f.file, nil }
	return f.Runner.Run(ctx, job)
}

// A context that ends gives what was measured until then; the file has what the result has.
func TestAnInterruptKeepsWhatWasMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s, file := suite(t, "samples=100000", "rt=off"), &kept{}
	s.Runner = framed{s.Runner, file}
	s.Progress = func(p bench.Progress) {
		if strings.Contains(p.Text, "3 of") || p.Share > 3e-5 {
			cancel()
		}
	}
	r := conduct(t, ctx, s)
	identities(t, &r)
	lines, err := csv.NewReader(&file.Buffer).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if n := len(r.Samples.Rows); r.Complete || n < 3 || len(lines) != n+1 || !file.closed || lines[0][0] != "SampleMin" {
		t.Errorf("complete %v, %d samples, %d lines from %v, closed %v", r.Complete, n, len(lines), lines[0], file.closed)
	}
}

// A full disk costs the file, not the run.
func TestAFullDiskCostsTheFileOnly(t *testing.T) {
	s := suite(t, "samples=3", "rt=off")
	s.Runner = framed{s.Runner, &kept{full: true}}
	r := conduct(t, t.Context(), s)
	identities(t, &r)
	if !r.Complete || len(r.Files) != 0 || len(r.Absent) == 0 || !strings.Contains(r.Absent[len(r.Absent)-1].Why, "no space left") {
		t.Errorf("complete %v, files %v, absent %+v", r.Complete, r.Files, r.Absent)
	}
}

func TestAnInterruptBeforeTheBeginIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := suite(t, "rt=off")
	s.Begin, s.End = make(chan struct{}), make(chan struct{})
	time.AfterFunc(300*time.Millisecond, cancel)
	if r := conduct(t, ctx, s); r.Complete || len(r.Samples.Rows) > 0 {
		t.Errorf("complete %v, %d samples", r.Complete, len(r.Samples.Rows))
	}
}

// Beside another suite it measures from its begin to its end, whatever the count.
func TestARunIsFramed(t *testing.T) {
	begin, end := make(chan struct{}), make(chan struct{})
	s := suite(t, "samples=1", "rt=off")
	s.Begin, s.End = begin, end
	var ended bool
	s.Progress = func(p bench.Progress) {
		if !ended && strings.HasPrefix(p.Text, "3 ") || !ended && len(p.Text) > len("3 samples") {
			ended = true
			close(end)
		}
	}
	close(begin)
	r := conduct(t, t.Context(), s)
	identities(t, &r)
	if !r.Complete || len(r.Samples.Rows) < 3 {
		t.Errorf("complete %v, %d samples", r.Complete, len(r.Samples.Rows))
	}
}

// A run that goes on from a checkpoint measures what its plan still lacks; another
// workload's checkpoint is refused.
func TestAResumedRunAddsUp(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := suite(t, "samples=100000", "rt=off")
	var states [][]byte
	s.Every = 10 * time.Millisecond
	s.Checkpoint = func(so bench.SuiteResult, state []byte) error {
		if len(so.Samples.Rows) > 0 {
			states = append(states, bytes.Clone(state))
			cancel()
		}
		return nil
	}
	r := conduct(t, ctx, s)
	if len(states) < 2 {
		t.Fatalf("%d checkpoints: none at the clean end", len(states))
	}
	var last struct{ Rows []json.RawMessage }
	if err := json.Unmarshal(states[len(states)-1], &last); err != nil || len(last.Rows) != len(r.Samples.Rows) {
		t.Errorf("the last checkpoint has %d samples, the result %d: %v", len(last.Rows), len(r.Samples.Rows), err)
	}
	n := len(last.Rows) + 3
	again := suite(t, fmt.Sprintf("samples=%d", n), "rt=off")
	again.Resume = states[len(states)-1]
	r = conduct(t, t.Context(), again)
	identities(t, &r)
	if !r.Complete || len(r.Samples.Rows) != n || number(t, &r, "samples", "warm_up") != 2 {
		t.Errorf("complete %v, %d of %d samples, %v to warm up", r.Complete, len(r.Samples.Rows), n, number(t, &r, "samples", "warm_up"))
	}
	done := suite(t, fmt.Sprintf("samples=%d", len(last.Rows)), "rt=off") // nothing is left to do
	done.Resume = states[len(states)-1]
	if r := conduct(t, t.Context(), done); !r.Complete || len(r.Samples.Rows) != len(last.Rows) {
		t.Errorf("complete %v, %d samples", r.Complete, len(r.Samples.Rows))
	}
	other := suite(t, "samples=9", "rt=off", "steps=512")
	other.Resume = states[len(states)-1]
	if _, err := other.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "another workload") {
		t.Errorf("other steps: %v", err)
	}
}

func TestRefusals(t *testing.T) {
	cpus, err := rt.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	if len(cpus) > 1 {
		s := suite(t, "cpus="+bench.CPUList(cpus[:2]).String())
		if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "measures one CPU") {
			t.Errorf("two CPUs: %v", err)
		}
	}
	s := suite(t, "buffer=auto")
	for i := range s.Host.CPUs {
		s.Host.CPUs[i].Caches = nil
	}
	if _, err := s.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "give --buffer") {
		t.Errorf("without caches: %v", err)
	}
}
