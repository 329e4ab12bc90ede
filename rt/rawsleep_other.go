//go:build !linux

package rt

import "syscall"

// RawNanosleepUntil is Linux's alone.
func RawNanosleepUntil(int64) syscall.Errno { return syscall.ENOSYS }
