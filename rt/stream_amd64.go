package rt

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

//go:noescape
func sumWide(p *byte, blocks int) uint32

//go:noescape
func copyString(to, from *byte, bytes int)

// WideSum names the vector instructions of SumWide; empty: this CPU has none of them.
func WideSum() string {
	if cpu.X86.HasAVX2 {
		return "AVX2"
	}
	return ""
}

// SumWide is SumInts with vectors: the most that a core reads. Not where WideSum is empty.
// Hot.
//
//go:nosplit
func SumWide(p []byte) uint32 { return sumWide(unsafe.SliceData(p), len(p)/512) }

// StringCopy names the instruction of CopyString; empty: this architecture has none.
const StringCopy = "REP MOVSB"

// CopyString copies by one instruction as much as both have; they don't overlap. Hot.
//
//go:nosplit
func CopyString(to, from []byte) {
	copyString(unsafe.SliceData(to), unsafe.SliceData(from), min(len(to), len(from)))
}
