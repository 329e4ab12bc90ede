package lmbench

import (
	"encoding/binary"
	"errors"
	"fmt"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

// What a fork costs depends on the memory of the process that forks: its mappings and page
// tables are copied. Ours is a Go process of several MB, the original's a small C program.
// So the process that forks in the headline is a static program of our own with the
// mappings of a small dynamic C program (rt.ForkerCode), and the clone of the Go probe is a
// detail row.
const forkDeviation = "forked by a static program without a libc that has the mappings and written pages of a small dynamic C program (about 22 each): no atfork handlers, no stdio"

func forkExit(b *bed) ([]bench.Reading, error) {
	defer rt.SetBlockedSignals(rt.BlockSignals())
	small, err := b.forked("fork+exit (raw clone), small static process")
	if err != nil {
		return nil, err
	}
	remark(&small, forkDeviation)
	own, err := b.row("fork+exit (raw clone), Go process", forks)
	if err != nil {
		return nil, err
	}
	remark(&own, process())
	return []bench.Reading{small, own}, nil
}

// process says what a clone of this process copies.
func process() string {
	status, err := slurp("/proc/self/status")
	if err != nil {
		return "a Go probe of unknown size"
	}
	return fmt.Sprintf("a Go probe: %s threads, %s resident (%s anonymous), page tables of %s",
		field(status, "Threads"), field(status, "VmRSS"), field(status, "RssAnon"), field(status, "VmPTE"))
}

// forks clones this process. hot.
//
//go:nosplit
func forks(n int64) syscall.Errno {
	for ; n > 0; n-- {
		pid, errno := rt.RawCloneExit()
		if errno != 0 {
			return errno
		}
		if errno := reaped(pid, 1<<8); errno != 0 {
			return errno
		}
	}
	return 0
}

// reaped waits for a child that ends with status. hot.
//
//go:nosplit
func reaped(pid int, status int32) syscall.Errno {
	var got int32
	if _, errno := rt.RawWait(pid, &got, 0); errno != 0 {
		return errno
	}
	if got != status {
		return syscall.ECHILD
	}
	return 0
}

// clones clones this process to run the program; with vfork without a copy of its memory. hot.
//
//go:nosplit
func (p *program) clones(vfork bool, n int64) syscall.Errno {
	for ; n > 0; n-- {
		pid, errno := rt.RawCloneExec(vfork, p.path, &p.argv[0], &p.envp[0])
		if errno != 0 {
			return errno
		}
		if errno := reaped(pid, 0); errno != 0 {
			return errno
		}
	}
	return 0
}

// row measures one way to make processes. One in which a child does not end as it should
// has no figure: the original would time the failure.
func (b *bed) row(what string, loop func(n int64) syscall.Errno) (bench.Reading, error) {
	s, err := b.repeat(timed(what, loop))
	switch {
	case errors.Is(err, errStopped):
		return bench.Reading{}, err
	case errors.Is(err, syscall.ECHILD): // of reaped
		err = errors.New("a child did not end with the status that it should")
		fallthrough
	case err != nil:
		return bench.Reading{Mechanism: what, Statistic: median, Unit: micros, NA: err.Error()}, nil
	}
	return s.reading(what, median, micros), nil
}

// forked measures forks of the tiny forking program, whose child executes argv if there is
// one. The two messages to and from it, some µs, are in each interval.
func (b *bed) forked(what string, argv ...string) (bench.Reading, error) {
	code, err := executable(rt.ForkerCode())
	if err != nil {
		return bench.Reading{}, err
	}
	path, err := memoryFile("forker", code)
	if err != nil {
		return bench.Reading{}, err
	}
	ours, theirs, err := rt.RawSocketPair()
	if err != nil {
		return bench.Reading{}, err
	}
	if err := rt.RawDupTo(theirs, 0); err != nil { // nothing else is on a probe's standard input
		return bench.Reading{}, err
	}
	rt.RawClose(theirs)
	forker := newProgram(path, append([]string{"forker"}, argv...)...)
	pid, errno := rt.RawCloneExec(true, forker.path, &forker.argv[0], &forker.envp[0])
	if errno != 0 {
		return bench.Reading{}, fmt.Errorf("start the forking program: %w", errno)
	}
	order := make([]byte, 8)
	r, err := b.row(what, func(n int64) syscall.Errno { return ordered(ours, order, n) })
	rt.RawClose(ours) // its end of input
	if errno := reaped(pid, 0); err == nil && errno != 0 {
		err = fmt.Errorf("the forking program did not end well: %w", errno)
	}
	return r, err
}

// ordered has the program fork n times. hot.
//
//go:nosplit
func ordered(fd int, order []byte, n int64) syscall.Errno {
	binary.NativeEndian.PutUint64(order, uint64(n))
	if put, errno := rt.RawWrite(fd, order); put != len(order) {
		return failed(errno)
	}
	if got, errno := rt.RawRead(fd, order); got != len(order) {
		return failed(errno)
	}
	if binary.NativeEndian.Uint64(order) != uint64(n) {
		return syscall.ECHILD
	}
	return 0
}

// forkExec times fork, execve of a program, and the wait for its end.
func forkExec(b *bed) ([]bench.Reading, error) {
	defer rt.SetBlockedSignals(rt.BlockSignals())
	content, err := tinyProgram()
	if err != nil {
		return nil, err
	}
	tiny, err := memoryFile("tiny", content)
	if err != nil {
		return nil, err
	}
	own, errno := rt.RawOpen(cString("/proc/self/exe"), rt.OpenReadOnly, 0)
	if errno != 0 {
		return nil, fmt.Errorf("open our own program: %w; /proc must be mounted", errno)
	}
	p := newProgram(tiny, "tiny")
	rows := []func() (bench.Reading, error){
		func() (bench.Reading, error) { return b.forked("fork+exec, static tiny program", tiny) },
		func() (bench.Reading, error) {
			return b.row("fork+exec, static tiny program, from Go", func(n int64) syscall.Errno { return p.clones(false, n) })
		},
		func() (bench.Reading, error) {
			return b.row("vfork+exec, static tiny program, from Go", func(n int64) syscall.Errno { return p.clones(true, n) })
		},
		func() (bench.Reading, error) {
			return b.row("syscall.ForkExec, static tiny program", func(n int64) syscall.Errno { return forkExecs(tiny, n) })
		},
		func() (bench.Reading, error) {
			return b.forked("fork+exec, opcycle itself (a Go program)", fmt.Sprintf("/proc/self/fd/%d", own), "--version")
		},
	}
	if name := b.dynamicProgram(); name != "" {
		rows = append(rows, func() (bench.Reading, error) { return b.forked("fork+exec, dynamic "+name, name) })
	}
	var out []bench.Reading
	for _, row := range rows {
		r, err := row()
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	remark(&out[0], "the program is static and tiny, the original's a dynamic C program; "+forkDeviation)
	return out, nil
}

// forkExecs is what a Go program pays. Not hot: it allocates, as every user of it does.
func forkExecs(path string, n int64) syscall.Errno {
	argv := []string{"tiny"}
	for ; n > 0; n-- {
		pid, errno := rt.ForkExec(path, argv)
		if errno != 0 {
			return errno
		}
		if errno := reaped(pid, 0); errno != 0 {
			return errno
		}
	}
	return 0
}

const shell = "/bin/sh"

// forkShell is forkExec by way of the shell: /bin/sh -c PROGRAM.
func forkShell(b *bed) ([]bench.Reading, error) {
	defer rt.SetBlockedSignals(rt.BlockSignals())
	var st rt.StatBuffer
	if errno := rt.RawStat(cString(shell), &st); errno != 0 {
		return nil, fmt.Errorf("no shell in this image: %s: %w", shell, errno)
	}
	content, err := tinyProgram()
	if err != nil {
		return nil, err
	}
	tiny, err := memoryFile("tiny", content)
	if err != nil {
		return nil, err
	}
	name := shell
	target := make([]byte, 4096)
	if n, err := syscall.Readlink(shell, target); err == nil {
		name += " (" + string(target[:n]) + ")"
	}
	programs := []struct{ what, path string }{{"static tiny program", tiny}}
	if dynamic := b.dynamicProgram(); dynamic != "" {
		programs = append(programs, struct{ what, path string }{"dynamic " + dynamic, dynamic})
	}
	var out []bench.Reading
	for _, p := range programs {
		r, err := b.forked(fmt.Sprintf("fork+exec, %s -c, %s", name, p.what), shell, "-c", p.path)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	remark(&out[0], "the program is static and tiny, the original's a dynamic C program; "+forkDeviation)
	return out, nil
}
