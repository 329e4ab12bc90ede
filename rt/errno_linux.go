package rt

import (
	"syscall"

	"golang.org/x/sys/unix"
)

func errnoName(no syscall.Errno) string { return unix.ErrnoName(no) }
