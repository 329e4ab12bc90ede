package cyclictest

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
)

// files writes what cyclictest itself would print and write, beside the result.
func (m *measurement) files(out *bench.SuiteResult) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{
		{m.text, func(w io.Writer) error { return writeText(w, m.now.Threads, m.runner) }},
		{m.json, func(w io.Writer) error { return writeJSON(w, m.now.Threads, m, out) }},
	} {
		if f.name == "" {
			continue
		}
		w, err := m.job.Create(f.name)
		if err != nil {
			return err
		}
		if err := f.write(w); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		if err := w.Close(); err != nil {
			return err
		}
		out.Files = append(out.Files, f.name)
	}
	return nil
}

// micros are a tally's figures as rt-tests rounds them: whole µs, cut off.
func (t *tally) micros() (low, avg, high int64) {
	if t.Latency.Count == 0 {
		return 0, 0, 0
	}
	return t.Latency.Min / 1000, t.MicroSum / t.Latency.Count, t.Latency.Max / 1000
}

// beyond are the wake-ups that a histogram of n buckets does not hold.
func (t *tally) beyond(n int) int64 {
	over := t.MicroOver
	for i := n; i < len(t.Micro); i++ {
		over += t.Micro[i]
	}
	return over
}

func (t *tally) bucket(i int) int64 {
	if i < len(t.Micro) {
		return t.Micro[i]
	}
	return 0
}

// writeText is the output of "cyclictest -q -h N": byte for byte, but for the last latency
// of each thread, which the original calls Act and which says nothing.
func writeText(w io.Writer, threads []tally, r *runner) error {
	var b strings.Builder
	b.WriteString("# Histogram\n")
	for i := range r.histogram {
		fmt.Fprintf(&b, "%06d ", i)
		for j := range threads {
			fmt.Fprintf(&b, "%06d", threads[j].bucket(i))
			if j < len(threads)-1 {
				b.WriteByte('\t')
			}
		}
		b.WriteByte('\n')
	}
	line := func(name, format string, of func(t *tally) int64) {
		b.WriteString("# " + name + ":")
		for j := range threads {
			fmt.Fprintf(&b, " "+format, of(&threads[j]))
		}
		b.WriteByte('\n')
	}
	b.WriteString("# Total:")
	for j := range threads {
		fmt.Fprintf(&b, " %09d", threads[j].Latency.Count-threads[j].beyond(r.histogram))
	}
	b.WriteByte('\n')
	line("Min Latencies", "%05d", func(t *tally) int64 { v, _, _ := t.micros(); return v })
	line("Avg Latencies", "%05d", func(t *tally) int64 { _, v, _ := t.micros(); return v })
	line("Max Latencies", "%05d", func(t *tally) int64 { _, _, v := t.micros(); return v })
	line("Histogram Overflows", "%05d", func(t *tally) int64 { return t.beyond(r.histogram) })
	_, err := io.WriteString(w, b.String())
	return err
}

// writeJSON is the form of "cyclictest --json", with what it has no key for under x_ keys.
func writeJSON(w io.Writer, threads []tally, m *measurement, out *bench.SuiteResult) error {
	type thread struct {
		Histogram map[string]int64 `json:"histogram"`
		Cycles    int64            `json:"cycles"`
		Min       int64            `json:"min"`
		Max       int64            `json:"max"`
		Avg       json.Number      `json:"avg"`
		CPU       int              `json:"cpu"`
		Node      int              `json:"node"`
		Missed    int64            `json:"x_missed"`
		Overflow  int64            `json:"x_overflow"`
		Policy    string           `json:"x_policy,omitempty"`
	}
	h := &m.job.Host
	release, version, _ := strings.Cut(h.Kernel, " ")
	real := 0
	if h.Preempt == "PREEMPT_RT" {
		real = 1
	}
	doc := struct {
		FileVersion int            `json:"file_version"`
		Command     string         `json:"cmdline:"`
		Version     string         `json:"rt_test_version:"`
		Start       string         `json:"start_time"`
		End         string         `json:"end_time"`
		ReturnCode  int            `json:"return_code"`
		System      map[string]any `json:"sysinfo"`
		Threads     int            `json:"num_threads"`
		Resolution  int            `json:"resolution_in_ns"`
		Thread      map[string]any `json:"thread"`
		Engine      string         `json:"x_engine"`
		Locked      *bool          `json:"x_mlockall"`
	}{1, "opcycle suite cyclictest", "opcycle", m.started.Format(time.RFC1123Z), out.Ended.Format(time.RFC1123Z), 0,
		map[string]any{"sysname": "Linux", "nodename": h.Name, "release": release, "version": version, "machine": h.Arch, "realtime": real},
		len(threads), 0, map[string]any{}, engineOwn, nil}
	locked := m.answer.LockError == ""
	doc.Locked = &locked
	for i := range threads {
		t := &threads[i]
		x := thread{Histogram: map[string]int64{}, Cycles: t.Latency.Count, CPU: t.CPU, Node: nodeOf(h, t.CPU), Missed: t.Missed, Overflow: t.beyond(m.histogram)}
		x.Min, _, x.Max = t.micros()
		x.Avg = json.Number(strconv.FormatFloat(float64(t.MicroSum)/float64(max(t.Latency.Count, 1)), 'f', 2, 64))
		for j := range min(m.histogram, len(t.Micro)) {
			if t.Micro[j] > 0 {
				x.Histogram[strconv.Itoa(j)] = t.Micro[j]
			}
		}
		for _, a := range m.answer.Threads {
			if a.CPU == t.CPU {
				x.Policy = fmt.Sprintf("%s %d", a.Policy, a.Priority)
			}
		}
		doc.Thread[strconv.Itoa(i)] = x
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(doc)
}

func nodeOf(h *bench.Host, cpu int) int {
	for _, c := range h.CPUs {
		if c.ID == cpu {
			return c.Node
		}
	}
	return 0
}
