package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opcycle/bench"
	"opcycle/report"
)

// copied is a fixture of imports in a folder of its own.
func copied(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("imports/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// called runs a command line in this process.
func called(args ...string) (code int, stdout, stderr string) {
	var out, err strings.Builder
	code = execute(args, &out, &err)
	return code, out.String(), err.String()
}

// A result of another program becomes one of ours beside it, is whole, is reported as the
// other program's, and is never overwritten.
func TestImport(t *testing.T) {
	dir := t.TempDir()
	path := copied(t, dir, "lmbench-1.9.txt")
	code, stdout, stderr := called("import", path)
	if code != exitPass || !strings.Contains(stdout, "Imported results of lmbench 1.9") || !strings.Contains(stdout, "not by opcycle, and imported") {
		t.Fatalf("exit %d\n%s\n%s", code, stdout, stderr)
	}
	made := filepath.Join(dir, "lmbench-1.9.opcycle.json")
	if code, _, stderr := called("verify", made); code != exitPass {
		t.Errorf("verify: %s", stderr)
	}
	if code, _, stderr := called("import", path); code != exitNotMeasured || !strings.Contains(stderr, "never overwritten") {
		t.Errorf("again: exit %d: %s", code, stderr)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// Several results stand in one file, also with those of ours.
func TestImportTogether(t *testing.T) {
	dir := t.TempDir()
	a, b, c := copied(t, dir, "lmbench-2.0.txt"), copied(t, dir, "one.json"), copied(t, dir, "two.json")
	all, more := filepath.Join(dir, "all.json"), filepath.Join(dir, "more.json")
	if code, _, stderr := called("import", a, b, "--out", all); code != exitPass {
		t.Fatal(stderr)
	}
	if code, _, stderr := called("import", all, c, "--out", more); code != exitPass {
		t.Fatal(stderr)
	}
	f, err := os.Open(more)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file, err := report.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range file.Suites {
		got = append(got, r.Suite+" "+r.Label+" "+r.Imported)
	}
	if s := strings.Join(got, ", "); s != "lmbench lmbench-2.0.txt lmbench 2.0, cyclictest one.json cyclictest, cyclictest two.json cyclictest" || file.Suite != "import" {
		t.Errorf("%s: %s", file.Suite, s)
	}
	if code, _, stderr := called("import", all, b, "--out", filepath.Join(dir, "none.json")); code != exitNotMeasured || !strings.Contains(stderr, "could not be told apart") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// What cannot be read is refused before anything is written.
func TestImportRefuses(t *testing.T) {
	dir := t.TempDir()
	good := copied(t, dir, "one.json")
	bad := filepath.Join(dir, "bad.txt")
	if err := os.WriteFile(bad, []byte("hello\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{good, bad}, "bad.txt: it is no result of"},
		{[]string{good, filepath.Join(dir, "none")}, "no such file"},
		{[]string{good, "--kind", "lmbench"}, "no table of an lmbench summary"},
		{[]string{good, "--kind", "lmbensh"}, "nearest: lmbench"},
		{[]string{good, "--out", filepath.Join(dir, "no folder", "x.json")}, "no such file or directory"},
		{[]string{good, bad, "--format", "csv"}, "put them into one with --out"},
	} {
		code, _, stderr := called(append([]string{"import"}, tt.args...)...)
		if code != exitNotMeasured || !strings.Contains(stderr, tt.want) {
			t.Errorf("%q: exit %d: %s", tt.args, code, stderr)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %v", left, err)
	}
}

// A result of ours without a suite has nothing to import.
func TestImportOfARunOfOPCUA(t *testing.T) {
	if _, err := importOurs("run.json", bench.File{}); err == nil {
		t.Error("taken")
	}
}
