package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"opcycle/bench"
	"opcycle/run"
)

func repeated(t *testing.T, dir string) bench.Repeat {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, repeatName))
	if err != nil {
		t.Fatal(err)
	}
	var r bench.Repeat
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// Ctrl-C in the second of three runs: two results, whole and named, one that was ended
// early, and exit 2; the folder can be reported, verified and compared.
func TestRepeatIsInterrupted(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	c := start(t, dir, "run", "--repeat", "3", "--out", out, "--format", "json=r.json", profile(t, quick("server")...))
	c.says("run 2 of 3")
	c.until(func() bool { return strings.Count(c.stderr.String(), "measure ") == 2 })
	c.signal(syscall.SIGINT)
	if code := c.code(); code != exitNotMeasured {
		t.Errorf("exit %d", code)
	}
	r := repeated(t, out)
	if len(r.Runs) != 2 || r.Asked != 3 || r.Runs[1].Valid || r.Runs[1].Exit != exitNotMeasured || !strings.Contains(r.Runs[1].Why, "incomplete") {
		t.Fatalf("%+v", r)
	}
	if first := r.Runs[0]; first.Valid != (len(r.Spread) > 0) || !first.Valid && first.Why == "" {
		t.Errorf("%+v with %d rows", first, len(r.Spread))
	}
	for _, name := range []string{"r-1.json", "r-2.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	again := start(t, dir, "report", out)
	if code := again.code(); code != exitNotMeasured || !strings.Contains(c.stdout.String(), again.stdout.String()) {
		t.Errorf("exit %d; report prints something else:\n%s", code, again.stdout.String())
	}
	if v := start(t, dir, "verify", out); v.code() != exitPass || strings.Count(v.stdout.String(), "whole") != 1 {
		t.Errorf("verify: %s", v.stderr.String())
	}
}

// Two plans in turns: a b, b a. The comparison follows, whatever it says of so few runs.
func TestCompareMeasuresInTurns(t *testing.T) {
	alone(t)
	dir := t.TempDir()
	out := filepath.Join(dir, "out")
	lines := []string{"run: {floor: 0, duration: 1s, warm_up: 100ms}", "plc: {interval: 10ms, iterations: 200}"}
	a, b := profile(t, lines...), profile(t, strings.Replace(lines[0], "1s", "2s", 1), lines[1])
	c := start(t, dir, "compare", "--repeat", "2", "--out", out, a, b)
	c.code()
	var order []string
	for line := range strings.Lines(c.stdout.String()) {
		if name, _, ok := strings.Cut(line, " run "); ok && len(name) == 1 {
			order = append(order, name)
		}
	}
	if !slices.Equal(order, []string{"a", "b", "b", "a"}) {
		t.Errorf("order %v", order)
	}
	contains(t, c.stdout.String(), "duration", "b ("+b+") compared with a ("+a+")")
	for _, side := range []string{"a", "b"} {
		if r := repeated(t, filepath.Join(out, side)); len(r.Runs) != 2 || r.Asked != 2 {
			t.Errorf("%s: %+v", side, r)
		}
	}
}

// A folder of several runs is compared without those that were ended early; a run that is
// named itself is not left out.
func TestRunsEndedEarlyAreLeftOut(t *testing.T) {
	dir := t.TempDir()
	for name, complete := range map[string]bool{"1": true, "2": false, "3": true} {
		file := run.SuiteFile("cyclictest", bench.Host{}, []bench.SuiteResult{{Suite: "cyclictest", Complete: complete}})
		file.Tool = tool()
		data, err := json.Marshal(file)
		if err == nil {
			err = os.MkdirAll(filepath.Join(dir, name), 0o755)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, name, run.ResultName), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	side, err := sideAt(dir)
	if err != nil || len(side.Runs) != 2 || len(side.LeftOut) != 1 || !strings.Contains(side.LeftOut[0], filepath.Join("2", run.ResultName)) {
		t.Errorf("%+v, %v", side, err)
	}
	side, err = sideAt(filepath.Join(dir, "2"))
	if err != nil || len(side.Runs) != 1 || side.Runs[0].Valid {
		t.Errorf("%+v, %v", side, err)
	}
}

func TestRepeatRefuses(t *testing.T) {
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ args, says []string }{
		"none":         {[]string{"run", "--repeat", "0"}, []string{"--repeat 0", "1 to 1000"}},
		"fewer":        {[]string{"run", "--repeat", "-1"}, []string{"--repeat -1", "1 to 1000"}},
		"years":        {[]string{"run", "--repeat", "1000000000"}, []string{"1 to 1000"}},
		"no number":    {[]string{"run", "--repeat", "five"}, []string{"five", "--repeat"}},
		"one stdout":   {[]string{"run", "--repeat", "2", "--format", "csv"}, []string{"csv=PATH"}},
		"one object":   {[]string{"run", "--repeat", "2", "--upload", "http://127.0.0.1:1/run.json"}, []string{"--upload", "one result"}},
		"not empty":    {[]string{"run", "--repeat", "2", "--out", full}, []string{full, "--out"}},
		"one profile":  {[]string{"compare", "--repeat", "5", "quick"}, []string{"two profiles, 1", "A.yaml B.yaml"}},
		"three":        {[]string{"compare", "--repeat", "5", "quick", "quick", "quick"}, []string{"two profiles, 3"}},
		"no profile":   {[]string{"compare", "--repeat", "5", "quick", "quik"}, []string{"quik", "quick"}},
		"out, nothing": {[]string{"compare", "--out", "x", "a", "b"}, []string{"--out", "--repeat"}},
		"no form":      {[]string{"compare", "--format", "pdf", "a", "b"}, []string{"pdf", "html"}},
		"two stdout":   {[]string{"compare", "--format", "csv", "--format", "json", "a", "b"}, []string{"csv goes to standard output already", "json=PATH"}},
		"two against":  {[]string{"compare", "--against", "codesys", "a", "b"}, []string{"one result", "2 are named"}},
		"run, nobody":  {[]string{"run", "--against", "siemens"}, []string{"siemens", "intel-codesys-opc-ua-client-benchmark"}},
		"ambiguous":    {[]string{"report", "--against", "intel", full}, []string{"intel-caterpillar or ", "write one"}},
		"no result":    {[]string{"report", full}, []string{full, run.ResultName}},
	} {
		t.Run(name, func(t *testing.T) { contains(t, refused(t, c.args...), c.says...) })
	}
}

// A folder with results of several machines, at either depth, is a fleet; what no run of a
// control cycle is, is refused by its name.
func TestCompareRanksAFleet(t *testing.T) {
	dir := t.TempDir()
	write := func(at, suite, node string) string {
		file := bench.File{Schema: bench.Schema, Suite: suite, Tool: tool(), Host: bench.Host{Name: node}, Invalid: []string{"a fixture"}}
		if suite != bench.SuiteOPCUA {
			file = run.SuiteFile(suite, file.Host, []bench.SuiteResult{{Suite: suite, Complete: true}})
			file.Tool = tool()
		}
		data, err := json.Marshal(file)
		path := filepath.Join(dir, at, run.ResultName)
		if err == nil {
			err = os.MkdirAll(filepath.Dir(path), 0o755)
		}
		if err == nil {
			err = os.WriteFile(path, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("a/20261201T000000Z", bench.SuiteOPCUA, "plc-a")
	write("b", bench.SuiteOPCUA, "plc-b")
	c := start(t, dir, "compare", dir, "--format", "json=f.json")
	if code := c.code(); code != exitNotMeasured {
		t.Errorf("exit %d where no node counts", code)
	}
	contains(t, c.stdout.String(), "0 node(s) ranked, 2 run(s) not", "plc-a", "plc-b", "a fixture")
	if data, err := os.ReadFile(filepath.Join(dir, "f.json")); err != nil || !json.Valid(data) {
		t.Errorf("%v: %s", err, data)
	}
	path := write("c", "cyclictest", "plc-c")
	contains(t, refused(t, "compare", dir), path, "cyclictest", "control cycle")
}

// A list of runs is somebody's file: it reaches nothing outside of its folder.
func TestAListOfRunsThatLies(t *testing.T) {
	for name, c := range map[string]struct{ text, says string }{
		"elsewhere": {`{"schema": 1, "runs": [{"file": "../secret.json"}]}`, "outside its folder"},
		"newer":     {`{"schema": 2}`, "schema 2"},
		"no JSON":   {`x`, "invalid character"},
		"missing":   {`{"schema": 1, "runs": [{"file": "1/run.json"}]}`, "no such file"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, repeatName), []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			contains(t, refused(t, "report", dir), c.says)
			contains(t, refused(t, "verify", dir), c.says)
		})
	}
}
