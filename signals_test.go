package main

import (
	"fmt"
	"math/rand"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// quick is a run whose floor is left out: 200 cycles of 10 ms, with next to no work.
func quick(host bench.PLCHost) []string {
	return []string{"run: {floor: 0, duration: 2s, warm_up: 500ms}", fmt.Sprintf("plc: {interval: 10ms, iterations: 200, host: %s}", host)}
}

const quickPeriod = 10 * time.Millisecond

// least is how many releases a stop of d must have cost.
func least(d time.Duration) int64 { return int64(d/quickPeriod) - 1 }

// stopped runs a run whose process kind stands still for d in its measuring phase.
func stopped(t *testing.T, host bench.PLCHost, kind string, d time.Duration) (c *command, f bench.File, stood time.Duration) {
	t.Helper()
	alone(t)
	var out string
	for range 3 {
		out = filepath.Join(t.TempDir(), "out")
		c = start(t, "", "run", "--out", out, profile(t, quick(host)...))
		pid := c.child(kind)
		c.phase(bench.PhaseMeasure)
		time.Sleep(700 * time.Millisecond) // into the phase, which is announced 200 ms before it comes
		stood = stop(t, pid, d)
		// A test that was descheduled made another experiment: from 40 ms on, a stop looks
		// like real-time throttling, which is another verdict.
		if c.code(); stood < d+5*time.Millisecond {
			break
		}
		t.Logf("stopped for %s instead of %s: again", stood, d)
	}
	if code := c.code(); code != exitFailed {
		t.Errorf("exit %d, a stopped %s has to fail a budget", code, kind)
	}
	f = identities(t, out)
	leftNothing(t, out)
	if v := verdictLine(c.stdout.String()); !strings.HasPrefix(v, string(judge.Fail)+": ") || strings.HasPrefix(v, "fail: 0 late") {
		t.Errorf("the verdict is %q", v)
	}
	if !f.Complete || len(f.Invalid) > 0 {
		t.Errorf("complete %v, invalid %q", f.Complete, f.Invalid)
	}
	return c, f, stood
}

// A stopped server executes nothing: the releases are skipped, counted as missed by that
// cause, and each has its thief (identities asserts it).
func TestAStoppedServerSkipsReleases(t *testing.T) {
	for _, d := range []time.Duration{30 * time.Millisecond, 100 * time.Millisecond} {
		t.Run(d.String(), func(t *testing.T) {
			_, f, stood := stopped(t, bench.HostServer, bench.ProcessServer, d)
			n := counts{t, f}
			if skipped := n.get("missed", string(bench.SkippedRelease)); skipped < least(stood) {
				t.Errorf("%d releases skipped in a stop of %s", skipped, stood)
			}
			if n.lost() != 0 {
				t.Errorf("%d cycles missed by other causes", n.lost())
			}
			if s := judge.FindSeries(&f, "", "response_time"); *s.Max < int64(stood-quickPeriod) {
				t.Errorf("the longest response time is %s in a stop of %s: the omission is not seen", time.Duration(*s.Max), stood)
			}
		})
	}
}

// A stopped client costs no release of the server: its values come late, or fall out of
// their queue, and are no skipped release.
func TestAStoppedClientIsLateAndSkipsNothing(t *testing.T) {
	_, f, stood := stopped(t, bench.HostServer, bench.ProcessClient, 100*time.Millisecond)
	n := counts{t, f}
	skipped := n.get("missed", string(bench.SkippedRelease))
	// Of the values that fell due in the stop, all but those of its last cycle came after
	// their deadline, unless the machine stalled the server too.
	if got := n.get("packets", "late") + n.get("packets", "missed"); got < least(stood) {
		t.Errorf("%d late or missed in a stop of %s", got, stood)
	}
	if late := n.get("packets", "late"); late == 0 {
		t.Errorf("nothing is late, %d of %d skipped", skipped, f.Phase.N)
	}
	for _, r := range f.Abnormal {
		if r.Outcome == bench.Late && r.Cause == bench.LateTask && (r.Done == nil || *r.Done-int64(r.Second*1e9) <= int64(quickPeriod)) {
			t.Errorf("late by the task, whose release ended in time: %+v", r)
		}
	}
}

// A stopped client that hosts the task skips the task's releases; the server published
// all the same.
func TestAStoppedClientThatHostsTheTaskSkipsItsReleases(t *testing.T) {
	_, f, stood := stopped(t, bench.HostClient, bench.ProcessClient, 100*time.Millisecond)
	execution, response := judge.FindSeries(&f, "", "execution_time"), judge.FindSeries(&f, "", "response_time")
	if skipped := f.Phase.N - execution.Count; skipped < least(stood) {
		t.Errorf("the client's task skipped %d releases in a stop of %s", skipped, stood)
	}
	if response.Count != f.Phase.N {
		t.Errorf("%d response times of %d releases", response.Count, f.Phase.N)
	}
}

// A stopped server costs the task in the client nothing but fresh values.
func TestAStoppedServerLeavesTheTaskInTheClientRunning(t *testing.T) {
	_, f, stood := stopped(t, bench.HostClient, bench.ProcessServer, 100*time.Millisecond)
	n := counts{t, f}
	if skipped := n.get("missed", string(bench.SkippedRelease)); skipped < least(stood) {
		t.Errorf("the server skipped %d releases in a stop of %s", skipped, stood)
	}
	if stale := n.get("inputs", "stale"); stale < least(stood) {
		t.Errorf("%d releases ran on an old value in a stop of %s", stale, stood)
	}
}

// A process that is killed ends the run with a partial result that claims nothing.
func TestAKilledProcessEndsTheRun(t *testing.T) {
	for _, host := range []bench.PLCHost{bench.HostServer, bench.HostClient} {
		for _, kind := range []string{bench.ProcessServer, bench.ProcessClient} {
			t.Run(fmt.Sprintf("task in the %s/%s", host, kind), func(t *testing.T) {
				alone(t)
				out := filepath.Join(t.TempDir(), "out")
				c := start(t, "", "run", "--out", out, profile(t, quick(host)...))
				pid := c.child(kind)
				c.phase(bench.PhaseMeasure)
				time.Sleep(700 * time.Millisecond) // into the phase
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				killed := time.Now()
				code := c.code()
				t.Logf("ended %s after the kill", time.Since(killed))
				if d := time.Since(killed); code != exitNotMeasured || d > 30*time.Second {
					t.Errorf("exit %d, %s after the kill", code, d)
				}
				partial(t, c, out)
				leftNothing(t, out)
			})
		}
	}
}

// partial asserts that what is in out is marked incomplete, and that nothing is claimed.
func partial(t *testing.T, c *command, out string) bench.File {
	t.Helper()
	f := result(t, out)
	if f.Complete || len(f.Invalid) == 0 {
		t.Errorf("complete %v, invalid %q", f.Complete, f.Invalid)
	}
	v := verdictLine(c.stdout.String())
	if !strings.HasPrefix(v, string(judge.Inconclusive)+": ") || !strings.Contains(v, "incomplete") || strings.Contains(v, "0 missed") || strings.Contains(v, "0 late or missed") {
		t.Errorf("the verdict is %q", v)
	}
	if f.Phase.Ran > 0 {
		n := counts{t, f}
		if a, b := n.get("packets", "on_time")+n.get("packets", "late")+n.get("packets", "missed"), n.get("packets", "expected"); a != b || b != f.Phase.Ran {
			t.Errorf("%d cycles have an outcome, %d were expected, %d ran", a, b, f.Phase.Ran)
		}
	}
	for i := range f.Series {
		series(t, &f.Series[i])
	}
	names(t, f)
	reportsTheSame(t, c, out, exitNotMeasured)
	return f
}

// An interrupt at any moment ends everything and keeps what was measured.
func TestAnInterruptEndsTheRunAndKeepsWhatWasMeasured(t *testing.T) {
	seed := rand.New(rand.NewSource(20261130))
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		for _, moment := range []struct {
			phase  string
			spread time.Duration
		}{
			{bench.PhaseStart, 50 * time.Millisecond}, {bench.PhaseConnect, 50 * time.Millisecond},
			{bench.PhaseWarmUp, 400 * time.Millisecond}, {bench.PhaseFloor, 600 * time.Millisecond},
			{bench.PhaseMeasure, 1500 * time.Millisecond}, {bench.PhaseDrain, 300 * time.Millisecond},
		} {
			after := time.Duration(seed.Int63n(int64(moment.spread)))
			t.Run(fmt.Sprintf("%s/%s+%s", s, moment.phase, after.Round(time.Millisecond)), func(t *testing.T) {
				alone(t)
				interrupt(t, s, moment.phase, after)
			})
		}
	}
}

func interrupt(t *testing.T, s syscall.Signal, phase string, after time.Duration) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--out", out, profile(t, "run: {floor: 20, duration: 2s, warm_up: 500ms}", "plc: {interval: 10ms, iterations: 200}"))
	c.phase(phase)
	time.Sleep(after) // the moment is the test's input
	c.signal(s)
	sent := time.Now()
	code := c.code()
	t.Logf("ended %s after %s", time.Since(sent).Round(time.Millisecond), s)
	if d := time.Since(sent); d > 10*time.Second {
		t.Errorf("it took %s to end; the product's limit is 2 s", d)
	}
	leftNothing(t, out)
	if !exists(out) {
		if phase != bench.PhaseStart && phase != bench.PhaseConnect {
			t.Error("there is no result, though the run was under way")
		}
		if code != exitNotMeasured {
			t.Errorf("exit %d without a result", code)
		}
		return
	}
	if code != exitNotMeasured {
		t.Errorf("exit %d", code)
	}
	partial(t, c, out)
}
