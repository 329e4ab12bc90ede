//go:build amd64 || arm64

package rt

import "unsafe"

// The kernels of this file stream through memory as lmbench's bw_mem does, as its loops
// are compiled without vector instructions: a Go loop is some times slower (suites.md,
// 1.5). They take whole blocks of StreamBlock bytes: what is left of p stays untouched.
// Hot.

// In assembly, so that what is measured is known to the instruction.
//
//go:noescape
func sumInts(p *byte, blocks int) uint32

//go:noescape
func sumFourths(p *byte, blocks int) uint32

//go:noescape
func sumWords(p *byte, blocks int) uint64

//go:noescape
func storeInts(p *byte, blocks int, value uint32)

//go:noescape
func copyInts(to, from *byte, blocks int)

// HasStreams is whether this machine has the kernels.
const HasStreams = true

// SumInts adds up every int of 32 bits.
//
//go:nosplit
func SumInts(p []byte) uint32 { return sumInts(unsafe.SliceData(p), len(p)/512) }

// SumFourths adds up every fourth int of 32 bits: one a 16 bytes, which brings all of the
// memory into the CPU's cache.
//
//go:nosplit
func SumFourths(p []byte) uint32 { return sumFourths(unsafe.SliceData(p), len(p)/512) }

// SumWords adds up every word of 64 bits.
//
//go:nosplit
func SumWords(p []byte) uint64 { return sumWords(unsafe.SliceData(p), len(p)/1024) }

// StoreInts writes every int of 32 bits.
//
//go:nosplit
func StoreInts(p []byte, value uint32) { storeInts(unsafe.SliceData(p), len(p)/512, value) }

// CopyInts copies int by int as much as both have; they don't overlap.
//
//go:nosplit
func CopyInts(to, from []byte) {
	copyInts(unsafe.SliceData(to), unsafe.SliceData(from), min(len(to), len(from))/512)
}
