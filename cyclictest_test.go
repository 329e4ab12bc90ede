package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/imports"
)

func TestCyclictestAlone(t *testing.T) {
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "suite", "cyclictest", "--duration", "500ms", "--text", "c.txt", "--json", "c.json", "--out", out)
	if code := c.code(); code != exitPass {
		t.Fatalf("exit %d: %s", code, c.stderr.String())
	}
	f := result(t, out)
	if len(f.Suites) != 1 || !f.Complete || len(f.Suites[0].Series) != 1 {
		t.Fatalf("%d suites, complete %v", len(f.Suites), f.Complete)
	}
	contains(t, c.stdout.String(), "Total Samples", "Minimum Latencies (µs)", "345600000", "missed instants (overruns)", "p99.9999", "Histogram in µs", "the worst")
	reportsTheSame(t, c, out, exitPass)
	if v := start(t, "", "verify", filepath.Join(out, "run.json")); v.code() != exitPass {
		t.Errorf("verify: %s", v.stderr.String())
	}
	for _, name := range []string{"c.txt", "c.json"} { // in rt-tests' forms, as one of its readers finds them
		data, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		run, err := imports.ReadCyclictest(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if n := f.Suites[0].Series[0].Count; len(run.Threads) != 1 || run.Threads[0].Cycles != n {
			t.Errorf("%s holds %+v, the result %d cycles", name, run.Threads, n)
		}
	}
}

// Without the privilege a run measures as it can and says so, or, if it must not, ends
// before it measures.
func TestCyclictestWithoutPrivilege(t *testing.T) {
	needs(t, os.Getuid() == 0, "root, to give it up")
	alone(t)
	if err := os.Chmod(filepath.Dir(executable(t)), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		rt   string
		code int
		says []string
	}{
		{"auto", exitPass, []string{"not had: SCHED_FIFO 99 on CPU", "CAP_SYS_NICE", "SCHED_OTHER, timer slack 1ns", "no figures of a real-time system"}},
		{"off", exitPass, []string{"SCHED_OTHER, timer slack 1ns"}},
		{"require", exitNotMeasured, []string{"suite cyclictest: "}},
	} {
		t.Run(tc.rt, func(t *testing.T) {
			dir := t.TempDir()
			for _, d := range []string{dir, filepath.Dir(dir)} {
				if err := os.Chmod(d, 0o777); err != nil {
					t.Fatal(err)
				}
			}
			out := filepath.Join(dir, "out")
			c := startAs(t, 65534, "suite", "cyclictest", "--duration", "300ms", "--rt", tc.rt, "--out", out)
			if code := c.code(); code != tc.code || exists(out) != (code == exitPass) {
				t.Errorf("exit %d, a result: %v", code, exists(out))
			}
			contains(t, c.stdout.String()+c.stderr.String(), tc.says...)
			if tc.rt == "off" && strings.Contains(c.stdout.String(), "not had: SCHED_FIFO") {
				t.Error("what was not asked for is not had")
			}
		})
	}
}

// An interrupt keeps what was measured; a killed conductor leaves nothing that spins.
func TestCyclictestInterrupted(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGKILL} {
		t.Run(s.String(), func(t *testing.T) {
			alone(t)
			out := filepath.Join(t.TempDir(), "out")
			c := start(t, "", "suite", "cyclictest", "--duration", "10m", "--out", out)
			c.phase(bench.PhaseMeasure)
			c.signal(s)
			sent := time.Now()
			code := c.code()
			if d := time.Since(sent); d > 10*time.Second {
				t.Errorf("it took %s", d)
			}
			for end := time.Now().Add(10 * time.Second); len(processes(t)) > 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("left behind: %v", processes(t))
				}
			}
			if s == syscall.SIGKILL {
				return
			}
			leftNothing(t, out)
			f := result(t, out)
			if r := f.Suites[0]; code != exitNotMeasured || f.Complete || len(r.Series) != 1 || r.Series[0].Count == 0 || len(r.Invalid) > 0 {
				t.Errorf("exit %d, complete %v, %d series, invalid %q", code, f.Complete, len(r.Series), r.Invalid)
			}
			contains(t, verdictLine(c.stdout.String()), "ended before its plan's end")
		})
	}
}

// The conductor's main thread, which /proc/self is, keeps its place, however many probes
// were started by threads that moved and ended.
func TestAConductorsMainThreadKeepsItsPlace(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many probes")
	}
	needs(t, runtime.NumCPU() > 1, "two CPUs")
	alone(t)
	c := start(t, "", "suite", "cyclictest", "--cross-check", "--pairs", "12", "--slice", "100ms", "--out", filepath.Join(t.TempDir(), "out"))
	place := func() string {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.cmd.Process.Pid))
		if err != nil {
			return "" // it has ended
		}
		_, rest, _ := strings.Cut(string(data), "Cpus_allowed_list:")
		line, _, _ := strings.Cut(rest, "\n")
		return strings.TrimSpace(line)
	}
	c.says("pair 1 of 12") // it has left the measured CPU, once and for all
	before := place()
	c.until(func() bool {
		if now := place(); now != "" && now != before {
			t.Errorf("the main thread went from CPUs %s to %s", before, now)
			return true
		}
		return false
	})
	if code := c.code(); code != exitPass {
		t.Errorf("exit %d: %s", code, c.stderr.String())
	}
}

func TestCyclictestRefuses(t *testing.T) {
	for args, want := range map[string]string{
		"--interval 5us":                     `invalid argument "5us" for "--interval" flag: 5µs is too short; use 20µs or more`,
		"--priority 0":                       "write a whole number from 1 to 99",
		"--engine c":                         `"c" is not known`,
		"--cpus 4096":                        "CPU 4096",
		"--cross-check --engine rt-tests":    "leave --engine away",
		"--interval 100ms --duration 200ms":  "is too short for --interval",
		"--text ../x --duration 100ms":       "only a name is allowed",
		"--cross-check --histogram 0":        "leave --histogram away",
		"--engine rt-tests --interval 250ns": "too short",
	} {
		said := refused(t, append([]string{"suite", "cyclictest"}, strings.Fields(args)...)...)
		contains(t, said, want)
		if strings.Contains(said, "panic") {
			t.Errorf("%s: %s", args, said)
		}
	}
}

// startAs is start as another user.
func startAs(t *testing.T, uid uint32, args ...string) *command {
	t.Helper()
	return startBinary(t, "", "/usr/bin/setpriv", append([]string{"--reuid", fmt.Sprint(uid), "--regid", fmt.Sprint(uid), "--clear-groups", executable(t)}, args...)...)
}
