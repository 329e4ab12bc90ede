package rt

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// RawSelectWritable is select(2) with a timeout of 0: how many of the descriptors below n
// that are in set can be written; set keeps those. Hot.
//
//go:nosplit
func RawSelectWritable(n int, set *FDSet) (int, syscall.Errno) {
	var zero unix.Timeval
	ready, _, errno := syscall.RawSyscall6(unix.SYS_SELECT, uintptr(n), 0, uintptr(unsafe.Pointer(set)), 0, uintptr(unsafe.Pointer(&zero)), 0)
	return int(ready), errno
}
