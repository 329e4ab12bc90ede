package stress

import (
	"sync/atomic"
	"unsafe"

	"opcycle/bench"
	"opcycle/rt"
)

const probeName = "memcpy"

// copyBytes is the size of each of the two buffers: far beyond a second-level cache.
const copyBytes = 16 << 20

// builtinOrder is what the builtin stressor is asked for.
type builtinOrder struct {
	CPUs []int `json:"cpus"`
}

// builtinAnswer is what it did.
type builtinAnswer struct {
	Copies int64 `json:"copies"`
}

// probe copies memory until it is told to stop; its shared word counts the copies.
func probe(p *bench.ProbeSide) error {
	var o builtinOrder
	if err := p.Decode(&o); err != nil {
		return err
	}
	if err := rt.SetAffinity(0, o.CPUs); err != nil {
		return err
	}
	a, b := make([]byte, copyBytes), make([]byte, copyBytes)
	if err := p.Ready(); err != nil {
		return err
	}
	done := (*int64)(unsafe.Pointer(&p.Mem[0]))
	for atomic.LoadUint32(p.Stop) == 0 {
		copy(a, b)
		copy(b, a)
		atomic.AddInt64(done, 2)
	}
	return p.Answer(builtinAnswer{Copies: atomic.LoadInt64(done)})
}
