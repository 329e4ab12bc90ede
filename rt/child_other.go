//go:build !linux

package rt

import (
	"os"
	"syscall"
)

// SocketPair is Linux's alone.
func SocketPair() (ours, theirs *os.File, err error) { return nil, nil, unsupported("socketpair") }

// OwnGroup asks for nothing outside Linux.
func OwnGroup() *syscall.SysProcAttr { return nil }

// EndWithParent asks for nothing outside Linux.
func EndWithParent() *syscall.SysProcAttr { return nil }

// Kill ends a process at once.
func Kill(p *os.Process) { _ = p.Kill() }

// TiedGroup asks for nothing outside Linux.
func TiedGroup() *syscall.SysProcAttr { return nil }

// Interrupt asks a process to end.
func Interrupt(p *os.Process) error { return p.Signal(os.Interrupt) }

// KillGroup ends p alone outside Linux.
func KillGroup(p *os.Process) { _ = p.Kill() }
