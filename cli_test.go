package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opcycle/run"
)

// refused runs a command line that must be refused without a result or a process, and
// returns what it said.
func refused(t *testing.T, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	c := start(t, dir, args...)
	if code := c.code(); code != exitNotMeasured {
		t.Errorf("%q: exit %d, not %d", args, code, exitNotMeasured)
	}
	if out := c.stdout.String(); out != "" {
		t.Errorf("%q: printed %q", args, out)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("%q left %v (%v)", args, entries, err)
	}
	return c.stderr.String()
}

func contains(t *testing.T, said string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(said, p) {
			t.Errorf("%q is not said in:\n%s", p, said)
		}
	}
}

func TestEveryComplaintComesAtOnceWithItsPlace(t *testing.T) {
	path := profile(t,
		"plc:",
		"  intervall: 10ms",  // 2: unknown, near plc.interval
		"  iterations: many", // 3: wrong type
		"  host: server",
		"opcua:",
		"  items: [1, 2]",             // 6: wrong kind
		"  publishing_interval: 25ms", // 7: no multiple of 10 ms
		"run:",
		"  duration: 5ms",                  // 9: not a whole number of cycles
		"stress-ng: perhaps",               // 10: no switch
		"budgets: [\"packets.lost <= 0\"]", // 11: unknown statistic
	)
	said := refused(t, "run", path, "--workload", "FLOATS", "--rt", "maybe")
	contains(t, said,
		path+":2: plc.intervall", "plc.interval",
		path+":3: plc.iterations",
		path+":6: opcua.items",
		path+":7: opcua.publishing_interval",
		path+":9: run.duration",
		path+":10: stress-ng",
		path+":11: budgets[0]",
		"--workload: plc.workload", "--rt: placement.rt")
	for line := range strings.Lines(said) {
		if strings.Contains(line, ".yaml:") && !strings.Contains(line, "; ") {
			t.Errorf("no way out: %s", line)
		}
	}
}

func TestRefusedCommandLines(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		says []string
	}{
		"unknown profile":     {[]string{"run", "singlenode"}, []string{"singlenode", "single-node"}},
		"missing file":        {[]string{"run", "no/such.yaml"}, []string{"no/such.yaml"}},
		"unknown flag":        {[]string{"run", "--intervall", "10ms"}, []string{"--intervall"}},
		"flag value":          {[]string{"run", "--items", "0"}, []string{"--items", "1 to 10000"}},
		"flag type":           {[]string{"run", "--interval", "10"}, []string{"--interval", "10ms"}},
		"flags contradict":    {[]string{"run", "--interval", "7ms", "--duration", "10s"}, []string{"--duration", "--interval", "10.003s"}},
		"no such CPU":         {[]string{"run", "--server-cpus", "4095"}, []string{"4095"}},
		"unknown verb":        {[]string{"runn"}, []string{"runn", "run"}},
		"two profiles":        {[]string{"run", "quick", "quick"}, []string{"accepts"}},
		"no result":           {[]string{"report", "missing.json"}, []string{"missing.json"}},
		"unknown format":      {[]string{"report", "--format", "pdf", "run.json"}, []string{"pdf", "text", "csv", "html"}},
		"nobody serves there": {[]string{"measure", "opc.tcp://127.0.0.1:1"}, []string{"opc.tcp://127.0.0.1:1", "opcycle serve"}},
		"check, form":         {[]string{"check", "--format", "xml"}, []string{"xml", "text", "json"}},
		"check, no machine":   {[]string{"check", "--root", "/nowhere"}, []string{"/nowhere", "no such file"}},
		"check, bad plan":     {[]string{"check", "--items", "0"}, []string{"--items", "1 to 10000"}},
		"attempt by hand":     {[]string{"attempt"}, []string{"opcycle check"}},
		"hidden verb by hand": {[]string{"process", "server", "--placed"}, []string{"opcycle run"}},
	} {
		t.Run(name, func(t *testing.T) {
			contains(t, refused(t, c.args...), c.says...)
		})
	}
}

func TestDryRunDecodesToTheSamePlan(t *testing.T) {
	for name, args := range map[string][]string{
		"default": nil,
		"flags": {"--interval", "20ms", "--duration", "1m", "--items", "7", "--plc", "client", "--iterations", "auto",
			"--workload", "memory", "--priority", "77", "--rt", "off", "--out", "there"},
		"profile": {"quick", "--warm-up", "0s"},
	} {
		t.Run(name, func(t *testing.T) {
			first := start(t, "", append([]string{"run", "--dry-run"}, args...)...)
			if code := first.code(); code != exitPass {
				t.Fatalf("exit %d", code)
			}
			again := start(t, "", "run", "--dry-run", profile(t, first.stdout.String()))
			if code := again.code(); code != exitPass || again.stdout.String() != first.stdout.String() {
				t.Errorf("exit %d, and another plan:\n%s", code, again.stdout.String())
			}
		})
	}
}

func TestAResultIsNeverOverwritten(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, run.ResultName)
	if err := os.WriteFile(path, []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	contains(t, refused(t, "run", "--out", dir), dir, "--out")
	if data, err := os.ReadFile(path); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
	leftNothing(t, dir)
}

func TestReportRefusesWhatIsNoWholeResult(t *testing.T) {
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	start(t, "", "run", "--out", out, profile(t, quick("server")...)).code()
	whole, err := os.ReadFile(filepath.Join(out, run.ResultName))
	if err != nil {
		t.Fatal(err)
	}
	var newer map[string]any
	if err := json.Unmarshal(whole, &newer); err != nil {
		t.Fatal(err)
	}
	newer["schema"] = 999
	text, err := json.Marshal(newer)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ data, says string }{
		"empty":     {"", "empty"},
		"truncated": {string(whole[:len(whole)/2]), "cut off"},
		"foreign":   {`{"jobs": []}`, "not a result"},
		"no JSON":   {"hello", "no JSON"},
		"newer":     {string(text), "schema 999"},
		"records":   {string(make([]byte, 1280)), "no JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.json")
			if err := os.WriteFile(path, []byte(c.data), 0o644); err != nil {
				t.Fatal(err)
			}
			contains(t, refused(t, "report", path), path, c.says)
			contains(t, refused(t, "report", "--format", "csv", path), path, c.says)
		})
	}
}

// The vendor's contradictions are marked in the list.
func TestReferencesListsTheVendor(t *testing.T) {
	c := start(t, "", "references")
	if code := c.code(); code != exitPass {
		t.Fatalf("exit %d", code)
	}
	contains(t, c.stdout.String(), "CODESYS", "inconsistent", "Execution Time - Average", "5597")
}
