package lmbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"opcycle/rt"
)

// run runs one program on a CPU to its end and returns all that it printed.
func (c *checker) run(ctx context.Context, cpu int, args []string) (string, error) {
	path := filepath.Join(c.dir, args[0])
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("%s has no %s", c.dir, args[0])
	}
	if err := c.helloIsThere(args); err != nil {
		return "", err
	}
	limited, cancel := context.WithTimeout(ctx, originalLimit)
	defer cancel()
	enough, _ := c.lengths()
	cmd := exec.CommandContext(limited, path, args[1:]...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("ENOUGH=%d", enough.Microseconds()))
	if c.folder != "" { // lat_fs makes its files in /tmp whatever folder it is given
		cmd.Env = append(cmd.Env, "TMPDIR="+c.folder)
	}
	cmd.SysProcAttr, cmd.WaitDelay = rt.OwnGroup(), killAfter
	cmd.Cancel = func() error { rt.KillGroup(cmd.Process); return nil }
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := startOn(cmd, cpu)
	if err == nil {
		err = cmd.Wait()
	}
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", fmt.Errorf("%s did not end within %s and was killed", args[0], originalLimit)
	case errors.Is(err, exec.ErrWaitDelay): // a server that went on in the background
		return out.String(), nil
	case err != nil && cmd.ProcessState == nil:
		return "", fmt.Errorf("start %s: %w", path, err)
	}
	return out.String(), nil // some end with another status than 0 although all went well
}

// startOn starts a program on a CPU, from a thread that is there and ends with it.
func startOn(cmd *exec.Cmd, cpu int) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		var err error
		if cpu != noCPU {
			err = rt.SetAffinity(0, []int{cpu})
		}
		if err == nil {
			err = cmd.Start()
		}
		started <- err
	}()
	return <-started
}

// hello is the program that the original's lat_proc executes, by the path that is compiled
// into it; empty: not known.
func hello(dir string) string {
	content, err := os.ReadFile(filepath.Join(dir, "lat_proc"))
	if err != nil {
		return ""
	}
	for _, path := range []string{"/var/tmp/lmbench/hello", "/tmp/hello"} { // Debian's, the author's
		if bytes.Contains(content, []byte(path)) {
			return path
		}
	}
	return ""
}

// helloIsThere: lat_proc does not look whether it is, and would time the failure.
func (c *checker) helloIsThere(args []string) error {
	if args[0] != "lat_proc" || args[1] == "fork" || c.dynamic == "" {
		return nil
	}
	if _, err := os.Stat(c.dynamic); err != nil {
		return fmt.Errorf("lat_proc executes %s, which is not there, and would time the failure; copy the original's hello to it", c.dynamic)
	}
	return nil
}
