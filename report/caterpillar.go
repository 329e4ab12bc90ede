package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// caterpillarRows are the vendor's three rows.
func caterpillarRows() [][3]string {
	return [][3]string{
		{"Minimum Sample Jitter", "sample_jitter", "min"},
		{"Maximum Sample Jitter", "sample_jitter", "max"},
		{"Standard Deviation", "sample_jitter", "stddev"},
	}
}

// caterpillar is the vendor's table with our columns and his, then what it rests on.
func caterpillar(p *printer, results []*bench.SuiteResult, refs []bench.Reference) {
	unit, ns := cycleUnit(results)
	p.section("caterpillar-style, own workload: sample jitter in " + unit)
	vendors := vendorColumns(refs, "caterpillar")
	head := append([]string{"Row"}, columnHeads(results)...)
	for _, v := range vendors {
		head = append(head, "vendor "+strconv.Itoa(vendorNumber(vendors, v.platform))+", "+v.head)
	}
	var notes footnotes
	var body [][]string
	for _, row := range caterpillarRows() {
		line := []string{row[0]}
		for _, r := range results {
			series := row[1]
			if ns {
				series += "_time"
			}
			line = append(line, cyclesCell(suiteFigure(r, series, row[2]), &notes))
		}
		for _, v := range vendors {
			line = append(line, orNA(v.cells[row[1]+"."+row[2]].Value))
		}
		body = append(body, line)
	}
	p.table(head, nil, body)
	notes.printNA(p)
	vendorNotes(p, vendors, "the vendor's program, buffer and pattern are not published: his cycles and ours are of different work (definition)")
	if ns && len(vendors) > 0 {
		p.item("", "The vendor's columns are cycles of his processors' time stamp counters, ours are ns.")
	}
	for _, r := range results {
		caterpillarDetail(p, r)
	}
}

// cycleUnit is the table's unit. Cycles of a time stamp counter are what the vendor has;
// ticks of a slower counter, as arm64's, are no unit to think in: there it is ns.
func cycleUnit(results []*bench.SuiteResult) (unit string, ns bool) {
	for _, r := range results {
		hz := suiteFigure(r, "clock", "rate")
		if !hz.OK || hz.Value <= 0 {
			continue
		}
		name := figureText(r, "clock", "unit")
		if name == "" || strings.HasPrefix(name, "TSC") { // without a name it is a checkpoint's
			return fmt.Sprintf("TSC cycles @ %.3f GHz (reference cycles, not core cycles)", hz.Value/1e9), false
		}
		return fmt.Sprintf("ns (%s of %.2f ns)", name, 1e9/hz.Value), true
	}
	return "cycles", false
}

func cyclesCell(f judge.Found, notes *footnotes) string {
	if !f.OK {
		return "n/a " + notes.mark(f.NA)
	}
	return cycles(f.Value)
}

// cycles writes a count of cycles: whole from 1000 on, else with two digits.
func cycles(v float64) string {
	if v >= 1000 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// vendorNumber numbers the platforms of a vendor's columns from 1 on.
func vendorNumber(columns []vendorColumn, platform string) int {
	var seen []string
	for _, c := range columns {
		if len(seen) == 0 || seen[len(seen)-1] != c.platform {
			seen = append(seen, c.platform)
		}
		if c.platform == platform {
			return len(seen)
		}
	}
	return len(seen)
}

// vendorNotes say what each of the vendor's columns was measured on.
func vendorNotes(p *printer, columns []vendorColumn, definition string) {
	said := ""
	for _, c := range columns {
		n := vendorNumber(columns, c.platform)
		if c.platform != said {
			p.item(fmt.Sprintf("vendor %d: ", n), c.platform+". Source: "+c.source+".")
		}
		said = c.platform
		p.item(fmt.Sprintf("vendor %d, %s: ", n, c.head), c.conditions+".")
	}
	if definition != "" && len(columns) > 0 {
		p.item("", "Not comparable by number: "+definition+".")
	}
}

func caterpillarDetail(p *printer, r *bench.SuiteResult) {
	title := judge.Title(r)
	value := func(series, statistic string) string {
		f := suiteFigure(r, series, statistic)
		if !f.OK {
			return "n/a (" + f.NA + ")"
		}
		if f.Unit == "cycles" {
			return cycles(f.Value)
		}
		return figure(f.Value, f.Unit)
	}
	p.item(title+": ", fmt.Sprintf("%s samples of 10,000 iterations in %s, %s of them to warm up; session: least iteration %s, largest %s, jitter %s cycles%s",
		value("samples", "count"), sampleTime(r), value("samples", "warm_up"), value("session", "min"), value("session", "max"), value("session", "jitter"), inNanoseconds(r)))
	buffer := "no buffer"
	if f := suiteFigure(r, "buffer", "bytes"); f.OK {
		buffer = fmt.Sprintf("buffer %s bytes (%s)", value("buffer", "bytes"), figureText(r, "buffer", "from"))
	}
	p.item(title+": ", fmt.Sprintf("workload %s, %s steps an iteration; %s; checksum %s; %s, %s; %s rests, %s iterations after a rest left out, %s suspected throttlings, %s iterations of an unfinished sample left out",
		figureText(r, "workload", "name"), value("workload", "steps"), buffer, figureText(r, "workload", "checksum"), figureText(r, "thread", "policy"), figureText(r, "thread", "pace"),
		value("samples", "rests"), value("samples", "left_out"), value("samples", "suspected_throttling"), value("samples", "unfinished_iterations")))
	p.item(title+": ", fmt.Sprintf("what limits FIFO time: %s (%s)", figureText(r, "fifo_limit", "by"), figureText(r, "fifo_limit", "why")))
}

// sampleTime is what the samples took, rests included and pauses of a resumed run not.
func sampleTime(r *bench.SuiteResult) string {
	if r.Samples == nil || r.Samples.LeftOut > 0 {
		return judge.Span(r.Ended.Sub(r.Started))
	}
	i := slices.Index(r.Samples.Columns, "SampleTime")
	var ns float64
	for _, row := range r.Samples.Rows {
		if i >= 0 && i < len(row) && row[i] != nil {
			ns += *row[i]
		}
	}
	return judge.Span(time.Duration(ns).Round(time.Millisecond))
}

// inNanoseconds are the session's figures in ns.
func inNanoseconds(r *bench.SuiteResult) string {
	var parts []string
	for _, s := range []string{"min", "max", "jitter"} {
		f := suiteFigure(r, "session_time", s)
		if !f.OK {
			return ""
		}
		parts = append(parts, fmt.Sprintf("%s %s ns", s, judge.Group(int64(f.Value))))
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
