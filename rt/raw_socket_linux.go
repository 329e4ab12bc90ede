package rt

import (
	"encoding/binary"
	"fmt"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RawSocket is socket(2) of the family IPv4, blocking and close-on-exec: TCP if stream,
// else UDP. Hot.
//
//go:nosplit
func RawSocket(stream bool) (int, syscall.Errno) {
	kind := uintptr(unix.SOCK_DGRAM | unix.SOCK_CLOEXEC)
	if stream {
		kind = unix.SOCK_STREAM | unix.SOCK_CLOEXEC
	}
	fd, _, errno := syscall.RawSyscall(unix.SYS_SOCKET, unix.AF_INET, kind, 0)
	return int(fd), errno
}

// RawConnect is connect(2). Hot.
//
//go:nosplit
func RawConnect(fd int, to *RawAddress) syscall.Errno {
	_, _, errno := syscall.RawSyscall(unix.SYS_CONNECT, uintptr(fd), uintptr(unsafe.Pointer(to)), unsafe.Sizeof(*to))
	return errno
}

// RawAccept is accept4(2), of a connection whose other end nobody asks for. Hot.
//
//go:nosplit
func RawAccept(fd int) (int, syscall.Errno) {
	c, _, errno := syscall.RawSyscall6(unix.SYS_ACCEPT4, uintptr(fd), 0, 0, unix.SOCK_CLOEXEC, 0, 0)
	return int(c), errno
}

// RawReceiveFrom is recvfrom(2): from becomes the sender. Hot.
//
//go:nosplit
func RawReceiveFrom(fd int, p []byte, from *RawAddress) (int, syscall.Errno) {
	size := uint32(unsafe.Sizeof(*from))
	n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0,
		uintptr(unsafe.Pointer(from)), uintptr(unsafe.Pointer(&size)))
	return int(n), errno
}

// RawSendTo is sendto(2). Hot.
//
//go:nosplit
func RawSendTo(fd int, p []byte, to *RawAddress) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), 0,
		uintptr(unsafe.Pointer(to)), unsafe.Sizeof(*to))
	return int(n), errno
}

// RawSetSocketOption is setsockopt(SOL_SOCKET) of a number. Hot.
//
//go:nosplit
func RawSetSocketOption(fd, option int, value int32) syscall.Errno {
	_, _, errno := syscall.RawSyscall6(unix.SYS_SETSOCKOPT, uintptr(fd), unix.SOL_SOCKET, uintptr(option),
		uintptr(unsafe.Pointer(&value)), unsafe.Sizeof(value), 0)
	return errno
}

// RawSocketOption is getsockopt(SOL_SOCKET) of a number. Cold.
func RawSocketOption(fd, option int) (int, error) {
	return unix.GetsockoptInt(fd, unix.SOL_SOCKET, option)
}

// LoopbackAddress is 127.0.0.last at a port.
func LoopbackAddress(last byte, port int) RawAddress {
	var a RawAddress
	binary.NativeEndian.PutUint16(a[0:], unix.AF_INET)
	binary.BigEndian.PutUint16(a[2:], uint16(port))
	a[4], a[7] = 127, last
	return a
}

// RawListen is a TCP socket that listens at a free port of every address of the loopback
// network. Cold.
func RawListen(backlog int) (fd, port int, err error) {
	fd, port, err = bound(true, [4]byte{})
	if err == nil {
		err = unix.Listen(fd, backlog)
	}
	if err != nil {
		return -1, 0, fmt.Errorf("listen for TCP on a free port: %w", err)
	}
	return fd, port, nil
}

// RawUDP is a UDP socket at a free port of 127.0.0.1. A read that waits longer than limit
// ends with EAGAIN. Cold.
func RawUDP(limit time.Duration) (fd, port int, err error) {
	fd, port, err = bound(false, [4]byte{127, 0, 0, 1})
	if err == nil {
		tv := unix.NsecToTimeval(int64(limit))
		err = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &tv)
	}
	if err != nil {
		return -1, 0, fmt.Errorf("UDP socket on a free port of 127.0.0.1: %w", err)
	}
	return fd, port, nil
}

func bound(stream bool, at [4]byte) (fd, port int, err error) {
	fd, errno := RawSocket(stream)
	if errno != 0 {
		return -1, 0, errno
	}
	if err = unix.Bind(fd, &unix.SockaddrInet4{Addr: at}); err != nil {
		return -1, 0, err
	}
	name, err := unix.Getsockname(fd)
	if err != nil {
		return -1, 0, err
	}
	return fd, name.(*unix.SockaddrInet4).Port, nil
}

// RawDup is a second descriptor for the same thing, close-on-exec. Cold.
func RawDup(fd int) (int, error) { return unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0) }

// RawDupTo makes the descriptor to the same thing as fd, open over exec. Cold.
func RawDupTo(fd, to int) error {
	if err := unix.Dup3(fd, to, 0); err != nil {
		return fmt.Errorf("dup3 of %d to %d: %w", fd, to, err)
	}
	return nil
}
