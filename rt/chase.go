//go:build amd64 || arm64

package rt

// Chase follows a list of pointers 100 · hundreds times, each load waiting for the one
// before, and returns where it came to. at and all that it finds must be addresses of
// memory that the garbage collector does not own. Hot.
//
//go:noescape
func Chase(at uintptr, hundreds int64) uintptr

// LoadBytes reads the byte at each offset from at, in their order, and returns the sum.
// Hot.
//
//go:noescape
func LoadBytes(at uintptr, offsets []uint64) uint64

// StoreBytes writes value to at, at+stride, … as far as they lie below at+length. A stride
// is not 0. Hot.
//
//go:noescape
func StoreBytes(at, length, stride uintptr, value byte)
