package rt

import (
	"fmt"
	"os"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// The functions Raw… do what their system calls do, and allocate nothing.
func TestRawCalls(t *testing.T) {
	name := append([]byte(t.TempDir()+"/file"), 0)
	fd, errno := RawOpen(&name[0], OpenReadWrite|OpenCreate, 0o600)
	if errno != 0 {
		t.Fatal(errno)
	}
	if n, errno := RawWrite(fd, []byte("abc")); n != 3 || errno != 0 {
		t.Fatalf("wrote %d: %v", n, errno)
	}
	if at, errno := RawLseek(fd, 1, 0); at != 1 || errno != 0 {
		t.Fatalf("moved to %d: %v", at, errno)
	}
	buf := make([]byte, 8)
	if n, errno := RawRead(fd, buf); string(buf[:n]) != "bc" || errno != 0 {
		t.Fatalf("read %q: %v", buf[:n], errno)
	}
	var st StatBuffer
	if errno := RawStat(&name[0], &st); errno != 0 {
		t.Fatal(errno)
	}
	if size := (*syscall.Stat_t)(unsafe.Pointer(&st)).Size; size != 3 {
		t.Errorf("stat says %d bytes", size)
	}
	at, errno := RawMmap(4096, ProtRead, MmapShared, fd, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
	for _, errno := range []syscall.Errno{RawMsync(at, 4096, MsSync), RawMprotect(at, 4096, ProtRead|ProtWrite), RawMunmap(at, 4096),
		RawClose(fd), RawUnlink(&name[0])} {
		if errno != 0 {
			t.Error(errno)
		}
	}
	if errno := RawStat(&name[0], &st); errno != syscall.ENOENT {
		t.Errorf("stat of a file that is gone: %v", errno)
	}
	if errno := RawClose(fd); errno != syscall.EBADF {
		t.Errorf("close of what is closed: %v", errno)
	}
	if RawGetppid() != os.Getppid() || RawGetpid() != os.Getpid() {
		t.Error("another process's number")
	}
	if errno := RawKill(os.Getpid(), 0); errno != 0 {
		t.Error(errno)
	}
	word := uint32(1)
	if errno := RawFutexWait(&word, 2); errno != syscall.EAGAIN {
		t.Errorf("futex wait for a value that has changed: %v", errno)
	}
	if n := testing.AllocsPerRun(100, func() {
		RawGetppid()
		RawStat(&name[0], &st)
		RawRead(-1, buf)
		RawFutexWake(&word, 1)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestRawMemory(t *testing.T) {
	for _, huge := range []bool{false, true} {
		mem, err := RawMemory(1<<20, huge)
		if err != nil {
			t.Fatal(err)
		}
		for i, b := range mem {
			if b != 0 {
				t.Fatalf("byte %d is %d", i, b)
			}
		}
		if MemoryPointer(mem) == 0 {
			t.Error("no address")
		}
		if err := FreeMemory(mem); err != nil {
			t.Error(err)
		}
	}
}

func TestRawSockets(t *testing.T) {
	l, port, err := RawListen(4)
	if err != nil {
		t.Fatal(err)
	}
	defer RawClose(l)
	c, errno := RawSocket(true)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer RawClose(c)
	to := LoopbackAddress(7, port) // any address of the loopback network
	if errno := RawConnect(c, &to); errno != 0 {
		t.Fatal(errno)
	}
	s, errno := RawAccept(l)
	if errno != 0 {
		t.Fatal(errno)
	}
	defer RawClose(s)
	var set FDSet
	set[c/64] = 1 << (c % 64)
	if n, errno := RawSelectWritable(c+1, &set); n != 1 || errno != 0 {
		t.Errorf("select says %d: %v", n, errno)
	}

	a, aPort, err := RawUDP(2 * time.Millisecond)
	if err != nil {
		t.Fatal(err)
	}
	defer RawClose(a)
	b, bPort, err := RawUDP(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer RawClose(b)
	at := LoopbackAddress(1, bPort)
	if n, errno := RawSendTo(a, []byte("ping"), &at); n != 4 || errno != 0 {
		t.Fatalf("sent %d: %v", n, errno)
	}
	var from RawAddress
	buf := make([]byte, 8)
	if n, errno := RawReceiveFrom(b, buf, &from); n != 4 || errno != 0 || from != LoopbackAddress(1, aPort) {
		t.Fatalf("received %d from %v: %v", n, from, errno)
	}
	_, errno = RawRead(a, buf)
	for errno == syscall.EINTR { // this process has asynchronous preemption
		_, errno = RawRead(a, buf)
	}
	if errno != syscall.EAGAIN {
		t.Errorf("a read that nobody answers: %v", errno)
	}
}

func reap(t *testing.T, pid int) syscall.WaitStatus {
	t.Helper()
	var status int32
	for {
		n, errno := RawWait(pid, &status, 0)
		if errno == syscall.EINTR {
			continue
		}
		if n != pid || errno != 0 {
			t.Fatalf("wait for %d: %d, %v", pid, n, errno)
		}
		return syscall.WaitStatus(status)
	}
}

func TestRawCloneExit(t *testing.T) {
	pid, errno := RawCloneExit()
	if errno != 0 {
		t.Fatal(errno)
	}
	if s := reap(t, pid); !s.Exited() || s.ExitStatus() != 1 {
		t.Errorf("the child ended with %v", s)
	}
}

func TestRawCloneExec(t *testing.T) {
	for name, c := range map[string]struct {
		path string
		want int
	}{
		"a program":  {"/bin/true", 0},
		"no program": {"/nowhere/at/all", 127},
	} {
		for _, vfork := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, vfork %v", name, vfork), func(t *testing.T) {
				path := append([]byte(c.path), 0)
				argv, envp := []*byte{&path[0], nil}, []*byte{nil}
				pid, errno := RawCloneExec(vfork, &path[0], &argv[0], &envp[0])
				if errno != 0 {
					t.Fatal(errno)
				}
				if s := reap(t, pid); !s.Exited() || s.ExitStatus() != c.want {
					t.Errorf("the child ended with %d", s)
				}
			})
		}
	}
}

// The child of a raw clone is alone and may run nosplit functions.
func TestRawClone(t *testing.T) {
	r, w, err := RawPipe()
	if err != nil {
		t.Fatal(err)
	}
	msg := []byte("from the child")
	runtime.LockOSThread()
	mask := BlockSignals()
	pid, errno := RawClone()
	if pid == 0 && errno == 0 {
		childOfTest(w, msg)
	}
	SetBlockedSignals(mask)
	runtime.UnlockOSThread()
	if errno != 0 {
		t.Fatal(errno)
	}
	buf := make([]byte, 100)
	if n, errno := RawRead(r, buf); string(buf[:n]) != string(msg) {
		t.Errorf("read %q: %v", buf[:n], errno)
	}
	if s := reap(t, pid); s.ExitStatus() != 7 {
		t.Errorf("the child ended with %v", s)
	}
}

//go:nosplit
func childOfTest(w int, msg []byte) {
	RawWrite(w, msg)
	RawExit(7)
}

func TestCountSignals(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const sigusr2 = 12
	action := CountSignals()
	var before SignalAction
	if errno := RawSigaction(sigusr2, &action, &before); errno != 0 {
		t.Fatal(errno)
	}
	defer RawSigaction(sigusr2, &before, &action)
	had := SignalsHandled()
	for range 100 {
		if errno := RawTgkill(os.Getpid(), Gettid(), sigusr2); errno != 0 {
			t.Fatal(errno)
		}
	}
	if n := SignalsHandled() - had; n != 100 {
		t.Errorf("%d of 100 signals were handled", n)
	}
}
