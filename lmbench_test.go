package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
)

// minima are the least of every reading of real short runs: "table/figure" is the headline,
// "table/figure: mechanism" each row. A neighbour can only make a repetition longer.
type minima map[string]float64

func (m minima) add(f bench.File) {
	for _, s := range f.Suites {
		for _, g := range s.Readings {
			if g.Min == nil || *g.Min <= 0 {
				continue
			}
			key := g.Table + "/" + g.Name
			m.least(key+": "+g.Mechanism+", "+g.Placement, *g.Min)
			if g.Headline {
				m.least(key, *g.Min)
			}
		}
	}
}

func (m minima) least(key string, v float64) {
	if had, ok := m[key]; !ok || v < had {
		m[key] = v
	}
}

// of finds a figure, or its one row whose mechanism and placement begin so.
func (m minima) of(t *testing.T, key string) float64 {
	t.Helper()
	if v, ok := m[key]; ok {
		return v
	}
	found, value := 0, 0.0
	for k, v := range m {
		if strings.HasPrefix(k, key) {
			found, value = found+1, v
		}
	}
	if found != 1 {
		t.Fatalf("%d readings are called %q…; was it n/a?", found, key)
	}
	return value
}

// relation: low, times by, is not above high.
type relation struct {
	low, high string
	by        float64
}

// The relations of suites.md, 1.1 to 1.3, "(d)". A relation that noise can reverse has 1.15
// of room.
func lmbenchRelations() []relation {
	const room = 1 / 1.15
	out := []relation{
		{"processor/null_call", "processor/null_io: read 1", 1},
		{"processor/null_call", "processor/null_io: write 1", 1},
		{"processor/null_call", "processor/stat", 1},
		{"processor/stat", "processor/open_close", 1},
		{"processor/null_call", "processor/signal_install", room},
		{"processor/null_call", "processor/signal_handler", 1},
		{"processor/fork", "processor/exec", 1},
		{"processor/exec", "processor/sh", 1},
		{"processor/exec: vfork+exec, static tiny program, from Go", "processor/exec: fork+exec, static tiny program, from Go", 1},
		{"context_switching/context_switch_2p_0k", "local_latency/pipe: 1 byte, two pipes, same", 2},
		{"local_latency/udp: 4 bytes, UDP on the loopback, same", "local_latency/rpc_udp: RPC (minimal ONC codec), UDP, same", room},
		{"local_latency/tcp: 1 byte, TCP on the loopback, same", "local_latency/rpc_tcp: RPC (minimal ONC codec), TCP, same", room},
		{"local_latency/tcp_connect: socket, close", "local_latency/tcp_connect: socket, connect", 1},
	}
	for _, kind := range []string{"TCP", "file"} {
		for _, n := range []string{"10/100", "100/250", "250/500"} {
			low, high, _ := strings.Cut(n, "/")
			out = append(out, relation{selectRow(low, kind), selectRow(high, kind), 1})
		}
	}
	for _, n := range []string{"10", "100", "250", "500"} {
		out = append(out, relation{selectRow(n, "file"), selectRow(n, "TCP"), 1})
	}
	for _, name := range []string{"pipe", "af_unix", "udp", "tcp"} {
		out = append(out, relation{"processor/null_call", "local_latency/" + name, 2})
	}
	for _, r := range []string{"2p_0k/2p_16k", "2p_16k/2p_64k", "8p_16k/8p_64k", "16p_16k/16p_64k"} {
		low, high, _ := strings.Cut(r, "/")
		out = append(out, relation{ringRow(low), ringRow(high), 0.9})
	}
	return out
}

func selectRow(n, kind string) string {
	return fmt.Sprintf("processor/select: select on %s %s descriptors", n, kind)
}

func ringRow(name string) string {
	return "context_switching/context_switch_" + name + ": ring over pipes, raw"
}

func TestLmbenchRelations(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	alone(t)
	least := minima{}
	var broken []string
	for range 3 {
		dir := t.TempDir()
		c := start(t, dir, "suite", "lmbench", "--quick", "--runs", "2", "--only", "processor,context_switching,local_latency", "--out", "out")
		if code := c.code(); code != exitPass {
			t.Fatalf("exit %d", code)
		}
		f := result(t, filepath.Join(dir, "out"))
		complete(t, f)
		least.add(f)
		broken = nil
		for _, r := range lmbenchRelations() {
			if low, high := least.of(t, r.low), least.of(t, r.high); low*r.by > high {
				broken = append(broken, fmt.Sprintf("%s %.3g times %.2f is above %s %.3g", r.low, low, r.by, r.high, high))
			}
		}
		if broken == nil {
			return
		}
	}
	t.Errorf("in three runs, by minima: %s", strings.Join(broken, "; "))
}

// complete asserts that every figure has a number that is not 0, or a reason.
func complete(t *testing.T, f bench.File) {
	t.Helper()
	if !f.Complete || len(f.Suites) != 1 {
		t.Fatalf("complete %v, %d suites", f.Complete, len(f.Suites))
	}
	for _, g := range f.Suites[0].Readings {
		name := g.Table + "/" + g.Name + ": " + g.Mechanism
		switch {
		case g.Value == nil && g.NA == "":
			t.Errorf("%s has neither a number nor a reason", name)
		case g.Value != nil && (*g.Value <= 0 || g.N < 1 || g.Placement == "" && g.Name != "clock" || g.Unit == ""):
			t.Errorf("%s: %+v", name, g)
		case g.Value == nil && g.Table != "file_vm" && g.Mechanism == "":
			t.Errorf("%s is n/a: %s", name, g.NA)
		case g.Value != nil && g.Min != nil && (*g.Min > *g.Value || *g.Value > *g.Max):
			t.Errorf("%s: %v is not between %v and %v", name, *g.Value, *g.Min, *g.Max)
		}
	}
}

func TestLmbenchOnly(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	c := start(t, dir, "suite", "lmbench", "--quick", "--only", "stat,pipe", "--runs", "2", "--unpinned", "--out", "out")
	if code := c.code(); code != exitPass {
		t.Fatalf("exit %d", code)
	}
	out := c.stdout.String()
	if n := strings.Count(out, "Processor, Processes"); n != 1 || strings.Contains(out, "Context switching - times") {
		t.Errorf("not the tables that were asked for:\n%s", out)
	}
	if !strings.Contains(out, "class-tex") || !strings.Contains(out, "0.02K") {
		t.Error("without the published lines")
	}
	f := result(t, filepath.Join(dir, "out"))
	complete(t, f)
	runs := map[string]int{}
	for _, g := range f.Suites[0].Readings {
		if g.Placement != "unpinned" && g.Name != "clock" {
			t.Errorf("%s is at %q", g.Name, g.Placement)
		}
		runs[g.Run+g.Table+g.Name]++
	}
	for _, want := range []string{"1processorstat", "2processorstat", "1local_latencypipe", "2local_latencypipe"} {
		if runs[want] == 0 {
			t.Errorf("without %s: %v", want, runs)
		}
	}
	c = start(t, dir, "report", "--format", "csv=lm.csv", "out/run.json")
	if code := c.code(); code != exitPass {
		t.Fatalf("report: exit %d", code)
	}
	file, err := os.Open(filepath.Join(dir, "lm.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	rows, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, r := range rows {
		if r[0] == "lmbench" && r[2] == "stat" && r[3] == "median" && r[4] != "" && r[5] == "us" {
			found++
		}
	}
	if found != 2 {
		t.Errorf("%d rows of stat: %q", found, rows)
	}
}

func TestLmbenchRefusesWhatItDoesNotKnow(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--only=nul_cal", "null_call"},
		{"--runs=0", "from 1 to"},
		{"--enough=5", "write it with a unit"},
		{"--enough=1us", "too short"},
	} {
		r := start(t, t.TempDir(), "suite", "lmbench", c.args)
		if code := r.code(); code != exitNotMeasured || !strings.Contains(r.stderr.String(), c.want) {
			t.Errorf("%s: exit %d: %s", c.args, code, r.stderr.String())
		}
	}
}

// Interrupted, it keeps what was measured until then and leaves no process.
func TestLmbenchInterrupted(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	c := start(t, dir, "suite", "lmbench", "--only", "processor,local_latency", "--out", "out")
	c.says("figure 2 of")
	c.signal(syscall.SIGINT)
	if code := c.code(); code != exitNotMeasured {
		t.Errorf("exit %d", code)
	}
	f := result(t, filepath.Join(dir, "out"))
	if f.Complete || len(f.Suites) != 1 || len(f.Suites[0].Readings) < 2 {
		t.Errorf("complete %v: %+v", f.Complete, f.Suites)
	}
	leftNothing(t, filepath.Join(dir, "out"))
}

// A conductor that is killed leaves neither a probe nor a peer nor a forking program.
func TestLmbenchKilled(t *testing.T) {
	for _, figure := range []string{"fork", "context_switch_16p_16k", "udp", "tcp_connect"} {
		t.Run(figure, func(t *testing.T) {
			alone(t)
			c := start(t, t.TempDir(), "suite", "lmbench", "--only", figure, "--enough", "1s", "--out", "out")
			probe := 0
			c.until(func() bool {
				for _, p := range processes(t) {
					if p.parent == c.cmd.Process.Pid {
						probe = p.id
					}
				}
				return probe != 0 && len(inGroup(t, probe)) > 1
			})
			if probe == 0 {
				t.Fatal("no probe was seen with a child")
			}
			c.signal(syscall.SIGKILL)
			c.code()
			for end := time.Now().Add(10 * time.Second); len(inGroup(t, probe)) > 0; time.Sleep(time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("left behind: %v", inGroup(t, probe))
				}
			}
		})
	}
}

// inGroup are the living processes of a process group.
func inGroup(t *testing.T, group int) []string {
	t.Helper()
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, path := range paths {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it ended meanwhile
		}
		f := strings.Fields(afterName(stat)) // state, parent, group
		if f[2] == fmt.Sprint(group) && f[0] != "Z" {
			out = append(out, string(stat[:40]))
		}
	}
	return out
}
