package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"opcycle/bench"
	"opcycle/configs"
	"opcycle/judge"
	"opcycle/report"
)

// The vendor's table of a real run, cell by cell: his rows in his order, a difference
// only where metrics.md calls the cell comparable, else the word that says why not.
func TestEveryCellOfTheVendorTableOfARealRun(t *testing.T) {
	for _, host := range []bench.PLCHost{bench.HostServer, bench.HostClient} {
		t.Run(string(host), func(t *testing.T) {
			alone(t)
			out := filepath.Join(t.TempDir(), "out")
			c := start(t, "", "run", "--out", out, profile(t, "run: {duration: 2s, floor: 50}", fmt.Sprintf("plc: {host: %s}", host)))
			c.code()
			cells(t, c.stdout.String(), result(t, out))
		})
	}
}

var (
	columns    = regexp.MustCompile(`\s{2,}`)
	difference = regexp.MustCompile(`^[+-]\d`)
	footnoted  = regexp.MustCompile(`^([a-z/]+) (\[\d+\])$`)
)

// cells walks the vendor's table in printed, the report of f.
func cells(t *testing.T, printed string, f bench.File) {
	t.Helper()
	refs, err := report.ReadReferences(configs.References())
	if err != nil {
		t.Fatal(err)
	}
	var own []bench.Reference
	for _, r := range refs {
		if r.Suite == f.Suite {
			own = append(own, r)
		}
	}
	lines := tableAfter(t, printed, "Beside the vendor")
	if len(lines) != len(own) || len(own) < 16 {
		t.Fatalf("%d rows of %d references", len(lines), len(own))
	}
	for i, line := range lines {
		cell := columns.Split(line, 4)
		if len(cell) != 4 {
			t.Errorf("%q has %d cells", line, len(cell))
			continue
		}
		r := own[i]
		if !strings.HasPrefix(cell[0], r.Row) || cell[2] != r.Value {
			t.Errorf("row %d is %q of the vendor %q, not %q of %q", i, cell[0], cell[2], r.Row, r.Value)
		}
		ours(t, cell[1], r, f)
		differs(t, cell[3], r, f, printed)
	}
}

// ours asserts that the cell is this run's figure, or says that there is none.
func ours(t *testing.T, cell string, r bench.Reference, f bench.File) {
	t.Helper()
	v, unit, _, ok := judge.Lookup(f, "", r.Series, r.Statistic)
	if !ok {
		if !strings.HasPrefix(cell, "n/a [") {
			t.Errorf("%s: the result has no figure, the cell says %q", r.Row, cell)
		}
		return
	}
	if unit == "ns" {
		v /= 1e3
	}
	var got float64
	if _, err := fmt.Sscanf(cell, "%g", &got); err != nil || got < v-0.51 || got > v+0.51 {
		t.Errorf("%s: the result has %g, the cell says %q", r.Row, v, cell)
	}
}

// differs asserts that a difference stands where it may, and elsewhere a word with its
// sentence below the table.
func differs(t *testing.T, cell string, r bench.Reference, f bench.File, printed string) {
	t.Helper()
	word := r.Comparable(f.Plan.Task.Host)
	if difference.MatchString(cell) {
		if word != judge.Yes {
			t.Errorf("%s: difference %q, though it is comparable: %s", r.Row, cell, word)
		}
		if short := f.Phase.Ran != 6000; short && r.Series == "packets" {
			t.Errorf("%s: difference %q of the vendor's 6,000 cycles to this run's %d", r.Row, cell, f.Phase.Ran)
		}
		if r.Series == "calculation_time" && !strings.Contains(cell, "% of T") {
			t.Errorf("%s: %q is no share of the cycle", r.Row, cell)
		}
		return
	}
	m := footnoted.FindStringSubmatch(cell)
	if m == nil {
		t.Errorf("%s: %q is neither a difference nor a word with its note", r.Row, cell)
		return
	}
	if word == judge.Yes {
		word = map[bool]string{true: judge.WordDuration, false: "a difference"}[r.Series == "packets" && f.Phase.Ran < 5900]
	}
	if m[1] != word {
		t.Errorf("%s: the cell says %q, not %s", r.Row, cell, word)
	}
	if !strings.Contains(printed, "\n"+m[2]+" "+m[1]+": ") {
		t.Errorf("%s: %s has no sentence below the table", r.Row, cell)
	}
}

// tableAfter returns the rows of the table whose title begins so.
func tableAfter(t *testing.T, printed, title string) []string {
	t.Helper()
	_, rest, ok := strings.Cut(printed, "\n"+title)
	if !ok {
		t.Fatalf("no table %q", title)
	}
	_, rest, _ = strings.Cut(rest, "─\n")
	rows, _, _ := strings.Cut(rest, "\n\n")
	return strings.Split(rows, "\n")
}
