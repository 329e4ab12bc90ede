package run

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

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
// ended: the child inherits the place, and its death signal is that thread's end. What the
// child leaves of its group ends with it.
func (c *probe) launch(home []int) error {
	said, err := c.listen()
	if err != nil {
		return err
	}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := rt.SetAffinity(0, home)
		if err == nil {
			err = c.cmd.Start()
		}
		_ = c.cmd.Stderr.(*os.File).Close() // the child's end
		started <- err
		if err != nil {
			return
		}
		err = c.cmd.Wait()
		rt.KillGroup(c.cmd.Process) // a peer that outlives the probe
		select {
		case <-said:
		case <-time.After(endLimit): // one that left the group
		}
		c.ending(err)
	}()
	return <-started
}

// listen keeps the last of what the child will say on its standard error. said is closed
// when all who had it have ended.
func (c *probe) listen() (said <-chan struct{}, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c.cmd.Stderr = w // a file: Wait waits for the process alone
	all := make(chan struct{})
	go func() {
		defer close(all)
		_, _ = io.Copy(&c.stderr, r) // what did not come is not shown
		_ = r.Close()
	}()
	return all, nil
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

// kill ends the probe and every process that it started in its group, unless it has ended:
// its number may be another's by then.
func (c *probe) kill() {
	select {
	case <-c.ended:
	default:
		rt.KillGroup(c.cmd.Process)
	}
}

// info is the process as the kernel has it now. What is real-time, or has a place of its
// own, measures; where nothing has, the main thread does (suites.md, R3).
func (c *probe) info() (bench.ProcessInfo, error) {
	pid := c.cmd.Process.Pid
	info := bench.ProcessInfo{Name: c.name, PID: pid, MaxProcs: c.procs, GOGC: "off", TimerSlack: -1}
	tids, err := rt.ThreadsOf(pid)
	if err != nil {
		return info, fmt.Errorf("%s: %w", c.name, err)
	}
	found := false
	for _, tid := range tids {
		a, err := rt.ReadThread(tid)
		if err != nil {
			continue // it ended meanwhile
		}
		role := "runtime"
		if a.Policy.RealTime() || !slices.Equal(a.CPUs, c.home) {
			role, found = "measuring", true
		}
		info.Threads = append(info.Threads, bench.ThreadInfo{TID: tid, Role: role, Policy: a.Policy.String(), Priority: a.Priority, CPUs: a.CPUs})
	}
	for i := range info.Threads {
		if t := &info.Threads[i]; !found && t.TID == pid {
			t.Role = "measuring"
		}
	}
	return info, nil
}
