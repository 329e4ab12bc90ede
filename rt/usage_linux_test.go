package rt

import (
	"errors"
	"os"
	"testing"
	"time"
)

func TestParseSchedstat(t *testing.T) {
	for _, c := range []struct {
		text               string
		run, delay, slices int64
		ok                 bool
	}{
		{"12345 678 9\n", 12345, 678, 9, true},
		{"1 0 1\n", 1, 0, 1, true},
		{"999999999999999999 1 2\n", 999999999999999999, 1, 2, true},
		{"0 0 0\n", 0, 0, 0, false}, // the kernel does not count
		{"9999999999999999999 1 2\n", 0, 0, 0, false},
		{"", 0, 0, 0, false},
		{"12345 678\n", 0, 0, 0, false},
		{"12345 678 9", 0, 0, 0, false}, // cut short: 9 may be the start of 98
		{"1  2 3\n", 0, 0, 0, false},
		{"-1 2 3\n", 0, 0, 0, false},
		{"a b c\n", 0, 0, 0, false},
	} {
		run, delay, slices, ok := parseSchedstat([]byte(c.text))
		if run != c.run || delay != c.delay || slices != c.slices || ok != c.ok {
			t.Errorf("%q: %d %d %d %v, want %d %d %d %v", c.text, run, delay, slices, ok, c.run, c.delay, c.slices, c.ok)
		}
	}
}

func TestSchedstatOfAFixture(t *testing.T) {
	s, err := OpenSchedstat(fixture(t, map[string]string{"proc/thread-self/schedstat": "5 6 7\n"}))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < 2; i++ { // from its beginning each time
		if run, delay, slices, ok := s.Read(); run != 5 || delay != 6 || slices != 7 || !ok {
			t.Errorf("read %d: %d %d %d %v, want 5 6 7 true", i, run, delay, slices, ok)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, _, _, ok := s.Read(); ok {
		t.Error("a read after Close is ok")
	}
	if _, err := OpenSchedstat(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the file: %v, want os.ErrNotExist", err)
	}
}

func TestSchedstatOfThisThread(t *testing.T) {
	onThread(t, func() {
		s, err := OpenSchedstat("/")
		if err != nil {
			t.Error(err)
			return
		}
		defer func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}()
		if err := NanosleepUntil(Now() + 100_000); err != nil { // a switch brings the account up to date
			t.Error(err)
		}
		runA, delayA, slicesA, okA := s.Read()
		cpu := ThreadCPU()
		if err := NanosleepUntil(Now() + 100_000); err != nil {
			t.Error(err)
		}
		runB, delayB, slicesB, okB := s.Read()
		if !okA || !okB || runB < runA || delayB < delayA || slicesB < slicesA || runA <= 0 {
			t.Errorf("%d %d %d %v, then %d %d %d %v", runA, delayA, slicesA, okA, runB, delayB, slicesB, okB)
		}
		if runA > cpu {
			t.Errorf("schedstat says %d ns run, the thread's clock only %d later", runA, cpu)
		}
	})
}

func TestThreadCPUIsWithinTheWall(t *testing.T) {
	onThread(t, func() {
		wallA, cpuA := Now(), ThreadCPU()
		SpinUntil(Now() + int64(2*time.Millisecond))
		cpuB, wallB := ThreadCPU(), Now()
		if cpuA < 0 || cpuB <= cpuA || cpuB-cpuA > wallB-wallA {
			t.Errorf("%d ns of processor time in %d ns", cpuB-cpuA, wallB-wallA)
		}
	})
}

func TestThreadUsageCountsBlocking(t *testing.T) {
	onThread(t, func() {
		before := ThreadUsage()
		for i := 0; i < 10; i++ {
			if err := NanosleepUntil(Now() + int64(time.Millisecond)); err != nil {
				t.Error(err)
			}
		}
		after := ThreadUsage()
		if after.Voluntary <= before.Voluntary || after.MinorFaults < before.MinorFaults || before.MinorFaults < 0 {
			t.Errorf("10 sleeps: %+v, then %+v", before, after)
		}
		all, user, system := ProcessUsage()
		if all.Voluntary < after.Voluntary || user+system <= 0 {
			t.Errorf("the process has %+v, %v, %v; this thread alone %+v", all, user, system, after)
		}
	})
}

func TestCPUOfAPinnedThread(t *testing.T) {
	own, err := Affinity(0)
	if err != nil {
		t.Fatal(err)
	}
	for _, cpu := range own {
		onThread(t, func() {
			if err := SetAffinity(0, []int{cpu}); err != nil {
				t.Error(err)
			}
			if got := CPU(); got != cpu {
				t.Errorf("pinned to CPU %d, runs on %d", cpu, got)
			}
		})
	}
}

func TestUsageAllocatesNothing(t *testing.T) {
	s, err := OpenSchedstat("/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	for name, call := range map[string]func(){
		"ThreadCPU":      func() { ThreadCPU() },
		"ThreadUsage":    func() { ThreadUsage() },
		"ProcessUsage":   func() { ProcessUsage() },
		"CPU":            func() { CPU() },
		"Schedstat.Read": func() { s.Read() },
	} {
		if n := testing.AllocsPerRun(100, call); n != 0 {
			t.Errorf("%s: %v allocations a call", name, n)
		}
	}
}
