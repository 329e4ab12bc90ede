package rt

import (
	"fmt"
	"os"
	"syscall"
)

// SocketPair is a connected pair of stream sockets, close-on-exec: one end for a child
// (exec.Cmd.ExtraFiles), one to keep. Cold.
//
// https://man7.org/linux/man-pages/man2/socketpair.2.html
func SocketPair() (ours, theirs *os.File, err error) {
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("socketpair: %w", err)
	}
	return os.NewFile(uintptr(fds[0]), "control"), os.NewFile(uintptr(fds[1]), "control"), nil
}

// OwnGroup puts a child into a process group of its own: a terminal's interrupt does not
// reach it. Cold.
func OwnGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// TiedGroup is OwnGroup for a child that ends with the thread that starts it: the kernel
// then SIGKILLs it. The caller holds that thread (runtime.LockOSThread) until the child has
// ended. Cold.
func TiedGroup() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Interrupt asks a process to end, as a terminal's Ctrl-C does. Cold.
func Interrupt(p *os.Process) error { return p.Signal(syscall.SIGINT) }

// EndWithParent is OwnGroup for a program of somebody else, which the kernel kills when the
// thread that started it ends. Cold.
func EndWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// Kill ends a process at once, a stopped one too. Cold.
func Kill(p *os.Process) {
	_ = p.Signal(syscall.SIGCONT) // it may be gone already
	_ = p.Kill()
}

// KillGroup ends at once the process group that p leads (OwnGroup): p and what it has
// started, stopped ones too. Cold.
func KillGroup(p *os.Process) {
	if syscall.Kill(-p.Pid, syscall.SIGKILL) != nil { // p may not have reached its group yet, or be gone
		_ = p.Kill()
	}
}
