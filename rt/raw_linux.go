package rt

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The functions Raw… of this file are system calls as they are: nosplit, without an
// allocation and without a word to the Go runtime, so that they may stand in a timed loop
// (suites.md, R4 and R6), or in a raw clone, where nothing else may. They block the thread
// and keep its P: they belong to probes. Descriptors are plain numbers. What they return is
// the kernel's result and errno, 0 = none; EINTR is the caller's. Hot.

// RawGetppid is getppid(2), the least that a system call can do.
//
//go:nosplit
func RawGetppid() int {
	r, _ := unix.RawSyscallNoError(unix.SYS_GETPPID, 0, 0, 0)
	return int(r)
}

// RawRead is read(2).
//
//go:nosplit
func RawRead(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(unix.SYS_READ, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

// RawWrite is write(2).
//
//go:nosplit
func RawWrite(fd int, p []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(unix.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return int(n), errno
}

// RawOpen is openat(2) from the working folder. path ends in a zero byte.
//
//go:nosplit
func RawOpen(path *byte, flags int, mode uint32) (int, syscall.Errno) {
	fd, _, errno := syscall.RawSyscall6(unix.SYS_OPENAT, atCWD, uintptr(unsafe.Pointer(path)), uintptr(flags), uintptr(mode), 0, 0)
	return int(fd), errno
}

// atCWD is AT_FDCWD as the kernel takes it.
const atCWD = ^uintptr(99)

// RawClose is close(2).
//
//go:nosplit
func RawClose(fd int) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
	return errno
}

// RawStat is stat(2) as newfstatat(2), which a libc of today uses too.
//
//go:nosplit
func RawStat(path *byte, st *StatBuffer) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_NEWFSTATAT, atCWD, uintptr(unsafe.Pointer(path)), uintptr(unsafe.Pointer(st)), 0, 0, 0)
	return errno
}

// RawUnlink is unlinkat(2) from the working folder. path ends in a zero byte.
//
//go:nosplit
func RawUnlink(path *byte) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_UNLINKAT, atCWD, uintptr(unsafe.Pointer(path)), 0)
	return errno
}

// RawLseek is lseek(2).
//
//go:nosplit
func RawLseek(fd int, offset int64, whence int) (int64, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(unix.SYS_LSEEK, uintptr(fd), uintptr(offset), uintptr(whence))
	return int64(n), errno
}

// RawMmap is mmap(2): where the mapping is. Protection and flags are the kernel's.
//
//go:nosplit
func RawMmap(length uintptr, prot, flags, fd int, offset int64) (uintptr, syscall.Errno) {
	p, _, errno := syscall.RawSyscall6(unix.SYS_MMAP, 0, length, uintptr(prot), uintptr(flags), uintptr(fd), uintptr(offset))
	return p, errno
}

// RawMunmap is munmap(2).
//
//go:nosplit
func RawMunmap(at, length uintptr) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_MUNMAP, at, length, 0)
	return errno
}

// RawMprotect is mprotect(2).
//
//go:nosplit
func RawMprotect(at, length uintptr, prot int) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_MPROTECT, at, length, uintptr(prot))
	return errno
}

// RawMsync is msync(2).
//
//go:nosplit
func RawMsync(at, length uintptr, flags int) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_MSYNC, at, length, uintptr(flags))
	return errno
}

// RawMadvise is madvise(2).
//
//go:nosplit
func RawMadvise(at, length uintptr, advice int) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_MADVISE, at, length, uintptr(advice))
	return errno
}

// RawFutexWait is FUTEX_WAIT between processes (not PRIVATE): it sleeps while *at is val.
// EAGAIN: it was not.
//
//go:nosplit
func RawFutexWait(at *uint32, val uint32) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(at)), futexWait, uintptr(val), 0, 0, 0)
	return errno
}

// RawFutexWake is FUTEX_WAKE between processes: it wakes at most n and says how many.
//
//go:nosplit
func RawFutexWake(at *uint32, n int) (int, syscall.Errno) {
	woken, _, errno := syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(at)), futexWake, uintptr(n), 0, 0, 0)
	return int(woken), errno
}

const (
	futexWait = 0
	futexWake = 1
)

// RawKill is kill(2).
//
//go:nosplit
func RawKill(pid, signal int) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_KILL, uintptr(pid), uintptr(signal), 0)
	return errno
}

// RawTgkill is tgkill(2): a signal to one thread.
//
//go:nosplit
func RawTgkill(pid, tid, signal int) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_TGKILL, uintptr(pid), uintptr(tid), uintptr(signal))
	return errno
}

// RawWait is wait4(2) for one process: status as wait(2) has it.
//
//go:nosplit
func RawWait(pid int, status *int32, options int) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_WAIT4, uintptr(pid), uintptr(unsafe.Pointer(status)), uintptr(options), 0, 0, 0)
	return int(n), errno
}

// RawExit is exit_group(2).
//
//go:nosplit
func RawExit(code int) {
	for {
		_, _, _ = syscall.RawSyscall(unix.SYS_EXIT_GROUP, uintptr(code), 0, 0)
	}
}

// RawGetpid is getpid(2).
//
//go:nosplit
func RawGetpid() int {
	r, _ := unix.RawSyscallNoError(unix.SYS_GETPID, 0, 0, 0)
	return int(r)
}

// RawDieWithParent has the kernel SIGKILL the caller when the thread that made it ends.
//
//go:nosplit
func RawDieWithParent() syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0, 0)
	return errno
}
