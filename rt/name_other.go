//go:build !linux

package rt

// NameThread is Linux's alone.
func NameThread(string) error { return unsupported("PR_SET_NAME") }
