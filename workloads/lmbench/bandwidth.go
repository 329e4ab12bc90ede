package lmbench

import (
	"fmt"

	"opcycle/bench"
	"opcycle/rt"
)

func bandwidthFigures() []figure {
	return []figure{
		{table: tableBandwidth, name: "pipe", column: "Pipe", run: pipeBandwidth},
		{table: tableBandwidth, name: "af_unix", column: "AF UNIX", run: unixBandwidth},
		{table: tableBandwidth, name: "tcp", column: "TCP", run: tcpBandwidth},
		{table: tableBandwidth, name: "file_reread", column: "File reread", run: fileReread},
		{table: tableBandwidth, name: "mmap_reread", column: "Mmap reread", run: mmapReread},
		{table: tableBandwidth, name: "bcopy_libc", column: "Bcopy (libc)", run: bcopyRuntime, limit: memoryLimit},
		{table: tableBandwidth, name: "bcopy_hand", column: "Bcopy (hand)", run: bcopyHand, limit: memoryLimit},
		{table: tableBandwidth, name: "memory_read", column: "Mem read", run: memoryRead, limit: memoryLimit},
		{table: tableBandwidth, name: "memory_write", column: "Mem write", run: memoryWrite, limit: memoryLimit},
	}
}

// pass is a way to go through memory once. A copy has two halves, others one.
type pass struct {
	mechanism string
	loop      func(to, from []byte, n int64) // n times, hot
	sizes     int                            // of bed.sizes: so many rows
	remark    string
}

// sizes are the bytes in use: of main memory, where the caches are not larger also the
// original's usual size, and of the L1 cache. short belongs to the first.
func (b *bed) sizes() (sizes []int64, short string, err error) {
	most, short, err := b.mainRange()
	if err != nil {
		return nil, "", err
	}
	sizes = []int64{most}
	if l1, err := b.cacheRange(1); err == nil {
		sizes = append(sizes, l1&^(4*kib-1))
	}
	if most > leastMain {
		sizes = append(sizes, leastMain)
	}
	return sizes, short, nil
}

// passes measures each way with its sizes. of is into how many parts, source and target,
// the memory is cut; the bandwidth counts the bytes of one.
func (b *bed) passes(of int, ways []pass) ([]bench.Reading, error) {
	if !rt.HasStreams {
		return nil, errNoKernels
	}
	sizes, short, err := b.sizes()
	if err != nil {
		return nil, err
	}
	mem, err := rt.RawMemory(int(sizes[0]), false)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rt.FreeMemory(mem) }()
	var out []bench.Reading
	for _, w := range ways {
		for i, size := range sizes[:min(w.sizes, len(sizes))] {
			part := size / int64(of) &^ 4095
			to := mem[:part]
			from := mem[int64(of-1)*part : int64(of)*part]
			s, err := b.stream(part, func(n int64) (int64, error) {
				t := rt.Now()
				w.loop(to, from, n)
				return rt.Now() - t, nil
			})
			if err != nil {
				return nil, err
			}
			r := s.reading(fmt.Sprintf("%s, %s", w.mechanism, sizeText(part)), median, megabytes)
			if w.remark != "" {
				remark(&r, w.remark)
			}
			if i == 0 && short != "" {
				remark(&r, short)
			}
			out = append(out, r)
		}
	}
	return out, nil
}

func bcopyRuntime(b *bed) ([]bench.Reading, error) {
	ways := []pass{{"Go runtime memmove", moves, 3, "not a libc's: there is none in this program"}}
	if rt.StringCopy != "" {
		ways = append(ways, pass{rt.StringCopy, stringCopies, 3, ""})
	}
	return b.passes(2, ways)
}

func bcopyHand(b *bed) ([]bench.Reading, error) {
	return b.passes(2, []pass{{"loop over ints of 32 bits, unrolled", intCopies, 3, ""}})
}

func memoryRead(b *bed) ([]bench.Reading, error) {
	ways := []pass{
		{"sum of every int of 32 bits, unrolled", intSums, 3, ""},
		{"sum of every fourth int", fourthSums, 2, "lmbench's rd: the bandwidth counts all bytes, as there"},
	}
	if name := rt.WideSum(); name != "" {
		ways = append(ways, pass{"sum of every int by " + name, wideSums, 2, "not in lmbench: what the core can take"})
	}
	return b.passes(1, ways)
}

func memoryWrite(b *bed) ([]bench.Reading, error) {
	return b.passes(1, []pass{{"store of every int of 32 bits, unrolled", intStores, 3, ""}})
}

// hot.
//
//go:nosplit
func moves(to, from []byte, n int64) {
	for ; n > 0; n-- {
		copy(to, from)
	}
}

// hot.
//
//go:nosplit
func stringCopies(to, from []byte, n int64) {
	for ; n > 0; n-- {
		rt.CopyString(to, from)
	}
}

// hot.
//
//go:nosplit
func intCopies(to, from []byte, n int64) {
	for ; n > 0; n-- {
		rt.CopyInts(to, from)
	}
}

// hot.
//
//go:nosplit
func intSums(to, _ []byte, n int64) {
	for ; n > 0; n-- {
		rt.SumInts(to)
	}
}

// hot.
//
//go:nosplit
func fourthSums(to, _ []byte, n int64) {
	for ; n > 0; n-- {
		rt.SumFourths(to)
	}
}

// hot.
//
//go:nosplit
func wideSums(to, _ []byte, n int64) {
	for ; n > 0; n-- {
		rt.SumWide(to)
	}
}

// hot.
//
//go:nosplit
func intStores(to, _ []byte, n int64) {
	for ; n > 0; n-- {
		rt.StoreInts(to, 1)
	}
}
