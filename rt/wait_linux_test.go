package rt

import (
	"errors"
	"os/exec"
	"syscall"
	"testing"
	"time"
)

func TestWaitUsageSaysHowAProcessEnded(t *testing.T) {
	for name, c := range map[string]struct {
		program string
		kill    bool
		status  int
	}{
		"by itself": {"exit 3", false, 3 << 8},
		"killed":    {"exec sleep 60", true, SignalKill},
	} {
		t.Run(name, func(t *testing.T) {
			p := exec.Command("/bin/sh", "-c", c.program)
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			if c.kill {
				RawKill(p.Process.Pid, SignalKill)
			}
			u, status, err := WaitUsage(p.Process.Pid)
			if err != nil || status != c.status || u.MinorFaults <= 0 || u.Voluntary < 0 || u.Involuntary < 0 {
				t.Errorf("%+v, status %#x, %v", u, status, err)
			}
			if u, _, err := WaitUsage(p.Process.Pid); !errors.Is(err, syscall.ECHILD) || u.Voluntary != -1 {
				t.Errorf("once more: %+v, %v, not ECHILD", u, err)
			}
			_ = p.Process.Release()
		})
	}
}

// A machine has a counter of core cycles, or says by the kernel's word why not.
func TestCoreRatio(t *testing.T) {
	onThread(t, func() {
		ratio, err := CoreRatio(10 * time.Millisecond)
		if err == nil {
			if ratio <= 0 {
				t.Errorf("the ratio is %v", ratio)
			}
			return
		}
		for _, known := range []error{syscall.ENOENT, syscall.EOPNOTSUPP, syscall.EACCES, syscall.EPERM, syscall.ENOSYS, syscall.ENODEV} {
			if errors.Is(err, known) {
				return
			}
		}
		t.Errorf("%v does not wrap a reason that perf_event_open has", err)
	})
}
