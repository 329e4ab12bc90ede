package imports

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// textReader collects what cyclictest prints: the lines of -q, the table of -h, or both.
type textReader struct {
	threads map[int]CyclictestThread // of the lines "T:", the last of each
	rows    [][]int64                // of the table: latency, then a count a column
	columns map[string][]int64       // "Min Latencies" and so on, behind the table
	lists   int                      // lines "# Thread": one a thread
}

var (
	threadLine  = regexp.MustCompile(`^T: *(\d+) \( *\d+\) P: *\d+ I: *\d+ C: *(\d+) Min: *(\d+) Act: *-?\d+ Avg: *(\d+) Max: *(\d+)( SMI: *\d+)?$`)
	histRow     = regexp.MustCompile(`^\d{6,}( \d{6,})(\t\d{6,})*$`)
	columnsLine = regexp.MustCompile(`^# (Total|Min Latencies|Avg Latencies|Max Latencies|Histogram Overflows|SMIs|Thread Ids):((?: +\d+)*) *$`)
	listLine    = regexp.MustCompile(`^# Thread (\d+):( \d+)*( # \d+ others)? *$`)
	cursor      = regexp.MustCompile("\x1b\\[[0-9]*A")
)

// silent are the lines that say nothing of a latency.
var silent = regexp.MustCompile(`^(# /dev/cpu_dma_latency set to \d+us|policy: .*|# Histogram|# Histogram Overflow at cycle number:|)$`)

// cyclictestText reads what cyclictest prints.
func cyclictestText(data []byte) (CyclictestRun, error) {
	r := textReader{threads: map[int]CyclictestThread{}, columns: map[string][]int64{}}
	lines := bufio.NewScanner(bytes.NewReader(data))
	lines.Buffer(nil, 16<<20) // a list of overflows is one line
	n := 0
	for lines.Scan() {
		n++
		text := cursor.ReplaceAllString(strings.TrimRight(lines.Text(), "\r"), "")
		if err := r.line(text); err != nil {
			return CyclictestRun{}, fmt.Errorf("line %d: %w: %q", n, err, short(text))
		}
	}
	if err := lines.Err(); err != nil {
		return CyclictestRun{}, fmt.Errorf("line %d: %w", n+1, err)
	}
	run := CyclictestRun{Unit: time.Microsecond, Assumed: []string{
		"the text of cyclictest does not say its unit: microseconds are assumed; a run with -N needs --json"}}
	var err error
	run.Threads, err = r.all()
	if err != nil {
		err = fmt.Errorf("lines 1 to %d: %w", n, err)
	}
	return run, err
}

func (r *textReader) line(text string) error {
	switch {
	case silent.MatchString(strings.TrimRight(text, " ")):
		return nil
	case histRow.MatchString(text):
		v, err := numbers(strings.Fields(text))
		if err == nil && len(r.rows) > 0 && (len(v) != len(r.rows[0]) || v[0] <= r.rows[len(r.rows)-1][0]) {
			err = errors.New("a row of the histogram that does not follow the one before")
		}
		r.rows = append(r.rows, v)
		return err
	case listLine.MatchString(text):
		r.lists++
		return nil
	}
	if m := threadLine.FindStringSubmatch(text); m != nil {
		v, err := numbers(m[1:6])
		if err != nil {
			return err
		}
		t := CyclictestThread{CPU: -1, Overflow: -1, Cycles: v[1], Min: v[2], Avg: float64(v[3]), Max: v[4]}
		r.threads[int(v[0])] = t
		return t.check()
	}
	if m := columnsLine.FindStringSubmatch(text); m != nil {
		v, err := numbers(strings.Fields(m[2]))
		r.columns[m[1]] = v
		return err
	}
	return errors.New("no line of cyclictest that can be read")
}

// all puts together what the lines said.
func (r *textReader) all() ([]CyclictestThread, error) {
	var out []CyclictestThread
	for i := range len(r.threads) {
		t, ok := r.threads[i]
		if !ok {
			return nil, fmt.Errorf("there is no thread %d of %d", i, len(r.threads))
		}
		out = append(out, t)
	}
	if len(r.rows) == 0 && len(r.columns) == 0 {
		return out, nil
	}
	n := len(r.columns["Min Latencies"])
	if r.lists > 0 && r.lists != n {
		return nil, fmt.Errorf("%d lists of overflows of %d threads", r.lists, n)
	}
	if out != nil && len(out) != n {
		return nil, fmt.Errorf("%d threads have a line, and %d a histogram", len(out), n)
	}
	var behind []CyclictestThread
	for i := range n {
		t, err := r.column(i, n)
		if err == nil && out != nil && out[i].Cycles > t.Cycles {
			err = fmt.Errorf("its line says %d cycles, its histogram %d", out[i].Cycles, t.Cycles)
		}
		if err != nil {
			return nil, fmt.Errorf("thread %d: %w", i, err)
		}
		behind = append(behind, t)
	}
	if n == 0 {
		return nil, errors.New("the histogram has no line \"# Min Latencies:\": the output was cut short")
	}
	return behind, nil
}

// column is thread i of n by the histogram and the lines behind it. With -H there is a
// column more, the sum of all.
func (r *textReader) column(i, n int) (CyclictestThread, error) {
	t := CyclictestThread{CPU: -1}
	for _, c := range []string{"Avg Latencies", "Max Latencies", "Histogram Overflows"} {
		if k := len(r.columns[c]); k != n && (k != n+1 || n == 1) {
			return t, fmt.Errorf("%q is said of %d threads, the minimum of %d: the output was cut short", c, k, n)
		}
	}
	t.Min, t.Avg, t.Max = r.columns["Min Latencies"][i], float64(r.columns["Avg Latencies"][i]), r.columns["Max Latencies"][i]
	for _, row := range r.rows {
		if len(row)-1 != n && (len(row)-1 != n+1 || n == 1) {
			return t, fmt.Errorf("%d columns of %d threads", len(row)-1, n)
		}
		if row[1+i] > 0 {
			t.Histogram = append(t.Histogram, CyclictestCount{row[0], row[1+i]})
			t.Cycles += row[1+i]
		}
	}
	if total, ok := r.columns["Total"]; ok && (len(total) <= i || total[i] != t.Cycles) {
		return t, fmt.Errorf("its histogram holds %d cycles, \"# Total\" says otherwise", t.Cycles)
	}
	t.Overflow = r.columns["Histogram Overflows"][i]
	t.Cycles += t.Overflow
	return t, t.check()
}

func numbers(words []string) ([]int64, error) {
	out := make([]int64, len(words))
	for i, w := range words {
		var err error
		if out[i], err = strconv.ParseInt(w, 10, 64); err != nil {
			return nil, fmt.Errorf("%q is too large", w)
		}
	}
	return out, nil
}

// short is text as an error shows it.
func short(text string) string {
	const most = 80
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}
