package report

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

func number64(v float64) *float64 { return &v }

// lmbenchReading is a made-up reading of 11 repetitions around v.
func lmbenchReading(table, name, mechanism, unit string, v float64) bench.Reading {
	return bench.Reading{Table: table, Name: name, Mechanism: mechanism, Headline: true, Statistic: "median", Unit: unit, Placement: "CPU 1",
		Value: &v, Median: &v, N: 11, Batch: 1000, Min: number64(v * 0.9), Max: number64(v * 1.5), Mean: number64(v * 1.1), StdDev: number64(v * 0.1)}
}

// lmbenchFixture is two runs of one host, and one of another of which a part was asked for.
func lmbenchFixture() bench.File {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	text := func(series, text string) bench.Figure {
		return bench.Figure{Suite: "lmbench", Object: "host", Series: series, Statistic: "text", Unit: "text", Text: text}
	}
	first := bench.SuiteResult{Suite: "lmbench", Role: bench.RoleMeasured, Started: at, Ended: at.Add(time.Minute), Complete: true,
		Figures: []bench.Figure{text("host", "plc7"), text("os", "Linux 6.12.8-rt")}}
	for run := 1; run <= 2; run++ {
		v := 0.0875 * float64(run)
		readings := []bench.Reading{lmbenchReading("processor", "clock", "TSC cycles", "MHz", 2803.2)}
		for _, t := range lmbenchTables() {
			for _, c := range t.columns {
				if c.name != "guess" {
					v *= 1.31
					readings = append(readings, lmbenchReading(t.name, c.name, "its mechanism", t.unit, v))
				}
			}
		}
		detail := lmbenchReading("processor", "null_io", "read 1 byte of /dev/zero", "us", 0.121)
		detail.Headline, detail.Deviation = false, "a remark that stands below"
		readings = append(readings, detail)
		for i := range readings {
			g := &readings[i]
			g.Run = fmt.Sprint(run)
			if g.Name == "sh" && run == 2 {
				*g = bench.Reading{Table: g.Table, Name: g.Name, Run: g.Run, Headline: true, Statistic: "median", Unit: "us", NA: "no shell in this image"}
			}
			if g.Name == "fork" {
				g.Unstable = "the middle half of the repetitions spreads over 40 % of the median (more than 25 %)"
			}
		}
		first.Readings = append(first.Readings, readings...)
	}
	ratio := bench.Reading{Table: crossCheck, Name: "processor/null_call", Run: "1", Mechanism: "lat_syscall null", Statistic: "median", Unit: "ratio",
		Value: number64(1.04), Min: number64(0.97), Max: number64(1.11), N: 5, Deviation: "ours 0.0873, original 0.0869 us"}
	without := bench.Reading{Table: crossCheck, Name: "local_latency/tcp", Run: "1", Mechanism: "lat_tcp localhost", Unit: "ratio", NA: "/opt/lmbench has no lat_tcp"}
	first.Readings = append(first.Readings, ratio, without)
	other := bench.SuiteResult{Suite: "lmbench", Role: bench.RoleMeasured, Started: at, Ended: at, Complete: true, Label: "on battery",
		Figures:  []bench.Figure{text("host", "laptop"), text("os", "Linux 6.1.0-13")},
		Readings: []bench.Reading{lmbenchReading("processor", "null_call", "getppid", "us", 0.31)}}
	other.Readings[0].Run = "1"
	return bench.File{Schema: bench.Schema, Suite: "lmbench", Tool: bench.Tool{Name: "opcycle", Version: "test", Go: "go1.26"}, Started: at,
		Ended: at.Add(time.Minute), Complete: true, Suites: []bench.SuiteResult{first, other}}
}

func TestLmbenchGoldens(t *testing.T) {
	f := lmbenchFixture()
	golden(t, "lmbench.txt", []byte(text(t, f)))
	var md bytes.Buffer
	if err := Markdown(&md, f, judge.Judge(f), shipped(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "lmbench.md", md.Bytes())
	var page bytes.Buffer
	if err := HTML(&page, f, judge.Judge(f), shipped(t)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(page.String(), "lmbench-style summary") {
		t.Error("the page has no summary")
	}
}

// The published lines stand as the posting has them: eight in each table, none shifted by a
// cell that is blank.
func TestLmbenchPublishedLines(t *testing.T) {
	published := lmbenchPublished(shipped(t))
	if len(published) != 8 {
		t.Fatalf("%d lines", len(published))
	}
	want := map[string]string{
		"processor":         "class-tex|Linux 2.4.0-t|705|0.4|0.6|3|5|0.02K|1.1|2|0.2K|1K|6K",
		"context_switching": "class-tex|Linux 2.4.0-t|1|15|97|45|184|52|185",
		"local_latency":     "class-tex|Linux 2.4.0-t|1|6|11|20||134||100",
		"file_vm":           "class-tex|Linux 2.4.0-t|6|1|12|2|759|0|0.0K",
		"local_bandwidth":   "class-tex|Linux 2.4.0-t|134|76|90|118|308|192|192|308|290",
		"memory_latency":    "class-tex|Linux 2.4.0-t|705|4|175||218|No L2 cache?",
	}
	for _, table := range lmbenchTables() {
		rows := table.publishedRows(13, published)
		if len(rows) != 1+8 {
			t.Fatalf("%s: %d rows", table.name, len(rows))
		}
		if got := strings.Join(rows[1], "|"); got != want[table.name] {
			t.Errorf("%s:\n got %s\nwant %s", table.name, got, want[table.name])
		}
	}
}

// Every figure of the seed is a column of ours, by the same machine name and in its order.
func TestLmbenchColumnsAreTheSeeds(t *testing.T) {
	line := lmbenchPublished(shipped(t))[0]
	for _, table := range lmbenchTables() {
		var seed, ours []string
		for _, r := range line {
			if r.Object == table.name && r.Series != "clock" {
				seed = append(seed, r.Series)
			}
		}
		for _, c := range table.columns {
			if c.name != "l3" { // ours alone
				ours = append(ours, c.name)
			}
		}
		if !slices.Equal(seed, ours) && table.name != "memory_latency" || table.name == "memory_latency" && !slices.Equal(ours, []string{"l1", "l2", "main", "guess"}) {
			t.Errorf("%s: the seed has %v, ours %v", table.name, seed, ours)
		}
	}
}

func TestDigits(t *testing.T) {
	for v, want := range map[float64]string{0.08734: "0.0873", 0.000347: "0.000347", 1: "1.00", 9.996: "10.00", 28.54: "28.5", 120.4: "120", 1333.7: "1334", 152000: "152000"} {
		if got := digits(v); got != want {
			t.Errorf("%v is written %s, not %s", v, got, want)
		}
	}
}

func TestGuess(t *testing.T) {
	levels := func(l1, l2, main float64) lmbenchRun {
		var r lmbenchRun
		for name, v := range map[string]float64{"l1": l1, "l2": l2, "main": main} {
			g := lmbenchReading("memory_latency", name, "m", "ns", v)
			r.readings = append(r.readings, &g)
		}
		return r
	}
	for _, c := range []struct {
		r    lmbenchRun
		want string
	}{
		{levels(4, 175, 218), "No L2 cache?"}, // the seed's first line
		{levels(4, 171, 221), ""},             // and its second
		{levels(4, 4.5, 90), "No L1 cache?"},
		{levels(1.5, 4.6, 130), ""},
		{lmbenchRun{}, ""},
	} {
		if got := guess(c.r); got != c.want {
			t.Errorf("guess %q, not %q", got, c.want)
		}
	}
}
