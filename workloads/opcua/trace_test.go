package opcua

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// The real tracer: what stops it, what does not, and what it costs the heap.
func TestTheTracerStopsAtABreach(t *testing.T) {
	for name, c := range map[string]struct {
		above time.Duration
		tell  func(*trace)
		want  string // the mark of the breach; empty: the tracer goes on
	}{
		"late":                    {200 * time.Microsecond, func(tr *trace) { tr.Released(7, 200_001) }, "opcycle late k=7 ns=200001"},
		"beyond its cycle":        {200 * time.Microsecond, func(tr *trace) { tr.Finished(7, 10_000_001) }, "opcycle overrun k=7 ns=10000001"},
		"at the limits":           {200 * time.Microsecond, func(tr *trace) { tr.Released(7, 200_000); tr.Finished(7, 10_000_000) }, ""},
		"nothing is to stop it":   {0, func(tr *trace) { tr.Released(7, 9e9); tr.Finished(7, 9e9) }, ""},
		"long, but in its cycle":  {200 * time.Microsecond, func(tr *trace) { tr.Finished(7, 3_300_000) }, ""},
		"only the first is kept":  {200 * time.Microsecond, func(tr *trace) { tr.Released(7, 300_000); tr.Released(8, 400_000) }, "opcycle late k=7 ns=300000"},
		"a late one that overran": {200 * time.Microsecond, func(tr *trace) { tr.Released(7, 300_000); tr.Finished(7, 11e6) }, "opcycle late k=7 ns=300000"},
	} {
		t.Run(name, func(t *testing.T) {
			fs, _, err := rt.OpenTracefs("/", nil)
			if err != nil {
				if os.Getenv("CI") == "true" {
					t.Fatal(err)
				}
				t.Skip(err)
			}
			t.Cleanup(func() { _ = fs.Close() })
			tr, err := openTrace(bench.Plan{Task: bench.Task{Interval: 10 * time.Millisecond}, Trace: &bench.Trace{StopAbove: c.above, Dir: fs.Dir}})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(tr.marker.Close) // before fs.Close: an instance in use stays
			tr.Released(1, 5e9)        // in the warm-up: the tracer is off
			if err := fs.On(true); err != nil {
				t.Fatal(err)
			}
			c.tell(tr)
			on, err := fs.Running()
			if err != nil || on != (c.want == "") {
				t.Errorf("running %v, %v", on, err)
			}
			data, err := os.ReadFile(filepath.Join(fs.Dir, "trace"))
			if err != nil {
				t.Fatal(err)
			}
			breaches := strings.Count(string(data), "opcycle late") + strings.Count(string(data), "opcycle overrun")
			if c.want == "" && breaches != 0 || c.want != "" && (breaches != 1 || !strings.Contains(string(data), c.want)) {
				t.Errorf("%d breaches in\n%s", breaches, data)
			}
			if n := testing.AllocsPerRun(100, func() { tr.Released(1, 5e9); tr.Finished(1, 5e9) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	}
}

func TestWithoutATracer(t *testing.T) {
	for name, p := range map[string]bench.Plan{"not asked for": {}, "not had": {Trace: &bench.Trace{}}} {
		if tr, err := openTrace(p); tr != nil || err != nil {
			t.Errorf("%s: %v, %v", name, tr, err)
		}
	}
	if _, err := openTrace(bench.Plan{Trace: &bench.Trace{Dir: t.TempDir()}}); err == nil || !strings.Contains(err.Error(), "trace_marker") {
		t.Errorf("an instance that is gone: %v", err)
	}
}
