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
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"opcycle/bench"
	"opcycle/rt"
	"opcycle/workloads"
)

// readyLimit bounds how long a probe may prepare: it touches its memory and calibrates.
// endLimit bounds how long one that has said its last word may take to end: it unlocks and
// frees its memory, on a machine that may be stressed.
const (
	readyLimit = 30 * time.Second
	endLimit   = 5 * time.Second
)

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
	procs  int
	home   []int
	pipe   net.Conn
	stderr tail
	limit  time.Duration
	leave  func() bool // ends the watch of the context

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
	c := &probe{name: o.Suite + "/" + o.Probe, procs: max(o.MaxProcs, 0), home: home, limit: o.Limit,
		leave: func() bool { return true }, ended: make(chan struct{})}
	if c.procs == 0 {
		c.procs = 2
	}
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
	c.cmd = exec.Command(p.Exe, p.Args(o.Suite, o.Probe, o.Shared)...)
	c.cmd.Env = probeEnv(c.procs)
	c.cmd.ExtraFiles = []*os.File{theirs, c.shared.File}
	c.cmd.SysProcAttr = rt.OwnGroup()
	if err := c.launch(home); err != nil {
		c.close()
		return nil, fmt.Errorf("start %s: %w", c.name, err)
	}
	err = c.pipe.SetWriteDeadline(time.Now().Add(readyLimit))
	if err == nil {
		_, err = c.pipe.Write(order)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("start %s: its order: %w", c.name, errors.Join(c.state, err))
	}
	c.leave = context.AfterFunc(ctx, c.stop)
	return &bench.ProbeRun{PID: c.cmd.Process.Pid, Mem: c.shared.Mem[workloads.HeaderBytes:], Ready: c.ready, Go: c.begin,
		Stop: c.stop, Wait: c.wait, Kill: c.kill, Close: c.close, Done: c.ended, Info: c.info}, nil
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
		if errors.Is(err, io.EOF) {
			return f, fmt.Errorf("%s ended without a word where %s was due", c.name, do)
		}
		return f, fmt.Errorf("%s: its %s: %w", c.name, do, err)
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
	case <-time.After(endLimit):
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
	c.leave()
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
