package stress

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/prometheus/procfs"

	"opcycle/bench"
)

func job(progress func(bench.Progress)) bench.Job {
	if progress == nil {
		progress = func(bench.Progress) {}
	}
	return bench.Job{Root: "/", Housekeeping: []int{0}, Measured: []int{1}, Progress: progress}
}

// needed is for the real stress-ng, which CI has to have.
func needed(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath(engineStressNG); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI has to have stress-ng")
		}
		t.Skip("needs stress-ng")
	}
}

func TestTheRealStressorIsVerified(t *testing.T) {
	needed(t)
	r := New()
	r.Duration = 1500 * time.Millisecond
	verified := false
	got, err := r.Run(t.Context(), job(func(p bench.Progress) { verified = verified || p.Text == Verified }))
	if err != nil || !got.Complete || len(got.Invalid) > 0 || !verified {
		t.Fatalf("%+v, %v, verified %v", got, err, verified)
	}
	found := map[string]bool{}
	for _, f := range got.Figures {
		if f.Value != nil && *f.Value > 0 || f.Text != "" {
			found[f.Series+"."+f.Statistic] = true
		}
		if f.Series == "cpus" && f.Text != "0" {
			t.Errorf("seen on CPUs %q, was given 0", f.Text)
		}
	}
	for _, want := range []string{"bogo_ops.count", "bogo_ops.rate", "cpu.sum", "cpus.seen"} {
		if !found[want] {
			t.Errorf("%s is not in %+v", want, got.Figures)
		}
	}
	if len(got.Noise) != 1 || !strings.Contains(got.Noise[0], "--memcpy 1 on CPUs 0") {
		t.Errorf("%q", got.Noise)
	}
}

func TestAStressorThatDiesIsFound(t *testing.T) {
	needed(t)
	r := New()
	r.Args, r.Duration = "--memcpy 1 --memcpy-ops 1", 30*time.Second
	got, err := r.Run(t.Context(), job(nil))
	if err != nil || got.Complete || len(got.Invalid) == 0 || !strings.Contains(got.Invalid[0], "ended by itself") {
		t.Errorf("%+v, %v", got, err)
	}
}

// A worker that is killed, or told to end, leaves the others and stress-ng itself going on:
// a part of the noise that was asked for.
func TestAWorkerThatDiesIsFound(t *testing.T) {
	needed(t)
	for _, signal := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM} {
		t.Run(signal.String(), func(t *testing.T) {
			r := New()
			r.Args, r.Duration = "--cpu 2 --fault 1", 30*time.Second
			looks, victim := 0, 0
			got, err := r.Run(t.Context(), job(func(bench.Progress) {
				if looks++; looks == 3 { // it was seen to work in two of them
					victim = workerOf(t, "stress-ng-cpu")
					if err := syscall.Kill(victim, signal); err != nil {
						t.Error(err)
					}
				}
			}))
			if err != nil || got.Complete || len(got.Invalid) != 1 || !strings.Contains(got.Invalid[0], fmt.Sprintf("stress-ng-cpu (process %d) ended by itself", victim)) {
				t.Errorf("%+v, %v", got.Invalid, err)
			}
			if len(got.Figures) == 0 {
				t.Error("what the others did is lost")
			}
		})
	}
}

// workerOf is a grandchild of this process by its name.
func workerOf(t *testing.T, name string) int {
	t.Helper()
	fs, err := procfs.NewFS("/proc")
	if err != nil {
		t.Fatal(err)
	}
	procs, err := fs.AllProcs()
	if err != nil {
		t.Fatal(err)
	}
	parent := map[int]int{}
	var named []int
	for _, p := range procs {
		if s, err := p.Stat(); err == nil {
			parent[p.PID] = s.PPID
			if s.Comm == name {
				named = append(named, p.PID)
			}
		}
	}
	for _, pid := range named {
		if parent[parent[pid]] == os.Getpid() {
			return pid
		}
	}
	t.Fatalf("no %s below this process", name)
	return 0
}

func TestArgumentsThatCantBeTaken(t *testing.T) {
	for _, args := range []string{"", "--memcpy 1 --timeout 5", "-t 5 --cpu 1", "--yaml=x --cpu 1"} {
		r := New()
		r.Args = args
		if _, err := r.arguments("m"); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
	needed(t)
	r := New()
	r.Args, r.Duration = "--no-such-stressor 1", 5*time.Second
	got, err := r.Run(t.Context(), job(nil))
	if err != nil || len(got.Invalid) == 0 || !strings.Contains(got.Invalid[0], "no-such-stressor") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestAnEndedContextLeavesNoStressor(t *testing.T) {
	needed(t)
	ctx, cancel := context.WithCancel(t.Context())
	r := New()
	r.Duration = time.Minute
	started := make(chan struct{}, 1)
	go func() { <-started; cancel() }()
	got, err := r.Run(ctx, job(func(bench.Progress) {
		select {
		case started <- struct{}{}:
		default:
		}
	}))
	if err != nil || got.Complete {
		t.Errorf("%+v, %v", got, err)
	}
	if got.Figures[0].Value == nil || *got.Figures[0].Value <= 0 {
		t.Errorf("what it did until then is lost: %+v", got.Figures)
	}
}

func TestWithoutStressNG(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	r := New()
	if path, why, err := r.program(); path != "" || why == "" || err != nil {
		t.Errorf("auto: %q, %q, %v", path, why, err)
	}
	r.Engine = engineStressNG
	if _, _, err := r.program(); err == nil || !strings.Contains(err.Error(), "dnf install") {
		t.Errorf("required: %v", err)
	}
	r.Engine = engineBuiltin
	if path, why, err := r.program(); path != "" || why != "" || err != nil {
		t.Errorf("builtin: %q, %q, %v", path, why, err)
	}
}
