package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opcycle/bench"
	"opcycle/judge"
)

// A budget that can't hold any more ends a run long before its time: exit code 1, and a
// whole result that says which budget, and when.
func TestAbortOnFail(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--abort-on-fail", "--budget", "execution_time.max < 1us", "--budget", "execution_time.p99 < 60%", "--duration", "60s",
		"--iterations", "200", "--out", out, profile(t, "run: {floor: 0, warm_up: 200ms}", "placement: {rt: auto}"))
	if code := c.code(); code != exitFailed {
		t.Errorf("exit %d", code)
	}
	f := result(t, out)
	if f.Aborted == nil || f.Aborted.Budget != "execution_time.max < 1us" || f.Aborted.Object != "task" || f.Aborted.Value < 1000 || f.Complete || f.Phase.Ran <= 0 || f.Phase.Ran >= 6000 {
		t.Fatalf("%+v after %d cycles", f.Aborted, f.Phase.Ran)
	}
	if v := judge.Judge(f); v.Outcome != judge.Fail {
		t.Errorf("%s: %s", v.Outcome, v.Text)
	}
	contains(t, c.stdout.String(), "was broken for good", "execution_time.p99 < 60% is decided at the end only")
	if code := start(t, "", "verify", out).code(); code != exitPass {
		t.Errorf("verify: exit %d", code)
	}
}

func TestBudgetSets(t *testing.T) {
	c := start(t, "", "budgets")
	if code := c.code(); code != exitPass {
		t.Errorf("exit %d", code)
	}
	contains(t, c.stdout.String(), "process-10ms", "motion-1ms", "servo-250us", "packets.missed <= 0")
	one := start(t, "", "budgets", "process-10ms")
	one.code()
	contains(t, one.stdout.String(), "for a cycle of 10ms", "execution_time.max < 80%", "source: Beckhoff")
	dry := start(t, "", "run", "--dry-run", "--budgets", "process-10ms", "--budget", "packets.late <= 3")
	dry.code()
	contains(t, dry.stdout.String(), "execution_time.max < 80%", "packets.late <= 3")
	own := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(own, []byte("interval: 10ms\nbudgets:\n  - {budget: dead_time.min >= 1ms}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ args, says []string }{
		"unknown":       {[]string{"run", "--budgets", "process"}, []string{"process", "process-10ms"}},
		"another cycle": {[]string{"run", "--budgets", "motion-1ms"}, []string{"motion-1ms", "cycle of 1ms", "plan's is 10ms", "--interval 1ms"}},
		"to deploy":     {[]string{"deploy", "podman", "--budgets", "motion-1ms"}, []string{"cycle of 1ms"}},
		"no source":     {[]string{"run", "--budgets", own}, []string{own + ":3", "no source"}},
		"no file":       {[]string{"budgets", "no/such.yaml"}, []string{"no/such.yaml"}},
	} {
		t.Run(name, func(t *testing.T) { contains(t, refused(t, c.args...), c.says...) })
	}
}

// Text, JUnit, JSON and exit code of one run say the same of every budget.
func TestBudgetsAgreeInEveryForm(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	c := start(t, dir, "run", "--out", "out", "--format", "json=r.json", "--format", "junit=r.xml", "--budget", "execution_time.max < 1us", "--budget", "execution_time.p99.9 < 60%", profile(t, quick(bench.HostServer)...))
	code := c.code()
	v := judge.Judge(result(t, filepath.Join(dir, "out")))
	if v.ExitCode() != code {
		t.Errorf("exit %d, the result's %d", code, v.ExitCode())
	}
	xml, err := os.ReadFile(filepath.Join(dir, "r.xml"))
	if err != nil {
		t.Fatal(err)
	}
	json, err := os.ReadFile(filepath.Join(dir, "r.json"))
	if err != nil {
		t.Fatal(err)
	}
	failed := 0
	for _, b := range v.Budgets {
		if b.Outcome == judge.Fail {
			failed++
		}
		for _, line := range strings.Split(c.stdout.String(), "\n") {
			if strings.HasPrefix(line, b.Budget.Text+" ") && !strings.HasSuffix(strings.TrimSpace(line), string(b.Outcome)) {
				t.Errorf("%s is %s, printed %q", b.Budget, b.Outcome, line)
			}
		}
	}
	if n := strings.Count(string(xml), "<failure "); n != failed {
		t.Errorf("%d failed, %d in JUnit", failed, n)
	}
	if n := strings.Count(string(json), `"outcome": "fail"`); n < failed {
		t.Errorf("%d failed, %d in JSON", failed, n)
	}
}
