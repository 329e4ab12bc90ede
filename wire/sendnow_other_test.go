//go:build !unix

package wire

// sendNow takes nothing: everything goes through the backlog.
func sendNow(uintptr, []byte) (int, error) { return 0, ErrWouldBlock }
