//go:build !linux

package rt

// SetProcessAffinity fails outside Linux.
func SetProcessAffinity([]int) error { return unsupported("sched_setaffinity") }
