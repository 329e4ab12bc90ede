package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// sel4Fixture is a run in a virtual machine, one on a board without SCHED_FIFO and its
// notification, and one that ended before its last rows.
func sel4Fixture() bench.File {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	text := func(series, statistic, text string) bench.Figure {
		return bench.Figure{Suite: "sel4bench", Object: "host", Series: series, Statistic: statistic, Unit: "text", Text: text}
	}
	value := func(object, series, statistic, unit string, v float64) bench.Figure {
		return bench.Figure{Suite: "sel4bench", Object: object, Series: series, Statistic: statistic, Unit: unit, Value: &v}
	}
	row := func(table, name, mechanism, unit string, head bool, v float64) bench.Reading {
		return bench.Reading{Table: table, Name: name, Mechanism: mechanism, Headline: head, Statistic: "mean", Unit: unit, N: 4990, Placement: "same CPU 1",
			Policy: "both SCHED_FIFO 50", Deviation: "Linux analogue, not seL4", Value: &v, Mean: &v, StdDev: number64(v / 10), Min: number64(v * 0.9),
			Median: number64(v * 0.95), P99: number64(v * 1.2), Max: number64(v * 3)}
	}
	first := bench.SuiteResult{Suite: "sel4bench", Role: bench.RoleMeasured, Started: at, Ended: at.Add(time.Minute), Complete: true,
		Figures: []bench.Figure{text("isa", "text", "x86_64"), text("cpu", "text", "Xeon Gold"), value("cpu1", "clock", "rate", "Hz", 2.8e9), text("clock", "unit", "TSC cycles"),
			value("cpu1", "clock", "core_ratio", "ratio", 1.214), value("cpu1", "overhead", "min", "cycles", 52), value("cpu1", "overhead", "max", "cycles", 52),
			value("ipc over futex", "samples", "count", "1", 5000), value("ipc over futex", "switches", "own", "1", 5000), value("ipc over futex", "switches", "peer", "1", 5002)},
		Readings: []bench.Reading{
			row("sel4bench", "irq_invoke", "timer, spinner in the same address space", "TSC cycles", true, 54321.6),
			row("sel4bench", "ipc_call", "futex", "TSC cycles", false, 4444.4), row("sel4bench", "ipc_call", "eventfd", "TSC cycles", true, 4201.4),
			row("sel4bench", "ipc_reply", "eventfd", "TSC cycles", true, 4301.5), row("sel4bench", "notify", "pipe", "TSC cycles", true, 3500.5),
			row("sel4bench_form", "ipc_call", "eventfd", "TSC cycles", false, 4100)}}
	first.Readings[4].Unstable = "its standard deviation is beyond half of its mean"
	board := bench.SuiteResult{Suite: "sel4bench", Label: "board", Role: bench.RoleMeasured, Started: at, Ended: at, Complete: true,
		Figures: []bench.Figure{text("isa", "text", "Armv8a"), text("cpu", "text", "Cortex-A57"), value("cpu1", "clock", "rate", "Hz", 31.25e6), text("clock", "unit", "CNTVCT ticks"),
			{Suite: "sel4bench", Object: "cpu1", Series: "clock", Statistic: "core_ratio", Unit: "ratio", NA: "no such file or directory"},
			value("cpu1", "overhead", "min", "cycles", 1), value("cpu1", "overhead", "max", "cycles", 3)},
		Absent: []bench.Absent{{What: "SCHED_FIFO", Why: "operation not permitted"}},
		Readings: []bench.Reading{row("sel4bench", "irq_invoke", "timer, spinner in the same address space", "ns", true, 9000),
			row("sel4bench", "ipc_call", "futex", "ns", true, 2000), row("sel4bench", "ipc_reply", "futex", "ns", true, 2100),
			{Table: "sel4bench", Name: "notify", Mechanism: "futex", Headline: true, Statistic: "mean", Placement: "same CPU 1", Policy: "both SCHED_OTHER",
				Deviation: "Linux analogue, not seL4; not real-time", NA: "the peer did not preempt at sample 0: it needs SCHED_FIFO on one CPU"}}}
	short := bench.SuiteResult{Suite: "sel4bench", Label: "short", Role: bench.RoleMeasured, Started: at, Ended: at, Figures: first.Figures[:2]}
	return bench.File{Schema: bench.Schema, Suite: "sel4bench", Tool: bench.Tool{Name: "opcycle", Version: "test", Go: "go1.26"}, Started: at,
		Ended: at.Add(time.Minute), Complete: true, Suites: []bench.SuiteResult{first, board, short}}
}

func TestSel4benchGoldens(t *testing.T) {
	f := sel4Fixture()
	golden(t, "sel4bench.txt", []byte(text(t, f)))
	var md bytes.Buffer
	if err := Markdown(&md, f, judge.Judge(f), shipped(t)); err != nil {
		t.Fatal(err)
	}
	golden(t, "sel4bench.md", md.Bytes())
}

// The published rows stand as the page has them: five in each table, mean and deviation in
// one cell.
func TestSel4benchPublishedRows(t *testing.T) {
	lines := strings.Split(text(t, sel4Fixture()), "\n")
	for _, want := range []string{
		"Armv7a 32 A9/i.MX6/Sabre 1.0 GHz 583 (13) 316 (3) 340 (6) 831 (11)",
		"x86_64 64 i7-6700/Skylake (without meltdown mitigation) 3.4 GHz 1280 (198) 380 (3) 388 (10) 753 (83)",
		"RV64IMAC 64 U54-MC/SiFive Freedom U540/Hifive 1.5 GHz 973 (73) 467 (7) 667 (117) 1331 (51)",
		"x86_64 64 i7-4770/Haswell 3.4 GHz 1974 (422) 587 (13) 600 (14) 1593 (12)",
		"RV64IMAC 64 U54-MC/SiFive Freedom U540/Hifive 1.5 GHz 2924 (123) 701 (62) 902 (108) 3855 (159)",
	} {
		if !slices.ContainsFunc(lines, func(l string) bool { return strings.Join(strings.Fields(l), " ") == want }) {
			t.Errorf("without the row %s", want)
		}
	}
}
