package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// privateTmp gives the programs under test a folder for temporary files of their own, so
// that what they leave there is theirs.
func privateTmp(t *testing.T) {
	t.Helper()
	executable(t) // is in the folder of all
	t.Setenv("TMPDIR", t.TempDir())
}

// stressorOf waits for the stress-ng that c started and returns its process group; 0: none
// came. Others may run on this machine, and are none of our business.
func (c *command) stressorOf() (group int) {
	c.t.Helper()
	c.until(func() bool {
		for pid, s := range stats(c.t) {
			if s.parent == c.cmd.Process.Pid && s.name == "stress-ng" {
				group = pid
			}
		}
		return group != 0
	})
	return group
}

type stat struct {
	name          string
	parent, group int
}

// stats are the names and kin of all processes.
func stats(t *testing.T) map[int]stat {
	t.Helper()
	found, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	out := map[int]stat{}
	for _, path := range found {
		data, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		fields := strings.Fields(afterName(data)) // state, parent, group
		parent, _ := strconv.Atoi(fields[1])
		group, _ := strconv.Atoi(fields[2])
		name := string(data[bytes.IndexByte(data, '(')+1 : bytes.LastIndexByte(data, ')')])
		if fields[0] != "Z" { // a zombie waits for its burial only
			out[pid] = stat{name, parent, group}
		}
	}
	return out
}

// besideLeft asserts that nothing of what ran beside c is left: no stressor of that group,
// no instance and no mount of the tracer, no temporary file.
func (c *command) besideLeft(group int) {
	c.t.Helper()
	left := func() (out []string) {
		for pid, s := range stats(c.t) {
			if s.group == group && group != 0 {
				out = append(out, fmt.Sprintf("%s, process %d", s.name, pid))
			}
		}
		for _, pattern := range []string{fmt.Sprintf("/sys/kernel/tracing/instances/opcycle-%d", c.cmd.Process.Pid), filepath.Join(os.TempDir(), "*")} {
			found, err := filepath.Glob(pattern)
			if err != nil {
				c.t.Fatal(err)
			}
			out = append(out, found...)
		}
		return out
	}
	for end := time.Now().Add(10 * time.Second); len(left()) > 0 && time.Now().Before(end); {
		time.Sleep(20 * time.Millisecond) // the kernel is still burying it
	}
	for _, what := range left() {
		c.t.Errorf("left behind: %s", what)
	}
}
