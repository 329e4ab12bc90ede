package lmbench

import (
	"encoding/binary"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"

	"opcycle/rt"
)

// chain is a circular list of pointers in memory outside of the Go heap.
type chain struct {
	mem []byte
	at  uintptr // where the next load is
}

// newChain has memory for lists of up to size bytes.
func newChain(size int64, huge bool) (*chain, error) {
	mem, err := rt.RawMemory(int(size), huge)
	if err != nil {
		return nil, err
	}
	return &chain{mem: mem}, nil
}

func (c *chain) free() { _ = rt.FreeMemory(c.mem) }

// stride links every stride bytes of the first size bytes in their order.
func (c *chain) stride(size int64, stride int) {
	links := int(size) / stride
	base := c.begin()
	for i := range links {
		binary.NativeEndian.PutUint64(c.mem[i*stride:], base+uint64((i+1)%links*stride))
	}
}

// shuffle links every stride bytes of the first size bytes in an order that no prefetcher
// foresees, the same in every run: one circle through all (Sattolo's algorithm).
func (c *chain) shuffle(size int64, stride int) {
	next := make([]uint32, int(size)/stride)
	for i := range next {
		next[i] = uint32(i)
	}
	random := rand.New(rand.NewPCG(uint64(size), uint64(stride)))
	for i := len(next) - 1; i > 0; i-- {
		j := random.IntN(i)
		next[i], next[j] = next[j], next[i]
	}
	base := c.begin()
	for i, to := range next {
		binary.NativeEndian.PutUint64(c.mem[i*stride:], base+uint64(to)*uint64(stride))
	}
}

func (c *chain) begin() uint64 {
	c.at = rt.MemoryPointer(c.mem)
	return uint64(c.at)
}

// loads measures one load of the list, which goes on from interval to interval, so that
// none finds what the one before has just brought into a cache.
func (b *bed) loads(c *chain) (sample, error) {
	s, err := b.repeat(func(n int64) (int64, error) {
		t := rt.Now()
		at := rt.Chase(c.at, n)
		t = rt.Now() - t
		c.at = at
		return t, nil
	})
	s = s.per(100)
	s.batch *= 100
	return s, err
}

// hugeBytes is how much of the memory is in huge pages, as smaps of this process says.
func hugeBytes(smaps string, at uintptr, size int) int64 {
	var total int64
	in := false
	for line := range strings.Lines(smaps) {
		span, _, _ := strings.Cut(line, " ")
		if low, high, ok := strings.Cut(span, "-"); ok {
			l, err1 := strconv.ParseUint(low, 16, 64)
			h, err2 := strconv.ParseUint(high, 16, 64)
			if err1 == nil && err2 == nil {
				in = uintptr(l) < at+uintptr(size) && at < uintptr(h)
				continue
			}
		}
		if kb, ok := strings.CutPrefix(line, "AnonHugePages:"); in && ok {
			n, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(kb), " kB"), 10, 64)
			total += n * kib
		}
	}
	return total
}

func pageText() string { return sizeText(int64(os.Getpagesize())) + " pages" }
