package sel4bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// orderOf names the variable that makes the test's program a probe.
const orderOf = "SEL4BENCH_TEST_ORDER"

func TestMain(m *testing.M) {
	if text := os.Getenv(orderOf); text != "" {
		if err := alone(text); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// alone is a real probe without a conductor: its answer goes to standard output.
func alone(text string) error {
	runtime.LockOSThread()
	if err := rt.SetParentDeathSignal(); err != nil {
		return err
	}
	s, err := rt.NewShared("sel4bench test", 4096+boardBytes)
	if err != nil {
		return err
	}
	return probe(&bench.ProbeSide{
		Mem:    s.Mem[4096:],
		Stop:   new(uint32),
		Decode: func(into any) error { return json.Unmarshal([]byte(text), into) },
		Ready:  func() error { return nil },
		Answer: func(v any) error { return json.NewEncoder(os.Stdout).Encode(v) },
	})
}

// ask runs a probe in a process of its own, as R2 has it, at most 60 s.
func ask(t *testing.T, o order) answer {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, os.Args[0])
	c.Env = append(os.Environ(), orderOf+"="+string(text), "GODEBUG=asyncpreemptoff=1", "GOGC=off", "GOMAXPROCS=3")
	c.Stderr = os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatalf("%s over %s: %v (%v)", o.Kind, o.Via, err, ctx.Err())
	}
	var a answer
	if err := json.Unmarshal(out, &a); err != nil {
		t.Fatal(err)
	}
	return a
}

// lastCPU is what the probes are pinned to; another one has to be left.
func lastCPU(t *testing.T) int {
	t.Helper()
	cpus, err := rt.Affinity(0)
	if err != nil || len(cpus) < 2 {
		missing(t, fmt.Sprintf("two CPUs (%v, %v)", cpus, err))
	}
	return cpus[len(cpus)-1]
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI has to have %s", what)
	}
	t.Skipf("needs %s", what)
}

// R4 at run time: a thread that the Go runtime parks in its loop, after 10 ms, would hang
// these or leave samples that nobody preempted (8 of 18 without nosplit, suites.md). 24 runs
// of 20,000 notifications, every one complete, in order, and switched once at either end.
func TestNotifyIsAlwaysCompleteWithFIFO(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("real runs, of the code that ships")
	}
	o := order{Kind: kindNotify, CPU: lastCPU(t), RT: true, N: mostSamples, Root: "/"}
	for range 8 {
		for _, o.Via = range mechanisms() {
			a := ask(t, o)
			if a.RTError != "" {
				missing(t, "SCHED_FIFO: "+a.RTError)
			}
			check(t, o, &a, a.Call)
		}
	}
}

func TestIPCIsAlwaysCompleteWithFIFO(t *testing.T) {
	if testing.Short() || raceDetector {
		t.Skip("real runs, of the code that ships")
	}
	o := order{Kind: kindIPC, CPU: lastCPU(t), RT: true, N: mostSamples, Root: "/"}
	for _, o.Via = range mechanisms() {
		a := ask(t, o)
		if a.RTError != "" {
			missing(t, "SCHED_FIFO: "+a.RTError)
		}
		check(t, o, &a, a.Call)
		check(t, o, &a, a.Reply)
	}
}

// check asserts that samples are complete and in order, and the switches one each.
func check(t *testing.T, o order, a *answer, samples []int64) {
	t.Helper()
	if a.Done != o.N || len(samples) != o.N || a.Stopped {
		t.Errorf("%s over %s: %d samples of %d", o.Kind, o.Via, a.Done, o.N)
		return
	}
	if i := slices.IndexFunc(samples, func(s int64) bool { return s+a.Overhead <= 0 }); i >= 0 {
		t.Errorf("%s over %s: sample %d ends %d cycles after its start", o.Kind, o.Via, i, samples[i]+a.Overhead)
	}
	for end, n := range map[string]int64{"own": a.Switches, "peer's": a.Peer} {
		if d := n - int64(o.N); d < -int64(o.N)/50 || d > int64(o.N)/50+16 {
			t.Errorf("%s over %s: the %s switches are %d for %d samples", o.Kind, o.Via, end, n, o.N)
		}
	}
}

// Without FIFO nothing hangs: an IPC is measured, a notification ends at the first that
// preempts nobody.
func TestWithoutFIFO(t *testing.T) {
	if testing.Short() {
		t.Skip("real runs")
	}
	cpu := lastCPU(t)
	for _, via := range mechanisms() {
		a := ask(t, order{Kind: kindIPC, Via: via, CPU: cpu, N: 500, Root: "/"})
		if a.Done != 500 || a.Policy != "both SCHED_OTHER" {
			t.Errorf("ipc over %s: %d samples, %s", via, a.Done, a.Policy)
		}
		a = ask(t, order{Kind: kindNotify, Via: via, CPU: cpu, N: 500, Root: "/"})
		if a.Done > 500 || len(a.Call) != a.Done {
			t.Errorf("notify over %s: %d samples, %d done", via, len(a.Call), a.Done)
		}
	}
}

// A sleeper's sample is from the spinner that it interrupted; what it left out is counted.
func TestInterruptsOfASpinner(t *testing.T) {
	if testing.Short() {
		t.Skip("real runs")
	}
	for _, kind := range []string{kindIRQThread, kindIRQOther} {
		o := order{Kind: kind, CPU: lastCPU(t), RT: true, N: 20, Root: "/"}
		a := ask(t, o)
		if a.RTError != "" {
			missing(t, "SCHED_FIFO: "+a.RTError)
		}
		if a.Done != o.N && a.Done+a.Stale != mostInstants*o.N {
			t.Errorf("%s: %d samples and %d left out are neither all that were asked for nor all that may be tried", kind, a.Done, a.Stale)
		}
		for _, s := range a.Call {
			if s <= 0 {
				t.Errorf("%s: a sample of %d cycles", kind, s)
			}
		}
	}
}
