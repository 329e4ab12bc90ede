package report

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
	"opcycle/judge"
)

func encoded(t *testing.T, f bench.File) []byte {
	t.Helper()
	data, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A report from the file alone is the report of the run.
func TestReadGivesTheSameReport(t *testing.T) {
	for name := range scenarios() {
		f := scenarioFile(t, name)
		got, err := Read(bytes.NewReader(encoded(t, f)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(text(t, f), text(t, got)); d != "" {
			t.Errorf("%s:\n%s", name, d)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	good := encoded(t, scenarioFile(t, "incomplete"))
	tests := []struct{ name, data, want string }{
		{"nothing", " \n", "it is empty; measure again"},
		{"cut off", string(good[:len(good)/2]), "cut off after"},
		{"cut off by one byte", string(good[:len(good)-1]), "cut off after"},
		{"no JSON", "suite,object\n", "no JSON at byte 1"},
		{"a list", "[1]", "not a result of opcycle"},
		{"other JSON", `{"hello": 1}`, "not a result of opcycle"},
		{"another tool", `{"schema": 1, "tool": {"name": "vegeta"}}`, `tool "vegeta"`},
		{"newer", `{"schema": 99, "tool": {"name": "opcycle", "version": "v9"}, "new": 1}`, "schema 99, this program reads up to 1; use opcycle v9 or later"},
		{"an unknown field", strings.Replace(string(good), `"suite":"opcua"`, `"suite":"opcua","colour":"red"`, 1), `unknown field "colour"`},
		{"a wrong type", strings.Replace(string(good), `"complete":false`, `"complete":"no"`, 1), "cannot unmarshal"},
		{"newer, with a list that became an object", `{"series": {"a": [1, {}]}, "schema": 99, "tool": {"name": "opcycle", "version": "v9"}}`, "schema 99, this program reads up to 1"},
		{"an object for a list", `{"schema": 1, "tool": {"name": "opcycle", "version": "v1"}, "series": {"a": [1, {}]}}`, "use the version that wrote it (v1)"},
		{"something behind it", string(good) + "{}", "something stands behind its end"},
	}
	for _, tt := range tests {
		_, err := Read(strings.NewReader(tt.data))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func rowsOf(t *testing.T, f bench.File) [][]string {
	t.Helper()
	var b bytes.Buffer
	if err := CSV(&b, f); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Every row of the long form has a machine name that a budget could use, and the value of
// the file in the unit that the name has.
func TestCSVNames(t *testing.T) {
	for name := range scenarios() {
		f := scenarioFile(t, name)
		for i, r := range rowsOf(t, f) {
			if scenarios()[name].beside && r[0] != bench.SuiteOPCUA { // budgets are of the OPC UA run
				continue
			}
			if i == 0 || slices.Contains([]string{"sent", "unstamped", "per_packet"}, r[3]) { // counters beyond the machine names
				continue
			}
			if want := bench.StatisticUnit(r[2], r[3]); want == "" || want != r[5] {
				t.Errorf("%s: %s.%s in %q, want unit %q", name, r[2], r[3], r[5], want)
			}
			if v, _, na, ok := judge.Lookup(f, r[1], r[2], r[3]); ok != (r[4] != "") && r[3] != "valid" {
				t.Errorf("%s: %s.%s is %q, the file has %v %q", name, r[2], r[3], r[4], v, na)
			}
		}
	}
}

func TestCSVGolden(t *testing.T) {
	for _, name := range []string{"eventful", "empty"} {
		var b bytes.Buffer
		if err := CSV(&b, scenarioFile(t, name)); err != nil {
			t.Fatal(err)
		}
		golden(t, name+".csv", b.Bytes())
	}
}

// The fixtures obey the identities of metrics.md, so that what they show is possible.
func TestIdentities(t *testing.T) {
	for name, sc := range scenarios() {
		f := scenarioFile(t, name)
		get := func(series, statistic string) float64 {
			v, _, _, _ := judge.Lookup(f, "", series, statistic)
			return v
		}
		if sc.empty {
			continue
		}
		if got := get("packets", "on_time") + get("packets", "late") + get("packets", "missed"); got != get("packets", "expected") {
			t.Errorf("%s: %v packets of %v", name, got, get("packets", "expected"))
		}
		if got := get("execution_time", "count") + get("missed", "skipped_release"); got != float64(sc.ran) {
			t.Errorf("%s: executed + skipped = %v of %d", name, got, sc.ran)
		}
		e, dead := judge.FindSeries(&f, "", "execution_time"), judge.FindSeries(&f, "", "dead_time")
		if e.Sum+dead.Sum != e.Count*testT {
			t.Errorf("%s: E + dead is not T", name)
		}
		for i := range f.Series {
			ordered(t, name, &f.Series[i])
		}
	}
}

// ordered checks min ≤ p50 ≤ p90 ≤ … ≤ max and min ≤ avg ≤ max.
func ordered(t *testing.T, name string, s *bench.Series) {
	t.Helper()
	if s.Count == 0 {
		return
	}
	last := *s.Min
	for _, q := range s.Quantiles {
		if q.Value != nil {
			if *q.Value < last {
				t.Errorf("%s: %s falls at %v", name, s.Name, q.Q)
			}
			last = *q.Value
		}
	}
	if last > *s.Max || *s.Avg < float64(*s.Min) || *s.Avg > float64(*s.Max) {
		t.Errorf("%s: %s is not ordered", name, s.Name)
	}
}

// Every figure of a result is somewhere in its report, also those without a machine name.
func TestNothingCountedIsLeftOut(t *testing.T) {
	f := scenarioFile(t, "clean")
	report := text(t, f)
	for _, want := range []string{"without an exact kernel stamp", "writes.sent", "migrations.count", "allocations, per_packet"} {
		if !strings.Contains(report, want) {
			t.Errorf("%s is not in the report", want)
		}
	}
}
