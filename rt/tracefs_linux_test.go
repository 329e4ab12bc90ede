package rt

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The real tracer: an instance of our own is made, marked, stopped and removed, and what was
// mounted for it is gone.
func TestTracefs(t *testing.T) {
	fs, missing, err := OpenTracefs("/", []string{"sched/sched_switch", "sched/no_such_event"})
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	dir, mounted := fs.Dir, fs.mounted
	t.Cleanup(func() { _ = fs.Close() })
	if len(missing) != 1 || missing[0] != "sched/no_such_event" {
		t.Errorf("missing %v", missing)
	}
	m, err := OpenMarker(dir)
	if err != nil {
		t.Fatal(err)
	}
	if m.Mark("off", 1, 2) {
		t.Error("a tracer that is off took a mark")
	}
	if err := fs.On(true); err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { m.Mark("cycle", 123456789, -5) }); n != 0 {
		t.Errorf("Mark allocates %v times", n)
	}
	if !m.Mark("last", 1, 2) {
		t.Error("a tracer that is on took no mark")
	}
	m.Stop()
	if on, err := fs.Running(); on || err != nil {
		t.Errorf("running after Stop: %v, %v", on, err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(data), "opcycle cycle k=123456789 ns=-5"); n != 101 || strings.Contains(string(data), "opcycle off") {
		t.Errorf("%d marks in the trace", n)
	}
	if err := fs.Clear(); err != nil {
		t.Error(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "trace")); err != nil || strings.Contains(string(data), "opcycle") {
		t.Errorf("not empty after Clear: %s, %v", data, err)
	}
	if fs.Lost() < 0 {
		t.Error("the kernel does not say what was lost")
	}
	m.Close() // an instance in use is not removed
	if err := fs.Close(); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, mounted} {
		if _, err := os.Stat(path); path != "" && err == nil {
			t.Errorf("%s is left behind", path)
		}
	}
}

func TestNoTracefs(t *testing.T) {
	if _, _, err := OpenTracefs(t.TempDir(), nil); err == nil || !strings.Contains(err.Error(), "no tracefs") {
		t.Errorf("%v", err)
	}
}

func BenchmarkMark(b *testing.B) {
	fs, _, err := OpenTracefs("/", nil)
	if err != nil {
		b.Skip(err)
	}
	m, err := OpenMarker(fs.Dir)
	if err != nil {
		b.Fatal(err)
	}
	defer fs.Close()
	defer m.Close()
	if err := fs.On(true); err != nil {
		b.Fatal(err)
	}
	for i := int64(0); b.Loop(); i++ {
		m.Mark("cycle", i, 3_300_000)
	}
}
