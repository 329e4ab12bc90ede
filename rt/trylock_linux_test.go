package rt

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
	"testing"

	"os"
)

func TestErrnoName(t *testing.T) {
	for want, err := range map[string]error{
		"": nil, "EPERM": fmt.Errorf("tried: %w", syscall.EPERM), "ENOENT": &os.PathError{Op: "open", Path: "x", Err: syscall.ENOENT},
		"?": io.EOF, "EAGAIN": errors.Join(io.EOF, syscall.EAGAIN),
	} {
		if got := ErrnoName(err); got != want {
			t.Errorf("%v: %q, want %q", err, got, want)
		}
	}
}

// Trying locks nothing that stays: the kernel's account of locked memory is as before.
func TestTryLockMemoryLeavesNothingLocked(t *testing.T) {
	err := TryLockMemory()
	soft, _, lerr := MemlockLimit()
	if lerr != nil {
		t.Fatal(lerr)
	}
	if may, merr := mayLock(); merr == nil && (may || soft == Unlimited) && err != nil {
		t.Errorf("refused although it may: %v", err)
	} else if merr == nil && !may && soft != Unlimited && err == nil {
		t.Errorf("granted with a limit of %d bytes, which LockMemory refuses", soft)
	}
	status, rerr := os.ReadFile("/proc/self/status")
	if rerr != nil {
		t.Fatal(rerr)
	}
	for line := range strings.Lines(string(status)) {
		if v, ok := strings.CutPrefix(line, "VmLck:"); ok && strings.TrimSpace(v) != "0 kB" {
			t.Errorf("locked: %s", v)
		}
	}
}
