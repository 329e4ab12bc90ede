package rt

import (
	"io"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ReadFull fills p from a descriptor in blocking mode. The thread waits in the kernel and
// keeps its P: for single-purpose loops on a locked thread only. Hot; errors are a bare
// errno, io.ErrUnexpectedEOF when the peer has gone.
//
// https://man7.org/linux/man-pages/man2/read.2.html
//
//go:nosplit
func ReadFull(fd uintptr, p []byte) error {
	for len(p) > 0 {
		n, _, errno := syscall.RawSyscall(unix.SYS_READ, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return errno
		case n == 0:
			return io.ErrUnexpectedEOF
		default:
			p = p[n:]
		}
	}
	return nil
}

// WriteFull writes all of p to a descriptor in blocking mode, as ReadFull reads. Hot.
//
// https://man7.org/linux/man-pages/man2/write.2.html
//
//go:nosplit
func WriteFull(fd uintptr, p []byte) error {
	for len(p) > 0 {
		n, _, errno := syscall.RawSyscall(unix.SYS_WRITE, fd, uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)))
		switch {
		case errno == unix.EINTR:
		case errno != 0:
			return errno
		default:
			p = p[n:]
		}
	}
	return nil
}
