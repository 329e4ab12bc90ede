package rt

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"
)

// CaterpillarNode is one link of a caterpillar's chain, a cache line: a pointer to the
// function that changes Value, and the next link. It holds addresses the collector must
// not see: its memory is a mapping of its own.
type CaterpillarNode struct {
	step  uintptr
	next  uintptr
	Value uint64
	add   uint64 // what one step adds: known to the check only
	_     [4]uint64
}

// CaterpillarNodeBytes is the size of a node: one cache line.
const CaterpillarNodeBytes = int64(unsafe.Sizeof(CaterpillarNode{}))

// Caterpillar is a closed chain through memory of its own in a random order, walked by
// calling each node's function through its pointer. The functions differ, so that neither
// the next address nor the next function can be known before a node has been read.
type Caterpillar struct {
	nodes []CaterpillarNode
	at    *CaterpillarNode
	steps int64 // walked in all
	mem   uintptr
}

// NewCaterpillar makes a chain through bytes of memory, whole nodes, every page of it
// touched, in the order that the seed gives. huge asks for huge pages; without, they are
// forbidden, as they are in what it is compared with. Cold.
func NewCaterpillar(bytes int64, seed uint64, huge bool) (*Caterpillar, error) {
	n := bytes / CaterpillarNodeBytes
	if n < 2 {
		return nil, fmt.Errorf("a chain through %d bytes: at least %d are needed", bytes, 2*CaterpillarNodeBytes)
	}
	a, b, c, d := caterpillarSteps()
	if a == 0 {
		return nil, fmt.Errorf("caterpillar: %w on %s", errors.ErrUnsupported, runtime.GOARCH)
	}
	mem, errno := RawMmap(uintptr(n*CaterpillarNodeBytes), ProtRead|ProtWrite, MmapPrivate|MmapAnon, -1, 0)
	if errno != 0 {
		return nil, fmt.Errorf("a chain through %d bytes: mmap: %w", bytes, errno)
	}
	RawMadvise(mem, uintptr(n*CaterpillarNodeBytes), advice(huge)) // a kernel without huge pages refuses both
	k := &Caterpillar{mem: mem, nodes: unsafe.Slice((*CaterpillarNode)(mapped(mem)), n)}
	steps, adds := [4]uintptr{a, b, c, d}, [4]uint64{1, 3, 5, 7}
	order := shuffled(n, seed)
	for i, at := range order {
		node := &k.nodes[at]
		node.step, node.add = steps[at&3], adds[at&3]
		node.next = uintptr(unsafe.Pointer(&k.nodes[order[(i+1)%len(order)]]))
	}
	k.at = &k.nodes[order[0]]
	return k, nil
}

// mapped is a mapping's address as a pointer: it is no memory of the collector's.
func mapped(at uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&at)) }

func advice(huge bool) int {
	if huge {
		return 14 // MADV_HUGEPAGE
	}
	return 15 // MADV_NOHUGEPAGE
}

// shuffled is a random order of n, by xorshift: the same for a seed everywhere.
func shuffled(n int64, seed uint64) []int64 {
	out := make([]int64, n)
	for i := range out {
		out[i] = int64(i)
	}
	x := seed | 1
	for i := n - 1; i > 0; i-- {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		j := int64(x % uint64(i+1))
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// Walk calls n functions, n > 0, going on where the last walk ended. Hot; nosplit.
//
//go:nosplit
func (k *Caterpillar) Walk(n int64) {
	k.at = caterpillarWalk(k.at, n)
	k.steps += n
}

// Check reports whether every value is what the walked steps must have made of it: the sum
// over the chain, and no node visited more than once more than another. Cold.
func (k *Caterpillar) Check() (got, want uint64) {
	n := int64(len(k.nodes))
	rounds, rest := uint64(k.steps/n), k.steps%n
	node := k.at
	// The walk stands at k.at: the rest steps before it, so the n-rest from it on are behind.
	for i := range n {
		visits := rounds
		if i >= n-rest {
			visits++
		}
		got += node.Value
		want += visits * node.add
		node = (*CaterpillarNode)(mapped(node.next))
	}
	return got, want
}

// Nodes is the length of the chain.
func (k *Caterpillar) Nodes() int64 { return int64(len(k.nodes)) }

// Close gives the memory back.
func (k *Caterpillar) Close() {
	if k.mem != 0 {
		RawMunmap(k.mem, uintptr(len(k.nodes))*uintptr(CaterpillarNodeBytes))
		k.mem, k.nodes, k.at = 0, nil, nil
	}
}
