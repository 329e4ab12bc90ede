package rt

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"
)

// childEnv names what this test binary does instead of its tests when a test starts it.
const childEnv = "OPCYCLE_RT_CHILD"

func TestMain(m *testing.M) {
	var err error
	switch os.Getenv(childEnv) {
	case "":
		os.Exit(m.Run())
	case "become":
		err = childBecome()
	case "threads":
		err = childThreads()
	case "stamper":
		err = childStamper()
	case "shared":
		err = childShared()
	case "lock":
		err = childLock()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// child runs this test binary as one of the above and returns its output. It is killed
// after 10 s: what it tests for is a hang.
func child(t *testing.T, what string, files []*os.File, env ...string) []byte {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/proc/self/exe")
	cmd.Env = append(os.Environ(), append(env, childEnv+"="+what)...)
	cmd.ExtraFiles = files
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		t.Fatalf("child %q: %v\n%s", what, err, complaint.Bytes())
	}
	return out.Bytes()
}

// threadsSeen is what childThreads prints.
type threadsSeen struct {
	GoMaxProcs int
	SoftUS     uint64
	HardUS     uint64
	Threads    []Attr
}

// nextEnv names what childBecome becomes.
const nextEnv = "OPCYCLE_RT_NEXT"

// childBecome turns into another child as the tests want it: FIFO 5, one CPU, guarded.
func childBecome() error {
	cpus, err := Affinity(0)
	if err != nil {
		return err
	}
	env := []string{childEnv + "=" + os.Getenv(nextEnv), "GOMAXPROCS=1"}
	return Exec("/proc/self/exe", []string{"child"}, env,
		Attr{Policy: FIFO, Priority: 5, CPUs: cpus[len(cpus)-1:]}, 200*time.Millisecond)
}

// childThreads makes the runtime start a few more threads and prints how each is scheduled.
func childThreads() error {
	hold, up := make(chan struct{}), make(chan struct{})
	for i := 0; i < 4; i++ {
		go func() {
			runtime.LockOSThread()
			up <- struct{}{}
			<-hold
		}()
		<-up
	}
	seen := threadsSeen{GoMaxProcs: runtime.GOMAXPROCS(0)}
	var err error
	if seen.SoftUS, seen.HardUS, err = Rlimit(LimitRTTime); err != nil {
		return err
	}
	tids, err := Threads()
	if err != nil {
		return err
	}
	for _, tid := range tids {
		a, err := ReadThread(tid)
		if err != nil {
			return err
		}
		seen.Threads = append(seen.Threads, a)
	}
	return json.NewEncoder(os.Stdout).Encode(seen)
}

// childShared adds 1 to the first word of the shared memory on descriptor 3.
func childShared() error {
	s, err := MapShared(os.NewFile(3, "shared"), sharedSize)
	if err != nil {
		return err
	}
	atomic.AddUint64((*uint64)(unsafe.Pointer(&s.Mem[0])), 1)
	return s.Close()
}

// childLock locks its memory, lets the runtime map more, and prints the kernel's account.
func childLock() error {
	if err := LockMemory(); err != nil {
		return err
	}
	more := make([]byte, 32<<20)
	status, err := os.ReadFile("/proc/self/status")
	runtime.KeepAlive(more)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(status)
	return err
}
