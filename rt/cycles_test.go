package rt

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestCyclesGoOn(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	last := Cycles()
	for range 1000 {
		now := Cycles()
		if now < last {
			t.Fatalf("the counter went from %d back to %d", last, now)
		}
		last = now
	}
	if n := testing.AllocsPerRun(100, func() { Cycles() }); n != 0 {
		t.Errorf("Cycles allocates %v times", n)
	}
}

func TestReadCycleClock(t *testing.T) {
	c, err := ReadCycleClock("/")
	if err != nil {
		t.Fatal(err)
	}
	if c.Hz < 1e6 || c.Hz > 1e11 || c.Unit == "" {
		t.Errorf("the clock is %+v", c)
	}
	if ns := c.NS(c.Hz); ns < 0.999e9 || ns > 1.001e9 {
		t.Errorf("a second's cycles are %v ns", ns)
	}
}

func TestACounterThatIsNotInvariantIsRefused(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the flag is amd64's")
	}
	for name, c := range map[string]struct{ cpuinfo, want string }{
		"stops in sleep": {"flags : fpu tsc constant_tsc\n", "nonstop_tsc"},
		"varies":         {"processor: 0\nflags : fpu tsc nonstop_tsc\n", "constant_tsc"},
		"unknown":        {"processor: 0\n", "no flags"},
		"no file":        {"", "cpuinfo"},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			if c.cpuinfo != "" {
				if err := os.MkdirAll(filepath.Join(root, "proc"), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(root, "proc/cpuinfo"), []byte(c.cpuinfo), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := ReadCycleClock(root); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, not about %s", err, c.want)
			}
		})
	}
}
