package sel4bench

import (
	"fmt"
	"syscall"

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
