package rt

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// NameThread gives the calling thread a name of at most 15 bytes, which ps, /proc and the
// kernel's tracer show. Cold.
//
// https://man7.org/linux/man-pages/man2/PR_SET_NAME.2const.html
func NameThread(name string) error {
	b := make([]byte, 16)
	copy(b[:15], name)
	return unix.Prctl(unix.PR_SET_NAME, uintptr(unsafe.Pointer(&b[0])), 0, 0, 0)
}
