package imports

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/big"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

// cyclictest is the suite of ours that measures what rt-tests' cyclictest does.
const cyclictest = "cyclictest"

// CyclictestRun is what a run of rt-tests' cyclictest says of itself. Its figures are whole
// numbers of Unit, cut off: a value v stands for [v, v+1).
type CyclictestRun struct {
	Version        string        // "2.40"; empty: not said
	Command        string        // empty: not said
	Started, Ended time.Time     // zero: not said
	Returned       int           // its exit code as it says
	Unit           time.Duration // time.Microsecond, with -N time.Nanosecond
	Threads        []CyclictestThread
	Assumed        []string // what the output leaves open
}

// CyclictestThread is one of its threads.
type CyclictestThread struct {
	CPU       int   // -1: not said
	Cycles    int64 // wake-ups
	Min, Max  int64 // in the run's unit
	Avg       float64
	Histogram []CyclictestCount // ascending, without the empty ones; nil: none was made
	// Overflow counts the cycles that the histogram does not hold. The JSON has no such
	// key: it is derived. -1: there is no histogram.
	Overflow int64
}

// CyclictestCount is how often a latency occurred.
type CyclictestCount struct{ Latency, Count int64 }

// Cyclictest reads the output of rt-tests' cyclictest, text or JSON, as a result of the
// suite cyclictest. name is the file's, for errors, which have the number of the line.
func Cyclictest(name string, data []byte) (bench.SuiteResult, error) {
	run, err := ReadCyclictest(name, data)
	if err != nil {
		return bench.SuiteResult{}, err
	}
	return run.Result()
}

// ReadCyclictest is Cyclictest with what it said as it said it.
func ReadCyclictest(name string, data []byte) (CyclictestRun, error) {
	read := cyclictestText
	if text := bytes.TrimSpace(data); len(text) > 0 && text[0] == '{' {
		read = cyclictestJSON
	}
	run, err := read(data)
	if err == nil && len(run.Threads) == 0 {
		err = errors.New("no thread of cyclictest is in it; write it with --json FILE, or keep what -q or -h prints")
	}
	if err != nil {
		return run, fmt.Errorf("%s: %w", name, err)
	}
	return run, nil
}

// derive finds the overflow of a thread that has a histogram.
func (t *CyclictestThread) derive() error {
	var held int64
	for _, c := range t.Histogram {
		held += c.Count
	}
	if t.Overflow = t.Cycles - held; t.Overflow < 0 {
		return fmt.Errorf("its histogram holds %d of %d cycles", held, t.Cycles)
	}
	return nil
}

// Result is the run as a result of the suite cyclictest, in ns.
func (r *CyclictestRun) Result() (bench.SuiteResult, error) {
	out := bench.SuiteResult{Suite: cyclictest, Role: bench.RoleMeasured, Started: r.Started, Ended: r.Ended, Complete: r.Returned == 0,
		Warnings: append([]string{}, r.Assumed...)}
	if r.Returned != 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("cyclictest says that it ended with code %d", r.Returned))
	}
	out.Figures = append(out.Figures, text("", "program", "version", "rt-tests", r.Version), text("", "program", "command", "", r.Command))
	for i := range r.Threads {
		t := &r.Threads[i]
		object := r.object(i)
		s, err := t.series(object, r.Unit)
		if err != nil {
			return out, err
		}
		out.Series = append(out.Series, s)
		overflow := number(object, "histogram", "overflow", "1", float64(t.Overflow))
		if t.Overflow < 0 {
			overflow.Value, overflow.NA = nil, noHistogram
		}
		missed := number(object, "wake_ups", "missed", "1", 0)
		missed.Value, missed.NA = nil, "rt-tests skips missed instants and does not count them"
		out.Figures = append(out.Figures, number(object, "wake_ups", "cycles", "1", float64(t.Cycles)), missed,
			number(object, "histogram", "resolution", "ns", float64(r.Unit)), overflow)
	}
	return out, nil
}

const noHistogram = "the histogram is empty: it was run without -h, or every latency lies beyond"

// object is thread i's name: its CPU's when that is known and no other thread's.
func (r *CyclictestRun) object(i int) string {
	cpu := r.Threads[i].CPU
	for j := range r.Threads {
		if cpu < 0 || j != i && r.Threads[j].CPU == cpu {
			return fmt.Sprintf("thread%d", i)
		}
	}
	return fmt.Sprintf("cpu%d", cpu)
}

func number(object, series, statistic, unit string, v float64) bench.Figure {
	return bench.Figure{Suite: cyclictest, Object: object, Series: series, Statistic: statistic, Unit: unit, Value: &v}
}

func text(object, series, statistic, before, v string) bench.Figure {
	f := bench.Figure{Suite: cyclictest, Object: object, Series: series, Statistic: statistic, Unit: "text", Text: v}
	switch {
	case v == "":
		f.NA = "not in the output"
	case before != "":
		f.Text = before + " " + v
	}
	return f
}

// series is the latency. Sum and squares are those of the cut-off values where the
// histogram holds all of them; otherwise the sum follows from the average, and there is no
// standard deviation.
func (t *CyclictestThread) series(object string, unit time.Duration) (bench.Series, error) {
	m := record.Moments{Count: t.Cycles, Min: t.Min * int64(unit), Max: t.Max * int64(unit)}
	m.Sum = int64(math.Round(t.Avg * float64(t.Cycles) * float64(unit)))
	var buckets []record.Bucket
	squares, sum := new(big.Int), int64(0)
	for _, c := range t.Histogram {
		v := c.Latency * int64(unit)
		buckets = append(buckets, record.Bucket{From: v, To: v, Count: c.Count})
		sum += v * c.Count
		v2 := new(big.Int).Mul(big.NewInt(v), big.NewInt(v))
		squares.Add(squares, v2.Mul(v2, big.NewInt(c.Count)))
	}
	if t.Overflow == 0 {
		m.Sum = sum
		m.Squares = record.Wide{Hi: new(big.Int).Rsh(squares, 64).Uint64(), Lo: new(big.Int).And(squares, new(big.Int).SetUint64(math.MaxUint64)).Uint64()}
	}
	s, err := bench.Summarize(cyclictest, object, "latency", record.FromBuckets(m, buckets), nil, 0, 0)
	if err != nil || t.Cycles == 0 {
		return s, err
	}
	avg := t.Avg * float64(unit)
	s.Avg = &avg
	if t.Overflow != 0 {
		s.StdDev = nil
	}
	for i := range s.Quantiles {
		t.quantile(&s.Quantiles[i], unit)
	}
	return s, nil
}

// quantile replaces what the series says by the histogram's own step, cut off as all
// figures of cyclictest, and by n/a where the value is none that the histogram holds.
func (t *CyclictestThread) quantile(q *bench.Quantile, unit time.Duration) {
	if q.Value == nil {
		return
	}
	seen := int64(0)
	for _, c := range t.Histogram {
		if seen += c.Count; seen >= t.Cycles-q.Beyond {
			v := c.Latency * int64(unit)
			q.Value = &v
			return
		}
	}
	q.Value, q.NA = nil, "it lies beyond the histogram; give cyclictest a larger -h"
	if t.Overflow < 0 {
		q.NA = noHistogram
	}
}
