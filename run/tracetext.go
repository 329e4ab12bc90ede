package run

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
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
	traceLine  = regexp.MustCompile(`^\s*(.+-\d+)\s+\[(\d+)\]\s+(?:\S+\s+)?(\d+)\.(\d{6}):\s+([a-z_0-9]+):\s?(.*)$`)
	switchLine = regexp.MustCompile(`prev_comm=(.*) prev_pid=(\d+) .*==> next_comm=(.*) next_pid=(\d+)`)
	breachLine = regexp.MustCompile(`^opcycle breach k=(-?\d+) ns=(-?\d+)`)
)

// traceWindow is how far before a breach the summary looks.
const traceWindow = time.Millisecond

// traceSummary is what a trace says in plain words.
type traceSummary struct {
	Events int64 // lines that were read
	Marks  int64 // of cycles
	Breach bool
	K      int64 // the release that breached
	Late   int64 // its start latency, ns
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
		if e.name == "tracing_mark_write" {
			if strings.HasPrefix(e.rest, "opcycle cycle") {
				s.Marks++
			}
			if m := breachLine.FindStringSubmatch(e.rest); m != nil && !s.Breach {
				s.Breach, s.CPU = true, e.cpu
				s.K, _ = strconv.ParseInt(m[1], 10, 64)
				s.Late, _ = strconv.ParseInt(m[2], 10, 64)
				s.Text = explain(recent, e, &s)
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

// explain says who had the CPU of a breach in the last millisecond before it, or for as
// long as the release was late if that is longer.
func explain(events []traceEvent, breach traceEvent, s *traceSummary) []string {
	span := max(int64(traceWindow), s.Late)
	ran, handlers, count, seen := owners(events, breach, breach.at-span)
	out := []string{fmt.Sprintf("release %d began %.1f us late and stopped the tracer; in the %.3f ms before, on CPU %d:", s.K, float64(s.Late)/1e3, float64(span)/1e6, breach.cpu)}
	if !seen {
		return append(out, "no switch of threads is in the trace: one thread had the CPU all the time, or the buffer does not reach back so far")
	}
	for _, who := range byTime(ran) {
		out = append(out, fmt.Sprintf("%s ran for %.1f us", nameOf(who), float64(ran[who])/1e3))
	}
	for _, kind := range byTime(handlers) {
		out = append(out, fmt.Sprintf("%s: %d time(s), %.1f us in all", kind, count[kind], float64(handlers[kind])/1e3))
	}
	if s.Late < span {
		ran, _, _, _ := owners(events, breach, breach.at-s.Late)
		var parts []string
		for _, who := range byTime(ran) {
			parts = append(parts, fmt.Sprintf("%s %.1f us", nameOf(who), float64(ran[who])/1e3))
		}
		out = append(out, fmt.Sprintf("of the %.1f us between its due time and its start: %s", float64(s.Late)/1e3, strings.Join(parts, ", ")))
	}
	return out
}

func nameOf(who string) string {
	if strings.HasPrefix(who, "swapper/") {
		return "nobody (idle)"
	}
	return who
}

// owners are who had the CPU of a breach from an instant on, and what handlers ran on it;
// seen is false when no switch tells.
func owners(events []traceEvent, breach traceEvent, from int64) (ran, handlers map[string]int64, count map[string]int, seen bool) {
	ran, handlers, count = map[string]int64{}, map[string]int64{}, map[string]int{}
	running, since := "", from
	entered := map[string]int64{}
	for _, e := range events {
		if e.cpu != breach.cpu || e.at > breach.at {
			continue
		}
		switch {
		case e.name == "sched_switch":
			m := switchLine.FindStringSubmatch(e.rest)
			if m == nil {
				continue
			}
			if e.at >= from {
				ran[m[1]+"-"+m[2]] += e.at - max(since, from)
				seen = true
			}
			running, since = m[3]+"-"+m[4], e.at
		case strings.HasSuffix(e.name, "_entry") && e.at >= from:
			entered[e.name] = e.at
		case strings.HasSuffix(e.name, "_exit") && e.at >= from:
			kind := strings.TrimSuffix(e.name, "_exit")
			if t, ok := entered[kind+"_entry"]; ok {
				handlers[kind] += e.at - t
				count[kind]++
				delete(entered, kind+"_entry")
			}
		}
	}
	if running != "" {
		ran[running] += breach.at - max(since, from)
		seen = true
	}
	return ran, handlers, count, seen
}

// byTime are the keys with the most time first.
func byTime(m map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
}
