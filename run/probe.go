package run

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"opcycle/bench"
	"opcycle/rt"
	"opcycle/workloads"
)

// readyLimit bounds how long a probe may prepare: it touches its memory and calibrates.
const readyLimit = 30 * time.Second

// Prober starts probes: the same binary anew, with an environment that keeps the Go
// runtime off the measuring thread (suites.md, R1 and R2).
type Prober struct {
	Exe  string
	Args func(suite, probe string, size int) []string // that make Exe the probe
}

// probe is a started one.
type probe struct {
	name   string
	cmd    *exec.Cmd
	pipe   net.Conn
	stderr tail
	limit  time.Duration

	hung  atomic.Bool
	watch *time.Timer
	ended chan struct{} // closed when it has ended and was waited for
	state error         // how it ended, nil: well; read after ended

	mu     sync.Mutex
	shared *rt.Shared // nil after close; under mu
}

// Start starts a probe on the CPUs home. The process has the calling program's death as
// its own. cold.
func (p Prober) Start(ctx context.Context, o bench.ProbeOrder, home []int) (*bench.ProbeRun, error) {
	c := &probe{name: o.Suite + "/" + o.Probe, limit: o.Limit, ended: make(chan struct{})}
	input, err := json.Marshal(o.Input)
	if err != nil {
		return nil, fmt.Errorf("start %s: its order: %w", c.name, err)
	}
	order, err := workloads.Pack(workloads.Frame{Do: workloads.DoOrder, Data: input})
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	ours, theirs, err := rt.SocketPair()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	defer ours.Close()
	defer theirs.Close()
	if c.pipe, err = net.FileConn(ours); err != nil {
		return nil, fmt.Errorf("start %s: control socket: %w", c.name, err)
	}
	if c.shared, err = rt.NewShared("opcycle-probe", workloads.HeaderBytes+o.Shared); err != nil {
		_ = c.pipe.Close()
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	procs := o.MaxProcs
	if procs == 0 {
		procs = 2
	}
	c.cmd = exec.Command(p.Exe, p.Args(o.Suite, o.Probe, o.Shared)...)
	c.cmd.Env = probeEnv(procs)
	c.cmd.ExtraFiles = []*os.File{theirs, c.shared.File}
	c.cmd.Stderr = &c.stderr
	c.cmd.SysProcAttr = rt.OwnGroup()
	if err := c.launch(home); err != nil {
		c.close()
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	if _, err := c.pipe.Write(order); err != nil {
		c.kill()
		<-c.ended
		c.close()
		return nil, fmt.Errorf("start %s: its order: %w", c.name, errors.Join(c.state, err))
	}
	context.AfterFunc(ctx, c.stop)
	return &bench.ProbeRun{PID: c.cmd.Process.Pid, Mem: c.shared.Mem[workloads.HeaderBytes:], Ready: c.ready, Go: c.begin,
		Stop: c.stop, Wait: c.wait, Kill: c.kill, Close: c.close, Done: c.ended, Info: c.info}, nil
}

// probeEnv is the environment of suites.md, R2, over what the user's says.
func probeEnv(procs int) []string {
	own := map[string]string{"GODEBUG": "asyncpreemptoff=1", "GOGC": "off", "GOMAXPROCS": strconv.Itoa(procs)}
	env := slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		_, ours := own[name]
		return ours || name == "GOMEMLIMIT"
	})
	for name, value := range own {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// launch starts the process from a thread that is on home and lives until the child has
// ended: the child inherits the place, and its death signal is that thread's end.
func (c *probe) launch(home []int) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := rt.SetAffinity(0, home)
		if err == nil {
			err = c.cmd.Start()
		}
		started <- err
		if err != nil {
			return
		}
		c.ending(c.cmd.Wait())
	}()
	return <-started
}

func (c *probe) ending(err error) {
	switch said := c.stderr.String(); {
	case c.hung.Load():
		c.state = fmt.Errorf("%s hung: it was killed %s after its begin", c.name, c.limit)
	case err != nil && said != "":
		c.state = fmt.Errorf("%s ended: %s: %s", c.name, c.cmd.ProcessState, said)
	case err != nil:
		c.state = fmt.Errorf("%s ended: %s", c.name, c.cmd.ProcessState)
	}
	close(c.ended)
}

func (c *probe) receive(do string, limit time.Duration) (workloads.Frame, error) {
	var deadline time.Time
	if limit > 0 {
		deadline = time.Now().Add(limit)
	}
	if err := c.pipe.SetReadDeadline(deadline); err != nil {
		return workloads.Frame{}, fmt.Errorf("%s: %w", c.name, err)
	}
	f, err := workloads.Unpack(func(p []byte) error { _, err := io.ReadFull(c.pipe, p); return err })
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		c.kill()
		<-c.ended
		return f, fmt.Errorf("%s was not prepared within %s and was killed", c.name, limit)
	case err != nil:
		c.dead()
		if c.state != nil {
			return f, c.state
		}
		return f, fmt.Errorf("%s: its answer: %w", c.name, err)
	case f.Error != "":
		c.dead()
		return f, fmt.Errorf("%s: %s", c.name, f.Error)
	case f.Do != do:
		c.kill()
		return f, fmt.Errorf("%s said %s, not %s", c.name, f.Do, do)
	}
	return f, nil
}

// dead waits for the end of a probe that has closed its socket or said its last word.
func (c *probe) dead() {
	select {
	case <-c.ended:
	case <-time.After(killAfter):
		c.kill()
		<-c.ended
	}
}

func (c *probe) ready() error {
	_, err := c.receive(workloads.DoReady, readyLimit)
	return err
}

func (c *probe) begin() error {
	data, err := workloads.Pack(workloads.Frame{Do: workloads.DoGo})
	if err != nil {
		return err
	}
	if c.limit > 0 {
		c.watch = time.AfterFunc(c.limit, func() { c.hung.Store(true); c.kill() })
	}
	if _, err := c.pipe.Write(data); err != nil {
		c.dead()
		return errors.Join(c.state, fmt.Errorf("%s: begin: %w", c.name, err))
	}
	return nil
}

// stop raises the stop word.
func (c *probe) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shared != nil {
		atomic.StoreUint32((*uint32)(unsafe.Pointer(&c.shared.Mem[0])), 1)
	}
}

// close ends a probe that still runs and gives its memory and socket back.
func (c *probe) close() {
	if c.cmd.Process != nil {
		c.kill()
		<-c.ended
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.shared != nil {
		_, _ = c.pipe.Close(), c.shared.Close()
		c.shared = nil
	}
}

func (c *probe) wait(answer any) error {
	f, err := c.receive(workloads.DoAnswer, 0)
	c.dead()
	if c.watch != nil {
		c.watch.Stop()
	}
	if err == nil && c.state != nil {
		err = c.state
	}
	if err == nil && answer != nil {
		d := json.NewDecoder(bytes.NewReader(f.Data))
		if err = d.Decode(answer); err != nil {
			err = fmt.Errorf("%s: its answer: %w", c.name, err)
		}
	}
	return err
}

// kill ends the probe and every process that it started in its group.
func (c *probe) kill() { rt.KillGroup(c.cmd.Process) }

// info is the process as the kernel has it now.
func (c *probe) info() (bench.ProcessInfo, error) {
	pid := c.cmd.Process.Pid
	info := bench.ProcessInfo{Name: c.name, PID: pid, GOGC: "off", TimerSlack: -1}
	tids, err := rt.ThreadsOf(pid)
	if err != nil {
		return info, fmt.Errorf("%s: %w", c.name, err)
	}
	for _, tid := range tids {
		a, err := rt.ReadThread(tid)
		if err != nil {
			continue // it ended meanwhile
		}
		role := "runtime"
		if a.Policy.RealTime() {
			role = "measuring"
		}
		info.Threads = append(info.Threads, bench.ThreadInfo{TID: tid, Role: role, Policy: a.Policy.String(), Priority: a.Priority, CPUs: a.CPUs})
	}
	return info, nil
}
