package oslat

import (
	"math/bits"
	"sync/atomic"
	"unsafe"

	"opcycle/record"
	"opcycle/rt"
)

const (
	subBits    = 6
	logBuckets = (64 - subBits) << subBits
	ringGaps   = 4096 // on their way to the conductor, which looks every 100 ms
)

// gap is one stretch at or above the threshold.
type gap struct {
	At     int64 // its end, CLOCK_MONOTONIC ns
	Cycles int64
}

// limits are what the loop compares with, in cycles.
type limits struct {
	threshold int64
	low, high int64 // a gap in between is suspected throttling; 0, 0: there is none
}

// page is one CPU's differences, in cycles, in memory shared with the conductor. Its thread
// owns all of it but tail, which is the conductor's; the conductor may read the gaps before
// head, and everything once ended is 1.
type page struct {
	ended     uint32
	_         uint32
	hz        float64 // of the counter, before the loop begins
	bias      int64   // least difference of the preheat
	begin     int64   // CLOCK_MONOTONIC ns
	end       int64
	cycles    record.Moments
	over      int64 // at or above the threshold
	lost      int64 // sum of these
	throttled int64 // of these, as long as throttling takes
	dropped   int64 // of these, not in the ring: it was full
	faults    int64 // page faults of the thread in its loop, -1 unknown
	head      uint64
	tail      uint64
	ring      [ringGaps]gap
	buckets   [logBuckets]int64
}

const pageBytes = int(unsafe.Sizeof(page{})+4095) &^ 4095

func pages(mem []byte, n int) []*page {
	var out []*page
	for i := range n {
		out = append(out, (*page)(unsafe.Pointer(&mem[i*pageBytes])))
	}
	return out
}

// bucket is the logarithmic bucket of a difference. hot.
//
//go:nosplit
func bucket(v int64) int {
	u := uint64(v)
	octave := bits.Len64(u>>subBits) & 63
	if octave == 0 {
		return int(u)
	}
	return octave<<subBits + int(u>>(octave-1))&(1<<subBits-1)
}

// edges are the least and the largest value of a bucket.
func edges(i int) (from, to int64) {
	octave := i >> subBits
	if octave == 0 {
		return int64(i), int64(i)
	}
	from = int64(i&(1<<subBits-1)|1<<subBits) << (octave - 1)
	return from, from + 1<<(octave-1) - 1
}

// preheat runs the loop for ns and returns its least difference. hot.
//
//go:nosplit
func preheat(stop *uint32, ns int64) int64 {
	end := rt.Now() + ns
	least, last := int64(1)<<62, rt.Cycles()
	for rt.Now() < end && atomic.LoadUint32(stop) == 0 {
		for range 1000 {
			now := rt.Cycles()
			least, last = min(least, now-last), now
		}
		last = rt.Cycles()
	}
	return least
}

// spin watches until cycles have passed or the stop word is raised. hot.
//
//go:nosplit
func spin(p *page, stop *uint32, cycles int64, l *limits) {
	p.begin = rt.Now()
	last := rt.Cycles()
	end := last + cycles
	for last < end && atomic.LoadUint32(stop) == 0 {
		now := rt.Cycles()
		d := now - last
		last = now
		p.cycles.Add(d)
		p.buckets[bucket(d)]++
		if d >= l.threshold {
			p.found(d, l)
		}
	}
	p.end = rt.Now()
	atomic.StoreUint32(&p.ended, 1)
}

// found takes a gap. hot.
//
//go:nosplit
func (p *page) found(d int64, l *limits) {
	p.over++
	p.lost += d
	if d >= l.low && d <= l.high {
		p.throttled++
	}
	if p.head-atomic.LoadUint64(&p.tail) >= ringGaps {
		p.dropped++
		return
	}
	p.ring[p.head%ringGaps] = gap{rt.Now(), d}
	atomic.StoreUint64(&p.head, p.head+1)
}

// drain takes the gaps out of the ring. warm; the conductor's.
func (p *page) drain(each func(gap)) {
	for tail, head := p.tail, atomic.LoadUint64(&p.head); tail < head; tail++ {
		each(p.ring[tail%ringGaps])
		atomic.StoreUint64(&p.tail, tail+1)
	}
}
