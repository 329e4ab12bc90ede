package lmbench

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

// process is what a clone copies: its size is in the figure of every fork.
func process() string {
	status, err := slurp("/proc/self/status")
	if err != nil {
		return "a Go process"
	}
	return fmt.Sprintf("the process that forks is a Go probe: %s threads, %s resident, page tables of %s",
		field(status, "Threads"), field(status, "VmRSS"), field(status, "VmPTE"))
}

// forkExit times a clone whose child exits at once, and the wait for it.
func forkExit(b *bed) ([]bench.Reading, error) {
	defer rt.SetBlockedSignals(rt.BlockSignals())
	s, err := b.repeat(timed("fork", forks))
	if err != nil {
		return nil, err
	}
	r := s.reading("fork+exit (raw clone), wait4", median, micros)
	r.Deviation = "no libc's fork: no atfork handlers, no stdio; " + process()
	return []bench.Reading{r}, nil
}

// hot.
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

// program is something to execute, as the kernel wants it.
type program struct {
	path       *byte
	argv, envp []*byte
}

func newProgram(path string, args ...string) *program {
	p := &program{path: cString(path), envp: []*byte{cString("PATH=/usr/bin:/bin"), nil}}
	for _, a := range args {
		p.argv = append(p.argv, cString(a))
	}
	p.argv = append(p.argv, nil)
	return p
}

// hot.
//
//go:nosplit
func (p *program) runs(vfork bool, n int64) syscall.Errno {
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

// row measures one way to run a program. A program that does not end with status 0 has no
// figure: the original would time its failure.
func (b *bed) row(what string, loop func(n int64) syscall.Errno) (bench.Reading, error) {
	s, err := b.repeat(timed(what, loop))
	switch {
	case errors.Is(err, errStopped):
		return bench.Reading{}, err
	case err != nil:
		if errors.Is(err, syscall.ECHILD) { // of reaped
			err = fmt.Errorf("%s: a child did not end with status 0", what)
		}
		return bench.Reading{Mechanism: what, Statistic: median, Unit: micros, NA: err.Error()}, nil
	}
	return s.reading(what, median, micros), nil
}

// tinyFile is the tiny program's path: a file in memory, without a folder's cost.
func tinyFile() (string, error) {
	content, err := tinyProgram()
	if err != nil {
		return "", err
	}
	w, err := rt.RawMemfd("tiny", content)
	if err != nil {
		return "", err
	}
	// A file that is open for writing may not be executed.
	r, errno := rt.RawOpen(cString(fmt.Sprintf("/proc/self/fd/%d", w)), rt.OpenReadOnly, 0)
	if errno != 0 {
		return "", fmt.Errorf("open the program in memory again: %w; /proc must be mounted", errno)
	}
	rt.RawClose(w)
	return fmt.Sprintf("/proc/self/fd/%d", r), nil
}

// dynamicProgram is a program that needs the dynamic loader, as the original's does;
// empty: there is none.
func dynamicProgram() string {
	for _, path := range []string{"/bin/true", "/usr/bin/true"} {
		content, err := slurp(path)
		if err != nil {
			continue
		}
		f, err := elf.NewFile(bytes.NewReader([]byte(content)))
		if err != nil {
			continue
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				return path
			}
		}
	}
	return ""
}

// forkExec times a clone whose child closes its standard output and executes a program,
// and the wait for it.
func forkExec(b *bed) ([]bench.Reading, error) {
	defer rt.SetBlockedSignals(rt.BlockSignals())
	path, err := tinyFile()
	if err != nil {
		return nil, err
	}
	tiny, own := newProgram(path, "tiny"), newProgram("/proc/self/exe", "opcycle", "--version")
	spawn := &syscall.ProcAttr{Env: []string{}}
	rows := []struct {
		what string
		loop func(n int64) syscall.Errno
	}{
		{"fork+exec (raw clone) static tiny program", func(n int64) syscall.Errno { return tiny.runs(false, n) }},
		{"vfork+exec (raw clone) static tiny program", func(n int64) syscall.Errno { return tiny.runs(true, n) }},
		{"syscall.ForkExec static tiny program", func(n int64) syscall.Errno { return forkExecs(path, spawn, n) }},
		{"fork+exec (raw clone) opcycle itself: a Go program's start", func(n int64) syscall.Errno { return own.runs(false, n) }},
	}
	if name := dynamicProgram(); name != "" {
		p := newProgram(name, "true")
		rows = append(rows, rows[0])
		rows[len(rows)-1].what = "fork+exec (raw clone) dynamic " + name
		rows[len(rows)-1].loop = func(n int64) syscall.Errno { return p.runs(false, n) }
	}
	var out []bench.Reading
	for _, row := range rows {
		r, err := b.row(row.what, row.loop)
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	out[0].Deviation = "the original executes a dynamic C program; " + process()
	return out, nil
}

// forkExecs is what a Go program pays. Not hot: it allocates, as every user of it does.
func forkExecs(path string, attr *syscall.ProcAttr, n int64) syscall.Errno {
	argv := []string{"tiny"}
	for ; n > 0; n-- {
		pid, err := syscall.ForkExec(path, argv, attr)
		if err != nil {
			if errno, ok := err.(syscall.Errno); ok {
				return errno
			}
			return syscall.EIO
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
	path, err := tinyFile()
	if err != nil {
		return nil, err
	}
	name := shell
	target := make([]byte, 4096)
	if n, err := syscall.Readlink(shell, target); err == nil {
		name += " -> " + string(target[:n])
	}
	programs := []struct{ what, path string }{{"static tiny program", path}}
	if dynamic := dynamicProgram(); dynamic != "" {
		programs = append(programs, struct{ what, path string }{"dynamic " + dynamic, dynamic})
	}
	var out []bench.Reading
	for _, p := range programs {
		sh := newProgram(shell, "sh", "-c", p.path)
		r, err := b.row(fmt.Sprintf("fork+exec (raw clone) %s -c, %s", name, p.what), func(n int64) syscall.Errno { return sh.runs(false, n) })
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
