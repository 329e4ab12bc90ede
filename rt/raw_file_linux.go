package rt

import (
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RawMkdir is mkdirat(2) from the working folder. path ends in a zero byte.
//
//go:nosplit
func RawMkdir(path *byte, mode uint32) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_MKDIRAT, atCWD, uintptr(unsafe.Pointer(path)), uintptr(mode))
	return errno
}

// RawRmdir is rmdir(2). path ends in a zero byte.
//
//go:nosplit
func RawRmdir(path *byte) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_UNLINKAT, atCWD, uintptr(unsafe.Pointer(path)), unix.AT_REMOVEDIR)
	return errno
}

// RawFsync is fsync(2).
//
//go:nosplit
func RawFsync(fd int) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_FSYNC, uintptr(fd), 0, 0)
	return errno
}

// ResidentPages is how many pages of a mapping are in memory, of how many. Of a file it is
// what the page cache has of it, whether this mapping has met it or not. Cold.
//
// https://man7.org/linux/man-pages/man2/mincore.2.html
func ResidentPages(at, length uintptr) (resident, pages int, err error) {
	page := uintptr(unix.Getpagesize())
	seen := make([]byte, (length+page-1)/page)
	_, _, errno := syscall.RawSyscall(unix.SYS_MINCORE, at, length, uintptr(unsafe.Pointer(unsafe.SliceData(seen))))
	if errno != 0 {
		return 0, 0, fmt.Errorf("mincore of %d bytes: %w", length, errno)
	}
	for _, s := range seen {
		resident += int(s & 1)
	}
	return resident, len(seen), nil
}

// MapFile is the first size bytes of a file in memory, shared, to read. FreeMemory takes
// it away. Cold.
func MapFile(fd, size int) ([]byte, error) {
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap %d bytes of a file: %w", size, err)
	}
	return mem, nil
}
