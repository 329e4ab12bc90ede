//go:build !linux

package rt

// ReadFull is Linux's alone.
func ReadFull(uintptr, []byte) error { return unsupported("raw read and write") }

// WriteFull is Linux's alone.
func WriteFull(uintptr, []byte) error { return unsupported("raw read and write") }
