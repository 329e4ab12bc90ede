//go:build !linux

package rt

import "syscall"

// What only Linux has, elsewhere: ENOSYS, or an error that says so.

func RawMkdir(*byte, uint32) syscall.Errno               { return syscall.ENOSYS }
func RawRmdir(*byte) syscall.Errno                       { return syscall.ENOSYS }
func RawFsync(int) syscall.Errno                         { return syscall.ENOSYS }
func MapFile(int, int) ([]byte, error)                   { return nil, unsupported("mmap") }
func ResidentPages(uintptr, uintptr) (r, n int, e error) { return 0, 0, unsupported("mincore") }
