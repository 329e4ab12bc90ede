package lmbench

import (
	"errors"
	"fmt"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

// selecting times select on the write set of N descriptors of one thing, with a timeout of
// 0 and the set copied each time. The seed does not say what its column is; lmbench 2 and 3
// fill it from 100 TCP descriptors. The original passes N for the highest descriptor plus 1,
// so its last ones are not looked at; ours are all.
func selecting(b *bed) ([]bench.Reading, error) {
	tcp, _, err := tcpPair()
	if err != nil {
		return nil, err
	}
	file, err := rt.RawMemfd("select", []byte("select"))
	if err != nil {
		return nil, err
	}
	var out []bench.Reading
	for _, c := range []struct {
		kind  string
		fd, n int
	}{{"TCP", tcp, 100}, {"TCP", tcp, 10}, {"TCP", tcp, 250}, {"TCP", tcp, 500}, {"file", file, 10}, {"file", file, 100}, {"file", file, 250}, {"file", file, 500}} {
		what := fmt.Sprintf("select on %d %s descriptors", c.n, c.kind)
		s, err := b.selectOn(what, c.fd, c.n)
		if errors.Is(err, errStopped) {
			return nil, err
		}
		r := s.reading(what, median, micros)
		if err != nil {
			r = bench.Reading{Mechanism: what, Statistic: median, Unit: micros, NA: err.Error()}
		}
		out = append(out, r)
	}
	return out, nil
}

// selectOn measures n duplicates of fd.
func (b *bed) selectOn(what string, fd, n int) (sample, error) {
	var set rt.FDSet
	highest := 0
	fds := make([]int, 0, n)
	defer func() {
		for _, d := range fds {
			rt.RawClose(d)
		}
	}()
	for range n {
		d, err := rt.RawDup(fd)
		if err != nil {
			return sample{}, fmt.Errorf("descriptor %d of %d: %w; raise the limit of open files (ulimit -n)", len(fds)+1, n, err)
		}
		fds = append(fds, d)
		if d >= 64*len(set) {
			return sample{}, fmt.Errorf("descriptor %d has no place in a set of select", d)
		}
		set[d/64] |= 1 << (d % 64)
		highest = max(highest, d)
	}
	return b.repeat(timed(what, func(k int64) syscall.Errno { return selects(highest+1, n, &set, k) }))
}

// hot.
//
//go:nosplit
func selects(highest, want int, set *rt.FDSet, n int64) syscall.Errno {
	for ; n > 0; n-- {
		copied := *set
		if ready, errno := rt.RawSelectWritable(highest, &copied); errno != 0 || ready != want {
			return failed(errno)
		}
	}
	return 0
}
