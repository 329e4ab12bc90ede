package lmbench

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"opcycle/rt"
)

// alone pins the calling thread to one CPU, as a probe's is, until the test ends.
func alone(t *testing.T) *bed {
	t.Helper()
	runtime.LockOSThread() // never unlocked: the thread ends with the test's goroutine
	const urgent = 23      // Go's preemption, which a probe does not have: it ends system calls
	rt.SetBlockedSignals(rt.BlockSignals() | 1<<(urgent-1))
	cpus, err := rt.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	if err := rt.SetAffinity(0, cpus[:1]); err != nil {
		t.Fatal(err)
	}
	b := newBed(3)
	b.CPU, b.Other, b.enough = cpus[0], noCPU, int64(2*time.Millisecond)
	return b
}

// The token of a ring proves that every process had it, and the kernel's count of switches
// that the probe left its CPU once a round.
func TestRing(t *testing.T) {
	b := alone(t)
	for _, n := range []int{2, 8} {
		r, err := newRing(b, n, 16<<10)
		if err != nil {
			t.Fatal(err)
		}
		const rounds = 500
		before := rt.ThreadUsage()
		if _, err := r.measure(rounds, n); err != nil {
			t.Error(err)
		}
		after := rt.ThreadUsage()
		// Another's work on this CPU may add switches, never take one away.
		if left := after.Voluntary - before.Voluntary + after.Involuntary - before.Involuntary; left < rounds*98/100 {
			t.Errorf("%d processes: %d switches in %d rounds", n, left, rounds)
		}
		if r.token != uint32(rounds*n) {
			t.Errorf("%d processes: the token is %d", n, r.token)
		}
		if err := r.end(); err != nil {
			t.Error(err)
		}
	}
}

// A ring in which a process does nothing has no figure.
func TestRingThatLosesItsToken(t *testing.T) {
	b := alone(t)
	r, err := newRing(b, 2, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.end(); err != nil {
		t.Error(err)
	}
	own, out, err := rt.RawPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.in, r.out = own, out // the token comes straight back
	if _, err := r.measure(10, 2); err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("the error is %v", err)
	}
}

func TestAPeerThatEndedIsAnError(t *testing.T) {
	alone(t)
	p, err := spawn(func(*wiring) {}, &wiring{}, noCPU)
	if err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(10 * time.Second); !zombie(p.pid); {
		if time.Now().After(end) {
			t.Fatal("it does not end")
		}
	}
	if err := p.end(); err == nil || !strings.Contains(err.Error(), "before its time") {
		t.Errorf("the error is %v", err)
	}
}

func zombie(pid int) bool {
	text, err := slurp(fmt.Sprintf("/proc/%d/status", pid))
	return err == nil && strings.HasPrefix(field(text, "State"), "Z")
}

// Peers on the same and on another CPU, and without a place.
func TestAcross(t *testing.T) {
	b := alone(t)
	cpus := b.CPU
	for name, c := range map[string]struct {
		cpu, other int
		want       []string
	}{
		"one CPU":  {cpus, noCPU, []string{"same CPU"}},
		"two CPUs": {cpus, cpus, []string{"same CPU", " to "}},
		"unpinned": {noCPU, noCPU, []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			b.CPU, b.Other = c.cpu, c.other
			got, err := pipeLatency(b)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(c.want) {
				t.Fatalf("%d readings", len(got))
			}
			for i, g := range got {
				if !strings.Contains(g.Placement, c.want[i]) || g.Value == nil {
					t.Errorf("%+v", g)
				}
			}
		})
	}
}

// Every figure between processes does its round trips in this process too, with peers that
// are processes of their own.
func TestLatencyFigures(t *testing.T) {
	b := alone(t)
	children := func() int {
		text, err := os.ReadFile("/proc/thread-self/children")
		if err != nil {
			t.Skip("the kernel lists no children")
		}
		return len(strings.Fields(string(text)))
	}
	had := children()
	for _, f := range latencyFigures()[1:] {
		got, err := f.run(b)
		if err != nil || len(got) == 0 || got[0].Value == nil || *got[0].Value <= 0 {
			t.Errorf("%s: %+v %v", f.name, got, err)
		}
		if n := children(); n != had {
			t.Errorf("%s left %d children", f.name, n-had)
		}
	}
}
