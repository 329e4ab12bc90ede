//go:build unix

package wire

import "syscall"

// sendNow is what the server injects, with the standard library's means: sockets of
// package net do not block, and Go ignores SIGPIPE on them.
func sendNow(fd uintptr, p []byte) (int, error) {
	for {
		n, err := syscall.Write(int(fd), p)
		if err != syscall.EINTR {
			return n, err
		}
	}
}
