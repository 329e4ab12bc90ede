package rt

import (
	"errors"
	"syscall"
)

// ErrnoName is the name of the kernel's error in err, such as EPERM; "?" when err came
// from no kernel, "" without an error. Cold.
//
// https://man7.org/linux/man-pages/man3/errno.3.html
func ErrnoName(err error) string {
	if err == nil {
		return ""
	}
	var no syscall.Errno
	if errors.As(err, &no) {
		if name := errnoName(no); name != "" {
			return name
		}
	}
	return "?"
}
