package rt

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The runtime's own way to say "this call will block": the P is handed over before the
// call, not when sysmon notices 20 µs to 10 ms later. With GOMAXPROCS=1 that is the
// difference between a reader that runs at once and one that waits behind a sleeping
// thread. Both names are kept for others by the runtime (gvisor links them).
//
//go:linkname entersyscallblock runtime.entersyscallblock
func entersyscallblock()

//go:linkname exitsyscall runtime.exitsyscall
func exitsyscall()

// epollWait blocks the thread without its P until one event arrived, or a signal did. It
// returns the number of events. Hot; nosplit, because the frame must stay where it is
// from entersyscallblock to exitsyscall.
//
// https://man7.org/linux/man-pages/man2/epoll_wait.2.html
//
//go:nosplit
func epollWait(epfd int, event *unix.EpollEvent) (int, syscall.Errno) {
	entersyscallblock()
	n, _, errno := syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(epfd), uintptr(unsafe.Pointer(event)),
		1, ^uintptr(0), 0, 0)
	exitsyscall()
	return int(n), errno
}
