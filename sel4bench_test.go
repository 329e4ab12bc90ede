package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"opcycle/bench"
)

// The relations of suites.md, 2.2 (d), on real short runs; a relation that noise can
// reverse is tried three times.
func TestSel4benchRelations(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	alone(t)
	var broken []string
	for range 3 {
		dir := t.TempDir()
		c := start(t, dir, "suite", "sel4bench", "--quick", "--rt", "require", "--out", "out")
		if code := c.code(); code != exitPass {
			t.Fatalf("exit %d:\n%s", code, c.stdout.String())
		}
		f := result(t, filepath.Join(dir, "out"))
		sel4Whole(t, f)
		if broken = sel4Broken(f.Suites[0].Readings); broken == nil {
			return
		}
	}
	t.Errorf("in three runs: %s", strings.Join(broken, "; "))
}

// sel4Whole asserts that every row has its number, spread, place and policy.
func sel4Whole(t *testing.T, f bench.File) {
	t.Helper()
	if !f.Complete || len(f.Suites) != 1 || len(f.Suites[0].Readings) != 22 {
		t.Fatalf("complete %v, %d suites", f.Complete, len(f.Suites))
	}
	for _, g := range f.Suites[0].Readings {
		if g.Name == "irq_invoke" && g.Value == nil && strings.Contains(g.NA, "another thread had the spinner's CPU") {
			continue // a machine too busy for a spinner says so
		}
		if g.Value == nil || g.StdDev == nil || *g.Min <= 0 || *g.Min > *g.Median || *g.Median > *g.P99 || *g.P99 > *g.Max || g.N < 2 {
			t.Errorf("%+v", g)
			continue
		}
		if !strings.HasPrefix(g.Placement, "same CPU ") || !strings.Contains(g.Policy, "SCHED_FIFO") || g.Unit == "" {
			t.Errorf("%s by %s: at %q, %q, in %q", g.Name, g.Mechanism, g.Placement, g.Policy, g.Unit)
		}
	}
}

func sel4Broken(rows []bench.Reading) (out []string) {
	of := func(name, mechanism string) *bench.Reading {
		for i := range rows {
			if g := &rows[i]; g.Table == "sel4bench" && g.Name == name && g.Mechanism == mechanism && g.Value != nil {
				return g
			}
		}
		return nil
	}
	floor := of("null_system_call", "getppid")
	for _, g := range rows {
		if g.Table == "sel4bench" && g.Value != nil && g.Name != "null_system_call" && g.Name != "counter_read" && *g.Min <= *floor.Min {
			out = append(out, fmt.Sprintf("%s by %s, %.0f, is not above a null system call, %.0f", g.Name, g.Mechanism, *g.Min, *floor.Min))
		}
	}
	for _, via := range []string{"futex", "eventfd", "pipe"} {
		call, reply, notify := of("ipc_call", via), of("ipc_reply", via), of("notify", via)
		if ratio := *call.Median / *reply.Median; ratio < 0.5 || ratio > 2 {
			out = append(out, fmt.Sprintf("over %s a call is %.2f times a reply", via, ratio))
		}
		if *call.Min <= 0.8**notify.Min {
			out = append(out, fmt.Sprintf("over %s an IPC of %.0f is less than 0.8 times a notification of %.0f", via, *call.Min, *notify.Min))
		}
	}
	return out
}
