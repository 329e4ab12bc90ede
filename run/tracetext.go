package run

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
)

// traceEvent is one line of ftrace's text.
type traceEvent struct {
	at   int64 // CLOCK_MONOTONIC ns
	cpu  int
	task string // "name-pid"
	name string
	rest string
}

var (
	traceLine = regexp.MustCompile(`^\s*(.+-\d+)\s+\[(\d+)\]\s+(?:\S+\s+)?(\d+)\.(\d{6}):\s+([a-z_0-9]+):\s?(.*)$`)
	markLine  = regexp.MustCompile(`^opcycle (\w+) k=(-?\d+) ns=(-?\d+)`)
)

// traceWindow is how far before a breach the summary looks.
const traceWindow = time.Millisecond

// traceSummary is what a trace says in plain words.
type traceSummary struct {
	Events int64 // lines that were read
	Marks  int64 // of cycles
	Breach bool
	K      int64  // the release that breached
	What   string // how: bench.TraceLate or TraceOverrun
	Took   int64  // from its due time on, ns: until it began, or until it ended
	CPU    int
	Text   []string
}

// readTrace reads ftrace's text. A line that it can't read is no event: the header, and
// what the kernel says of lost events, are such lines. pure.
func readTrace(r io.Reader) (traceSummary, error) {
	var s traceSummary
	var recent []traceEvent // in order of the file, which is that of time
	scan := bufio.NewScanner(r)
	scan.Buffer(make([]byte, 0, 1<<16), 1<<20)
	for scan.Scan() {
		e, ok := parseTraceLine(scan.Text())
		if !ok {
			continue
		}
		s.Events++
		if m := markLine.FindStringSubmatch(e.rest); e.name == "tracing_mark_write" && m != nil {
			switch m[1] {
			case bench.TraceCycle:
				s.Marks++
			case bench.TraceLate, bench.TraceOverrun:
				s.breach(e, recent, m)
			}
		}
		recent = append(recent, e)
		if len(recent) > 1<<16 {
			recent = slices.Clone(recent[len(recent)/2:])
		}
	}
	if err := scan.Err(); err != nil {
		return s, fmt.Errorf("read the trace: %w", err)
	}
	return s, nil
}

// breach takes the mark of the first breach; m are its parts.
func (s *traceSummary) breach(e traceEvent, before []traceEvent, m []string) {
	k, err1 := strconv.ParseInt(m[2], 10, 64)
	took, err2 := strconv.ParseInt(m[3], 10, 64)
	if s.Breach || err1 != nil || err2 != nil {
		return
	}
	s.Breach, s.What, s.K, s.Took, s.CPU = true, m[1], k, took, e.cpu
	s.Text = explain(before, e, s)
}

func parseTraceLine(line string) (traceEvent, bool) {
	m := traceLine.FindStringSubmatch(line)
	if m == nil {
		return traceEvent{}, false
	}
	cpu, err1 := strconv.Atoi(m[2])
	s, err2 := strconv.ParseInt(m[3], 10, 64)
	us, err3 := strconv.ParseInt(m[4], 10, 64)
	return traceEvent{at: s*1e9 + us*1e3, cpu: cpu, task: strings.TrimSpace(m[1]), name: m[5], rest: m[6]}, err1 == nil && err2 == nil && err3 == nil
}
