package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/rt"
	"opcycle/workloads"
)

// This test binary is also a probe and a conductor: tests start it as those.
const (
	asProbe     = "probe"
	asConductor = "conductor"
	asCAT       = "cat"
)

func TestMain(m *testing.M) {
	var err error
	switch {
	case len(os.Args) == 4 && os.Args[1] == asProbe:
		runtime.LockOSThread()
		var size int
		if size, err = strconv.Atoi(os.Args[3]); err == nil {
			err = workloads.ServeProbe(testProbes()[os.Args[2]], 3, 4, size)
		}
	case len(os.Args) == 3 && os.Args[1] == asConductor:
		err = conduct(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == asCampaign:
		err = leadTicks(os.Args[2])
	case len(os.Args) == 3 && os.Args[1] == asCAT:
		err = conductCAT(os.Args[2])
	default:
		runtime.LockOSThread() // as main does: no probe's starter ends on the main thread
		os.Exit(m.Run())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// seen is what a probe tells of itself.
type seen struct {
	Input   string
	Env     []string
	MaxProc int
	CPUs    []int // of the main thread
	Main    bool  // it runs on it
}

func testProbes() map[string]bench.Probe {
	prepared := func(then func(p *bench.ProbeSide) error) bench.Probe {
		return func(p *bench.ProbeSide) error {
			if err := p.Ready(); err != nil {
				return err
			}
			return then(p)
		}
	}
	untilStop := func(p *bench.ProbeSide) {
		for atomic.LoadUint32(p.Stop) == 0 {
		}
	}
	return map[string]bench.Probe{
		"answer": prepared(func(p *bench.ProbeSide) error {
			s := seen{Env: os.Environ(), MaxProc: runtime.GOMAXPROCS(0), Main: rt.Gettid() == os.Getpid()}
			if err := p.Decode(&s.Input); err != nil {
				return err
			}
			var err error
			if s.CPUs, err = rt.Affinity(0); err != nil {
				return err
			}
			p.Mem[0]++
			p.Mem[len(p.Mem)-1]++
			return p.Answer(s)
		}),
		"pinned": func(p *bench.ProbeSide) error {
			var cpu int
			if err := errors.Join(p.Decode(&cpu), rt.SetAffinity(0, []int{cpu}), p.Ready()); err != nil {
				return err
			}
			return p.Answer(nil)
		},
		"error":      prepared(func(*bench.ProbeSide) error { return errors.New("no such luck") }),
		"unprepared": func(*bench.ProbeSide) error { return errors.New("no memory for it") },
		"forgetful":  prepared(func(*bench.ProbeSide) error { return nil }),
		"silent":     prepared(func(*bench.ProbeSide) error { os.Exit(0); return nil }),
		"exit":       prepared(func(*bench.ProbeSide) error { os.Exit(7); return nil }),
		"killed":     prepared(func(*bench.ProbeSide) error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) }),
		"panic":      prepared(func(*bench.ProbeSide) error { panic("out of luck") }),
		"spin":       prepared(func(p *bench.ProbeSide) error { untilStop(p); return p.Answer("stopped") }),
		"deaf": func(p *bench.ProbeSide) error { // in its loop, and never ready: only the kernel can end it
			p.Mem[0] = 1
			untilStop(p)
			return p.Answer(nil)
		},
		"peer": prepared(func(p *bench.ProbeSide) error { // dies and leaves one that has its standard error
			c := exec.Command("sleep", "600")
			c.Stderr = os.Stderr
			if err := c.Start(); err != nil {
				return err
			}
			return p.Answer(c.Process.Pid)
		}),
		"lingers": prepared(func(p *bench.ProbeSide) error { err := p.Answer(nil); untilStop(p); return err }),
	}
}

func testProber() Prober {
	return Prober{Exe: "/proc/self/exe", Args: func(_, probe string, size int) []string { return []string{asProbe, probe, strconv.Itoa(size)} }}
}

// own are the CPUs that this process may use.
func own(t *testing.T) []int {
	t.Helper()
	cpus, err := rt.Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	return cpus
}

// order starts a probe of the above, which the test closes at its end.
func order(t *testing.T, ctx context.Context, o bench.ProbeOrder) *bench.ProbeRun {
	t.Helper()
	o.Suite = "test"
	p, err := testProber().Start(ctx, o, own(t)[:1])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Close()
		p.Close() // any number of times
		if alive(p.PID) {
			t.Errorf("process %d outlives Close", p.PID)
		}
	})
	return p
}

// lead brings a probe to its end and returns how it ended.
func lead(p *bench.ProbeRun, answer any) error {
	if err := p.Ready(); err != nil {
		return err
	}
	if err := p.Go(); err != nil {
		return err
	}
	return p.Wait(answer)
}

func alive(pid int) bool {
	stat, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	return err == nil && !bytes.Contains(stat, []byte(") Z "))
}

// gone waits for the end of a process that has to end by itself.
func gone(t *testing.T, pid int) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); alive(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d does not end", pid)
		}
	}
}

// A probe has its order, its memory, the environment of suites.md R2 and its CPUs.
func TestAProbeAnswers(t *testing.T) {
	t.Setenv("GOMEMLIMIT", "1GiB")
	t.Setenv("GOGC", "50")
	p := order(t, t.Context(), bench.ProbeOrder{Probe: "answer", Input: "an order", Shared: 10_000})
	if len(p.Mem) != 10_000 || p.Mem[0] != 0 {
		t.Fatalf("%d bytes, the first is %d", len(p.Mem), p.Mem[0])
	}
	p.Mem[0], p.Mem[9_999] = 41, 6
	var s seen
	if err := lead(p, &s); err != nil {
		t.Fatal(err)
	}
	if p.Mem[0] != 42 || p.Mem[9_999] != 7 {
		t.Errorf("its writes are not seen: %d, %d", p.Mem[0], p.Mem[9_999])
	}
	if s.Input != "an order" || s.MaxProc != 2 || !s.Main || !slices.Equal(s.CPUs, own(t)[:1]) {
		t.Errorf("the probe saw %+v", s)
	}
	for _, want := range []string{"GOGC=off", "GODEBUG=asyncpreemptoff=1", "GOMAXPROCS=2"} {
		if name, _, _ := strings.Cut(want, "="); !slices.Contains(s.Env, want) || count(s.Env, name) != 1 {
			t.Errorf("the environment of the probe lacks %s, or has more: %q", want, s.Env)
		}
	}
	if count(s.Env, "GOMEMLIMIT") != 0 || count(s.Env, "PATH") != 1 {
		t.Errorf("GOMEMLIMIT is in the environment, or PATH is not: %q", s.Env)
	}
	select {
	case <-p.Done:
	default:
		t.Error("its end is not told")
	}
}

func count(env []string, name string) int {
	n := 0
	for _, e := range env {
		if strings.HasPrefix(e, name+"=") {
			n++
		}
	}
	return n
}

// The runtime's threads stay at home, and the one that moved is told to measure.
func TestAPinnedProbeLeavesItsRuntimeAtHome(t *testing.T) {
	cpus := own(t)
	measured := cpus[len(cpus)-1]
	p := order(t, t.Context(), bench.ProbeOrder{Probe: "pinned", Input: measured})
	if err := p.Ready(); err != nil {
		t.Fatal(err)
	}
	info, err := p.Info()
	if err != nil {
		t.Fatal(err)
	}
	if info.PID != p.PID || info.MaxProcs != 2 || len(info.Threads) < 2 {
		t.Errorf("%+v", info)
	}
	for _, th := range info.Threads {
		want, role := cpus[:1], "runtime"
		if th.TID == p.PID {
			want, role = []int{measured}, "measuring"
		}
		if len(cpus) > 1 && (!slices.Equal(th.CPUs, want) || th.Role != role) {
			t.Errorf("thread %+v, want %s on %v", th, role, want)
		}
	}
	if err := errors.Join(p.Go(), p.Wait(nil)); err != nil {
		t.Error(err)
	}
}

// However a probe ends without its answer, its error says so.
func TestAProbeThatFailsSaysHow(t *testing.T) {
	for name, want := range map[string]string{
		"error":      "test/error: no such luck",
		"unprepared": "test/unprepared: no memory for it",
		"forgetful":  "the probe ended without an answer",
		"silent":     "test/silent ended without a word where answer was due",
		"exit":       "test/exit ended: exit status 7",
		"killed":     "test/killed ended: signal: killed",
		"panic":      "out of luck",
		"unknown":    "invalid memory address", // a nil probe: its panic reaches the conductor
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := lead(order(t, t.Context(), bench.ProbeOrder{Probe: name}), nil); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		})
	}
}

// A probe that hangs is killed by its limit and named.
func TestAProbeThatHangsIsKilled(t *testing.T) {
	p := order(t, t.Context(), bench.ProbeOrder{Probe: "spin", Limit: 200 * time.Millisecond})
	if err := lead(p, nil); err == nil || !strings.Contains(err.Error(), "test/spin hung") {
		t.Errorf("%v", err)
	}
	if alive(p.PID) {
		t.Error("it still runs")
	}
}

// One that has answered and does not end is killed too.
func TestAProbeThatLingersIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("5 s")
	}
	p := order(t, t.Context(), bench.ProbeOrder{Probe: "lingers"})
	if err := lead(p, nil); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("%v", err)
	}
}

// The end of the context, and Stop, raise the stop word: the probe ends with its answer.
func TestTheStopWordEndsAProbe(t *testing.T) {
	for name, stop := range map[string]func(p *bench.ProbeRun, cancel func()){
		"context": func(_ *bench.ProbeRun, cancel func()) { cancel() },
		"Stop":    func(p *bench.ProbeRun, _ func()) { p.Stop(); p.Stop() },
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		p := order(t, ctx, bench.ProbeOrder{Probe: "spin", Limit: time.Minute})
		if err := errors.Join(p.Ready(), p.Go()); err != nil {
			t.Fatal(err)
		}
		var said string
		stop(p, cancel)
		if err := p.Wait(&said); err != nil || said != "stopped" {
			t.Errorf("%s: %q, %v", name, said, err)
		}
	}
}

// Kill ends a probe that does not look at its stop word.
func TestKillEndsAProbe(t *testing.T) {
	p := order(t, t.Context(), bench.ProbeOrder{Probe: "deaf", Shared: 1})
	p.Kill()
	if err := p.Ready(); err == nil || !strings.Contains(err.Error(), "signal: killed") {
		t.Errorf("%v", err)
	}
}

// What a probe started ends with it, and does not keep its end from being seen.
func TestAProbesPeerEndsWithIt(t *testing.T) {
	p := order(t, t.Context(), bench.ProbeOrder{Probe: "peer"})
	var peer int
	if err := lead(p, &peer); err != nil {
		t.Fatal(err)
	}
	gone(t, peer)
}

// conduct starts a probe, tells its number and waits: it is killed meanwhile.
func conduct(name string) error {
	cpus, err := rt.Affinity(0)
	if err != nil {
		return err
	}
	p, err := testProber().Start(context.Background(), bench.ProbeOrder{Suite: "test", Probe: name, Shared: 1}, cpus[:1])
	if err != nil {
		return err
	}
	defer p.Close()
	switch name {
	case "deaf":
		for p.Mem[0] == 0 {
			time.Sleep(time.Millisecond)
		}
	default:
		if err := errors.Join(p.Ready(), p.Go()); err != nil {
			return err
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(p.PID); err != nil {
		return err
	}
	select {}
}

// A conductor that is killed leaves no probe that spins, in no state of it.
func TestAProbeEndsWithItsConductor(t *testing.T) {
	for _, name := range []string{"spin", "deaf"} {
		t.Run(name, func(t *testing.T) {
			c := exec.Command("/proc/self/exe", asConductor, name)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			var pid int
			err = json.NewDecoder(out).Decode(&pid)
			if err == nil && !alive(pid) {
				err = errors.New("it is not alive")
			}
			if err = errors.Join(err, c.Process.Kill()); err != nil {
				t.Errorf("the probe: %v", err)
			}
			_ = c.Wait() // killed
			if pid > 0 {
				gone(t, pid)
			}
		})
	}
}
