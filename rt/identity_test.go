package rt

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// fixture makes a tree of files below a new root.
func fixture(t *testing.T, files map[string]string) (root string) {
	t.Helper()
	root = t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestIdentityOfAFixture(t *testing.T) {
	root := fixture(t, map[string]string{
		"proc/sys/kernel/random/boot_id":                                  "7f0c\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "arch_sys_counter\n",
	})
	if id, err := BootID(root); err != nil || id != "7f0c" {
		t.Errorf("boot id %q, %v", id, err)
	}
	if name, err := ClockSource(root); err != nil || name != "arch_sys_counter" {
		t.Errorf("clock source %q, %v", name, err)
	}
}

func TestIdentityUnknownIsAnError(t *testing.T) {
	empty := fixture(t, map[string]string{
		"proc/sys/kernel/random/boot_id":                                  "\n",
		"sys/devices/system/clocksource/clocksource0/current_clocksource": "",
	})
	for name, read := range map[string]func(root string) error{
		"boot id":        func(root string) error { _, err := BootID(root); return err },
		"clock source":   func(root string) error { _, err := ClockSource(root); return err },
		"time namespace": func(root string) error { _, err := TimeNamespace(root); return err },
	} {
		if err := read(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s of an empty root: %v, want os.ErrNotExist", name, err)
		}
		if err := read(empty); err == nil {
			t.Errorf("%s of an empty file: no error", name)
		}
	}
}

func TestTimeNamespaceLink(t *testing.T) {
	for link, want := range map[string]uint64{
		"time:[4026531834]": 4026531834,
		"time:[]":           0,
		"time:4026531834":   0,
		"uts:[4026531838]":  0,
		"time:[1":           0,
	} {
		root := fixture(t, map[string]string{"proc/self/ns/uts": ""})
		if err := os.Symlink(link, filepath.Join(root, "proc/self/ns/time")); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
		got, err := TimeNamespace(root)
		if got != want || (err == nil) != (want != 0) {
			t.Errorf("%s: %d, %v; want %d", link, got, err, want)
		}
	}
}

func TestIdentityOfThisMachine(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs Linux")
	}
	a, errA := BootID("/")
	b, errB := BootID("/")
	if errA != nil || errB != nil || a != b || len(a) != 36 {
		t.Errorf("boot ids %q %v, %q %v: want one UUID", a, errA, b, errB)
	}
	if inode, err := TimeNamespace("/"); err != nil || inode == 0 {
		t.Errorf("time namespace %d, %v", inode, err)
	}
	if name, err := ClockSource("/"); err != nil || name == "" {
		t.Errorf("clock source %q, %v", name, err)
	}
}
