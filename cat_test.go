package main

import (
	"os"
	"path/filepath"
	"testing"

	"opcycle/bench"
)

// A cache allocation that a run requires and that can't be had ends it before it measures;
// one that it would like is in the result as not had.
func TestRunWithCAT(t *testing.T) {
	if _, err := os.Stat("/sys/fs/resctrl/info"); err == nil {
		t.Skip("this machine has resctrl: run/catrun_linux_test.go is of what is written")
	}
	contains(t, refused(t, "run", "--cat", "require"), "--cat require: CAT not applied", "CPUID")
	contains(t, refused(t, "run", "--cat-rt-mask", "f0"), "--cat-rt-mask", "cat is off", "cat.mode: auto")
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--cat", "auto", "--out", out, profile(t, quick(bench.HostServer)...))
	c.code()
	f := result(t, out)
	if f.CAT == nil || f.CAT.Applied || f.CAT.Why == "" {
		t.Errorf("%+v", f.CAT)
	}
	contains(t, c.stdout.String(), "cache allocation auto", "cache allocation: not applied: ", "was asked for and not had")
}
