//go:build !linux

package rt

// SuspendedTime is unknown outside Linux.
func SuspendedTime() int64 { return -1 }
