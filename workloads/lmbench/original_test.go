package lmbench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

// What lmbench 3.0-a9 prints, and what it prints when it fails.
func TestOriginalsOutput(t *testing.T) {
	for name, c := range map[string]struct {
		read func(string) (float64, error)
		out  string
		want float64 // 0: an error
	}{
		"a time":              {micro, "Simple syscall: 0.1956 microseconds\n", 0.1956},
		"select":              {micro, "Select on 100 tcp fd's: 6.6668 microseconds\n", 6.6668},
		"process":             {micro, "Process fork+/bin/sh -c: 2666.5000 microseconds\n", 2666.5},
		"connect":             {micro, "TCP/IP connection cost to localhost: 22.3893 microseconds\n", 22.3893},
		"page faults":         {micro, "Pagefaults on /tmp/XXX: 0.0715 microseconds\n", 0.0715},
		"no file":             {micro, "/usr/include/sys/types.h: No such file or directory\n", 0},
		"nothing":             {micro, "", 0},
		"zero":                {micro, "Simple read: 0.0000 microseconds\n", 0},
		"a bandwidth":         {mega, "AF_UNIX sock stream bandwidth: 6829.57 MB/sec\n", 6829.57},
		"a time for a band":   {mega, "Pipe latency: 3.03 microseconds\n", 0},
		"two numbers":         {second, "67.11 8742.20\n", 8742.20},
		"the last of a curve": {second, "\"stride=128\n0.00049 1.691\n0.12500 3.2\n64.00000 131.5\n\n", 131.5},
		"no numbers":          {second, "usage: bw_mem size what\n", 0},
		"a ring":              {line("8"), "\n\"size=64k ovr=2.23\n2 2.55\n8 4.04\n16 4.49\n", 4.04},
		"another ring":        {line("4"), "\n\"size=64k ovr=2.23\n2 2.55\n", 0},
		"files created":       {perSecond("0k", 2), "0k\t192\t50000\t258599\n1k\t5047\t18304\t142287\n", 20},
		"files deleted":       {perSecond("10k", 3), "0k\t192\t3585\t258599\n10k\t111\t2008\t100000\n", 10},
		"no such size":        {perSecond("10k", 3), "0k\t192\t3585\t258599\n", 0},
		"none a second":       {perSecond("0k", 2), "0k\t192\t0\t0\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.read(c.out)
			if c.want == 0 && err == nil || c.want != 0 && (err != nil || got != c.want) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}

// scripts makes a folder of programs that print what the originals would.
func scripts(t *testing.T, programs map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, body := range programs {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+body), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func crossChecked(t *testing.T, dir, only string) []bench.Reading {
	t.Helper()
	r := newRunner().(*runner)
	r.unpinned = true // where this test may run is not its matter
	for _, err := range []error{r.setCross(dir), r.setOnly(only)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	j := job(good)
	j.Dir = t.TempDir()
	out := measured(t, r, t.Context(), j)
	if left, err := os.ReadDir(j.Dir); err != nil || len(left) != 0 {
		t.Errorf("it left %v in the folder: %v", left, err)
	}
	return slices.DeleteFunc(out.Readings, func(g bench.Reading) bool { return g.Table != tableCross })
}

// Ours, by the stand-in, is 2 µs each time.
func TestCrossCheck(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	dir := scripts(t, map[string]string{
		"lat_syscall": `echo "$*" >>` + log + `; echo "ENOUGH=$ENOUGH" >>` + log + `; test "$1" = null && echo "Simple syscall: 2.5000 microseconds"; exit 1`,
		"lat_udp":     `echo "udp $*" >>` + log + `; test "$1" = localhost && echo "UDP latency using localhost: 1.0000 microseconds"; exit 0`,
		"lat_tcp":     `test "$1" = -s && exit 0; echo "tcp $*" >>` + log + `; exit 1`,
	})
	got := map[string]bench.Reading{}
	for _, g := range crossChecked(t, dir, "null_call,stat,udp,local_latency/tcp,local_latency/pipe") {
		got[g.Name] = g
	}
	if len(got) != 5 {
		t.Fatalf("%d ratios: %v", len(got), got)
	}
	for name, want := range map[string]float64{"processor/null_call": 0.8, "local_latency/udp": 2} {
		g := got[name]
		if g.Value == nil || *g.Value != want || g.N != crossPairs || g.Unit != "ratio" || g.Statistic != median || *g.Min != want || *g.Max != want {
			t.Errorf("%s: %+v", name, g)
		}
	}
	if d := got["processor/null_call"].Deviation; d != "ours 2, original 2.5 us" {
		t.Errorf("the medians are %q", d)
	}
	for name, want := range map[string]string{"processor/stat": "did not print", "local_latency/tcp": "did not print", "local_latency/pipe": "no lat_pipe"} {
		if g := got[name]; g.Value != nil || !strings.Contains(g.NA, want) {
			t.Errorf("%s: %+v", name, g)
		}
	}
	data, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := string(data)
	if n := strings.Count(lines, "null\nENOUGH=50000\n"); n != crossPairs {
		t.Errorf("%d runs of the original:\n%s", n, lines)
	}
	// Every server that was started was stopped, that of a client that failed too.
	if start, stop := strings.Count(lines, "udp -s\n"), strings.Count(lines, "udp -S localhost\n"); start != crossPairs || stop != crossPairs {
		t.Errorf("%d servers started, %d stopped:\n%s", start, stop, lines)
	}
	if !strings.Contains(lines, "tcp -S localhost\n") {
		t.Errorf("a server was left:\n%s", lines)
	}
}

// The program that lat_proc executes has to be there: it would time the failure.
func TestCrossCheckWithoutHello(t *testing.T) {
	dir := scripts(t, map[string]string{"lat_proc": "# " + "/var/tmp/lmbench/hello" + "\necho \"Process fork+execve: 22.0 microseconds\""})
	c := checker{dir: dir, measurement: &measurement{runner: newRunner().(*runner), dynamic: filepath.Join(t.TempDir(), "hello")}}
	if _, err := c.run(t.Context(), noCPU, []string{"lat_proc", "exec"}); err == nil || !strings.Contains(err.Error(), "copy the original's hello") {
		t.Errorf("the error is %v", err)
	}
	if out, err := c.run(t.Context(), noCPU, []string{"lat_proc", "fork"}); err != nil || out == "" {
		t.Errorf("fork needs none: %q, %v", out, err)
	}
	if got := hello(dir); got != "/var/tmp/lmbench/hello" {
		t.Errorf("the program is %q", got)
	}
}

// Ended from outside, a program of the original is killed with all that it started.
func TestCrossCheckInterrupted(t *testing.T) {
	pid := filepath.Join(t.TempDir(), "pid")
	dir := scripts(t, map[string]string{"lat_pipe": fmt.Sprintf("sleep 1000 & echo $! >%s; wait", pid)})
	c := checker{dir: dir, measurement: &measurement{runner: newRunner().(*runner)}}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		for {
			if data, err := os.ReadFile(pid); err == nil && strings.HasSuffix(string(data), "\n") {
				cancel()
				return
			}
		}
	}()
	if _, err := c.run(ctx, noCPU, []string{"lat_pipe"}); err != context.Canceled {
		t.Errorf("the error is %v", err)
	}
	data, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	path := "/proc/" + strings.TrimSpace(string(data)) + "/status"
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		text, err := slurp(path)
		if err != nil || strings.HasPrefix(field(text, "State"), "Z") {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("it left a process: %s", field(text, "State"))
		}
	}
}

func TestCrossCheckRefuses(t *testing.T) {
	r := newRunner().(*runner)
	if err := r.setCross(t.TempDir()); err == nil || !strings.Contains(err.Error(), "lat_syscall") {
		t.Errorf("an empty folder: %v", err)
	}
	r.cross = "somewhere"
	j := job(good)
	j.End = make(chan struct{})
	if _, err := r.Run(t.Context(), j); err == nil || !strings.Contains(err.Error(), "alone") {
		t.Errorf("beside another: %v", err)
	}
}

// Every program is one for a figure that there is, or will be: the tables of the other half
// are in figures when it is.
func TestOriginalsAreOfFigures(t *testing.T) {
	for _, o := range originals() {
		table, _, _ := strings.Cut(o.figure, "/")
		known := slices.ContainsFunc(figures(), func(f figure) bool { return f.table == table })
		if _, err := findFigure(o.figure); known && err != nil {
			t.Errorf("%v: %v", o.args, err)
		}
		if (o.server == nil) != (o.stop == nil) || o.read == nil {
			t.Errorf("%v is incomplete", o.args)
		}
	}
}
