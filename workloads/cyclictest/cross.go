package cyclictest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/imports"
)

// tolerated is what our loop may cost over rt-tests': the check fails when the whole
// interval of a ratio lies above.
const tolerated = 1.10

// slice is what one engine measured in one slice, in whole µs, cut off: the resolution that
// both have. Within its bucket of 1 µs the median is interpolated, in both alike.
type slice struct{ p50, avg float64 }

// pair are two slices, one after the other.
type pair struct {
	first       string // the engine that began
	ours, their slice
}

// cross is a comparison under way.
type cross struct {
	*runner
	job   bench.Job
	pairs []pair
	ours  tally
	their imports.CyclictestThread // what all slices together hold
	out   bench.SuiteResult
}

// compareEngines measures with both engines in turns on one CPU, and which of them begins
// takes turns too, so that a drift of the machine favours neither.
func (r *runner) compareEngines(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	if _, err := findProgram(); err != nil {
		return bench.SuiteResult{}, err
	}
	c := cross{runner: r, job: job, out: bench.SuiteResult{Started: time.Now()}}
	for n := range r.pairs {
		engines := []string{engineOwn, engineRTTests}
		if n%2 == 1 {
			slices.Reverse(engines)
		}
		p := pair{first: engines[0]}
		for i, engine := range engines {
			job.Progress(bench.Progress{Phase: "cross", Text: fmt.Sprintf("pair %d of %d, %s", n+1, r.pairs, engine), Share: float64(2*n+i) / float64(2*r.pairs)})
			err := c.slice(ctx, engine, &p)
			if ctx.Err() != nil {
				return c.result(false)
			}
			if err != nil {
				return bench.SuiteResult{}, fmt.Errorf("pair %d, %s: %w", n+1, engine, err)
			}
		}
		c.pairs = append(c.pairs, p)
	}
	return c.result(true)
}

// slice measures one with an engine.
func (c *cross) slice(ctx context.Context, engine string, p *pair) error {
	if engine == engineOwn {
		var err error
		p.ours, err = c.sliceOfOurs(ctx)
		return err
	}
	run, program, err := c.runProgram(ctx, c.job, c.runner.slice, time.After(c.runner.slice/2), func() {})
	if err != nil {
		return err
	}
	if len(c.out.Processes) < 2 && len(program.info.Threads) > 0 {
		c.out.Processes = append(c.out.Processes, program.info)
		c.out.Warnings = append(c.out.Warnings, missing(c.job, &program.info)...)
	}
	t := &run.Threads[0]
	var h []int64
	for _, b := range t.Histogram {
		h = append(h, make([]int64, int(b.Latency)+1-len(h))...)
		h[b.Latency] = b.Count
	}
	p50, err := groupedMedian(h, t.Cycles)
	p.their = slice{p50, t.Avg}
	c.keep(t)
	return err
}

func (c *cross) sliceOfOurs(ctx context.Context) (slice, error) {
	r := *c.runner
	r.duration, r.loops, r.text, r.json = c.runner.slice, 0, "", ""
	job := c.job
	job.Checkpoint, job.Resume, job.Progress = nil, nil, func(bench.Progress) {}
	m, err := r.measurement(job)
	if err != nil {
		return slice{}, err
	}
	m.order.KeepSlack = true // as rt-tests does
	if err := m.run(ctx); err != nil {
		return slice{}, err
	}
	one, err := m.result()
	if err != nil {
		return slice{}, err
	}
	t := &m.now.Threads[0]
	if !m.complete || len(one.Invalid) > 0 {
		return slice{}, fmt.Errorf("the slice is not whole: %q", one.Invalid)
	}
	if c.ours.Latency.Count == 0 {
		c.out.Processes, c.out.Absent = append(c.out.Processes, one.Processes...), one.Absent
	}
	c.out.Warnings = append(c.out.Warnings, one.Warnings...)
	p50, err := groupedMedian(t.Micro, t.Latency.Count)
	s := slice{p50, float64(t.MicroSum) / float64(t.Latency.Count)}
	t.Seconds = nil // of slices with others between them
	if c.ours.Latency.Count == 0 {
		c.ours = *t
	} else {
		c.ours.add(t)
	}
	return s, err
}

// groupedMedian is the median of n values that were cut off to whole µs, of which h counts
// those of 0, 1, 2 µs and so on: within the µs that holds it, they are taken as evenly spread.
func groupedMedian(h []int64, n int64) (float64, error) {
	half, seen := float64(n)/2, 0.0
	for us, k := range h {
		if k > 0 && seen+float64(k) >= half {
			return float64(us) + (half-seen)/float64(k), nil
		}
		seen += float64(k)
	}
	return 0, fmt.Errorf("the median of %d wake-ups lies beyond the histogram of %d us; use a larger --histogram", n, len(h))
}

// keep adds a slice of rt-tests' to what it measured in all.
func (c *cross) keep(t *imports.CyclictestThread) {
	a := &c.their
	if a.Cycles == 0 {
		*a = *t
		return
	}
	a.Avg = (a.Avg*float64(a.Cycles) + t.Avg*float64(t.Cycles)) / float64(a.Cycles+t.Cycles)
	a.Cycles, a.Overflow, a.Min, a.Max = a.Cycles+t.Cycles, a.Overflow+t.Overflow, min(a.Min, t.Min), max(a.Max, t.Max)
	sum := map[int64]int64{}
	for _, b := range slices.Concat(a.Histogram, t.Histogram) {
		sum[b.Latency] += b.Count
	}
	a.Histogram = a.Histogram[:0:0]
	for us, n := range sum {
		a.Histogram = append(a.Histogram, imports.CyclictestCount{Latency: us, Count: n})
	}
	slices.SortFunc(a.Histogram, func(x, y imports.CyclictestCount) int { return int(x.Latency - y.Latency) })
}
