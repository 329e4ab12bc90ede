package lmbench

import (
	"fmt"
	"math/rand/v2"
	"os"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

func fileFigures() []figure {
	return []figure{
		fileFigure("create_0k", "0K File Create", 0, false),
		fileFigure("delete_0k", "0K File Delete", 0, true),
		fileFigure("create_10k", "10K File Create", tenK, false),
		fileFigure("delete_10k", "10K File Delete", tenK, true),
		{table: tableFiles, name: "mmap", column: "Mmap Latency", run: mmapLatency},
		{table: tableFiles, name: "protection_fault", column: "Prot Fault", run: protectionFault},
		{table: tableFiles, name: "page_fault", column: "Page Fault", run: pageFault},
	}
}

// Of mmap latency: how much is mapped, which part of it is written, and how often there.
const (
	mmapBytes  = 64 * mib
	mmapPart   = 10
	mmapStride = 16 * kib
)

// mmapLatency times mapping a file, writing a byte every 16 KiB of its first tenth, and
// taking the mapping away.
func mmapLatency(b *bed) ([]bench.Reading, error) {
	if !rt.HasStreams {
		return nil, errNoKernels
	}
	dir, err := b.realFolder()
	if err != nil {
		return nil, err
	}
	fd, err := dir.cachedFile(mmapBytes)
	if err != nil {
		return nil, err
	}
	row, err := b.mappings(fd, dir.fs)
	if err != nil || dir.fs == "tmpfs" {
		return []bench.Reading{row}, err
	}
	// A file in memory that no folder has to have room for.
	if fd, err = rt.RawMemfd("mmap", nil); err != nil {
		return nil, err
	}
	if errno := fill(fd, mmapBytes); errno != 0 {
		return nil, fmt.Errorf("write %s to a memfd: %w", sizeText(mmapBytes), errno)
	}
	second, err := b.mappings(fd, "tmpfs")
	return []bench.Reading{row, second}, err
}

// mappings measures with a file that is then closed.
func (b *bed) mappings(fd int, fs string) (bench.Reading, error) {
	defer rt.RawClose(fd)
	s, err := b.repeat(timed("map a file", func(n int64) syscall.Errno { return maps(fd, n) }))
	if err != nil {
		return bench.Reading{}, err
	}
	return s.reading(fmt.Sprintf("%s, a byte every 16 KiB of a tenth written, %s", sizeText(mmapBytes), fs), median, micros), nil
}

// hot.
//
//go:nosplit
func maps(fd int, n int64) syscall.Errno {
	for ; n > 0; n-- {
		at, errno := rt.RawMmap(mmapBytes, rt.ProtRead|rt.ProtWrite, rt.MmapShared, fd, 0)
		if errno != 0 {
			return errno
		}
		rt.StoreBytes(at, mmapBytes/mmapPart, mmapStride, 1)
		if errno := rt.RawMunmap(at, mmapBytes); errno != 0 {
			return errno
		}
	}
	return 0
}

// protectionFault times a store to a page of a file that may only be read: the fault, the
// signal, its handler and the return to the store; minus signal_handler, measured here.
func protectionFault(b *bed) ([]bench.Reading, error) {
	dir, err := b.realFolder()
	if err != nil {
		return nil, err
	}
	fd, err := dir.cachedFile(mib)
	if err != nil {
		return nil, err
	}
	defer rt.RawClose(fd)
	page, err := rt.MapFile(fd, os.Getpagesize())
	if err != nil {
		return nil, err
	}
	defer func() { _ = rt.FreeMemory(page) }()
	caught, err := b.faults(rt.MemoryPointer(page))
	if err != nil {
		return nil, err
	}
	handled, sent, err := b.signals()
	if err != nil {
		return nil, err
	}
	handler := handled.less(sent)
	return []bench.Reading{
		caught.less(handler).reading("store to a read-only page, caught; minus the signal handler", median, micros),
		caught.reading("store to a read-only page, caught", median, micros),
		handler.reading("signal handler: kill, handler, return; minus kill of signal 0", median, micros),
	}, nil
}

// faults measures stores to at, each of which must fault.
func (b *bed) faults(at uintptr) (sample, error) {
	action := rt.CountFaults()
	var before rt.SignalAction
	if errno := rt.RawSigaction(rt.SignalSegv, &action, &before); errno != 0 {
		return sample{}, fmt.Errorf("install a handler: %w", errno)
	}
	s, err := b.repeat(func(n int64) (int64, error) {
		t := rt.Now()
		got := rt.StoreFaulting(at, uint64(n))
		t = rt.Now() - t
		if got != uint64(n) {
			return 0, fmt.Errorf("%d of %d stores to a read-only page faulted", got, n)
		}
		return t, nil
	})
	if errno := rt.RawSigaction(rt.SignalSegv, &before, nil); errno != 0 && err == nil {
		err = fmt.Errorf("put the handler back: %w", errno)
	}
	return s, err
}

// faultBytes is the file of the page faults, all of which the page cache has.
const faultBytes = 64 * mib

// pageFault times reading a byte of every page of a fresh mapping in random order, minus
// mapping alone, for a page. The kernel maps several pages a fault: the second row is for
// each fault that it counted.
func pageFault(b *bed) ([]bench.Reading, error) {
	if !rt.HasStreams {
		return nil, errNoKernels
	}
	dir, err := b.realFolder()
	if err != nil {
		return nil, err
	}
	fd, err := dir.cachedFile(faultBytes)
	if err != nil {
		return nil, err
	}
	defer rt.RawClose(fd)
	if err := inCache(fd, faultBytes); err != nil {
		return nil, err
	}
	pages := pageOrder(faultBytes)
	var mappings, faults int64
	touching, err := b.repeat(func(n int64) (int64, error) {
		before := rt.ThreadUsage()
		ns, err := timed("map and read a file", func(n int64) syscall.Errno { return touches(fd, pages, n) })(n)
		faults += rt.ThreadUsage().MinorFaults - before.MinorFaults
		mappings += n
		return ns, err
	})
	if err != nil {
		return nil, err
	}
	mapping, err := b.repeat(timed("map a file", func(n int64) syscall.Errno { return touches(fd, nil, n) }))
	if err = joined(err, inCache(fd, faultBytes)); err != nil {
		return nil, err
	}
	return pageFaultRows(touching, mapping, len(pages), float64(faults)/float64(mappings), dir.fs), nil
}

// pageFaultRows are the rows of one mapping's pages and faults.
func pageFaultRows(touching, mapping sample, pages int, faults float64, fs string) []bench.Reading {
	alone := touching.less(mapping)
	each := alone.per(float64(pages)).reading(fmt.Sprintf("a page of a cached file, %s, %s", sizeText(faultBytes), fs), median, micros)
	remark(&each, fmt.Sprintf("of a page that is read, not of a fault: the kernel counted %.4g faults for %d pages", faults, pages))
	fault := bench.Reading{Mechanism: "each fault that the kernel counted", Statistic: median, Unit: micros, NA: "the kernel counted no fault"}
	if faults > 0 {
		fault = alone.per(faults).reading("each fault that the kernel counted", median, micros)
	}
	return []bench.Reading{each, fault,
		mapping.reading("munmap, mmap, msync: subtracted from all of its pages", median, micros)}
}

// pageOrder are the offsets of a file's pages, shuffled, the same in every run.
func pageOrder(size int) []uint64 {
	out := make([]uint64, size/os.Getpagesize())
	for i := range out {
		out[i] = uint64(i * os.Getpagesize())
	}
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// touches maps the file, reads the pages and takes the mapping away, n times. hot.
//
//go:nosplit
func touches(fd int, pages []uint64, n int64) syscall.Errno {
	for ; n > 0; n-- {
		at, errno := rt.RawMmap(faultBytes, rt.ProtRead, rt.MmapShared, fd, 0)
		if errno != 0 {
			return errno
		}
		if errno := rt.RawMsync(at, faultBytes, rt.MsInvalidate); errno != 0 {
			return errno
		}
		rt.LoadBytes(at, pages)
		if errno := rt.RawMunmap(at, faultBytes); errno != 0 {
			return errno
		}
	}
	return 0
}
