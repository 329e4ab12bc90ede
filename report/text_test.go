package report

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
	"opcycle/judge"
)

var update = flag.Bool("update", false, "write the goldens")

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run go test ./report -update", err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s (-want +got):\n%s", path, d)
	}
}

func shipped(t *testing.T) []bench.Reference {
	t.Helper()
	refs, err := ReadReferences(os.DirFS("../configs/reference"))
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

func text(t *testing.T, f bench.File) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, f, judge.Judge(f), shipped(t)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextGoldens(t *testing.T) {
	for name := range scenarios() {
		t.Run(name, func(t *testing.T) {
			golden(t, name+".txt", []byte(text(t, scenarioFile(t, name))))
		})
	}
}

// A terminal of 100 columns shows every line whole, but the verdict's.
func TestTextWidth(t *testing.T) {
	for name := range scenarios() {
		_, rest, _ := strings.Cut(text(t, scenarioFile(t, name)), "\n")
		for line := range strings.Lines(rest) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
				t.Errorf("%s: %d columns: %s", name, n, line)
			}
		}
	}
}
