package rt

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestExecEveryThreadInherits(t *testing.T) {
	needFIFO(t)
	cpus, err := Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	var seen threadsSeen
	if err := json.Unmarshal(child(t, "become", nil, nextEnv+"=threads"), &seen); err != nil {
		t.Fatal(err)
	}
	if seen.GoMaxProcs != 1 {
		t.Errorf("GOMAXPROCS is %d, want 1", seen.GoMaxProcs)
	}
	if seen.SoftUS != 200_000 || seen.HardUS != 200_000 {
		t.Errorf("RLIMIT_RTTIME is %d:%d µs, want 200000:200000", seen.SoftUS, seen.HardUS)
	}
	if len(seen.Threads) < 5 {
		t.Errorf("%d threads seen, want at least the 5 that were made", len(seen.Threads))
	}
	for i, a := range seen.Threads {
		if a.Policy != FIFO || a.Priority != 5 || a.ResetOnFork || !slices.Equal(a.CPUs, cpus[len(cpus)-1:]) {
			t.Errorf("thread %d of %d: %+v, want SCHED_FIFO 5 on CPU %d only", i, len(seen.Threads), a, cpus[len(cpus)-1])
		}
	}
}

func TestExecRefuses(t *testing.T) {
	one, two := Attr{Policy: FIFO, Priority: 5, CPUs: []int{1}}, Attr{Policy: FIFO, Priority: 5, CPUs: []int{0, 1}}
	reset := one
	reset.ResetOnFork = true
	rr := one
	rr.Policy = RR
	for _, c := range []struct {
		name    string
		attr    Attr
		env     []string
		refused bool
	}{
		{"one CPU, GOMAXPROCS not set", one, nil, true},
		{"one CPU, GOMAXPROCS=1", one, []string{"GOMAXPROCS=1"}, false},
		{"one CPU, GOMAXPROCS=2", one, []string{"GOMAXPROCS=2"}, true},
		{"one CPU, the first of two counts", one, []string{"GOMAXPROCS=2", "GOMAXPROCS=1"}, true},
		{"one CPU, another variable", one, []string{"GOMAXPROCSX=1"}, true},
		{"one CPU, not a number", one, []string{"GOMAXPROCS=one"}, true},
		{"one CPU, round robin", rr, []string{"GOMAXPROCS=2"}, true},
		{"one CPU, not real time", Attr{CPUs: []int{1}}, nil, false},
		{"two CPUs, GOMAXPROCS=2", two, []string{"GOMAXPROCS=2"}, false},
		{"two CPUs, GOMAXPROCS not set", two, nil, false},
		{"two CPUs, GOMAXPROCS=3", two, []string{"GOMAXPROCS=3"}, true},
		{"reset on fork", reset, []string{"GOMAXPROCS=1"}, true},
		{"no CPU", Attr{CPUs: []int{}}, nil, true},
		{"no priority", Attr{Policy: FIFO, CPUs: []int{1}}, []string{"GOMAXPROCS=1"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := execRefuse(c.attr, c.env); (err != nil) != c.refused {
				t.Errorf("got %v, want refused = %v", err, c.refused)
			}
		})
	}
}

// The refusal must come before anything is changed, and name the way out.
func TestExecRefusalChangesNothing(t *testing.T) {
	cpus, err := Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	onThread(t, func() {
		err := Exec("/proc/self/exe", []string{"never"}, []string{"GOMAXPROCS=2"},
			Attr{Policy: FIFO, Priority: 5, CPUs: cpus[:1]}, 0)
		if err == nil || !strings.Contains(err.Error(), "set GOMAXPROCS=1") {
			t.Errorf("got %v, want the way out", err)
		}
		if a, err := ReadThread(0); err != nil || a.Policy != Other || !slices.Equal(a.CPUs, cpus) {
			t.Errorf("the thread is now %+v, %v", a, err)
		}
	})
}

func TestExecFailureGivesTheThreadBack(t *testing.T) {
	needFIFO(t)
	cpus, err := Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	notAProgram := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(notAProgram, []byte("not a program\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		path string
		want error
		step string
	}{
		"missing":       {filepath.Join(t.TempDir(), "none"), syscall.ENOENT, "execute permission"},
		"not a program": {notAProgram, syscall.ENOEXEC, "execve"},
	} {
		t.Run(name, func(t *testing.T) {
			onThread(t, func() {
				err := Exec(c.path, []string{"x"}, []string{"GOMAXPROCS=1"}, Attr{Policy: FIFO, Priority: 5, CPUs: cpus[:1]}, 0)
				if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.step) {
					t.Errorf("got %v, want %v in step %q", err, c.want, c.step)
				}
				if a, err := ReadThread(0); err != nil || a.Policy != Other || !slices.Equal(a.CPUs, cpus) {
					t.Errorf("the thread is now %+v, %v", a, err)
				}
			})
		})
	}
}

func TestLimitRealTimeRefusesLessThanItsUnit(t *testing.T) {
	for _, d := range []time.Duration{-1, 0, 999} {
		if err := LimitRealTime(d); err == nil {
			t.Errorf("%v accepted", d)
		}
	}
}
