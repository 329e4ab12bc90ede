package lmbench

import (
	"fmt"

	"opcycle/bench"
	"opcycle/rt"
)

// Of the curve: intervals are shorter than those of a figure, since there are so many.
const (
	curveFrom   = 512 // bytes
	curveTries  = 5
	curveEnough = 10 // part of an interval
)

// point is a load's latency with one working set, ns, in the two orders.
type point struct {
	Bytes  int64   `json:"bytes"`
	Stride float64 `json:"stride_128"`
	Random float64 `json:"random"`
}

// curveSizes are two working sets an octave, from 512 bytes to most.
func curveSizes(most int64) []int64 {
	var out []int64
	for size := int64(curveFrom); size <= most; size *= 2 {
		out = append(out, size)
		if half := size + size/2; half <= most && half%1024 == 0 {
			out = append(out, half)
		}
	}
	return out
}

// latencyCurve measures a load for all sizes of a working set, into the result's samples.
// Its one reading is the last point.
func latencyCurve(b *bed) ([]bench.Reading, error) {
	if !rt.HasStreams {
		return nil, errNoKernels
	}
	most, short, err := b.mainRange()
	if err != nil {
		return nil, err
	}
	tries, enough := b.Tries, b.enough
	b.Tries, b.enough = min(curveTries, tries), b.enough/curveEnough
	defer func() { b.Tries, b.enough = tries, enough }()
	c, err := newChain(most, false)
	if err != nil {
		return nil, err
	}
	defer c.free()
	var last sample
	sizes := curveSizes(most)
	for _, size := range sizes {
		c.stride(size, lmbenchStride)
		stride, err := b.loads(c)
		if err != nil {
			return nil, err
		}
		c.shuffle(size, b.line())
		if last, err = b.loads(c); err != nil {
			return nil, err
		}
		b.curve = append(b.curve, point{Bytes: size, Stride: stride.least(), Random: last.least()})
	}
	r := last.reading(fmt.Sprintf("random order of lines, %s: the last of %d sizes", sizeText(sizes[len(sizes)-1]), len(sizes)), minimum, nanos)
	if short != "" {
		remark(&r, short)
	}
	return []bench.Reading{r}, nil
}

// curveSamples is the table of all curves of a result, a row a size.
func curveSamples(run int, curve []point, so *bench.Samples) *bench.Samples {
	if len(curve) == 0 {
		return so
	}
	if so == nil {
		so = &bench.Samples{Columns: []string{"run", "working_set", "stride_128", "random"}, Units: []string{"", "bytes", nanos, nanos}}
	}
	for _, p := range curve {
		so.Rows = append(so.Rows, []*float64{pointer(float64(run)), pointer(float64(p.Bytes)), pointer(p.Stride), pointer(p.Random)})
	}
	return so
}
