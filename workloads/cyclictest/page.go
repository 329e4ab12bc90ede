package cyclictest

import (
	"math/bits"
	"sync/atomic"
	"time"
	"unsafe"

	"opcycle/record"
)

// The buckets of a page.
const (
	microBuckets = 10_000 // of 1 µs, from 0; what is longer is overflow of these only
	subBits      = 6      // 64 buckets an octave: at most 1/64 wide
	logBuckets   = (64 - subBits) << subBits
	worstKept    = 16
	outliersKept = 512
)

// counts are the figures of a page that are not buckets.
type counts struct {
	latency     record.Moments
	microSum    int64 // sum of the latencies in whole µs, as rt-tests adds them
	microOver   int64 // latencies beyond the µs buckets
	act         int64 // the last latency in whole µs
	missed      int64 // instants slept over
	early       int64 // wake-ups before their instant: none, or the kernel is broken
	interrupted int64 // sleeps that a signal ended
	second      int64 // the second of the last wake-up

	worst    [worstKept]worst // the largest latencies, in no order
	least    int64            // the smallest of worst, once it is full
	outliers [outliersKept]int64
	outlying int64 // latencies of limit and more; the first have their cycle in outliers
}

// page is what one measuring thread writes, in memory shared with the conductor. The thread
// owns it from the probe's begin on; the conductor copies it by snapshot. Fixed size, zero
// is empty.
type page struct {
	sequence uint32 // odd while the thread writes
	errno    int64  // of a sleep that failed, 0 none; read after the end
	first    int64  // the first instant, CLOCK_MONOTONIC ns; 0: not begun
	until    int64  // instants from here on are not slept to; the conductor may lower it, atomically
	limit    int64  // µs from which on a latency is an outlier
	counts
	micro [microBuckets]int64
	log   [logBuckets]int64
}

// worst is one long wake-up.
type worst struct {
	Due   int64 `json:"due"`
	Value int64 `json:"value"` // latency, ns
	Index int64 `json:"index"` // of the instant
}

const pageBytes = int(unsafe.Sizeof(page{})+4095) &^ 4095

// pages are the pages and, behind them, the seconds of n threads.
func pages(mem []byte, n, seconds int) ([]*page, [][]record.Moments) {
	var out []*page
	var of [][]record.Moments
	for i := range n {
		out = append(out, (*page)(unsafe.Pointer(&mem[i*pageBytes])))
		at := n*pageBytes + i*secondsBytes(seconds)
		of = append(of, unsafe.Slice((*record.Moments)(unsafe.Pointer(&mem[at])), seconds))
	}
	return out, of
}

func secondsBytes(n int) int { return (n*int(unsafe.Sizeof(record.Moments{})) + 4095) &^ 4095 }

func sharedBytes(threads, seconds int) int { return threads * (pageBytes + secondsBytes(seconds)) }

// logBucket is the logarithmic bucket of a latency. hot.
//
//go:nosplit
func logBucket(v int64) int {
	u := uint64(v)
	octave := bits.Len64(u>>subBits) & 63
	if octave == 0 {
		return int(u)
	}
	return octave<<subBits + int(u>>(octave-1))&(1<<subBits-1)
}

// logEdges are the least and the largest value of a bucket.
func logEdges(i int) (from, to int64) {
	octave := i >> subBits
	if octave == 0 {
		return int64(i), int64(i)
	}
	from = int64(i&(1<<subBits-1)|1<<subBits) << (octave - 1)
	return from, from + 1<<(octave-1) - 1
}

// add takes the latency of instant index. hot.
//
//go:nosplit
func (p *page) add(second *record.Moments, index, due, latency int64) {
	us := latency / 1000
	if us >= p.limit {
		if p.outlying < outliersKept {
			p.outliers[p.outlying] = p.latency.Count // rt-tests counts its cycles from 0
		}
		p.outlying++
	}
	p.latency.Add(latency)
	second.Add(latency)
	p.act = us
	p.microSum += us
	if us < microBuckets {
		p.micro[us]++
	} else {
		p.microOver++
	}
	p.log[logBucket(latency)]++
	if latency > p.least {
		p.keep(worst{due, latency, index})
	}
}

// keep puts w in the place of the smallest that is kept. hot.
//
//go:nosplit
func (p *page) keep(w worst) {
	at, least := 0, p.worst[0].Value
	for i := 1; i < worstKept; i++ {
		if p.worst[i].Value < least {
			at, least = i, p.worst[i].Value
		}
	}
	p.worst[at] = w
	p.least = w.Value
	for i := range p.worst {
		if p.worst[i].Value < p.least {
			p.least = p.worst[i].Value
		}
	}
}

// A snapshot takes some µs and fails when a wake-up falls into it. It is tried again at once,
// and after naps, for a hypervisor may have stopped the thread while it wrote.
const (
	snapshotTries = 100
	snapshotNaps  = 200 // of 1 ms
)

// snapshot brings out, an older copy of the same page or an empty one, up to date, and
// copies the present second. ok is false when the thread wrote during every try, or died
// while it wrote: then out may be torn. Only what can have changed is copied: no bucket
// above the maximum's was ever counted. Warm.
func (p *page) snapshot(out *page, seconds []record.Moments) (second record.Moments, ok bool) {
	for try := 1; try <= snapshotTries*snapshotNaps; try++ {
		if try%snapshotTries == 0 {
			time.Sleep(time.Millisecond)
		}
		before := atomic.LoadUint32(&p.sequence)
		if before%2 != 0 {
			continue
		}
		out.first, out.counts = p.first, p.counts
		high := max(out.latency.Max, 0)
		n := min(high/1000+1, microBuckets)
		copy(out.micro[:n], p.micro[:n])
		m := logBucket(high) + 1
		copy(out.log[:m], p.log[:m])
		second = seconds[out.second]
		// A swap with itself: a load alone would not keep the copies before it on arm64.
		if atomic.CompareAndSwapUint32(&p.sequence, before, before) {
			return second, true
		}
	}
	return second, false
}
