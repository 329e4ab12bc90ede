//go:build amd64 || arm64

package rt

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
)

// memoryForTest is memory outside of the Go heap.
func memoryForTest(t *testing.T, size int) []byte {
	t.Helper()
	mem, err := RawMemory(size, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := FreeMemory(mem); err != nil {
			t.Error(err)
		}
	})
	return mem
}

// A list of as many pointers as loads ends where it began, and not before.
func TestChase(t *testing.T) {
	mem := memoryForTest(t, 64<<10)
	at := MemoryPointer(mem)
	const links = 700 // a ring of 7 · 100, each 13 · 64 bytes after the one before
	place := func(i int) int { return i * 13 % links * 64 }
	for i := range links {
		binary.NativeEndian.PutUint64(mem[place(i):], uint64(at)+uint64(place(i+1)))
	}
	for hundreds := range int64(9) {
		want := at + uintptr(place(int(hundreds)*100))
		if got := Chase(at, hundreds); got != want {
			t.Errorf("after %d00 loads at %d, not %d", hundreds, got-at, want-at)
		}
	}
}

func TestLoadAndStoreBytes(t *testing.T) {
	mem := memoryForTest(t, 4096)
	at := MemoryPointer(mem)
	StoreBytes(at+10, 100, 7, 3) // at 10, 17, … below 110: 15 of them
	for i, b := range mem {
		want := byte(0)
		if i >= 10 && i < 110 && (i-10)%7 == 0 {
			want = 3
		}
		if b != want {
			t.Errorf("byte %d is %d, not %d", i, b, want)
		}
	}
	for name, c := range map[string]struct {
		offsets []uint64
		want    uint64
	}{
		"none":        {nil, 0},
		"one":         {[]uint64{17}, 3},
		"some":        {[]uint64{108, 11, 10, 24, 10}, 12},
		"beyond them": {[]uint64{4095, 115}, 0},
	} {
		if got := LoadBytes(at, c.offsets); got != c.want {
			t.Errorf("%s: the sum is %d, not %d", name, got, c.want)
		}
	}
}

func TestStoreFaulting(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	page := uintptr(os.Getpagesize())
	at, errno := RawMmap(page, ProtRead, MmapPrivate|MmapAnon, -1, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer RawMunmap(at, page)
	action := CountFaults()
	var before SignalAction
	if errno := RawSigaction(SignalSegv, &action, &before); errno != 0 {
		t.Fatal(errno)
	}
	var counts [3]uint64
	for i := range counts {
		counts[i] = StoreFaulting(at+5, uint64(1+i*500))
	}
	read := LoadBytes(at, []uint64{5})
	errno = RawMprotect(at, page, ProtRead|ProtWrite)
	writable := StoreFaulting(at+5, 10)
	if errno := RawSigaction(SignalSegv, &before, nil); errno != 0 || counts != [3]uint64{1, 501, 1001} {
		t.Errorf("%v faults (the handler was put back: %v)", counts, errno)
	}
	if errno != 0 || read != 0 || writable != 0 || LoadBytes(at, []uint64{5}) != 1 {
		t.Errorf("a page that may not be written has %d; one that may (%v) faulted %d times", read, errno, writable)
	}
	defer func() {
		if recover() == nil {
			t.Error("Go's own handler is gone")
		}
	}()
	var nothing *int
	*nothing++
}

// The assembly for arm64 is right too, as an emulator has it.
func TestKernelsOnARM64(t *testing.T) {
	if runtime.GOARCH == "arm64" || testing.Short() {
		t.Skip("has run already, or is too long under the race detector")
	}
	qemu, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v: install the package qemu-user-static", err)
		}
		t.Skipf("%v: needs the package qemu-user-static", err)
	}
	exe := filepath.Join(t.TempDir(), "rt.test")
	build := exec.Command("go", "test", "-c", "-o", exe, ".")
	build.Env = append(os.Environ(), "GOARCH=arm64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	const tests = "^(TestSums|TestStoreInts|TestCopies|TestChase|TestLoadAndStoreBytes|TestStoreFaulting|TestCountSignals)$"
	out, err := exec.Command(qemu, exe, "-test.run="+tests, "-test.v").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
}
