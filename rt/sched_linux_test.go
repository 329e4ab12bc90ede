package rt

import (
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// onThread runs f on a thread that ends with it, so that what f sets stays nowhere.
func onThread(t *testing.T, f func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done) // also when f calls t.FailNow
		runtime.LockOSThread()
		f()
	}()
	<-done
}

// needFIFO skips where real-time policies are refused, and fails there in CI, which has
// the privilege.
func needFIFO(t *testing.T) {
	t.Helper()
	var err error
	onThread(t, func() { err = SetThread(0, Attr{Policy: FIFO, Priority: 1}) })
	if err == nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI must be allowed SCHED_FIFO: %v", err)
	}
	t.Skipf("needs SCHED_FIFO: %v", err)
}

func TestThreadReadsBackAsSet(t *testing.T) {
	needFIFO(t)
	own, err := Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	last := own[len(own)-1:]
	for name, want := range map[string]Attr{
		"fifo":               {Policy: FIFO, Priority: 5, CPUs: last},
		"fifo reset on fork": {Policy: FIFO, Priority: 99, CPUs: own, ResetOnFork: true},
		"round robin":        {Policy: RR, Priority: 1, CPUs: last},
		"batch":              {Policy: Batch, CPUs: last},
		"idle":               {Policy: Idle, CPUs: last},
		"other":              {Policy: Other, CPUs: own},
	} {
		t.Run(name, func(t *testing.T) {
			onThread(t, func() {
				if err := SetThread(0, want); err != nil {
					t.Error(err)
					return
				}
				got, err := ReadThread(Gettid())
				if err != nil {
					t.Error(err)
					return
				}
				if got.Policy != want.Policy || got.Priority != want.Priority || got.ResetOnFork != want.ResetOnFork ||
					!slices.Equal(got.CPUs, want.CPUs) {
					t.Errorf("set %+v, read back %+v", want, got)
				}
			})
		})
	}
}

func TestSetThreadWithoutCPUsLeavesTheAffinity(t *testing.T) {
	onThread(t, func() {
		before, err := Affinity(0)
		if err != nil {
			t.Error(err)
			return
		}
		if err := SetAffinity(0, before[:1]); err != nil {
			t.Error(err)
			return
		}
		if err := SetThread(0, Attr{Policy: Batch}); err != nil {
			t.Error(err)
		}
		if after, err := Affinity(0); err != nil || !slices.Equal(after, before[:1]) {
			t.Errorf("affinity is %v, %v; want %v", after, err, before[:1])
		}
	})
}

func TestSetThreadRefuses(t *testing.T) {
	for name, a := range map[string]Attr{
		"fifo without priority": {Policy: FIFO},
		"fifo above 99":         {Policy: FIFO, Priority: 100},
		"other with priority":   {Policy: Other, Priority: 1},
		"deadline":              {Policy: Deadline},
	} {
		if err := SetThread(0, a); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestSetAffinityRefusesWhatTheKernelWouldReduce(t *testing.T) {
	onThread(t, func() {
		own, err := Affinity(0)
		if err != nil {
			t.Error(err)
			return
		}
		for name, cpus := range map[string][]int{
			"none":                     {},
			"negative":                 {-1},
			"beyond any kernel":        {maxCPUs},
			"offline":                  {maxCPUs - 1},
			"one here and one offline": {own[0], maxCPUs - 1},
		} {
			if err := SetAffinity(0, cpus); err == nil {
				t.Errorf("%s: CPUs %v accepted", name, cpus)
			}
		}
	})
}

func TestErrorsKeepTheErrno(t *testing.T) {
	const nobody = 1 << 30 // above the kernel's largest pid
	if err := SetThread(nobody, Attr{}); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("SetThread of no thread: %v, want ESRCH", err)
	}
	if _, err := ReadThread(nobody); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("ReadThread of no thread: %v, want ESRCH", err)
	}
	if err := SetAffinity(nobody, []int{0}); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("SetAffinity of no thread: %v, want ESRCH", err)
	}
}

func TestThreadsHasTheCallingOne(t *testing.T) {
	onThread(t, func() {
		tids, err := Threads()
		if err != nil || !slices.IsSorted(tids) || !slices.Contains(tids, Gettid()) || !slices.Contains(tids, os.Getpid()) {
			t.Errorf("Threads() = %v, %v; want %d and %d among them, ascending", tids, err, Gettid(), os.Getpid())
		}
	})
}

func TestTimerSlack(t *testing.T) {
	onThread(t, func() {
		if err := SetTimerSlack(1); err != nil {
			t.Error(err)
		}
		if got, err := TimerSlack(); err != nil || got != 1 {
			t.Errorf("timer slack is %v, %v; want 1ns", got, err)
		}
		if err := SetTimerSlack(0); err == nil {
			t.Error("0, the kernel's word for the default, was accepted")
		}
	})
}

func TestPolicyNames(t *testing.T) {
	for p, want := range map[Policy]string{Other: "SCHED_OTHER", FIFO: "SCHED_FIFO", Deadline: "SCHED_DEADLINE", 4: "policy 4"} {
		if got := p.String(); got != want {
			t.Errorf("%d is %q, want %q", int(p), got, want)
		}
	}
	if err := (Attr{Policy: FIFO}).validate(); err == nil || !strings.Contains(err.Error(), "1 to 99") {
		t.Errorf("the refusal does not name the way out: %v", err)
	}
}
