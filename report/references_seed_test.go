package report

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// seed is the source document that holds mark. The documents lie beside the clone on the
// machines of the authors only.
func seed(t *testing.T, mark string) []string {
	t.Helper()
	names, err := filepath.Glob("../../shared/seeds/*.txt")
	if err != nil || len(names) == 0 {
		t.Skipf("no source documents in ../shared/seeds beside the clone (%v)", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), mark) {
			return strings.Split(string(data), "\n")
		}
	}
	t.Fatalf("none of %q holds %q", names, mark)
	return nil
}

// published are the cells of a shipped file in its order, but blank ones.
func published(t *testing.T, name string) []string {
	t.Helper()
	var out []string
	for _, r := range file(t, name) {
		if r.Value != "" {
			out = append(out, r.Value)
		}
	}
	return out
}

// The files hold every cell of the sources' tables as printed, in reading order, and
// nothing else.
func TestReferencesHoldTheSeeds(t *testing.T) {
	tests := []struct {
		name string
		want func(t *testing.T) []string
	}{
		{"codesys-opcua-client.csv", func(t *testing.T) []string { return intelCells(t, "- CODESYS OPC UA Client") }},
		{"caterpillar.csv", func(t *testing.T) []string { return intelCells(t, "Processor - Caterpillar") }},
		{"cyclictest.csv", func(t *testing.T) []string { return intelCells(t, "Processor - Cyclictest") }},
		{"lmbench-1.9.csv", lmbenchCells},
		{"sel4bench.csv", sel4Cells},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want(t)
			if len(want) < 12 {
				t.Fatalf("only %d cells found in the source: the test is broken", len(want))
			}
			if d := cmp.Diff(want, published(t, tt.name)); d != "" {
				t.Errorf("source (-), file (+):\n%s", d)
			}
		})
	}
}

// intelCells are the cells of the tables below the headings that end in heading: lines of
// a name, a tab and values. The head and the table of settings hold no values.
func intelCells(t *testing.T, heading string) []string {
	var out []string
	in := false
	for _, line := range seed(t, "48-Hour Benchmark Results") {
		if strings.Contains(line, "Processor - ") || strings.HasSuffix(line, "Benchmark Results") {
			in = strings.HasSuffix(line, heading)
		}
		cells := strings.Split(line, "\t")
		if in && len(cells) > 1 && cells[0] != "" && !setting(cells[0]) {
			out = append(out, cells[1:]...)
		}
	}
	return out
}

func setting(name string) bool {
	return regexp.MustCompile(`^(Publishing Interval|Monitored Item|Workload|Stress-ng|Cyclictest|Tracing)`).MatchString(name)
}

// lmbenchCells are the columns behind host and OS; the guess at the end is one cell.
func lmbenchCells(t *testing.T) []string {
	var out []string
	memory := false
	for _, line := range seed(t, "L M B E N C H") {
		memory = memory || strings.HasPrefix(line, "Memory latencies")
		if !strings.HasPrefix(line, "class-tex ") && !strings.HasPrefix(line, "riel-text ") {
			continue
		}
		cells := strings.Fields(line)[3:]
		if memory && len(cells) > 4 {
			cells = append(cells[:4:4], strings.Join(cells[4:], " "))
		}
		out = append(out, cells...)
	}
	return out
}

// sel4Cells are the means, and in parentheses the deviations, of the first two tables.
func sel4Cells(t *testing.T) []string {
	var out []string
	for _, line := range seed(t, "sel4bench") {
		if strings.HasPrefix(line, "Compilation Details") {
			return out
		}
		if m := regexp.MustCompile(`^\(?(\d+)\)? \|$`).FindStringSubmatch(line); m != nil && m[1] != "32" && m[1] != "64" {
			out = append(out, m[1])
		}
	}
	return out
}

// Compiler and build command of each board and kernel are those of the page.
func TestReferencesHoldTheSeedsBuilds(t *testing.T) {
	lines := seed(t, "sel4bench")
	text := strings.Join(lines, "\n")
	_, text, _ = strings.Cut(text, "Compilation Details")
	standard, mcs, ok := strings.Cut(text, "\nMCS\n")
	if !ok {
		t.Fatal("no second table of builds")
	}
	for _, r := range file(t, "sel4bench.csv") {
		table := standard
		if r.Table == "MCS" {
			table = mcs
		}
		board, _, _ := strings.Cut(r.Platform, " (")
		m := regexp.MustCompile(`^clock (.*?); compiler (.*?); build command (.*?); `).FindStringSubmatch(r.Conditions)
		if m == nil || !strings.Contains(table, strings.Join([]string{board, m[1], m[2], m[3]}, " |\n")+" |") {
			t.Errorf("%s, %s: %q is not in the source", r.Table, r.Platform, r.Conditions)
		}
	}
}
