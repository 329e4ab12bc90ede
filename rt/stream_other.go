//go:build !amd64 && !arm64

package rt

// HasStreams is whether this machine has the kernels; what follows does nothing.
const HasStreams = false

func SumInts([]byte) uint32                             { return 0 }
func SumFourths([]byte) uint32                          { return 0 }
func SumWords([]byte) uint64                            { return 0 }
func StoreInts([]byte, uint32)                          {}
func CopyInts(to, from []byte)                          {}
func Chase(at uintptr, hundreds int64) uintptr          { return 0 }
func LoadBytes(at uintptr, offsets []uint64) uint64     { return 0 }
func StoreBytes(at, length, stride uintptr, value byte) {}
