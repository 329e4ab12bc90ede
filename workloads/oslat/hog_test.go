package oslat

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"opcycle/rt"
)

const asHog = "hog"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == asHog {
		if err := hogged(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// hogLength is how long the hog holds the CPU.
const hogLength = 5 * time.Millisecond

// seen is what a hog did and the spinner saw, CLOCK_MONOTONIC ns.
type seen struct {
	Begin, End int64 // of the hog
	Hz         float64
	Gaps       []gap
	Over       int64
}

// A thread that holds the CPU of the spinner is a gap of that length, and at that time:
// the gap begins before the hog ends, is as long as it, and ends after it. The stamp of its end
// comes after the gap was measured, by as much as somebody else then takes.
func TestAHogIsAGap(t *testing.T) {
	cpus, err := rt.Affinity(0)
	if os.Getuid() != 0 || err != nil || len(cpus) < 2 {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI has to have root and two CPUs")
		}
		t.Skip("needs root and two CPUs")
	}
	cmd := exec.Command(os.Args[0], asHog)
	cmd.Env = append(os.Environ(), "GODEBUG=asyncpreemptoff=1", "GOGC=off", "GOMAXPROCS=3")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var s seen
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	slack := int64(100 * time.Microsecond)
	for _, g := range s.Gaps {
		length := int64(float64(g.Cycles) / s.Hz * 1e9)
		if length >= int64(hogLength)-slack && g.At-length <= s.End && g.At >= s.End-slack {
			return
		}
	}
	t.Errorf("the hog ran from %d to %d; the gaps are %+v (%d in all)", s.Begin, s.End, s.Gaps, s.Over)
}

// hogged spins at FIFO 1 for 0.3 s on one CPU, where a FIFO 2 thread runs for 5 ms once.
// RLIMIT_RTTIME ends it after a second whatever happens, and the other CPU stays free.
func hogged() error {
	cpus, err := rt.Affinity(0)
	if err != nil {
		return err
	}
	measured, rest := cpus[len(cpus)-1], cpus[:len(cpus)-1]
	clock, err := rt.ReadCycleClock("/")
	if err != nil {
		return err
	}
	if err := errors.Join(rt.LimitRealTime(time.Second), rt.SetProcessAffinity(rest)); err != nil {
		return err
	}
	p, stop, s := &page{}, uint32(0), seen{Hz: clock.Hz}
	begin, ended := rt.Now()+int64(200*time.Millisecond), make(chan error, 2)
	thread := func(priority int, work func() error) {
		go func() {
			runtime.LockOSThread() // never unlocked: its policy ends with it
			err := rt.SetThread(0, rt.Attr{Policy: rt.FIFO, Priority: priority, ResetOnFork: true, CPUs: []int{measured}})
			if err == nil {
				err = work()
			}
			ended <- err
		}()
	}
	thread(2, func() error {
		err := rt.NanosleepUntil(begin)
		s.Begin = rt.Now()
		s.End = rt.SpinUntil(s.Begin + int64(hogLength))
		return err
	})
	thread(1, func() error {
		if err := rt.NanosleepUntil(begin - int64(100*time.Millisecond)); err != nil {
			return err
		}
		spin(p, &stop, int64(0.3*clock.Hz), &limits{threshold: int64(1e-3 * clock.Hz)})
		return nil
	})
	if err := errors.Join(<-ended, <-ended); err != nil {
		return err
	}
	p.drain(func(g gap) { s.Gaps = append(s.Gaps, g) })
	s.Over = p.over
	return json.NewEncoder(os.Stdout).Encode(s)
}
