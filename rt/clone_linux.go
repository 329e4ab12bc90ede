//go:build linux && (amd64 || arm64)

package rt

import (
	"bytes"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// In assembly: the child of a clone of a Go process has one thread and no runtime.
func rawClone() int
func cloneExit() int
func cloneExec(flags uintptr, path *byte, argv, envp **byte) int

//lint:ignore U1000 the kernel calls it, by an address that assembly takes
func countSignal()
func handlerAddresses() (handler, restorer uintptr)
func signalCount() uint64

//lint:ignore U1000 it is copied, by an address that assembly takes
func forker()
func forkerStart() *byte

// RawClone is fork(2) without a libc: 0 in the child, which is a copy with this thread
// alone, dies unnoticed by the Go runtime, and may run nothing but nosplit functions
// without an allocation, to end in RawExit. NB: call it with all signals blocked
// (BlockSignals), from a process in which no other goroutine allocates, and do not return
// from the function that saw 0. Hot.
//
// https://man7.org/linux/man-pages/man2/clone.2.html
//
//go:nosplit
func RawClone() (pid int, errno syscall.Errno) { return split(rawClone()) }

// RawCloneExit is RawClone whose child does exit_group(1) at once. Hot.
//
//go:nosplit
func RawCloneExit() (pid int, errno syscall.Errno) { return split(cloneExit()) }

// RawCloneExec is RawClone whose child unblocks all signals, closes its standard output
// and executes path; a child that cannot ends with status 127. vfork shares the memory
// with the child, and this thread waits, until it has. Hot.
//
//go:nosplit
func RawCloneExec(vfork bool, path *byte, argv, envp **byte) (pid int, errno syscall.Errno) {
	var flags uintptr
	if vfork {
		flags = unix.CLONE_VM | unix.CLONE_VFORK
	}
	return split(cloneExec(flags, path, argv, envp))
}

//go:nosplit
func split(r int) (int, syscall.Errno) {
	if r < 0 {
		return -1, syscall.Errno(-r)
	}
	return r, 0
}

// BlockSignals blocks all signals of the calling thread and returns those that were
// blocked. Hot.
//
// https://man7.org/linux/man-pages/man2/rt_sigprocmask.2.html
//
//go:nosplit
func BlockSignals() (before uint64) {
	all := ^uint64(0)
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&all)), uintptr(unsafe.Pointer(&before)), 8, 0, 0)
	return before
}

// SetBlockedSignals makes mask the blocked signals of the calling thread. Hot.
//
//go:nosplit
func SetBlockedSignals(mask uint64) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(&mask)), 0, 8, 0, 0)
}

// Flags of a signal's action.
const (
	saOnStack  = 0x08000000 // Go has a stack for signals on every thread; a goroutine's is too small
	saRestorer = 0x04000000
)

// CountSignals is an action whose handler counts and returns: SignalsHandled. It takes no
// siginfo, which the kernel would copy. NB: the Go runtime does not know of it: for probes.
func CountSignals() SignalAction {
	handler, restorer := handlerAddresses()
	a := SignalAction{Handler: handler, Restorer: restorer, Flags: saOnStack}
	if restorer != 0 {
		a.Flags |= saRestorer
	}
	return a
}

// SignalsHandled is how often the handler of CountSignals ran in this process. Hot.
//
//go:nosplit
func SignalsHandled() uint64 { return signalCount() }

// RawSigaction is rt_sigaction(2). Hot.
//
//go:nosplit
func RawSigaction(signal int, now, before *SignalAction) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(signal), uintptr(unsafe.Pointer(now)), uintptr(unsafe.Pointer(before)), 8, 0, 0)
	return errno
}

// forkerEnd stands behind the program in memory.
const forkerEnd = "forker ."

// ForkerCode is machine code of a static program that only forks, without a libc. What a
// fork costs depends on the memory of the process, so it first makes itself as large as a
// small dynamic C program: 18 mappings beside its own, 18 pages of them written. It reads a number of 8 bytes from descriptor 0, forks as often, each
// time waiting for the child, and writes the number to descriptor 0, or 2^64-1 when a child
// could not be made or did not end as it should; at the end of input it exits. Its child
// exits with status 1; if the program has arguments, the child executes the first with the
// further ones, and has to end with status 0.
func ForkerCode() []byte {
	at := unsafe.Slice(forkerStart(), 1<<10)
	return bytes.Clone(at[:bytes.Index(at, []byte(forkerEnd))])
}
