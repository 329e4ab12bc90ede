package report

import (
	"fmt"
	"io"
	"slices"
	"strconv"

	"opcycle/bench"
	"opcycle/judge"
)

// Line writes the verdict of a result, in one line.
func Line(w io.Writer, _ bench.File, v judge.Verdict, _ []bench.Reference) error {
	_, err := fmt.Fprintf(w, "%s: %s\n", v.Outcome, v.Text)
	return err
}

// Repeat writes what several runs of one plan came to, and what they differ by in the main
// series and in packets; the other series are in its file.
func Repeat(w io.Writer, r bench.Repeat) error {
	p := &printer{w: w}
	passed, counted := 0, 0
	for _, run := range r.Runs {
		if run.Exit == 0 {
			passed++
		}
		if run.Valid {
			counted++
		}
	}
	p.line("%d of %d runs made, %d passed, %d valid and complete", len(r.Runs), r.Asked, passed, counted)
	for _, run := range r.Runs {
		if !run.Valid {
			p.item("  - ", run.File+": "+run.Why)
		}
	}
	p.section("What the runs differ by (µs, packets as counts)")
	if len(r.Spread) == 0 {
		p.line("n/a: no run is valid and complete")
		return p.err
	}
	var body [][]string
	for i := range r.Spread {
		s := &r.Spread[i]
		if !spreadShown(s) {
			continue
		}
		runs := ""
		if s.Runs < counted {
			runs = strconv.Itoa(s.Runs)
		}
		body = append(body, []string{s.Object + " " + s.Series + "." + s.Statistic, spreadCell(s, &s.Min), spreadCell(s, &s.Median), spreadCell(s, &s.Max),
			spreadCell(s, s.Between), spreadCell(s, s.Within), runs})
	}
	p.table([]string{"figure", "min", "median", "max", "between runs", "within runs", "runs"}, nil, body)
	p.item("", "between runs: standard deviation of the runs' values. within runs: what averages would differ by if only the noise within a run "+
		"made them differ, by their seconds as if these were independent. runs: those that have the figure, where not all do.")
	return p.err
}

// spreadShown tells the figures of Repeat's table.
func spreadShown(s *bench.Spread) bool {
	if s.Series == "packets" {
		return slices.Contains([]string{"on_time", "late", "missed"}, s.Statistic)
	}
	main := []string{"start_latency", "calculation_time", "execution_time", "dead_time", "server_transmit_time", "arrival_offset", "latency"}
	return slices.Contains(main, s.Series)
}

func spreadCell(s *bench.Spread, v *float64) string {
	switch {
	case v == nil:
		return ""
	case s.Unit == "ns":
		return micros(*v, 1)
	}
	return strconv.FormatFloat(*v, 'g', 6, 64)
}
