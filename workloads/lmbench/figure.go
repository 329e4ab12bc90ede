package lmbench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"opcycle/bench"
)

// The six tables, by the names that results and references have.
const (
	tableProcessor = "processor"
	tableSwitching = "context_switching"
	tableLatency   = "local_latency"
	tableFiles     = "file_vm"
	tableBandwidth = "local_bandwidth"
	tableMemory    = "memory_latency"
)

// Units of readings.
const (
	micros    = "us"
	nanos     = "ns"
	megabytes = "MB/s" // 10^6 bytes
)

// figure is one column of a table. run measures it in a fresh probe process, on its main
// thread, after that thread has its place and a descriptor table of its own: it uses rt's
// raw calls and nothing of os, net, time.Sleep or the poller. Its first reading is the headline, what
// stands in the table; the others are detail rows: further mechanisms, and what was
// subtracted. Readings need no table, name or policy, and no placement unless it differs
// from the bed's. An error makes the figure n/a with that reason.
type figure struct {
	table, name, column string
	run                 func(b *bed) ([]bench.Reading, error)
	limit               time.Duration // for the watchdog; 0 = figureLimit
	copies              string        // the table whose figure of that name this one repeats
}

// figureLimit is how long a figure may take, at the default length of an interval.
const figureLimit = 30 * time.Second

func (f figure) key() string { return f.table + "/" + f.name }

// figures are all figures in the order of the seed.
func figures() []figure {
	return slices.Concat(processorFigures(), switchingFigures(), latencyFigures(),
		fileFigures(), bandwidthFigures(), memoryFigures())
}

// findFigure returns the figure of a key.
func findFigure(key string) (figure, error) {
	for _, f := range figures() {
		if f.key() == key {
			return f, nil
		}
	}
	return figure{}, fmt.Errorf("no figure is called %q", key)
}

// choose returns the figures that words name: a table, a figure in every table that has
// it, or table/figure. No words are all figures.
func choose(words []string) ([]figure, error) {
	all := figures()
	if len(words) == 0 {
		return all, nil
	}
	var known []string
	for _, f := range all {
		known = append(known, f.table, f.name, f.key())
	}
	slices.Sort(known)
	for _, w := range words {
		if !slices.Contains(known, w) {
			return nil, fmt.Errorf("no table or figure is called %q; %s", w, bench.Suggest(w, slices.Compact(known)))
		}
	}
	return slices.DeleteFunc(all, func(f figure) bool {
		return !slices.ContainsFunc([]string{f.table, f.name, f.key()}, func(s string) bool { return slices.Contains(words, s) })
	}), nil
}

// word is what a user writes, in the form of machine names.
func word(text string) string {
	return strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(text)))
}
