package plc

import (
	"errors"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
)

// kernel locks the test to its thread and opens the real clock and meter on it.
func kernel(t *testing.T) (*KernelClock, *ThreadMeter) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("timerfd is Linux")
	}
	runtime.LockOSThread()
	t.Cleanup(runtime.UnlockOSThread)
	clock, err := OpenClock()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = clock.Close() })
	meter, err := OpenMeter("/")
	if err != nil {
		t.Logf("run delay is unknown here: %v", err)
	}
	t.Cleanup(func() { _ = meter.Close() })
	return clock, meter
}

// plain is an IO that ends the task after its last index.
type plain struct {
	control *Control
	last    int64
}

func (p *plain) Inputs(int64, int64) (int64, record.Flags) { return -1, 0 }

func (p *plain) Outputs(k, _ int64) (int64, record.Flags) {
	if k >= p.last {
		p.control.Stop.Store(true)
	}
	return 0, 0
}

// TestRealClock runs 40 periods of 5 ms on this machine, whatever else it does.
func TestRealClock(t *testing.T) {
	clock, meter := kernel(t)
	const period = int64(5 * time.Millisecond)
	control, ring := new(Control), newRing(t, 256)
	control.Iterations.Store(1000)
	task, err := New(Config{Grid: bench.Grid{Origin: rt.Now() + period, Period: period}, Spin: 300_000, Program: program(t, "FLOAT"),
		IO: &plain{control, 39}, Clock: clock, Meter: meter, Ring: ring, Control: control})
	if err != nil {
		t.Fatal(err)
	}
	if err := task.Run(); err != nil {
		t.Fatal(err)
	}
	all := releases(t, ring, period)
	assertCounters(t, control, all[len(all)-1].K, 0, int64(len(all)), 0)
	if control.K.Load() < 39 || ring.Lost() != 0 {
		t.Errorf("ended at index %d, %d records lost; want 39 or later and 0", control.K.Load(), ring.Lost())
	}
	sum := program(t, "FLOAT").Run(1000)
	for _, r := range all {
		if r.Result != sum || r.CPU < 0 || r.CPU > r.Done-r.Wake || r.RunDelay < -1 || r.Minor < 0 || r.Major < 0 || r.Switches < 0 || r.OnCPU < 0 {
			t.Errorf("implausible release %+v; want result %d", r, sum)
		}
	}
}

func TestRealReleaseAllocatesNothing(t *testing.T) {
	clock, meter := kernel(t)
	io := &plain{control: new(Control)}
	task, err := New(Config{Grid: bench.Grid{Origin: rt.Now(), Period: 1e6}, Spin: 100_000,
		IO: io, Clock: clock, Meter: meter, Ring: newRing(t, 1024), Control: io.control})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(5, func() {
		io.control.Stop.Store(false)
		task.First = io.control.K.Load() + 1
		io.last = task.First + 20
		if err := task.Run(); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations in 20 releases", n)
	}
}

// TestOverrunLetsOthersRun states a bug that must not come back: with one processor, a
// task that is always late never gave its turn away.
func TestOverrunLetsOthersRun(t *testing.T) {
	clock, _ := kernel(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	var ran atomic.Bool
	go ran.Store(true)
	for range 50 { // far below the 10 ms after which the runtime would preempt
		if err := clock.SleepUntil(rt.Now()); err != nil {
			t.Fatal(err)
		}
	}
	if !ran.Load() {
		t.Error("50 late releases, and another goroutine had no turn")
	}
}

func TestCloseEndsTheSleep(t *testing.T) {
	clock, _ := kernel(t)
	if err := clock.Close(); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int64{0, rt.Now() + int64(time.Hour)} {
		if err := clock.SleepUntil(at); !errors.Is(err, os.ErrClosed) {
			t.Errorf("sleep until %d: error %v; want %v", at, err, os.ErrClosed)
		}
	}
}

func TestMeter(t *testing.T) {
	_, meter := kernel(t)
	var r record.Release
	burn := func(ns int64) { rt.SpinUntil(rt.Now() + ns) }

	meter.Read(&r)
	due := rt.Now() + 20e6
	meter.Arm(due)
	if meter.at == 0 {
		t.Error("armed 20 ms before the release and read nothing")
	}
	r.Wake = rt.SpinUntil(due)
	time.Sleep(40 * time.Millisecond) // a release off the processor: what is counted is the spin
	r.Done = rt.Now()
	meter.Read(&r)
	if r.CPU < 0 || r.CPU > 10e6 {
		t.Errorf("CPU %d ns in a release that slept: the spin of 20 ms before it is in it", r.CPU)
	}

	// A bug that must not come back: a stall that began in the spin and ended long after
	// the due time was taken off the CPU time of the release.
	meter.Arm(rt.Now() + 5e6)
	time.Sleep(40 * time.Millisecond)
	r.Wake = rt.Now()
	for until := rt.ThreadCPU() + 10e6; rt.ThreadCPU() < until; {
	}
	r.Done = rt.Now()
	meter.Read(&r)
	if r.CPU < 4e6 || r.CPU > r.Done-r.Wake {
		t.Errorf("CPU %d ns in a release that used 10 ms after a stall of 40 ms; want 5 ms, the time due in the spin, less at most", r.CPU)
	}

	meter.Arm(rt.Now())
	if meter.at != 0 {
		t.Error("read although the release was due: that time is the release's")
	}
	r.Wake = rt.Now()
	burn(2e6)
	r.Done = rt.Now()
	meter.Read(&r)
	if r.CPU <= 0 || r.CPU > r.Done-r.Wake {
		t.Errorf("CPU %d of %d ns", r.CPU, r.Done-r.Wake)
	}
}

// TestMeterWithoutSchedstat: unknown is −1, never 0.
func TestMeterWithoutSchedstat(t *testing.T) {
	kernel(t)
	meter, err := OpenMeter(t.TempDir())
	if err == nil {
		t.Fatal("no error without schedstat")
	}
	var r record.Release
	meter.Read(&r)
	meter.Read(&r)
	if r.RunDelay != -1 || r.Minor < 0 {
		t.Errorf("run delay %d, minor faults %d; want -1 and a count", r.RunDelay, r.Minor)
	}
	if err := meter.Close(); err != nil {
		t.Error(err)
	}
}
