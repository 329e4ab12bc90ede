package run

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files again")

// The last 8 ms of a real run's trace here, beside stress-ng and cyclictest: the
// hypervisor kept the CPU from the guest.
func TestReadTraceExplainsARealBreach(t *testing.T) {
	f, err := os.Open("testdata/trace.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s, err := readTrace(f)
	if err != nil {
		t.Fatal(err)
	}
	got := fmt.Sprintf("%d events, %d marks; %s, release %d, %d ns, CPU %d\n%s\n", s.Events, s.Marks, s.What, s.K, s.Took, s.CPU, strings.Join(s.Text, "\n"))
	const golden = "testdata/trace.golden"
	if *update {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// Written by hand: what happened on CPU 1 before release 12 of "plc task", process 5, ran
// at 100.000800, or ended there.
func TestExplain(t *testing.T) {
	const (
		toHog  = "<idle>-0 [001] d..2. 100.000100: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=a hog next_pid=7 next_prio=120\n"
		toPLC  = "a hog-7 [001] d..2. 100.000700: sched_switch: prev_comm=a hog prev_pid=7 prev_prio=120 prev_state=R ==> next_comm=plc task next_pid=5 next_prio=19\n"
		waking = "<idle>-0 [000] dNh4. 100.000%03d: sched_waking: comm=plc task pid=5 prio=19 target_cpu=001\n"
		late   = "plc task-5 [001] ..... 100.000800: tracing_mark_write: opcycle late k=12 ns=%d\n"
		other  = "x-9 [000] d..2. 100.000200: sched_switch: prev_comm=x prev_pid=9 prev_prio=120 prev_state=R ==> next_comm=y next_pid=8 next_prio=120\n"
	)
	for name, c := range map[string]struct {
		trace string
		want  []string
	}{
		"waited for the CPU": {
			"# tracer: nop\n" + toHog + other + fmt.Sprintf(waking, 250) + "CPU:1 [LOST 12 EVENTS]\n" + toPLC + fmt.Sprintf(late, 500_000),
			[]string{"release 12 began 500.0 us after it was due and stopped the tracer; in the 1.000 ms before, on CPU 1:",
				"a hog-7 for 600.0 us", "nobody (idle) for 300.0 us", "plc task-5 for 100.0 us",
				"of the 500.0 us since its due time: a hog-7 400.0 us, plc task-5 100.0 us",
				"plc task-5 was woken 50.0 us before the release was due and waited 450.0 us for the CPU"}},
		"woken late": {
			toHog + fmt.Sprintf(waking, 690) + toPLC + fmt.Sprintf(late, 500_000),
			[]string{"release 12 began 500.0 us after it was due and stopped the tracer; in the 1.000 ms before, on CPU 1:",
				"a hog-7 for 600.0 us", "nobody (idle) for 300.0 us", "plc task-5 for 100.0 us",
				"of the 500.0 us since its due time: a hog-7 400.0 us, plc task-5 100.0 us",
				"plc task-5 was woken only 390.0 us after the release was due: the timer's interrupt came late (interrupts off, hypervisor, firmware), then it waited 10.0 us for the CPU"}},
		"held up while it had the CPU": {
			toPLC + fmt.Sprintf(late, 60_000),
			[]string{"release 12 began 60.0 us after it was due and stopped the tracer; in the 1.000 ms before, on CPU 1:",
				"a hog-7 for 900.0 us", "plc task-5 for 100.0 us",
				"of the 60.0 us since its due time: plc task-5 60.0 us",
				"plc task-5 had the CPU since 40.0 us before the release was due and was held up in it: by the interrupts above, or by what no kernel sees (hypervisor, firmware)"}},
		"interrupts, one longer than the window, one without an end": {
			"a hog-7 [001] d.h1. 99.990000: irq_handler_entry: irq=24 name=virtio1-req.0\n" +
				"a hog-7 [001] d.h1. 99.999900: irq_handler_exit: irq=24 ret=handled\n" + toPLC +
				"plc task-5 [001] d.h1. 100.000750: local_timer_entry: vector=236\n" + fmt.Sprintf(late, 60_000),
			[]string{"release 12 began 60.0 us after it was due and stopped the tracer; in the 1.000 ms before, on CPU 1:",
				"a hog-7 for 900.0 us", "plc task-5 for 100.0 us",
				"within these, interrupt 24 (virtio1-req.0): 1 time(s), 100.0 us in all",
				"within these, local timer interrupt: 1 time(s), 50.0 us in all",
				"of the 60.0 us since its due time: plc task-5 60.0 us",
				"plc task-5 had the CPU since 40.0 us before the release was due and was held up in it: by the interrupts above, or by what no kernel sees (hypervisor, firmware)"}},
		"ended beyond its cycle, was preempted": {
			toHog + toPLC + "plc task-5 [001] ..... 100.000800: tracing_mark_write: opcycle overrun k=12 ns=1500000\n",
			[]string{"release 12 ended 1500.0 us after it was due, beyond its cycle, and stopped the tracer; in the 1.500 ms before, on CPU 1:",
				"nobody (idle) for 800.0 us", "a hog-7 for 600.0 us", "plc task-5 for 100.0 us"}},
		"nothing but the breach": {
			fmt.Sprintf(late, 500_000),
			[]string{"release 12 began 500.0 us after it was due and stopped the tracer; in the 1.000 ms before, on CPU 1:",
				"no switch of threads is in the trace: one thread had the CPU all the time, or the buffer does not reach back so far"}},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := readTrace(strings.NewReader(c.trace))
			if err != nil || !s.Breach || s.K != 12 || s.CPU != 1 {
				t.Fatalf("%+v, %v", s, err)
			}
			if diff := cmp.Diff(c.want, s.Text); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestOnlyTheFirstBreachIsTold(t *testing.T) {
	s, err := readTrace(strings.NewReader("x-1 [000] ..... 1.000001: tracing_mark_write: opcycle late k=1 ns=5000\n" +
		"x-1 [000] ..... 1.000009: tracing_mark_write: opcycle overrun k=1 ns=13000\n"))
	if err != nil || s.K != 1 || s.Took != 5000 || s.What != "late" {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestATraceWithoutABreach(t *testing.T) {
	s, err := readTrace(strings.NewReader("nonsense\n   x-1 [000] ..... 1.000001: tracing_mark_write: opcycle cycle k=1 ns=5\n"))
	if err != nil || s.Breach || s.Marks != 1 || s.Text != nil {
		t.Errorf("%+v, %v", s, err)
	}
}
