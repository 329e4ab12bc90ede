package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// wakeUps is one column: one CPU of one result, or an engine of a cross-check.
type wakeUps struct {
	result *bench.SuiteResult
	series *bench.Series
	head   string
}

// cyclictest is the seed's table with our columns and the vendor's, then percentiles with
// every counter, the histogram, and the worst wake-ups.
func cyclictest(p *printer, results []*bench.SuiteResult, refs []bench.Reference) {
	p.section("cyclictest-style: latency of wake-ups from an absolute sleep, in µs")
	var columns []wakeUps
	for _, r := range results {
		columns = append(columns, wakeUpColumns(r, len(results))...)
	}
	wakeUpTable(p, columns, refs)
	for _, r := range results {
		wakeUpPlace(p, r)
	}
	percentiles(p, columns)
	for i := range columns {
		wakeUpHistogram(p, &columns[i])
	}
	for _, r := range results {
		worstWakeUps(p, r)
		enginesCompared(p, r)
	}
}

// wakeUpColumns are a result's columns: headed by its label, and by the CPU where it has
// several or no label.
func wakeUpColumns(r *bench.SuiteResult, results int) []wakeUps {
	var out []wakeUps
	for i := range r.Series {
		s := &r.Series[i]
		if s.Name != "latency" {
			continue
		}
		head := s.Object
		switch {
		case r.Label != "" && len(r.Series) > 1:
			head = r.Label + ", " + s.Object
		case r.Label != "":
			head = r.Label
		case results == 1 && len(r.Series) == 1:
			head = "this run"
		}
		out = append(out, wakeUps{r, s, head})
	}
	return out
}

// wakeUpTable is the seed's: the vendor's rows in his order.
func wakeUpTable(p *printer, columns []wakeUps, refs []bench.Reference) {
	vendors := vendorColumns(refs, "cyclictest")
	if slices.ContainsFunc(columns, func(c wakeUps) bool { return c.series.Object == "rt-tests" }) {
		vendors = nil // a cross-check compares programs, not machines
	}
	between := "\n"
	if p.form != asText {
		between = ", " // only a text's heads may have two lines
	}
	head := []string{"Row"}
	for _, c := range columns {
		head = append(head, c.head)
	}
	for _, v := range vendors {
		head = append(head, "vendor "+strconv.Itoa(vendorNumber(vendors, v.platform))+between+v.head)
	}
	var notes footnotes
	var body [][]string
	for _, row := range [][2]string{{"Total Samples", "count"}, {"Minimum Latencies (µs)", "min"}, {"Average Latencies (µs)", "avg"}, {"Maximum Latencies (µs)", "max"}} {
		line := []string{row[0]}
		for _, c := range columns {
			line = append(line, latencyCell(judge.Statistic(c.series, row[1]), &notes))
		}
		for _, v := range vendors {
			line = append(line, orNA(v.cells["latency."+row[1]].Value))
		}
		body = append(body, line)
	}
	p.table(head, nil, body)
	notes.printNA(p)
	vendorNotes(p, vendors, "")
	if len(vendors) > 0 && len(columns) > 0 {
		spans, shortest := measuredSpans(columns)
		text := fmt.Sprintf("The vendor's columns are of 24 hours, the others of %s. He prints whole µs, cut off.", spans)
		if shortest < 24*time.Hour-time.Minute {
			text += " A maximum grows with the length of a run: a shorter one shows only a lower bound of what a day would."
		}
		p.item("", text)
	}
}

// measuredSpans are how long the columns' results took, pauses left out, and the shortest.
func measuredSpans(columns []wakeUps) (text string, shortest time.Duration) {
	var out []string
	shortest = math.MaxInt64
	for _, c := range columns {
		if c.result.Started.IsZero() { // another program's, which did not say
			if s := "an unknown time"; !slices.Contains(out, s) {
				out = append(out, s)
			}
			continue
		}
		d := c.result.Ended.Sub(c.result.Started)
		for _, p := range c.result.Pauses {
			d -= p.Again.Sub(p.Checkpoint)
		}
		shortest = min(shortest, d)
		step := time.Second
		if d < 10*step {
			step = 10 * time.Millisecond
		}
		if s := judge.Span(d.Round(step)); !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return strings.Join(out, " and "), shortest
}

// latencyCell is a time in µs with a decimal, or a count.
func latencyCell(f judge.Found, notes *footnotes) string {
	switch {
	case !f.OK:
		return "n/a " + notes.mark(f.NA)
	case f.Unit == "ns":
		return micros(f.Value, 1)
	}
	return figureWhole(f.Value)
}

// wakeUpPlace says how one result was measured.
func wakeUpPlace(p *printer, r *bench.SuiteResult) {
	var parts []string
	for i := range r.Figures {
		g := &r.Figures[i]
		if g.Series == "thread" && g.Statistic == "policy" && g.Text != "" && (len(r.Processes) == 0 || !strings.HasPrefix(g.Text, "SCHED_FIFO")) {
			parts = append(parts, fmt.Sprintf("%s at %s", g.Object, g.Text))
		}
	}
	if f := suiteFigure(r, "wake_ups", "interval"); f.OK {
		parts = append(parts, "every "+time.Duration(f.Value).String())
	}
	for i := range r.Processes {
		parts = append(parts, wakeUpProcess(&r.Processes[i]))
	}
	if v := figureText(r, "program", "version"); v != "n/a" {
		parts = append(parts, v+", by \""+figureText(r, "program", "command")+"\"")
	}
	if len(parts) > 0 {
		p.item(judge.Title(r)+": ", strings.Join(parts, "; ")+".")
	}
}

// wakeUpProcess is one process in a line, as it was read back from the kernel.
func wakeUpProcess(i *bench.ProcessInfo) string {
	var timed, others []int
	policy := ""
	for _, t := range i.Threads {
		if t.Role != "measuring" {
			others = append(others, t.CPUs...)
			continue
		}
		timed = append(timed, t.CPUs...)
		policy = t.Policy
		if t.Priority > 0 {
			policy += fmt.Sprintf(" %d", t.Priority)
		}
	}
	list := func(cpus []int) string {
		slices.Sort(cpus)
		return bench.CPUList(slices.Compact(cpus)).String()
	}
	out := "process " + i.Name + ":"
	if len(timed) > 0 {
		out += fmt.Sprintf(" timed on CPU %s at %s,", list(timed), policy)
	}
	if len(others) > 0 {
		out += fmt.Sprintf(" other threads on CPU %s,", list(others))
	}
	memory, _, _ := strings.Cut(i.LockError, ": ") // the reason stands with what was not had
	if i.Locked {
		memory = "locked"
	}
	states, _, _ := strings.Cut(i.CState, ": ")
	return out + " memory " + memory + ", C-states " + states
}
