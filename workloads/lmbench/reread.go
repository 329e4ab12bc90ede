package lmbench

import (
	"fmt"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

// Of a file that is read again and again.
const (
	rereadBytes = 64 * mib
	rereadBlock = 64 * kib // of one read
)

// fileReread reads a file that the page cache has, 64 KiB at a time, and adds up all words.
func fileReread(b *bed) ([]bench.Reading, error) {
	return b.reread("read of 64 KiB and sum of every word", func(fd int) (func(n int64) syscall.Errno, func(), error) {
		buf, err := rt.RawMemory(rereadBlock, false)
		if err != nil {
			return nil, nil, err
		}
		return func(n int64) syscall.Errno { return rereads(fd, buf, rereadBytes, n) }, func() { _ = rt.FreeMemory(buf) }, nil
	})
}

// mmapReread adds up all words of a mapping of such a file, whose pages are there.
func mmapReread(b *bed) ([]bench.Reading, error) {
	return b.reread("sum of every word of a mapping", func(fd int) (func(n int64) syscall.Errno, func(), error) {
		words, err := rt.MapFile(fd, rereadBytes)
		if err != nil {
			return nil, nil, err
		}
		rt.SumWords(words) // meets every page once
		return func(n int64) syscall.Errno { return wordSums(words, n) }, func() { _ = rt.FreeMemory(words) }, nil
	})
}

// reread measures passes over a cached file. The page cache must have all of it before and
// after: nothing came from a disk.
func (b *bed) reread(mechanism string, prepare func(fd int) (pass func(n int64) syscall.Errno, free func(), err error)) ([]bench.Reading, error) {
	if !rt.HasStreams {
		return nil, errNoKernels
	}
	dir, err := b.realFolder()
	if err != nil {
		return nil, err
	}
	fd, err := dir.cachedFile(rereadBytes)
	if err != nil {
		return nil, err
	}
	defer rt.RawClose(fd)
	if err := inCache(fd, rereadBytes); err != nil {
		return nil, err
	}
	loop, free, err := prepare(fd)
	if err != nil {
		return nil, err
	}
	s, err := b.stream(rereadBytes, timed(mechanism, loop))
	free()
	if err = joined(err, inCache(fd, rereadBytes)); err != nil {
		return nil, err
	}
	r := s.reading(fmt.Sprintf("%s, %s, %s", mechanism, sizeText(rereadBytes), dir.fs), median, megabytes)
	return []bench.Reading{r}, nil
}

// rereads goes through the file n times. hot.
//
//go:nosplit
func rereads(fd int, buf []byte, size int, n int64) syscall.Errno {
	for ; n > 0; n-- {
		if _, errno := rt.RawLseek(fd, 0, 0); errno != 0 {
			return errno
		}
		for left := size; left > 0; {
			got, errno := rt.RawRead(fd, buf)
			if got <= 0 {
				return failed(errno)
			}
			rt.SumWords(buf[:got])
			left -= got
		}
	}
	return 0
}

// hot.
//
//go:nosplit
func wordSums(words []byte, n int64) syscall.Errno {
	for ; n > 0; n-- {
		rt.SumWords(words)
	}
	return 0
}
