//go:build !linux

package rt

import "syscall"

func errnoName(syscall.Errno) string { return "" }
