package lmbench

import (
	"fmt"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

// wiring is what a peer process works with. It is made before the peer and not changed
// after: the peer has a copy.
type wiring struct {
	in, out int // descriptors
	buf     []byte
	mem     []byte  // private to this peer once it has written it
	count   *uint64 // shared with the probe; atomic
}

// peer is a raw clone of the probe (suites.md, "worker kind B"): one thread, no runtime.
type peer struct{ pid int }

// spawn makes a peer that runs body, which is nosplit and never returns but to end well,
// on cpu (noCPU: where the caller may run). The peer dies with the probe.
func spawn(body func(w *wiring), w *wiring, cpu int) (peer, error) {
	pid, errno := split(body, w)
	if errno != 0 {
		return peer{}, fmt.Errorf("clone a peer process: %w", errno)
	}
	p := peer{pid}
	if cpu != noCPU {
		if err := rt.SetAffinity(pid, []int{cpu}); err != nil {
			return peer{}, fmt.Errorf("place a peer process: %w", joined(err, p.end()))
		}
	}
	return p, nil
}

// split is the moment of two processes: it must be nosplit itself.
//
//go:nosplit
func split(body func(w *wiring), w *wiring) (int, syscall.Errno) {
	mask := rt.BlockSignals()
	pid, errno := rt.RawClone()
	if pid == 0 && errno == 0 {
		rt.RawDieWithParent()
		body(w)
		rt.RawExit(0)
	}
	rt.SetBlockedSignals(mask)
	return pid, errno
}

// end kills the peer and waits for it. A peer that had ended by itself is an error.
func (p peer) end() error {
	if errno := rt.RawKill(p.pid, rt.SignalKill); errno != 0 {
		return fmt.Errorf("end a peer process: %w", errno)
	}
	var status int32
	if _, errno := rt.RawWait(p.pid, &status, 0); errno != 0 {
		return fmt.Errorf("wait for a peer process: %w", errno)
	}
	if s := status & 0x7f; s != rt.SignalKill {
		return fmt.Errorf("a peer process had ended before its time, with status %#x", status)
	}
	return nil
}

// joined is the first error that there is; the second only says how the end went.
func joined(first, second error) error {
	if first != nil {
		return first
	}
	return second
}

// across measures something between two processes on every placement that there is: both on
// the measured CPU (the headline), and one on another. Unpinned there is one placement.
func (b *bed) across(one func(other int) ([]bench.Reading, error)) ([]bench.Reading, error) {
	if b.CPU == noCPU {
		return one(noCPU)
	}
	out, err := one(b.CPU)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Placement = fmt.Sprintf("same CPU %d", b.CPU)
	}
	if b.Other == noCPU {
		return out, nil
	}
	far, err := one(b.Other)
	if err != nil {
		return nil, err
	}
	for i := range far {
		far[i].Placement = fmt.Sprintf("CPU %d to %d", b.CPU, b.Other)
	}
	return append(out, far...), nil
}
