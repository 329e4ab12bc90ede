//go:build !linux

package rt

// WaitUsage is Linux's alone.
func WaitUsage(int) (Usage, int, error) { return Usage{-1, -1, -1, -1}, 0, unsupported("wait4") }

// SetNice is Linux's alone.
func SetNice(int, int) error { return unsupported("setpriority") }
