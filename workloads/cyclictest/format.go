package cyclictest

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"opcycle/bench"
)

// files writes what cyclictest itself would print and write, beside the result.
func (m *measurement) files(out *bench.SuiteResult) error {
	f := format{threads: m.now.Threads, answer: &m.answer, interval: m.interval, histogram: m.histogram, host: &m.job.Host, started: out.Started, ended: out.Ended}
	return m.beside(m.job, out, f.text, f.json)
}

// beside creates the files that --text and --json ask for.
func (r *runner) beside(job bench.Job, out *bench.SuiteResult, text, json func(io.Writer) error) error {
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{r.text, text}, {r.json, json}} {
		if f.name == "" {
			continue
		}
		w, err := job.Create(f.name)
		if err != nil {
			return err
		}
		if err := errors.Join(f.write(w), w.Close()); err != nil {
			return fmt.Errorf("write %s: %w", f.name, err)
		}
		out.Files = append(out.Files, f.name)
	}
	return nil
}

// format writes tallies in the forms of rt-tests 2.4: byte for byte, whole µs, cut off.
type format struct {
	threads   []tally
	answer    *answer
	interval  time.Duration
	histogram int // buckets; 0: none
	host      *bench.Host
	started   time.Time
	ended     time.Time
}

// micros are a tally's figures as rt-tests has them.
func (t *tally) micros() (low, avg, high int64) {
	if t.Latency.Count == 0 {
		return 1_000_000, 0, 0 // what rt-tests begins with
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

// text is the output of "cyclictest -q", with -h where there is a histogram.
func (f *format) text(w io.Writer) error {
	b := bufio.NewWriter(w)
	if f.answer.CState == "" {
		fmt.Fprintln(b, "# /dev/cpu_dma_latency set to 0us")
	}
	if f.histogram == 0 {
		for i := range f.threads {
			t := &f.threads[i]
			low, avg, high := t.micros()
			a := f.answer.of(t.CPU)
			fmt.Fprintf(b, "T:%2d (%5d) P:%2d I:%d C:%7d Min:%7d Act:%5d Avg:%5d Max:%8d\n", i, a.TID, a.Priority, f.interval.Microseconds(), t.Latency.Count, low, t.Act, avg, high)
		}
		return b.Flush()
	}
	fmt.Fprintln(b, "# Histogram")
	for i := range f.histogram {
		fmt.Fprintf(b, "%06d ", i)
		for j := range f.threads {
			if j > 0 {
				fmt.Fprint(b, "\t")
			}
			fmt.Fprintf(b, "%06d", f.threads[j].bucket(i))
		}
		fmt.Fprintln(b)
	}
	f.columns(b)
	fmt.Fprintln(b, "# Histogram Overflow at cycle number:")
	for i := range f.threads {
		f.outliers(b, i)
	}
	fmt.Fprintln(b)
	return b.Flush()
}

// columns are the lines behind the table, a value a thread.
func (f *format) columns(b *bufio.Writer) {
	for _, l := range []struct {
		name, format string
		of           func(t *tally) int64
	}{
		{"Total", " %09d", func(t *tally) int64 { return t.Latency.Count - t.beyond(f.histogram) }},
		{"Min Latencies", " %05d", func(t *tally) int64 { v, _, _ := t.micros(); return v }},
		{"Avg Latencies", " %05d", func(t *tally) int64 { _, v, _ := t.micros(); return v }},
		{"Max Latencies", " %05d", func(t *tally) int64 { _, _, v := t.micros(); return v }},
		{"Histogram Overflows", " %05d", func(t *tally) int64 { return t.beyond(f.histogram) }},
	} {
		fmt.Fprintf(b, "# %s:", l.name)
		for j := range f.threads {
			fmt.Fprintf(b, l.format, l.of(&f.threads[j]))
		}
		fmt.Fprintln(b)
	}
}

// outliers is the line of thread i's first overflows. rt-tests keeps as many as its
// histogram has buckets; so do we, up to outliersKept, and both say how many others there are.
func (f *format) outliers(b *bufio.Writer, i int) {
	t := &f.threads[i]
	list := t.Outliers[:min(len(t.Outliers), f.histogram)]
	fmt.Fprintf(b, "# Thread %d:", i)
	for _, c := range list {
		fmt.Fprintf(b, " %05d", c)
	}
	if more := t.beyond(f.histogram) - int64(len(list)); more > 0 {
		fmt.Fprintf(b, " # %05d others", more)
	}
	fmt.Fprintln(b)
}

// json is what "cyclictest --json" writes, with what it has no key for under x_ keys.
func (f *format) json(w io.Writer) error {
	b := bufio.NewWriter(w)
	release, version, _ := strings.Cut(f.host.Kernel, " ")
	realtime := 0
	if f.host.Preempt == "PREEMPT_RT" {
		realtime = 1
	}
	fmt.Fprintf(b, "{\n  \"file_version\": 1,\n  \"cmdline:\": \"opcycle suite cyclictest\",\n  \"rt_test_version:\": \"opcycle\",\n")
	fmt.Fprintf(b, "  \"start_time\": %s,\n  \"end_time\": %s,\n  \"return_code\": 0,\n", quoted(f.started.Format(time.RFC1123Z)), quoted(f.ended.Format(time.RFC1123Z)))
	fmt.Fprintf(b, "  \"sysinfo\": {\n    \"sysname\": \"Linux\",\n    \"nodename\": %s,\n    \"release\": %s,\n    \"version\": %s,\n    \"machine\": %s,\n    \"realtime\": %d\n  },\n",
		quoted(f.host.Name), quoted(release), quoted(version), quoted(f.host.Arch), realtime)
	fmt.Fprintf(b, "  \"x_engine\": %q,\n  \"x_interval_ns\": %d,\n  \"x_mlockall\": %t,\n  \"x_cpu_dma_latency\": %t,\n", engineOwn, f.interval, f.answer.LockError == "", f.answer.CState == "")
	fmt.Fprintf(b, "  \"num_threads\": %d,\n  \"resolution_in_ns\": 0,\n  \"thread\": {\n", len(f.threads))
	for i := range f.threads {
		f.thread(b, i)
	}
	fmt.Fprintf(b, "  }\n}\n")
	return b.Flush()
}

func (f *format) thread(b *bufio.Writer, i int) {
	t := &f.threads[i]
	fmt.Fprintf(b, "    \"%d\": {\n      \"histogram\": {", i)
	comma := ""
	for j := range min(f.histogram, len(t.Micro)) {
		if t.Micro[j] > 0 {
			fmt.Fprintf(b, "%s\n        \"%d\": %d", comma, j, t.Micro[j])
			comma = ","
		}
	}
	if comma != "" {
		fmt.Fprintln(b)
	}
	low, _, high := t.micros()
	a := f.answer.of(t.CPU)
	fmt.Fprintf(b, "      },\n      \"cycles\": %d,\n      \"min\": %d,\n      \"max\": %d,\n      \"avg\": %.2f,\n      \"cpu\": %d,\n      \"node\": %d,\n",
		t.Latency.Count, low, high, float64(t.MicroSum)/float64(max(t.Latency.Count, 1)), t.CPU, nodeOf(f.host, t.CPU))
	fmt.Fprintf(b, "      \"x_missed\": %d,\n      \"x_overflow\": %d,\n      \"x_interrupted\": %d,\n      \"x_policy\": %s,\n      \"x_min_ns\": %d,\n      \"x_max_ns\": %d,\n      \"x_sum_ns\": %d\n    }",
		t.Missed, t.beyond(f.histogram), t.Interrupted, quoted(a.policy()), t.Latency.Min, t.Latency.Max, t.Latency.Sum)
	if i < len(f.threads)-1 {
		fmt.Fprint(b, ",")
	}
	fmt.Fprintln(b)
}

// quoted is text as JSON has it.
func quoted(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		return `""` // no text is refused
	}
	return string(q)
}

func nodeOf(h *bench.Host, cpu int) int {
	for _, c := range h.CPUs {
		if c.ID == cpu {
			return c.Node
		}
	}
	return 0
}
