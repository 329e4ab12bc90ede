package sel4bench

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"opcycle/rt"
)

// peer is a raw clone of the probe: one thread in an address space of its own, without the
// Go runtime (suites.md, "worker kind B"). It dies with the probe.
type peer struct{ pid int }

func spawn(b *board, request, reply *link, kind string, n int) (peer, error) {
	pid, errno := split(b, request, reply, kind, n)
	if errno != 0 {
		return peer{}, fmt.Errorf("clone the peer: %w", errno)
	}
	return peer{pid}, nil
}

// split is the moment of two processes: nosplit to its leaves, since in the child there is
// no runtime that could give it a larger stack.
//
//go:nosplit
func split(b *board, request, reply *link, kind string, n int) (int, syscall.Errno) {
	mask := rt.BlockSignals()
	pid, errno := rt.RawClone()
	if pid == 0 && errno == 0 {
		_ = rt.RawDieWithParent()
		switch kind {
		case kindIPC:
			server(b, request, reply, n)
		case kindNotify:
			waiter(b, request, n)
		default:
			spinner(b)
		}
		rt.RawExit(1) // it is killed; to end by itself is a failure
	}
	rt.SetBlockedSignals(mask)
	return pid, errno
}

// settle is how long a peer may take to its first receive. A neighbour at FIFO 99 can keep
// the CPU for a second, until the kernel's limit takes it away.
const settle = 5 * time.Second

// waits returns when the peer sleeps in its receive, by /proc below root. Before that a first
// message would find nobody, and a notification nobody to preempt its sender. NB: it opens
// files, so it comes before UnshareFiles.
func (p peer) waits(root string) error {
	path := filepath.Join(root, "proc", strconv.Itoa(p.pid), "stat")
	for end := time.Now().Add(settle); time.Now().Before(end); time.Sleep(time.Millisecond) {
		data, err := os.ReadFile(path)
		if err != nil {
			return fmt.Errorf("whether the peer waits: %w", err)
		}
		if sleeping(data) {
			return nil
		}
	}
	return fmt.Errorf("the peer did not come to its receive within %v: something else keeps its CPU", settle)
}

// sleeping reports whether a proc/PID/stat is of a process that sleeps. Its state stands
// behind the name, which is in parentheses and may have any bytes.
func sleeping(stat []byte) bool {
	_, rest, ok := bytes.Cut(stat[max(0, bytes.LastIndexByte(stat, ')')):], []byte(") "))
	return ok && len(rest) > 0 && rest[0] == 'S'
}

// end kills the peer and says how often it was switched, from its clone on. A peer that had
// ended by itself is an error.
func (p peer) end() (switches int64, err error) {
	rt.RawKill(p.pid, rt.SignalKill)
	u, status, err := rt.WaitUsage(p.pid)
	if err != nil {
		return 0, fmt.Errorf("the peer: %w", err)
	}
	if status&0x7f != rt.SignalKill {
		return 0, fmt.Errorf("the peer had ended before its time, with status %#x", status)
	}
	return u.Voluntary + u.Involuntary, nil
}
