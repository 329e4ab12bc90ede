package cyclictest

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"opcycle/bench"
	"opcycle/imports"
	"opcycle/record"
)

var update = flag.Bool("update", false, "write the goldens")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := gocmp.Diff(string(want), string(got)); d != "" {
		t.Error(d)
	}
}

// handMade are two threads whose figures can be checked by hand: thread 0 woke after 3.999,
// 3.0, 5.5 and 1234.567 µs, thread 1 never.
func handMade() format {
	begin := time.Date(2026, 12, 1, 3, 0, 0, 0, time.UTC)
	p, _ := filled([]int64{3999, 3000, 5500, 1_234_567}, 8, 1e9, 250_000)
	p.missed = 4
	first := tallyOf(1, p, 0, 0, 250_000)
	second := tallyOf(3, &page{}, 0, 0, 250_000)
	return format{threads: []tally{first, second}, interval: 250 * time.Microsecond, histogram: 8, started: begin, ended: begin.Add(time.Minute),
		host: &bench.Host{Name: "plc\"1", Kernel: "6.1.0-rt #1 SMP PREEMPT_RT", Arch: "x86_64", Preempt: "PREEMPT_RT", CPUs: []bench.CPU{{ID: 1}, {ID: 3, Node: 1}}},
		answer: &answer{Threads: []threadAnswer{
			{CPU: 1, TID: 77, Policy: "SCHED_FIFO", Priority: 99}, {CPU: 3, TID: 78, Policy: "SCHED_FIFO", Priority: 99}}}}
}

func TestFormatsOfHandMadeFigures(t *testing.T) {
	for name, c := range map[string]struct {
		histogram int
		write     func(f *format, w *bytes.Buffer) error
	}{
		"histogram.txt": {8, func(f *format, w *bytes.Buffer) error { return f.text(w) }},
		"summary.txt":   {0, func(f *format, w *bytes.Buffer) error { return f.text(w) }},
		"result.json":   {8, func(f *format, w *bytes.Buffer) error { return f.json(w) }},
		"no-c-state.txt": {2, func(f *format, w *bytes.Buffer) error {
			f.answer.CState = "refused"
			return f.text(w)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			f := handMade()
			f.histogram = c.histogram
			var b bytes.Buffer
			if err := c.write(&f, &b); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

// What rt-tests writes is written the same, byte for byte, from the same figures.
func TestTextIsThatOfRTTests(t *testing.T) {
	for _, name := range []string{"one-h.txt", "others.txt"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("../../imports/testdata", name))
			if err != nil {
				t.Fatal(err)
			}
			run, err := imports.ReadCyclictest(name, data)
			if err != nil {
				t.Fatal(err)
			}
			f := format{answer: &answer{}, histogram: strings.Count(string(data), "\n0")}
			for i := range run.Threads {
				f.threads = append(f.threads, asOurs(&run.Threads[i], outliersIn(t, string(data), i)))
			}
			var b bytes.Buffer
			if err := f.text(&b); err != nil {
				t.Fatal(err)
			}
			if d := gocmp.Diff(string(data), b.String()); d != "" {
				t.Error(d)
			}
		})
	}
}

// asOurs is a tally with the figures of a thread of rt-tests.
func asOurs(t *imports.CyclictestThread, outliers []int64) tally {
	out := tally{CPU: t.CPU, Latency: record.Moments{Count: t.Cycles, Min: t.Min * 1000, Max: t.Max * 1000},
		MicroSum: int64(t.Avg * float64(t.Cycles)), MicroOver: t.Overflow, Outlying: t.Overflow, Outliers: outliers}
	for _, b := range t.Histogram {
		out.Micro = append(out.Micro, make([]int64, int(b.Latency)+1-len(out.Micro))...)
		out.Micro[b.Latency] = b.Count
	}
	return out
}

func outliersIn(t *testing.T, text string, thread int) []int64 {
	t.Helper()
	_, rest, ok := strings.Cut(text, "# Thread "+strconv.Itoa(thread)+":")
	if !ok {
		t.Fatalf("no list of thread %d", thread)
	}
	line, _, _ := strings.Cut(rest, "\n")
	line, _, _ = strings.Cut(line, "#")
	var out []int64
	for _, w := range strings.Fields(line) {
		n, err := strconv.ParseInt(w, 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, n)
	}
	return out
}

// Our JSON has every key of rt-tests', in its order, and further ones only as x_.
func TestJSONHasTheKeysOfRTTests(t *testing.T) {
	data, err := os.ReadFile("../../imports/testdata/two.json")
	if err != nil {
		t.Fatal(err)
	}
	f := handMade()
	f.answer.Threads[0].Policy = "a \"policy\""
	var b bytes.Buffer
	if err := f.json(&b); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatalf("no JSON: %s", b.String())
	}
	keys := func(text string) []string {
		var out []string
		for line := range strings.Lines(text) {
			key, _, ok := strings.Cut(strings.TrimSpace(line), `": `)
			key = strings.TrimPrefix(key, `"`)
			if _, err := strconv.Atoi(key); err != nil && ok && !strings.HasPrefix(key, "x_") {
				out = append(out, key)
			}
		}
		return out
	}
	if d := gocmp.Diff(keys(string(data)), keys(b.String())); d != "" {
		t.Error(d)
	}
	run, err := imports.ReadCyclictest("ours", b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	one := imports.CyclictestThread{CPU: 1, Cycles: 4, Min: 3, Max: 1234, Avg: 311.25, Overflow: 1, Histogram: []imports.CyclictestCount{{Latency: 3, Count: 2}, {Latency: 5, Count: 1}}}
	if d := gocmp.Diff(one, run.Threads[0]); d != "" {
		t.Error("what imports reads in it:", d)
	}
}
