package opcua

import (
	"fmt"
	"io"
	"runtime"
	"time"

	"opcycle/bench"
	"opcycle/plc"
	"opcycle/record"
	"opcycle/rt"
)

// task is the cyclic task of a process on its own locked thread.
type task struct {
	control plc.Control
	tid     int
	done    chan error
	err     string // what the thread asked for and did not get
}

// startTask runs the task on grid from index first on; program "" is an I/O simulator.
// It returns when the thread has its policy and place. cold.
func startTask(p bench.Plan, pr bench.Process, rtError string, program string, grid bench.Grid, first int64, io plc.IO, ring *record.Ring) (*task, error) {
	t := &task{done: make(chan error, 1)}
	cfg := plc.Config{Grid: grid, First: first, Spin: int64(p.Task.Spin), IO: io, Ring: ring, Control: &t.control}
	if program != "" {
		prog, err := plc.NewProgram(program)
		if err != nil {
			return nil, err
		}
		cfg.Program = prog
		t.control.Iterations.Store(p.Task.Iterations)
	}
	if string(p.Task.Host) == pr.Name { // the task that runs the program
		tr, err := openTrace(p)
		if err != nil {
			t.err = err.Error()
		} else if tr != nil {
			cfg.Tracer = tr
		}
	}
	ready := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread goes with the goroutine
		t.tid = rt.Gettid()
		_ = rt.NameThread("plc task") // for ps and the tracer only
		cfg, err := t.settle(p, pr, rtError, cfg)
		var run *plc.Task
		if err == nil {
			run, err = plc.New(cfg)
		}
		ready <- err
		if err == nil {
			t.done <- run.Run()
		}
	}()
	if err := <-ready; err != nil {
		return nil, err
	}
	return t, nil
}

// settle gives the calling thread its place and priority, and opens its clock and meter.
func (t *task) settle(p bench.Plan, pr bench.Process, rtError string, cfg plc.Config) (plc.Config, error) {
	if pr.FIFO > 0 && rtError == "" {
		a := rt.Attr{Policy: rt.FIFO, Priority: p.Task.Priority, CPUs: pr.CPUs}
		if len(pr.TaskCPUs) > 0 {
			a.CPUs = pr.TaskCPUs
		}
		if err := rt.SetThread(0, a); err != nil {
			if p.RT == bench.RTRequire {
				return cfg, err
			}
			t.err = err.Error()
		}
	}
	clock, err := plc.OpenClock()
	if err != nil {
		return cfg, err
	}
	meter, err := plc.OpenMeter("/")
	if err != nil {
		t.err = fmt.Sprintf("%s run delay unknown: %v", t.err, err)
	}
	cfg.Clock, cfg.Meter = clock, meter
	return cfg, nil
}

// calibrate finds the iteration count whose calculation takes target, on the task's own
// thread.
func (t *task) calibrate(target time.Duration, period time.Duration) (int64, error) {
	t.control.Target.Store(int64(target))
	for deadline := time.Now().Add(10 * time.Second); t.control.Target.Load() != 0; {
		select {
		case err := <-t.done:
			t.done <- err
			return 0, fmt.Errorf("calibrate: the task ended: %w", err)
		case <-time.After(max(period, time.Millisecond)):
		}
		if time.Now().After(deadline) {
			return 0, fmt.Errorf("calibrate: the task found no iteration count for %s within 10 s", target)
		}
	}
	return t.control.Iterations.Load(), nil
}

// calibrated is the iteration count whose calculation takes p.Task.Target on a thread with
// the task's place and policy: before there is a task, for a server that announces the
// count. cold.
func calibrated(p bench.Plan, pr bench.Process, rtError string) (n int64, err error) {
	prog, err := plc.NewProgram(p.Task.Workload)
	if err != nil {
		return 0, err
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // for good: the thread goes with the goroutine
		var cfg plc.Config
		if cfg, err = new(task).settle(p, pr, rtError, cfg); err != nil {
			return
		}
		for _, c := range []any{cfg.Clock, cfg.Meter} {
			if c, ok := c.(io.Closer); ok {
				defer c.Close()
			}
		}
		n, err = plc.Calibrate(prog, p.Task.Target, cfg.Clock)
	}()
	<-done
	return n, err
}

// stop ends the task and waits for it.
func (t *task) stop() error {
	t.control.Stop.Store(true)
	select {
	case err := <-t.done:
		return err
	case <-time.After(2 * time.Second):
		return fmt.Errorf("the cyclic task did not end within 2 s")
	}
}
