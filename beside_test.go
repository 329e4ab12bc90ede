package main

import (
	"fmt"
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

// The vendor's three switches, on: one report with all four, the stress verified, nothing
// left behind.
func TestWithStressCyclictestAndTrace(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	_, err := exec.LookPath("stress-ng")
	needs(t, err == nil, "stress-ng")
	alone(t)
	privateTmp(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--out", out, besideProfile(t), "--cyclictest", "--stress-ng", "--trace", "--trace-stop-above", "1us")
	group := c.stressorOf()
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
	c.besideLeft(group)
}

// Noise that ends by itself is no noise: a result under it would be a lie. Nor is a part of
// it: one of two workers.
func TestAStressorThatDiesMakesTheRunInvalid(t *testing.T) {
	if testing.Short() {
		t.Skip("real runs")
	}
	_, err := exec.LookPath("stress-ng")
	needs(t, err == nil, "stress-ng")
	for name, victims := range map[string]func(group int) []int{
		"all of it": func(group int) []int { return []int{-group} },
		"one worker": func(group int) []int {
			for pid, s := range stats(t) {
				if s.parent == group {
					return []int{pid}
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			alone(t)
			privateTmp(t)
			out := filepath.Join(t.TempDir(), "out")
			c := start(t, "", "run", "--out", out, besideProfile(t), "--stress-ng", "--duration", "3s")
			group := c.stressorOf()
			var list []int
			c.until(func() bool { list = victims(group); return group != 0 && len(list) > 0 })
			for _, pid := range list {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err)
				}
			}
			if code := c.code(); code != exitNotMeasured || len(list) == 0 {
				t.Errorf("exit %d, killed %v", code, list)
			}
			f := result(t, out)
			if len(f.Invalid) == 0 || !strings.HasPrefix(f.Invalid[0], "stress beside this run: ") || !strings.Contains(f.Invalid[0], " ended ") {
				t.Errorf("invalid: %q", f.Invalid)
			}
			if !strings.HasPrefix(c.stdout.String(), "inconclusive: ") {
				t.Errorf("says %q", verdictLine(c.stdout.String()))
			}
			c.besideLeft(group)
		})
	}
}

// A conductor that is killed takes the noise with it; what the kernel keeps for it, an
// instance and a mount of the tracer, goes with the next run.
func TestAKilledConductorLeavesNoStressor(t *testing.T) {
	if testing.Short() {
		t.Skip("real runs")
	}
	_, err := exec.LookPath("stress-ng")
	needs(t, err == nil, "stress-ng")
	alone(t)
	privateTmp(t)
	c := start(t, "", "run", "--out", filepath.Join(t.TempDir(), "out"), besideProfile(t), "--duration", "60s", "--cyclictest", "--stress-ng", "--trace")
	group := c.stressorOf()
	if group == 0 {
		t.Fatal("stress-ng never started")
	}
	c.signal(syscall.SIGKILL)
	c.code()
	ended := func() bool {
		for _, s := range stats(t) {
			if s.group == group {
				return false
			}
		}
		return len(processes(t)) == 0
	}
	for end := time.Now().Add(10 * time.Second); !ended() && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond)
	}
	if !ended() {
		t.Errorf("after the conductor: %v, %v", stats(t), processes(t))
	}
	next := start(t, "", "run", "--out", filepath.Join(t.TempDir(), "out"), besideProfile(t), "--duration", "500ms", "--trace")
	next.code()
	for _, of := range []*command{c, next} {
		for _, pattern := range []string{"/sys/kernel/tracing/instances/opcycle-%d", filepath.Join(os.TempDir(), "opcycle-tracefs-%d-*")} {
			if found, err := filepath.Glob(fmt.Sprintf(pattern, of.cmd.Process.Pid)); err != nil || len(found) > 0 {
				t.Errorf("left behind: %q, %v", found, err)
			}
		}
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
	privateTmp(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--out", out, besideProfile(t), "--duration", "60s", "--cyclictest", "--stress-ng", "--trace")
	group := c.stressorOf()
	if group == 0 {
		t.Fatal("stress-ng never started")
	}
	c.signal(syscall.SIGINT)
	if code := c.code(); code != exitNotMeasured {
		t.Errorf("exit %d", code)
	}
	f := result(t, out)
	if f.Complete || len(f.Suites) != 3 {
		t.Errorf("complete %v, %d suites", f.Complete, len(f.Suites))
	}
	for _, s := range f.Suites {
		if s.Complete {
			t.Errorf("%s says that it is complete", s.Suite)
		}
	}
	c.besideLeft(group)
	if left := processes(t); len(left) > 0 {
		t.Errorf("left behind: %v", left)
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

// What can't run beside is refused before anything is measured, wherever it was asked for.
func TestWhatCantRunBesideIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"takes the CPU whole": {[]string{"--with", "oslat"}, "the suite oslat can't run beside another: it takes its CPUs whole; run it alone (opcycle suite oslat)"},
		"in a profile":        {[]string{profile(t, "beside: {with: [lmbench, hwlat]}")}, "the suite hwlat can't run beside another"},
		"unknown":             {[]string{"--with", "lmbenhc"}, `no suite is called "lmbenhc"`},
		"twice":               {[]string{"--with", "lmbench,lmbench"}, "the suite lmbench is there twice"},
		"with its switch":     {[]string{"--cyclictest", "--with", "cyclictest"}, "cyclictest runs beside already"},
		"no tracing to stop":  {[]string{"--trace-stop-above", "200us"}, "nothing is traced"},
	} {
		t.Run(name, func(t *testing.T) {
			out := filepath.Join(t.TempDir(), "out")
			p := start(t, "", append([]string{"run", "--out", out}, c.args...)...)
			if code := p.code(); code != exitNotMeasured || !strings.Contains(p.stderr.String(), c.want) {
				t.Errorf("exit %d: %s", code, p.stderr.String())
			}
			if exists(out) {
				t.Error("something was measured")
			}
		})
	}
}

// What was asked for and can't be had is said: required noise before anything is measured,
// the rest in the result.
func TestWhatIsNotHadBeside(t *testing.T) {
	if testing.Short() {
		t.Skip("real runs")
	}
	t.Run("stress-ng is required", func(t *testing.T) {
		alone(t)
		executable(t)
		t.Setenv("PATH", t.TempDir())
		out := filepath.Join(t.TempDir(), "out")
		c := start(t, "", "run", "--out", out, besideProfile(t, "beside: {stress_engine: stress-ng}"), "--stress-ng", "--duration", "60s")
		if code := c.code(); code != exitNotMeasured {
			t.Errorf("exit %d", code)
		}
		f := result(t, out)
		if said := strings.Join(f.Invalid, "\n"); f.Phase.Ran != 0 || !strings.Contains(said, "stress-ng is not installed") || !strings.Contains(said, "nothing was measured") {
			t.Errorf("%d cycles, invalid %q", f.Phase.Ran, f.Invalid)
		}
	})
	t.Run("a copy instead of stress-ng, no tracefs", func(t *testing.T) {
		path, err := exec.LookPath("setpriv")
		needs(t, err == nil && os.Geteuid() == 0, "root and setpriv")
		alone(t)
		program := executable(t)
		t.Setenv("PATH", t.TempDir())
		out := filepath.Join(t.TempDir(), "out")
		c := startBinary(t, "", path, "--bounding-set=-sys_admin", "--inh-caps=-sys_admin", program, "run", "--out", out, besideProfile(t), "--stress-ng", "--trace")
		if code := c.code(); code == exitNotMeasured && !strings.HasPrefix(c.stdout.String(), "inconclusive") {
			t.Fatalf("exit %d", code)
		}
		f := result(t, out)
		absent := map[string]string{"stress": "stress-ng is not installed: a memory copy of our own ran instead"}
		if mounted, err := filepath.Glob("/sys/kernel/*/instances"); err == nil && len(mounted) == 0 { // else it is had
			absent["trace"] = "tracefs is not mounted, and can't be"
		}
		for name, want := range absent {
			r := suiteOf(t, f, name)
			if len(r.Absent) != 1 || !strings.Contains(r.Absent[0].Why, want) || len(r.Invalid) > 0 {
				t.Errorf("%s: %+v, invalid %q", name, r.Absent, r.Invalid)
			}
			if !strings.Contains(strings.Join(strings.Fields(c.stdout.String()), " "), want) {
				t.Errorf("the report does not say %q", want)
			}
		}
		if s := suiteOf(t, f, "stress"); len(s.Noise) != 1 || !strings.Contains(s.Noise[0], "MB/s copied") {
			t.Errorf("%q", s.Noise)
		}
		if said := strings.Contains(strings.Join(f.Warnings, "\n"), "tracing was asked for and not had"); said != (absent["trace"] != "") {
			t.Errorf("warnings %q", f.Warnings)
		}
	})
}

// Noise around a suite alone: verified, in the result in full, and invalid when it died.
func TestNoiseAroundASuite(t *testing.T) {
	if testing.Short() {
		t.Skip("real runs")
	}
	_, err := exec.LookPath("stress-ng")
	needs(t, err == nil, "stress-ng")
	for name, kill := range map[string]bool{"whole": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			alone(t)
			privateTmp(t)
			out := filepath.Join(t.TempDir(), "out")
			c := start(t, "", "suite", "cyclictest", "--duration", "2s", "--stress", "default", "--out", out)
			group := c.stressorOf()
			if group == 0 {
				t.Fatal("stress-ng never started")
			}
			if kill {
				c.phase(bench.PhaseMeasure) // beside a stressor that was seen to work
				if err := syscall.Kill(-group, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			}
			code := c.code()
			r := suiteOf(t, result(t, out), "cyclictest")
			if len(r.Stressors) != 1 || len(r.Noise) != 1 || r.Stressors[0].Role != bench.RoleNoise || r.Stressors[0].Complete == kill {
				t.Errorf("noise %q, stressors %+v", r.Noise, r.Stressors)
			}
			said := strings.Contains(strings.Join(r.Invalid, "\n"), "the noise that was asked for was not there: stress-ng ended by itself")
			if said != kill || kill && code != exitNotMeasured || !kill && code != exitPass {
				t.Errorf("exit %d, invalid %q", code, r.Invalid)
			}
			c.besideLeft(group)
		})
	}
}
