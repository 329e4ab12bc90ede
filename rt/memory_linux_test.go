package rt

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

const sharedSize = 3*4096 + 2 // a last page of 2 bytes

func TestSharedMemoryReachesAChildProcess(t *testing.T) {
	s, err := NewShared("test", sharedSize)
	if err != nil {
		t.Fatal(err)
	}
	word := (*uint64)(unsafe.Pointer(&s.Mem[0]))
	atomic.StoreUint64(word, 41)
	s.Mem[sharedSize-1] = 7
	child(t, "shared", []*os.File{s.File})
	if got := atomic.LoadUint64(word); got != 42 {
		t.Errorf("after the child added 1 to 41 the word is %d", got)
	}
	if s.Mem[sharedSize-1] != 7 {
		t.Error("mapping it changed the last byte")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := s.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("second Close: %v, want os.ErrClosed", err)
	}
}

// Every page is there: a write to each faults no more.
func TestSharedMemoryIsTouched(t *testing.T) {
	const pages = 1000
	s, err := NewShared("test", pages*os.Getpagesize())
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	onThread(t, func() {
		before := ThreadUsage()
		for i := 0; i < len(s.Mem); i += os.Getpagesize() {
			s.Mem[i] = 1
		}
		// Some faults are the runtime's own; a page of ours each would be 1000.
		if n := ThreadUsage().MinorFaults - before.MinorFaults; n > pages/10 {
			t.Errorf("%d page faults in %d pages that were touched before", n, pages)
		}
	})
}

func TestSharedMemoryCannotShrinkBelowItsMapping(t *testing.T) {
	s, err := NewShared("test", sharedSize)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := s.File.Truncate(0); !errors.Is(err, syscall.EPERM) {
		t.Errorf("truncating: %v, want EPERM by the seal", err)
	}
	if _, err := MapShared(s.File, sharedSize+1); err == nil {
		t.Error("mapped more than the file has")
	}
	for _, size := range []int{0, -1} {
		if _, err := NewShared("test", size); err == nil {
			t.Errorf("made %d bytes", size)
		}
	}
	if err := s.Lock(); err != nil {
		t.Errorf("lock 4 pages: %v", err)
	}
}

// dropCapability takes a capability from the calling thread only, which must end after.
func dropCapability(c Capability) error {
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var data [2]unix.CapUserData
	if err := unix.Capget(&header, &data[0]); err != nil {
		return err
	}
	data[c/32].Effective &^= 1 << (uint(c) % 32)
	return unix.Capset(&header, &data[0])
}

func TestLockMemoryRefusesASmallLimit(t *testing.T) {
	soft, _, err := MemlockLimit()
	if err != nil {
		t.Fatal(err)
	}
	if soft == Unlimited {
		t.Skip("RLIMIT_MEMLOCK is unlimited here: nothing to refuse")
	}
	onThread(t, func() {
		if err := dropCapability(CapIPCLock); err != nil {
			t.Error(err)
			return
		}
		if has, err := HasCapability(CapIPCLock); err != nil || has {
			t.Errorf("the dropped capability is held: %v, %v", has, err)
		}
		if err := LockMemory(); !errors.Is(err, syscall.EPERM) {
			t.Errorf("got %v, want EPERM", err)
		}
	})
}

func TestLockMemoryLocks(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's shadow memory can't be locked")
	}
	soft, _, err := MemlockLimit()
	if err != nil {
		t.Fatal(err)
	}
	may, err := mayLock()
	if err != nil {
		t.Fatal(err)
	}
	if soft != Unlimited && !may {
		if os.Getenv("CI") == "true" {
			t.Fatal("CI must be allowed to lock memory")
		}
		t.Skip("needs CAP_IPC_LOCK or an unlimited RLIMIT_MEMLOCK")
	}
	status := child(t, "lock", nil)
	if bytes.Contains(status, []byte("VmLck:\t       0 kB")) || !bytes.Contains(status, []byte("VmLck:")) {
		t.Errorf("nothing is locked:\n%s", status)
	}
}

func TestFIFOWithoutPrivilegeNamesTheWayOut(t *testing.T) {
	if soft, _, err := Rlimit(LimitRTPrio); err != nil || soft > 0 {
		t.Skipf("RLIMIT_RTPRIO of %d allows it here (%v)", soft, err)
	}
	onThread(t, func() {
		if err := dropCapability(CapSysNice); err != nil {
			t.Error(err)
			return
		}
		err := SetThread(0, Attr{Policy: FIFO, Priority: 5})
		if !errors.Is(err, syscall.EPERM) || !bytes.Contains([]byte(err.Error()), []byte("CAP_SYS_NICE")) {
			t.Errorf("got %v, want EPERM and CAP_SYS_NICE", err)
		}
	})
}

func TestHasCapabilityRefusesNumbersThatAreNone(t *testing.T) {
	for _, c := range []Capability{-1, 64} {
		if _, err := HasCapability(c); err == nil {
			t.Errorf("capability %d: no error", c)
		}
	}
}

func TestParentDeathSignalIsSet(t *testing.T) {
	onThread(t, func() {
		if err := SetParentDeathSignal(); err != nil {
			t.Error(err)
			return
		}
		var signal int32
		if err := unix.Prctl(unix.PR_GET_PDEATHSIG, uintptr(unsafe.Pointer(&signal)), 0, 0, 0); err != nil || signal != int32(unix.SIGKILL) {
			t.Errorf("signal is %d, %v; want SIGKILL", signal, err)
		}
	})
}

func TestHoldCPULatency(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cpu_dma_latency")
	if _, err := HoldCPULatency(path, 0); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without the device: %v, want os.ErrNotExist", err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := HoldCPULatency(path, -1); err == nil {
		t.Error("a negative latency was accepted")
	}
	var held io.Closer
	held, err := HoldCPULatency(path, 0x01020304)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) != 4 || *(*int32)(unsafe.Pointer(&text[0])) != 0x01020304 {
		t.Errorf("the device got % x, %v; want 0x01020304 in host byte order", text, err)
	}
	if err := held.Close(); err != nil {
		t.Error(err)
	}
}
