package lmbench

import (
	"fmt"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// memoryFigures are the load latencies of the levels, and of all sizes between.
func memoryFigures() []figure {
	return []figure{
		{table: tableMemory, name: "l1", column: "L1 $", run: func(b *bed) ([]bench.Reading, error) { return cacheLatency(b, 1) }},
		{table: tableMemory, name: "l2", column: "L2 $", run: func(b *bed) ([]bench.Reading, error) { return cacheLatency(b, 2) }},
		{table: tableMemory, name: "l3", column: "L3 $", run: func(b *bed) ([]bench.Reading, error) { return cacheLatency(b, 3) }},
		{table: tableMemory, name: "main", column: "Main mem", run: mainLatency, limit: memoryLimit},
		{table: tableMemory, name: "curve", column: "curve", run: latencyCurve, limit: memoryLimit},
	}
}

// lmbenchStride is the distance of the loads that the original's summary shows.
const lmbenchStride = 128

// mappings is how often a cache is measured in fresh memory: which of its sets the pages
// of one mapping meet is chance.
const mappings = 3

// memoryLimit is how long a figure in much memory may take: a virtual machine whose host has
// to find the memory first needs most of it for that.
const memoryLimit = 90 * time.Second

var errNoKernels = fmt.Errorf("its loops are in assembly, for amd64 and arm64 only")

// cacheLatency measures loads that a cache of that level answers, in random order (the
// headline), in the original's order, and with huge pages.
func cacheLatency(b *bed, level int) ([]bench.Reading, error) {
	size, err := b.cacheRange(level)
	if err != nil {
		return nil, err
	}
	return b.latencies(size, mappings, level > 1)
}

// mainLatency does it with what no cache holds.
func mainLatency(b *bed) ([]bench.Reading, error) {
	size, short, err := b.mainRange()
	if err != nil {
		return nil, err
	}
	out, err := b.latencies(size, 1, true)
	for i := range out {
		if short != "" && out[i].NA == "" {
			remark(&out[i], short)
		}
	}
	if err != nil || size == leastMain {
		return out, err
	}
	row, err := b.usualLatency()
	return append(out, row), err
}

// usualLatency is the original's figure with the memory that it is most often given.
func (b *bed) usualLatency() (bench.Reading, error) {
	c, err := newChain(leastMain, false)
	if err != nil {
		return bench.Reading{}, err
	}
	defer c.free()
	c.stride(leastMain, lmbenchStride)
	s, err := b.loads(c)
	return strideRow(s, leastMain), err
}

func strideRow(s sample, size int64) bench.Reading {
	r := s.reading(fmt.Sprintf("stride %d, %s", lmbenchStride, sizeText(size)), minimum, nanos)
	remark(&r, "as lmbench: in the order of addresses, which a prefetcher foresees; "+pageText())
	return r
}

// latencies are the rows of one working set, each the minimum over so many mappings. A row
// with huge pages is worth something where ordinary ones are more than a TLB has.
func (b *bed) latencies(size int64, mappings int, huge bool) ([]bench.Reading, error) {
	if !rt.HasStreams {
		return nil, errNoKernels
	}
	tries := b.Tries
	b.Tries = (tries + mappings - 1) / mappings
	defer func() { b.Tries = tries }()
	var random, stride sample
	for range mappings {
		c, err := newChain(size, false)
		if err != nil {
			return nil, err
		}
		c.shuffle(size, b.line())
		r, err1 := b.loads(c)
		c.stride(size, lmbenchStride)
		s, err2 := b.loads(c)
		c.free()
		if err := joined(err1, err2); err != nil {
			return nil, err
		}
		random, stride = random.and(r), stride.and(s)
	}
	out := []bench.Reading{random.reading(fmt.Sprintf("random order of lines, %s", sizeText(size)), minimum, nanos), strideRow(stride, size)}
	remark(&out[0], pageText())
	if !huge {
		return out, nil
	}
	row, err := b.hugeLatency(size, mappings)
	return append(out, row), err
}

// hugeLatency is the row with huge pages; without a number where the kernel gave none.
func (b *bed) hugeLatency(size int64, mappings int) (bench.Reading, error) {
	mechanism := fmt.Sprintf("random order of lines, %s, huge pages", sizeText(size))
	none := func(why string) bench.Reading {
		return bench.Reading{Mechanism: mechanism, Statistic: minimum, Unit: nanos, NA: why}
	}
	var all sample
	for range mappings {
		c, err := newChain((size+hugePage-1)&^(hugePage-1), true)
		if err != nil {
			return none(err.Error()), nil
		}
		has, err := hugeShare(c.mem, size)
		if err == nil && has < mostlyHuge {
			err = fmt.Errorf("the kernel gave huge pages for %.0f %% of the memory (/sys/kernel/mm/transparent_hugepage/enabled)", 100*has)
		}
		if err != nil {
			c.free()
			return none(err.Error()), nil
		}
		c.shuffle(size, b.line())
		s, err := b.loads(c)
		c.free()
		if err != nil {
			return bench.Reading{}, err
		}
		all = all.and(s)
	}
	return all.reading(mechanism, minimum, nanos), nil
}

const (
	hugePage   = 2 * mib
	mostlyHuge = 0.95
)

// hugeShare is the part of memory that is in huge pages.
func hugeShare(mem []byte, size int64) (float64, error) {
	smaps, err := slurp("/proc/self/smaps")
	if err != nil {
		return 0, err
	}
	return min(1, float64(hugeBytes(smaps, rt.MemoryPointer(mem), len(mem)))/float64(size)), nil
}

// and is the sample with the repetitions of another of the same operation.
func (s sample) and(o sample) sample {
	o.each = slices.Concat(s.each, o.each)
	if s.half > 0 {
		o.half = min(s.half, o.half)
	}
	return o
}
