package rt

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RawPipe is a pipe, blocking and close-on-exec: the end to read, the end to write. Cold.
func RawPipe() (r, w int, err error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return -1, -1, fmt.Errorf("pipe2: %w", err)
	}
	return p[0], p[1], nil
}

// RawSocketPair is a connected pair of UNIX stream sockets, blocking, close-on-exec. Cold.
func RawSocketPair() (a, b int, err error) {
	p, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return -1, -1, fmt.Errorf("socketpair: %w", err)
	}
	return p[0], p[1], nil
}

// RawEventfd is an event counter, blocking and close-on-exec. As a semaphore a read takes
// one of it, otherwise all. Cold.
func RawEventfd(semaphore bool) (int, error) {
	flags := unix.EFD_CLOEXEC
	if semaphore {
		flags |= unix.EFD_SEMAPHORE
	}
	fd, err := unix.Eventfd(0, flags)
	if err != nil {
		return -1, fmt.Errorf("eventfd: %w", err)
	}
	return fd, nil
}

// RawMemfd is a file in memory that has content; its name is for /proc only. It stays open
// over exec, so that a program in it can be run by its number. Cold.
func RawMemfd(name string, content []byte) (int, error) {
	fd, err := unix.MemfdCreate(name, 0)
	if err != nil {
		return -1, fmt.Errorf("memfd_create: %w", err)
	}
	if err := WriteFull(uintptr(fd), content); err != nil {
		_ = unix.Close(fd)
		return -1, fmt.Errorf("write %d bytes to a memfd: %w", len(content), err)
	}
	return fd, nil
}

// UnshareFiles gives the calling thread a descriptor table of its own, so that a system
// call on a descriptor does not pay for the sharing (suites.md, R7). NB: afterwards this
// thread's new descriptors are unknown to all others: nothing of os, net or the poller may
// be used on it. Cold.
//
// https://man7.org/linux/man-pages/man2/unshare.2.html
func UnshareFiles() error {
	if err := unix.Unshare(unix.CLONE_FILES); err != nil {
		return fmt.Errorf("unshare(CLONE_FILES): %w", err)
	}
	return nil
}

// RawMemory is size bytes of private memory outside of the Go heap, every page written, in
// pages of the ordinary size or, if huge, of huge ones where the kernel has any
// (suites.md, R13). Cold.
func RawMemory(size int, huge bool) ([]byte, error) {
	mem, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("mmap of %d bytes: %w", size, err)
	}
	advice := unix.MADV_NOHUGEPAGE
	if huge {
		advice = unix.MADV_HUGEPAGE
	}
	if err := unix.Madvise(mem, advice); err != nil && (huge || err != unix.EINVAL) { // EINVAL: a kernel without huge pages
		_ = unix.Munmap(mem)
		return nil, fmt.Errorf("madvise(%d) of %d bytes: %w", advice, size, err)
	}
	for i := 0; i < size; i += 4096 {
		mem[i] = 1
	}
	clear(mem)
	return mem, nil
}

// FreeMemory gives memory of RawMemory back. Cold.
func FreeMemory(mem []byte) error { return unix.Munmap(mem) }

// SharedCounter is a number that this process shares with every raw clone that it makes
// afterwards. It lives as long as the process. Cold.
func SharedCounter() (*uint64, error) {
	mem, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_ANON)
	if err != nil {
		return nil, fmt.Errorf("mmap of a shared page: %w", err)
	}
	return (*uint64)(unsafe.Pointer(unsafe.SliceData(mem))), nil
}

// FilesystemOf is the kernel's number of the file system that path lies on
// (include/uapi/linux/magic.h). Cold.
func FilesystemOf(path string) (int64, error) {
	var st unix.Statfs_t
	if err := unix.Statfs(path, &st); err != nil {
		return 0, fmt.Errorf("statfs %s: %w", path, err)
	}
	return int64(st.Type), nil
}

// MemoryPointer is the address of memory that the garbage collector does not own.
func MemoryPointer(mem []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(mem))) }

// ForkExec is syscall.ForkExec with no descriptor left open at 0 to 2 and an empty
// environment: what a Go program pays for a process. Cold: it allocates.
func ForkExec(path string, argv []string) (pid int, errno syscall.Errno) {
	pid, err := syscall.ForkExec(path, argv, &syscall.ProcAttr{Env: []string{}})
	if err != nil && !errors.As(err, &errno) {
		errno = syscall.EIO
	}
	return pid, errno
}
