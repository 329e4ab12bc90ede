package lmbench

import (
	"fmt"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

func processorFigures() []figure {
	return []figure{
		{table: tableProcessor, name: "null_call", column: "null call", run: nullCall},
		{table: tableProcessor, name: "null_io", column: "null I/O", run: nullIO},
		{table: tableProcessor, name: "stat", column: "stat", run: stat},
		{table: tableProcessor, name: "open_close", column: "open clos", run: openClose},
		{table: tableProcessor, name: "select", column: "selct", run: selecting},
		{table: tableProcessor, name: "signal_install", column: "sig inst", run: signalInstall},
		{table: tableProcessor, name: "signal_handler", column: "sig hndl", run: signalHandler},
		{table: tableProcessor, name: "fork", column: "fork proc", run: forkExit},
		{table: tableProcessor, name: "exec", column: "exec proc", run: forkExec},
		{table: tableProcessor, name: "sh", column: "sh proc", run: forkShell},
	}
}

// timed is a loop as repeat wants it: n operations between two reads of the clock. The
// loop's error number ends the figure; what names the operation.
func timed(what string, loop func(n int64) syscall.Errno) func(n int64) (int64, error) {
	return func(n int64) (int64, error) {
		t := rt.Now()
		errno := loop(n)
		t = rt.Now() - t
		if errno != 0 {
			return 0, fmt.Errorf("%s: %w", what, errno)
		}
		return t, nil
	}
}

// nullCall times getppid, which a libc cannot answer by itself.
func nullCall(b *bed) ([]bench.Reading, error) {
	calls, err := b.repeat(timed("getppid", nullCalls))
	if err != nil {
		return nil, err
	}
	empty, err := b.repeat(timed("nothing", emptyLoop))
	if err != nil {
		return nil, err
	}
	out := []bench.Reading{calls.reading("getppid", median, micros), empty.reading("empty loop, not subtracted", median, micros)}
	if status, err := slurp("/proc/self/status"); err == nil && field(status, "Seccomp") == "2" {
		remark(&out[0], "a seccomp filter is in effect and in the figure")
	}
	return out, nil
}

// hot.
//
//go:nosplit
func nullCalls(n int64) syscall.Errno {
	for ; n > 0; n-- {
		rt.RawGetppid()
	}
	return 0
}

// hot.
//
//go:nosplit
//go:noinline
func emptyLoop(n int64) syscall.Errno {
	for ; n > 0; n-- {
	}
	return 0
}

// nullIO is the mean of reading a byte of /dev/zero and of writing one to /dev/null.
func nullIO(b *bed) ([]bench.Reading, error) {
	zero, err := open("/dev/zero", rt.OpenReadOnly)
	if err != nil {
		return nil, err
	}
	null, err := open("/dev/null", rt.OpenWriteOnly)
	if err != nil {
		return nil, err
	}
	one := make([]byte, 1)
	reads, err := b.repeat(timed("read", func(n int64) syscall.Errno { return readBytes(zero, one, n) }))
	if err != nil {
		return nil, err
	}
	writes, err := b.repeat(timed("write", func(n int64) syscall.Errno { return writeBytes(null, one, n) }))
	if err != nil {
		return nil, err
	}
	return []bench.Reading{
		meanOf(reads, writes).reading("mean of read and write", median, micros),
		reads.reading("read 1 byte of /dev/zero", median, micros),
		writes.reading("write 1 byte to /dev/null", median, micros),
	}, nil
}

// hot.
//
//go:nosplit
func readBytes(fd int, p []byte, n int64) syscall.Errno {
	for ; n > 0; n-- {
		if got, errno := rt.RawRead(fd, p); errno != 0 || got != len(p) {
			return failed(errno)
		}
	}
	return 0
}

// hot.
//
//go:nosplit
func writeBytes(fd int, p []byte, n int64) syscall.Errno {
	for ; n > 0; n-- {
		if put, errno := rt.RawWrite(fd, p); errno != 0 || put != len(p) {
			return failed(errno)
		}
	}
	return 0
}

// failed is errno, or that less was moved than asked for. hot.
//
//go:nosplit
func failed(errno syscall.Errno) syscall.Errno {
	if errno == 0 {
		return syscall.EIO
	}
	return errno
}

// statFile is the original's default; a system without headers has at least our own program.
const statFile = "/usr/include/linux/types.h"

func fileToAsk() (string, error) {
	var st rt.StatBuffer
	if rt.RawStat(cString(statFile), &st) == 0 {
		return statFile, nil
	}
	own := make([]byte, 4096)
	n, err := syscall.Readlink("/proc/self/exe", own)
	if err != nil {
		return "", fmt.Errorf("no file to ask for: there is no %s, and /proc/self/exe: %w", statFile, err)
	}
	return string(own[:n]), nil
}

func stat(b *bed) ([]bench.Reading, error) {
	path, err := fileToAsk()
	if err != nil {
		return nil, err
	}
	at := cString(path)
	s, err := b.repeat(timed("stat "+path, func(n int64) syscall.Errno { return stats(at, n) }))
	if err != nil {
		return nil, err
	}
	return []bench.Reading{s.reading("newfstatat of "+path, median, micros)}, nil
}

// hot.
//
//go:nosplit
func stats(path *byte, n int64) syscall.Errno {
	var st rt.StatBuffer
	for ; n > 0; n-- {
		if errno := rt.RawStat(path, &st); errno != 0 {
			return errno
		}
	}
	return 0
}

func openClose(b *bed) ([]bench.Reading, error) {
	path, err := fileToAsk()
	if err != nil {
		return nil, err
	}
	at := cString(path)
	s, err := b.repeat(timed("open "+path, func(n int64) syscall.Errno { return opens(at, n) }))
	if err != nil {
		return nil, err
	}
	return []bench.Reading{s.reading("openat and close of "+path, median, micros)}, nil
}

// hot.
//
//go:nosplit
func opens(path *byte, n int64) syscall.Errno {
	for ; n > 0; n-- {
		fd, errno := rt.RawOpen(path, rt.OpenReadOnly, 0)
		if errno == 0 {
			errno = rt.RawClose(fd)
		}
		if errno != 0 {
			return errno
		}
	}
	return 0
}
