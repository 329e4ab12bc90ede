package report

import (
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// tableOf returns the lines of the vendor's table in a rendered report.
func tableOf(t *testing.T, report string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(report, "Beside the vendor")
	if _, table, found := strings.Cut(rest, "\nRow "); found { // below the conditions
		rest = "\nRow " + table
	}
	lines := strings.Split(rest, "\n")
	if !ok || len(lines) < 4 {
		t.Fatalf("no vendor's table in:\n%s", report)
	}
	var out []string
	for _, l := range lines[3:] { // empty, head, line
		if l == "" {
			return out
		}
		out = append(out, l)
	}
	return out
}

// Every cell of the default report, in both topologies: the vendor's rows, order, values
// and units; a difference where the reference says yes and nowhere else.
func TestVendorTableCellByCell(t *testing.T) {
	for _, name := range []string{"clean", "client", "beside"} {
		f := scenarioFile(t, name)
		report := text(t, f)
		lines, refs := tableOf(t, report), shippedOf(t, f.Suite)
		if len(lines) != len(refs) || len(refs) != 16 {
			t.Fatalf("%s: %d lines for %d vendor rows, want 16", name, len(lines), len(refs))
		}
		for i, ref := range refs {
			cells := regexp.MustCompile(` {2,}`).Split(lines[i], -1)
			if len(cells) != 4 {
				t.Errorf("%s: %q has %d cells", name, lines[i], len(cells))
				continue
			}
			if cells[0] != ref.Row+unitOf(ref) || cells[2] != ref.Value {
				t.Errorf("%s: row %q, vendor %q; want %q, %q", name, cells[0], cells[2], ref.Row+unitOf(ref), ref.Value)
			}
			checkOurs(t, &f, ref, cells[1])
			word := ref.Comparable(f.Plan.Task.Host)
			if word == judge.Yes && f.Plan.Disturbed() && ref.Series != "run" {
				word = judge.WordSwitches
			}
			difference := regexp.MustCompile(`^[+-]\d`).MatchString(cells[3])
			if difference != (word == judge.Yes) {
				t.Errorf("%s: %s is %q, and its cell says %q", name, ref.Row, word, cells[3])
			}
			if word == judge.Yes {
				continue
			}
			mark, ok := strings.CutPrefix(cells[3], word+" ")
			if !ok || !strings.Contains(report, mark+" "+word+": ") {
				t.Errorf("%s: %s: cell %q has no sentence", name, ref.Row, cells[3])
			}
		}
	}
}

// checkOurs compares a printed cell with the exact figure: rounded, and only here.
func checkOurs(t *testing.T, f *bench.File, ref bench.Reference, cell string) {
	t.Helper()
	v, unit, _, ok := judge.Lookup(*f, "", ref.Series, ref.Statistic)
	printed, err := strconv.ParseFloat(cell, 64)
	if unit == "ns" {
		v /= 1e3
	}
	if err != nil || !ok || printed-v > 0.5 || v-printed > 0.5 {
		t.Errorf("%s: %q for %v %s", ref.Row, cell, v, unit)
	}
}

func TestDifferenceNeedsTheVendorsConditions(t *testing.T) {
	tests := []struct {
		name   string
		change func(f *bench.File)
		row    string
		want   string
	}{
		{"as the vendor", func(*bench.File) {}, "Transmitted Packets - Total", judge.Yes},
		{"another cycle", func(f *bench.File) { f.Plan.Task.Interval = time.Millisecond }, "Transmitted Packets - Total", judge.WordInterval},
		{"another duration", func(f *bench.File) { f.Phase.Ran = 1000 }, "Transmitted Packets - Missed", judge.WordDuration},
		{"another program", func(f *bench.File) { f.Plan.Task.Workload = "MEMORY" }, "Calculation Time - Average", judge.WordWorkload},
		{"no figure", func(f *bench.File) { f.Figures, f.Series = nil, nil }, "Calculation Time - Average", judge.WordNA},
		{"noise", func(f *bench.File) { f.Plan.Beside = []bench.Beside{{Suite: bench.SuiteStress, Role: bench.RoleNoise}} }, "Calculation Time - Average", judge.WordSwitches},
		{"tracing", func(f *bench.File) { f.Plan.Trace = &bench.Trace{} }, "Transmitted Packets - Missed", judge.WordSwitches},
		{"noise, and another topology", func(f *bench.File) { f.Plan.Trace = &bench.Trace{} }, "Dead time - Average", "topology"},
		{"the cycle is compared with noise too", func(f *bench.File) { f.Plan.Trace = &bench.Trace{} }, "Control Cycle Period", judge.Yes},
		{"the cycle is compared as configured", func(f *bench.File) { f.Plan.Task.Workload = "MEMORY" }, "Control Cycle Period", judge.Yes},
	}
	for _, tt := range tests {
		f := scenarioFile(t, "clean")
		tt.change(&f)
		for _, b := range judge.Comparable(f, shipped(t)) {
			if b.Reference.Row == tt.row && (b.Word != tt.want || b.Why == "") {
				t.Errorf("%s: %s is %q (%s), want %q", tt.name, tt.row, b.Word, b.Why, tt.want)
			}
		}
	}
}

// The calculation time is compared as share of the cycle, never in µs.
func TestCalculationIsAShare(t *testing.T) {
	for _, b := range judge.Comparable(scenarioFile(t, "clean"), shipped(t)) {
		if (b.Reference.Series == "calculation_time") != (b.Unit == "share") {
			t.Errorf("%s is compared in %q", b.Reference.Row, b.Unit)
		}
	}
}

func TestRounding(t *testing.T) {
	for _, tt := range []struct {
		ns       float64
		decimals int
		want     string
	}{
		{2500, 0, "3"}, {3500, 0, "4"}, {-2500, 0, "-3"}, {2499, 0, "2"}, {-499, 0, "0"}, {-500, 0, "-1"}, {0, 0, "0"},
		{1250, 1, "1.3"}, {1249, 1, "1.2"}, {-40, 1, "0.0"}, {-1_842_000, 0, "-1842"}, {5_596_500, 0, "5597"},
	} {
		if got := micros(tt.ns, tt.decimals); got != tt.want {
			t.Errorf("micros(%v, %d) = %q, want %q", tt.ns, tt.decimals, got, tt.want)
		}
	}
	for _, tt := range []struct {
		v, of float64
		want  string
	}{{6000, 6000, "100 %"}, {5999, 6000, "99.983 %"}, {999_999, 1e6, "> 99.999 %"}, {1, 1e6, "< 0.001 %"}, {0, 6000, "0 %"}, {0, 0, ""}} {
		if got := share(tt.v, tt.of); got != tt.want {
			t.Errorf("share(%v, %v) = %q, want %q", tt.v, tt.of, got, tt.want)
		}
	}
}
