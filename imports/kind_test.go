package imports

import (
	"path/filepath"
	"strings"
	"testing"
)

// Every fixture is found to be what it is, by its content alone.
func TestKindOf(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.*")
	if err != nil || len(paths) == 0 {
		t.Fatal(paths, err)
	}
	for _, path := range paths {
		want := "cyclictest"
		for _, k := range Kinds() {
			if strings.HasPrefix(filepath.Base(path), k.Name) {
				want = k.Name
			}
		}
		data := fixture(t, filepath.Base(path))
		if k, err := KindOf(data); err != nil || k.Name != want {
			t.Errorf("%s: %s, %v", path, k.Name, err)
		}
		if cut := data[:len(data)*3/4]; data[0] == '{' {
			if k, err := KindOf(cut); err != nil || k.Name != want {
				t.Errorf("%s, cut off: %s, %v", path, k.Name, err)
			}
		}
	}
}

func TestKindRefuses(t *testing.T) {
	for _, text := range []string{"", "hello", "{}", `{"schema": 1}`, "a: 1\n", "\x00"} {
		if k, err := KindOf([]byte(text)); err == nil {
			t.Errorf("%q is taken for %s", text, k.Name)
		}
	}
	both := string(fixture(t, "one-h.txt")) + "\n" + string(fixture(t, "lmbench-1.9.txt"))
	if _, err := KindOf([]byte(both)); err == nil || !strings.Contains(err.Error(), "looks like a result of cyclictest and of lmbench") {
		t.Error(err)
	}
	if _, err := FindKind("cyclitest"); err == nil || !strings.Contains(err.Error(), "nearest: cyclictest") {
		t.Error(err)
	}
}
