package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
)

// besideProfile is a short run with next to no work, as the other real runs of the tests.
func besideProfile(t *testing.T, more ...string) string {
	t.Helper()
	return profile(t, append([]string{"run: {floor: 0, duration: 2s, warm_up: 500ms}", "plc: {interval: 50ms, iterations: 200}"}, more...)...)
}

func suiteOf(t *testing.T, f bench.File, name string) bench.SuiteResult {
	t.Helper()
	for _, r := range f.Suites {
		if r.Suite == name {
			return r
		}
	}
	t.Fatalf("no result of %s", name)
	return bench.SuiteResult{}
}

// tracesLeft are our instances and mounts of the tracer.
func tracesLeft(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"/sys/kernel/tracing/instances/opcycle-*", filepath.Join(os.TempDir(), "opcycle-tracefs-*"), filepath.Join(os.TempDir(), "opcycle-stress-*")} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, found...)
	}
	return out
}

func stressors() string {
	out, _ := exec.Command("pgrep", "-x", "stress-ng").Output() // exit 1: none
	return strings.TrimSpace(string(out))
}

// The vendor's three switches, on: one report with all four, the stress verified, nothing
// left behind.
func TestWithStressCyclictestAndTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	_, err := exec.LookPath("stress-ng")
	needs(t, err == nil, "stress-ng")
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--out", out, besideProfile(t), "--cyclictest", "--stress-ng", "--trace", "--trace-stop-above", "1us")
	if code := c.code(); code == exitNotMeasured && !strings.HasPrefix(c.stdout.String(), "inconclusive") {
		t.Fatalf("exit %d", code)
	}
	f := result(t, out)
	stress := suiteOf(t, f, "stress")
	if stress.Role != bench.RoleNoise || len(stress.Invalid) > 0 || len(stress.Noise) != 1 || !stress.Complete {
		t.Errorf("stress: %+v", stress)
	}
	cyclic := suiteOf(t, f, "cyclictest")
	if cyclic.Role != bench.RoleBeside || len(cyclic.Invalid) > 0 || len(cyclic.Series) == 0 {
		t.Fatalf("cyclictest: %+v", cyclic)
	}
	for i := range cyclic.Series {
		var instants float64
		for _, g := range cyclic.Figures {
			if g.Object == cyclic.Series[i].Object && g.Series == "wake_ups" && (g.Statistic == "cycles" || g.Statistic == "missed") {
				instants += *g.Value
			}
		}
		// The measuring phase has 8000 instants of 250 us; the frame is told by two processes.
		if instants < 7600 || instants > 8400 {
			t.Errorf("%s: %v instants beside 2 s", cyclic.Series[i].Object, instants)
		}
	}
	trace := suiteOf(t, f, "trace")
	if len(trace.Absent) == 0 {
		if _, err := os.Stat(filepath.Join(out, "trace.txt")); err != nil || len(trace.Summary) == 0 {
			t.Errorf("trace: %+v, %v", trace, err)
		}
	} else if os.Getenv("CI") == "true" {
		for _, a := range trace.Absent {
			if a.What == "tracing" {
				t.Errorf("CI has to have tracefs: %+v", a)
			}
		}
	}
	for _, title := range []string{"stress", "cyclictest", "trace"} {
		if !strings.Contains(c.stdout.String(), "\n"+title) {
			t.Errorf("the report has no part %q", title)
		}
	}
	if left := tracesLeft(t); len(left) > 0 || stressors() != "" {
		t.Errorf("left behind: %v, stress-ng %s", left, stressors())
	}
}

// Noise that ends by itself is no noise: a result under it would be a lie.
func TestAStressorThatDiesMakesTheRunInvalid(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	_, err := exec.LookPath("stress-ng")
	needs(t, err == nil, "stress-ng")
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--out", out, besideProfile(t), "--stress-ng")
	c.phase(bench.PhaseMeasure)
	if !c.until(func() bool { return stressors() != "" }) {
		t.Fatal("stress-ng never started")
	}
	if err := exec.Command("pkill", "-KILL", "-x", "stress-ng").Run(); err != nil {
		t.Fatal(err)
	}
	if code := c.code(); code != exitNotMeasured {
		t.Errorf("exit %d", code)
	}
	f := result(t, out)
	if !strings.Contains(strings.Join(f.Invalid, "\n"), "stress") {
		t.Errorf("invalid: %q", f.Invalid)
	}
}

// An interrupt leaves no stressor, no tracer and no process, and a whole result.
func TestAnInterruptEndsWhatRunsBeside(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	_, err := exec.LookPath("stress-ng")
	needs(t, err == nil, "stress-ng")
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--out", out, besideProfile(t), "--duration", "60s", "--cyclictest", "--stress-ng", "--trace")
	c.phase(bench.PhaseMeasure)
	if !c.until(func() bool { return stressors() != "" }) {
		t.Fatal("stress-ng never started")
	}
	c.signal(syscall.SIGINT)
	if code := c.code(); code != exitNotMeasured {
		t.Errorf("exit %d", code)
	}
	if f := result(t, out); f.Complete || len(f.Suites) != 3 {
		t.Errorf("complete %v, %d suites", f.Complete, len(f.Suites))
	}
	for end := time.Now().Add(10 * time.Second); stressors() != "" && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond) // the kernel is still burying it
	}
	if left := tracesLeft(t); len(left) > 0 || stressors() != "" || len(processes(t)) > 0 {
		t.Errorf("left behind: %v, stress-ng %q, %d processes", left, stressors(), len(processes(t)))
	}
}

// A suite beside is noise, and marked so.
func TestAnySuiteBeside(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--out", out, besideProfile(t), "--with", "lmbench")
	c.code()
	r := suiteOf(t, result(t, out), "lmbench")
	if r.Role != bench.RoleBeside || len(r.Readings) == 0 {
		t.Errorf("%s: role %s, %d readings, invalid %q", r.Suite, r.Role, len(r.Readings), r.Invalid)
	}
	if !strings.Contains(c.stdout.String(), "lmbench ran beside the measured suite and is noise to it") {
		t.Error("the report does not say that lmbench was noise")
	}
}
