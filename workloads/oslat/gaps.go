package oslat

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"time"

	"opcycle/bench"
)

// gapsKept is how many of the longest gaps are in a result.
const gapsKept = 64

// gapsFile is the file of all gaps beside the result.
const gapsFile = "oslat-gaps.csv"

// gapList keeps the longest gaps and writes all of them. One goroutine owns it.
type gapList struct {
	longest []bench.Moment // the longest first
	file    io.WriteCloser // nil: there is no folder
	buffer  *bufio.Writer
	err     error
}

func newGapList(job *bench.Job) (*gapList, error) {
	l := &gapList{}
	if job.Create == nil {
		return l, nil
	}
	var err error
	if l.file, err = job.Create(gapsFile); err != nil {
		return nil, err
	}
	l.buffer = bufio.NewWriter(l.file)
	_, l.err = l.buffer.WriteString("cpu,end_utc_ns,since_begin_ns,gap_ns\n")
	return l, nil
}

func (l *gapList) add(m bench.Moment) {
	if l.buffer != nil && l.err == nil {
		_, l.err = fmt.Fprintf(l.buffer, "%d,%d,%d,%d\n", m.CPU, m.At.UnixNano(), m.Since, m.Value)
	}
	if len(l.longest) == gapsKept && m.Value <= l.longest[gapsKept-1].Value {
		return
	}
	at, _ := slices.BinarySearchFunc(l.longest, m, func(a, b bench.Moment) int { return cmp.Compare(b.Value, a.Value) })
	l.longest = slices.Insert(l.longest, at, m)
	l.longest = l.longest[:min(len(l.longest), gapsKept)]
}

func (l *gapList) worst() int64 {
	if len(l.longest) == 0 {
		return 0
	}
	return l.longest[0].Value
}

// close gives the file its name.
func (l *gapList) close() ([]string, error) {
	if l.file == nil {
		return nil, nil
	}
	if l.err == nil {
		l.err = l.buffer.Flush()
	}
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	if l.err != nil {
		return nil, fmt.Errorf("write %s: %w", gapsFile, l.err)
	}
	return []string{gapsFile}, nil
}

// drain takes the new gaps of every CPU.
func (m *measurement) drain() {
	for i, p := range m.pages {
		p.drain(func(g gap) {
			what := "gap"
			ns := int64(float64(g.Cycles) / p.hz * 1e9)
			if t := time.Duration(ns); t >= m.order.Low && t <= m.order.High {
				what = "gap, suspected throttling"
			}
			m.list.add(bench.Moment{At: time.Unix(0, g.At+m.wall).UTC(), Since: g.At - p.begin, CPU: m.order.CPUs[i], What: what, Value: ns, Unit: "ns"})
		})
	}
}
