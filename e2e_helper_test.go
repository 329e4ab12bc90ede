package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/host"
	"opcycle/report"
	"opcycle/run"
)

// The tests of this folder start the program as a user does: a normally built binary,
// never one under -race, whose loop would overrun every cycle. Timing is never a
// threshold: they assert identities, counts, exit codes and files.

func TestMain(m *testing.M) {
	code := m.Run()
	if folder != "" {
		_ = os.RemoveAll(folder)
	}
	os.Exit(code)
}

var (
	folder  string     // of the binary; empty until it is built
	machine sync.Mutex // two runs at a time would pin the same CPUs
	built   = sync.OnceValues(build)
)

func build() (string, error) {
	var err error
	if folder, err = os.MkdirTemp("", "opcycle-e2e-"); err != nil {
		return "", err
	}
	path := filepath.Join(folder, "opcycle")
	out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// alone keeps the machine for this test until it ends. A run of somebody else, which
// would have ours refused, is waited for (run/claim.go: its mark is a socket's name). In a
// short pass, as CI's under the race detector, it is skipped: what runs is a binary without
// it, and the full pass runs the same.
func alone(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("a real run")
	}
	machine.Lock()
	t.Cleanup(machine.Unlock)
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		data, err := os.ReadFile("/proc/net/unix")
		if err != nil || !bytes.Contains(data, []byte("@opcycle-cpu-")) {
			return
		}
		if time.Now().After(end) {
			t.Fatal("another opcycle process measures for ever")
		}
	}
}

// needs skips without a tool or privilege, except in CI, which has to have it.
func needs(t *testing.T, ok bool, what string) {
	t.Helper()
	if ok {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatalf("CI has to have %s", what)
	}
	t.Skipf("needs %s", what)
}

// long is far beyond every limit of the product: a test that waits this long hangs.
const long = 2 * time.Minute

// text collects output that a test reads while it is written.
type text struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (s *text) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.Write(p)
}

func (s *text) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.buf.String()
}

// command is the program under way.
type command struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr text
	ended          chan struct{}
}

// start starts the program in dir ("" = this folder).
func start(t *testing.T, dir string, args ...string) *command {
	t.Helper()
	return startBinary(t, dir, executable(t), args...)
}

func startBinary(t *testing.T, dir, path string, args ...string) *command {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), long)
	c := &command{t: t, cmd: exec.CommandContext(ctx, path, args...), ended: make(chan struct{})}
	c.cmd.Dir, c.cmd.Stdout, c.cmd.Stderr = dir, &c.stdout, &c.stderr
	c.cmd.WaitDelay = 5 * time.Second // an orphan would keep our pipes open
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = c.cmd.Wait() // the state tells
		close(c.ended)
	}()
	t.Cleanup(func() {
		cancel()
		<-c.ended
		if t.Failed() {
			t.Logf("%s\nstdout:\n%s\nstderr:\n%s", strings.Join(c.cmd.Args, " "), head(c.stdout.String()), head(c.stderr.String()))
		}
	})
	return c
}

func head(s string) string {
	const most = 3000
	if len(s) > most {
		return s[:most] + "…"
	}
	return s
}

// code waits for the end and returns the exit code; −1: ended by a signal.
func (c *command) code() int {
	c.t.Helper()
	<-c.ended
	return c.cmd.ProcessState.ExitCode()
}

// says waits until standard output or error holds what.
func (c *command) says(what string) {
	c.t.Helper()
	if !c.until(func() bool { return strings.Contains(c.stdout.String()+c.stderr.String(), what) }) {
		c.t.Fatalf("never said %q", what)
	}
}

// until polls ok as long as the program runs.
func (c *command) until(ok func() bool) bool {
	for {
		if ok() {
			return true
		}
		select {
		case <-c.ended:
			return ok()
		case <-time.After(time.Millisecond):
		}
	}
}

// phase waits until a run has entered a phase: without a terminal it prints one a line.
func (c *command) phase(name string) {
	c.t.Helper()
	line := fmt.Sprintf("%-8s", name)
	c.says(line)
}

func (c *command) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Errorf("%v: %v", s, err)
	}
}

// child is the process id of the measured process of that kind.
func (c *command) child(kind string) int {
	c.t.Helper()
	found := 0
	c.until(func() bool {
		for _, p := range processes(c.t) {
			if p.parent == c.cmd.Process.Pid && slices.Contains(p.args, "process") && slices.Contains(p.args, kind) && slices.Contains(p.args, "--placed") {
				found = p.id
			}
		}
		return found != 0
	})
	if found == 0 {
		c.t.Fatalf("no process %s", kind)
	}
	return found
}

// stop halts process pid for at least d and returns for how long all of its threads
// provably stood still.
func stop(t *testing.T, pid int, d time.Duration) time.Duration {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Second); !halted(t, pid); {
		if time.Now().After(end) {
			t.Fatal("the process does not stop")
		}
	}
	from := time.Now()
	time.Sleep(d) // the stop itself, not a synchronisation
	stood := time.Since(from)
	if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	return stood
}

func halted(t *testing.T, pid int) bool {
	t.Helper()
	stats, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	if err != nil || len(stats) == 0 {
		t.Fatalf("process %d is gone", pid)
	}
	for _, path := range stats {
		data, err := os.ReadFile(path)
		if err == nil && !strings.HasPrefix(afterName(data), " T") {
			return false
		}
	}
	return true
}

// afterName is what follows the name in a stat file: it may hold spaces itself.
func afterName(stat []byte) string { return string(stat[bytes.LastIndexByte(stat, ')')+1:]) }

type process struct {
	id, parent int
	args       []string
}

// processes are all processes of the binary under test.
func processes(t *testing.T) []process {
	t.Helper()
	path := executable(t)
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var out []process
	for _, dir := range dirs {
		if exe, err := os.Readlink(dir + "/exe"); err != nil || exe != path {
			continue
		}
		stat, err1 := os.ReadFile(dir + "/stat")
		line, err2 := os.ReadFile(dir + "/cmdline")
		if err1 != nil || err2 != nil {
			continue // it ended meanwhile
		}
		fields := strings.Fields(afterName(stat))
		id, _ := strconv.Atoi(filepath.Base(dir))
		parent, _ := strconv.Atoi(fields[1])
		out = append(out, process{id, parent, strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")})
	}
	return out
}

// leftNothing asserts that no process of the binary is left, and nothing in dir but whole
// files with their names; a result is optional.
func leftNothing(t *testing.T, dir string) {
	t.Helper()
	for _, p := range processes(t) {
		t.Errorf("left behind: process %d %q", p.id, p.args)
	}
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != run.ResultName && e.Name() != run.RecordsName && !(e.Name() == host.CaptureName && exists(dir)) {
			t.Errorf("left behind: %s", filepath.Join(dir, e.Name()))
		}
	}
}

// exists tells whether dir holds a result.
func exists(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, run.ResultName))
	return err == nil
}

// result reads the result in dir.
func result(t *testing.T, dir string) bench.File {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, run.ResultName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := report.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(file.Findings, func(x bench.Finding) bool { return x.Key == "attempts" && x.Severity != bench.SeverityUnknown }) {
		t.Errorf("%s: check's findings do not stand in the result, or nothing was tried: %+v", dir, file.Findings)
	}
	m, err := host.ReadFacts(filepath.Join(dir, host.CaptureName))
	if err != nil || m.Host.Kernel != file.Host.Kernel || len(m.Attempts) == 0 {
		t.Errorf("%s: no capture of the same machine beside the result: %+v, error %v", dir, m.Host, err)
	}
	return file
}

// profile writes a YAML profile and returns its path.
func profile(t *testing.T, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "profile.yaml")
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// The short run of most tests: 40 relaxed cycles with a floor of 10 periods.
const (
	relaxedRun = "run: {floor: 10, duration: 2s, warm_up: 500ms}"
	relaxedPLC = "interval: 50ms, iterations: 200"
)

// freePort is a loopback port that nobody listened on a moment ago.
func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// verdictLine is the first line that a run prints.
func verdictLine(stdout string) string {
	line, _, _ := strings.Cut(stdout, "\n")
	return line
}
