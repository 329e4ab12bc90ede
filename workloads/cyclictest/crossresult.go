package cyclictest

import (
	"fmt"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/imports"
)

// CrossTable is the table of a cross-check's readings, and the object of its figures.
const CrossTable = "cross-check"

// result is what the pairs say.
func (c *cross) result(complete bool) (bench.SuiteResult, error) {
	out := &c.out
	out.Ended, out.Complete = time.Now(), complete
	slices.Sort(out.Warnings)
	out.Warnings = slices.Compact(out.Warnings)
	if len(c.pairs) == 0 {
		return *out, nil
	}
	if err := add(out, engineOwn, &c.ours, c.interval, 1); err != nil {
		return *out, err
	}
	for i := range out.Moments { // of a slice each until here
		out.Moments[i].Since = int64(out.Moments[i].At.Sub(out.Started))
	}
	run := imports.CyclictestRun{Unit: time.Microsecond, Threads: []imports.CyclictestThread{c.their}}
	their, err := run.Result()
	if err != nil {
		return *out, err
	}
	their.Series[0].Object = engineRTTests
	out.Series = append(out.Series, their.Series[0])
	out.Samples = &bench.Samples{Columns: []string{"pair", "opcycle_first", "p50_opcycle", "p50_rt-tests", "p50_ratio", "average_opcycle", "average_rt-tests", "average_ratio"},
		Units: []string{"1", "1", "us", "us", "ratio", "us", "us", "ratio"}}
	for i, p := range c.pairs {
		first := 0.0
		if p.first == engineOwn {
			first = 1
		}
		var row []*float64
		for _, v := range []float64{float64(i + 1), first, p.ours.p50, p.their.p50, p.ours.p50 / p.their.p50, p.ours.avg, p.their.avg, p.ours.avg / p.their.avg} {
			row = append(row, &v)
		}
		out.Samples.Rows = append(out.Samples.Rows, row)
	}
	c.figure("p50", func(s slice) float64 { return s.p50 })
	c.figure("average", func(s slice) float64 { return s.avg })
	return *out, nil
}

// figure adds one figure of both engines, and their ratio pair by pair.
func (c *cross) figure(name string, of func(slice) float64) {
	var ours, their, ratios []float64
	for _, p := range c.pairs {
		ours, their = append(ours, of(p.ours)), append(their, of(p.their))
		ratios = append(ratios, of(p.ours)/of(p.their))
	}
	c.reading(name, engineOwn, "us", ours)
	c.reading(name, engineRTTests, "us", their)
	c.reading(name+"_ratio", engineOwn+" / "+engineRTTests+", pair by pair", "ratio", ratios)
	i, ok := signInterval(ratios)
	c.number(name+"_ratio", "median", i.Median, true)
	c.number(name+"_ratio", "low", i.Low, ok)
	c.number(name+"_ratio", "high", i.High, ok)
	c.number(name+"_ratio", "coverage", i.Coverage, ok)
	if !ok {
		c.out.Invalid = append(c.out.Invalid, fmt.Sprintf("the ratio of %s proves nothing: %d pairs give no interval, %d are the fewest", name, len(c.pairs), fewestPairs))
	}
	if ok && i.Low > tolerated {
		c.out.Failed = append(c.out.Failed, fmt.Sprintf("our %s is above rt-tests': the ratio is %.3f, %.1f %% interval %.3f to %.3f, which lies wholly above %.2f",
			name, i.Median, 100*i.Coverage, i.Low, i.High, tolerated))
	}
}

func (c *cross) number(series, statistic string, v float64, ok bool) {
	f := bench.Figure{Suite: Name, Object: CrossTable, Series: series, Statistic: statistic, Unit: "ratio"}
	if ok {
		f.Value = &v
	} else {
		f.NA = fmt.Sprintf("%d pairs, an interval needs %d", len(c.pairs), fewestPairs)
	}
	c.out.Figures = append(c.out.Figures, f)
}

// reading is a figure over the slices: its median, and how they spread.
func (c *cross) reading(name, mechanism, unit string, values []float64) {
	v := slices.Sorted(slices.Values(values))
	n := len(v)
	median, mean := (v[(n-1)/2]+v[n/2])/2, 0.0
	for _, x := range v {
		mean += x / float64(n)
	}
	policy := fmt.Sprintf("SCHED_FIFO %d", c.priority)
	if c.job.RT == bench.RTOff {
		policy = "SCHED_OTHER"
	}
	c.out.Readings = append(c.out.Readings, bench.Reading{Table: CrossTable, Name: name, Mechanism: mechanism, Headline: true, Statistic: "median",
		Value: &median, Unit: unit, N: int64(n), Min: &v[0], Max: &v[n-1], Median: &median, Mean: &mean,
		Placement: "CPU " + bench.CPUList(c.job.Measured).String(), Policy: policy})
}
