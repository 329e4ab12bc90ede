package oslat

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"opcycle/bench"
)

// closer is a file in memory.
type closer struct{ *bytes.Buffer }

func (closer) Close() error { return nil }

// The longest gaps are kept whenever they come, and all are in the file.
func TestTheLongestGapsAreKept(t *testing.T) {
	var file bytes.Buffer
	l, err := newGapList(&bench.Job{Create: func(string) (io.WriteCloser, error) { return closer{&file}, nil }})
	if err != nil {
		t.Fatal(err)
	}
	const n = 10_000
	for i := range n {
		l.add(bench.Moment{Value: int64(i*7919%n) + 1}) // every value once, in no order
	}
	if len(l.longest) != gapsKept || l.worst() != n {
		t.Fatalf("%d kept, the longest of %d", len(l.longest), l.worst())
	}
	for i, m := range l.longest {
		if m.Value != int64(n-i) {
			t.Errorf("the gap at place %d is of %d", i, m.Value)
		}
	}
	if files, err := l.close(); err != nil || len(files) != 1 || strings.Count(file.String(), "\n") != n+1 {
		t.Errorf("files %q, %v, %d lines", files, err, strings.Count(file.String(), "\n"))
	}
	l, err = newGapList(&bench.Job{})
	if err != nil {
		t.Fatal(err)
	}
	l.add(bench.Moment{Value: 1})
	if files, err := l.close(); err != nil || files != nil || l.worst() != 1 {
		t.Errorf("without a folder: files %q, %v", files, err)
	}
}

// A gap that the ring has no room for is counted as such, and in everything else.
func TestGapsThatDoNotFitAreCounted(t *testing.T) {
	p, l := &page{}, &limits{threshold: 10, low: 100, high: 200}
	for range ringGaps + 5 {
		p.found(150, l)
	}
	p.found(99, l)
	if p.over != ringGaps+6 || p.dropped != 6 || p.throttled != ringGaps+5 || p.lost != 150*(ringGaps+5)+99 {
		t.Errorf("%d over, %d dropped, %d throttled, %d lost", p.over, p.dropped, p.throttled, p.lost)
	}
	n := 0
	p.drain(func(g gap) { n++ })
	p.found(300, l)
	p.drain(func(g gap) {
		if n++; g.Cycles != 300 {
			t.Errorf("the gap after is %+v", g)
		}
	})
	if n != ringGaps+1 || p.dropped != 6 {
		t.Errorf("%d were read, %d dropped", n, p.dropped)
	}
}
