package run

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// A trace of a real run on this kind of machine, cut to its last lines.
func TestReadTraceNamesWhoHadTheCPU(t *testing.T) {
	f, err := os.Open("testdata/trace.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := readTrace(f)
	if err != nil {
		t.Fatal(err)
	}
	if !s.Breach || s.Late <= 50_000 || s.Events < 100 {
		t.Errorf("%+v", s)
	}
	if !strings.Contains(s.Text[0], "release") || !slices.ContainsFunc(s.Text, func(l string) bool { return strings.Contains(l, " ran for ") }) {
		t.Errorf("%q", s.Text)
	}
}

// Written by hand: 1 ms before a breach on CPU 1, of which a hog had 0.6 and idle 0.3.
func TestExplainAddsUp(t *testing.T) {
	const text = `# tracer: nop
           <idle>-0       [001] d..2.   100.000100: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=hog next_pid=7 next_prio=120
              hog-7       [000] d..2.   100.000200: sched_switch: prev_comm=other prev_pid=9 prev_prio=120 prev_state=R ==> next_comm=hog2 next_pid=8 next_prio=120
              hog-7       [001] d.h1.   100.000300: local_timer_entry: vector=236
              hog-7       [001] d.h1.   100.000340: local_timer_exit: vector=236
              hog-7       [001] d..2.   100.000700: sched_switch: prev_comm=hog prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=plc task next_pid=5 next_prio=19
         plc task-5       [001] .....   100.000800: tracing_mark_write: opcycle breach k=12 ns=500000
CPU:1 [LOST 12 EVENTS]
`
	s, err := readTrace(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"release 12 began 500.0 us late and stopped the tracer; in the 1.000 ms before, on CPU 1:",
		"hog-7 ran for 600.0 us", "nobody (idle) ran for 300.0 us", "plc task-5 ran for 100.0 us", "local_timer: 1 time(s), 40.0 us in all",
		"of the 500.0 us between its due time and its start: hog-7 400.0 us, plc task-5 100.0 us",
	}
	if !slices.Equal(s.Text, want) {
		t.Errorf("%q\nwant %q", s.Text, want)
	}
	if s.Events != 6 || s.K != 12 || s.Late != 500_000 || s.CPU != 1 {
		t.Errorf("%+v", s)
	}
}

func TestATraceWithoutABreach(t *testing.T) {
	s, err := readTrace(strings.NewReader("nonsense\n   x-1 [000] ..... 1.000001: tracing_mark_write: opcycle cycle k=1 ns=5\n"))
	if err != nil || s.Breach || s.Marks != 1 || s.Text != nil {
		t.Errorf("%+v, %v", s, err)
	}
}
