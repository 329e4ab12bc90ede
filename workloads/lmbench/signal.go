package lmbench

import (
	"fmt"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

func signalInstall(b *bed) ([]bench.Reading, error) {
	action := rt.CountSignals()
	s, err := b.repeat(timed("rt_sigaction", func(n int64) syscall.Errno { return installs(&action, n) }))
	if err != nil {
		return nil, err
	}
	return []bench.Reading{s.reading("rt_sigaction", median, micros)}, nil
}

// hot.
//
//go:nosplit
func installs(action *rt.SignalAction, n int64) syscall.Errno {
	var before rt.SignalAction
	for ; n > 0; n-- {
		if errno := rt.RawSigaction(rt.SignalUser1, action, &before); errno != 0 {
			return errno
		}
	}
	return 0
}

// signalHandler times a signal to the own process, its handler and the return from it,
// minus the sending alone (signal 0). The handler is assembly: it counts and returns.
func signalHandler(b *bed) ([]bench.Reading, error) {
	handled, sent, err := b.signals()
	if err != nil {
		return nil, err
	}
	return []bench.Reading{
		handled.less(sent).reading("kill, handler, return; minus kill of signal 0", median, micros),
		handled.reading("kill, handler, return", median, micros),
		sent.reading("kill of signal 0", median, micros),
	}, nil
}

// signals measures both halves of signalHandler.
func (b *bed) signals() (handled, sent sample, err error) {
	action := rt.CountSignals()
	var before rt.SignalAction
	if errno := rt.RawSigaction(rt.SignalUser1, &action, &before); errno != 0 {
		return handled, sent, fmt.Errorf("install a handler: %w", errno)
	}
	mask := rt.BlockSignals()
	rt.SetBlockedSignals(mask &^ (1 << (rt.SignalUser1 - 1)))
	own := rt.RawGetpid()
	counting := func(n int64) (int64, error) {
		had := rt.SignalsHandled()
		ns, err := timed("kill", func(n int64) syscall.Errno { return kills(own, rt.SignalUser1, n) })(n)
		if got := int64(rt.SignalsHandled() - had); err == nil && got != n {
			err = fmt.Errorf("the handler ran %d times for %d signals", got, n)
		}
		return ns, err
	}
	return b.alternate(counting, timed("kill with signal 0", func(n int64) syscall.Errno { return kills(own, 0, n) }))
}

// hot.
//
//go:nosplit
func kills(pid, signal int, n int64) syscall.Errno {
	for ; n > 0; n-- {
		if errno := rt.RawKill(pid, signal); errno != 0 {
			return errno
		}
	}
	return 0
}
