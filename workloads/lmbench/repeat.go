package lmbench

import (
	"fmt"
	"math"
	"time"
)

// Calibration as the original does it.
const (
	firstIntervals = int64(150 * time.Microsecond) // until then the count grows by 8
	countsFrom     = 0.95                          // of enough: a shorter interval does not count
	wellFrom       = 0.99                          // outside of these the count is scaled anew
	wellTo         = 1.2
	aim            = 1.1
	shortsAllowed  = 100
	halfTries      = 2
	unlimited      = int64(1) << 62
)

// operation does something n times and says how many ns that took, both clock reads its own.
type operation = func(n int64) (ns int64, err error)

// repeat finds the n for which an interval of op lasts enough, and repeats it Tries times.
// An interval that turned out too short does not count, and the next is longer.
func (b *bed) repeat(op operation) (sample, error) {
	return b.repeatAtMost(unlimited, op)
}

// repeatAtMost is repeat with intervals of at most limit operations, which may be shorter
// than enough: for what uses something up.
func (b *bed) repeatAtMost(limit int64, op operation) (sample, error) {
	x, err := b.start(limit, op)
	for err == nil && len(x.each) < b.Tries {
		err = x.more(b)
	}
	if err != nil || b.Quick || limit < unlimited {
		return x.sample, err
	}
	x.half, err = b.halves(x.batch, op)
	return x.sample, err
}

// alternate is repeat of two operations in turns, for a difference: what gets slower or
// faster meanwhile does so for both.
func (b *bed) alternate(one, other operation) (sample, sample, error) {
	x, err := b.start(unlimited, one)
	if err != nil {
		return x.sample, sample{}, err
	}
	y, err := b.start(unlimited, other)
	for err == nil && min(len(x.each), len(y.each)) < b.Tries {
		for _, s := range []*series{x, y} {
			if err == nil && len(s.each) < b.Tries {
				err = s.more(b)
			}
		}
	}
	return x.sample, y.sample, err
}

// series are the intervals of one operation, under way.
type series struct {
	sample
	op       operation
	n, limit int64 // operations in the next interval, at most
	shorts   int
}

// start finds the first count.
func (b *bed) start(limit int64, op operation) (*series, error) {
	n, err := b.calibrate(limit, op)
	return &series{op: op, n: n, limit: limit}, err
}

// more is one interval further, which counts unless it was too short.
func (x *series) more(b *bed) error {
	ns, err := b.interval(x.n, x.op)
	if err != nil {
		return err
	}
	share := float64(ns) / float64(b.enough)
	if share >= countsFrom || x.n == x.limit {
		x.each, x.batch = append(x.each, float64(ns)/float64(x.n)), x.n
	} else if x.shorts++; x.shorts > shortsAllowed {
		return fmt.Errorf("%d intervals were shorter than %s, however many operations they had", x.shorts, time.Duration(b.enough))
	}
	if share < wellFrom || share > wellTo {
		x.n = scale(x.n, ns, b.enough, x.limit)
	}
	return nil
}

// halves is what an operation costs at best in intervals of half the length: the same,
// unless something in an interval does not grow with the operations.
func (b *bed) halves(n int64, op operation) (float64, error) {
	if n < 2*halfTries {
		return 0, nil
	}
	best := math.Inf(1)
	for range halfTries {
		ns, err := b.interval(n/2, op)
		if err != nil {
			return 0, err
		}
		best = min(best, float64(ns)/float64(n/2))
	}
	return best, nil
}

// stream is repeat for an operation that moves so many bytes: its readings may be in MB/s.
func (b *bed) stream(bytes int64, op operation) (sample, error) {
	s, err := b.repeat(op)
	s.bytes = bytes
	return s, err
}

// calibrate finds the count of an interval. What it measured warms up and is dropped.
func (b *bed) calibrate(limit int64, op operation) (int64, error) {
	n := int64(1)
	for range 60 {
		ns, err := b.interval(n, op)
		switch {
		case err != nil:
			return 0, err
		case n == limit || float64(ns) >= countsFrom*float64(b.enough):
			return n, nil
		case ns < firstIntervals:
			n = min(8*n, limit)
		default:
			n = scale(n, ns, b.enough, limit)
		}
	}
	return 0, fmt.Errorf("no number of operations was found that lasts %s", time.Duration(b.enough))
}

// scale is the count that lasts somewhat more than enough, if n lasted ns.
func scale(n, ns, enough, limit int64) int64 {
	want := aim * float64(enough) / float64(max(ns, 1)) * float64(n)
	return min(max(int64(math.Ceil(min(want, 100*float64(n)))), 1), limit)
}

// interval is one call of op, unless the run was ended.
func (b *bed) interval(n int64, op operation) (int64, error) {
	if b.stopped() {
		return 0, errStopped
	}
	ns, err := op(n)
	if err == nil && ns <= 0 {
		err = fmt.Errorf("%d operations took %d ns by the clock", n, ns)
	}
	return ns, err
}
