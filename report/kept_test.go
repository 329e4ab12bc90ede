package report

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opcycle/bench"
	"opcycle/judge"
)

// kept are results as programs of the past wrote them, by their names: a schema's number,
// then what they are. None is ever made anew (see bench.Schema).
func kept(t *testing.T) map[string]bench.File {
	t.Helper()
	paths, err := filepath.Glob("testdata/kept/*.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bench.File{}
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		file, err := Read(z)
		if err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		_ = f.Close()
		out[strings.TrimSuffix(filepath.Base(path), ".json.gz")] = file
	}
	return out
}

// Results of every version are read, judged as they were, and reported in every form.
func TestKeptResults(t *testing.T) {
	versions := map[int]bool{}
	for name, f := range kept(t) {
		t.Run(name, func(t *testing.T) {
			versions[f.Schema] = true
			if !strings.HasPrefix(name, fmt.Sprintf("schema-%d-", f.Schema)) {
				t.Errorf("it has schema %d", f.Schema)
			}
			v := judge.Judge(f)
			if v.Outcome != judge.Pass || !v.Valid || !v.Complete {
				t.Errorf("%s, that passed when it was measured: %s", v.Outcome, v.Text)
			}
			for _, format := range Formats() {
				var b bytes.Buffer
				if err := format.Write(&b, f, v, shipped(t)); err != nil {
					t.Errorf("%s: %v", format.Name, err)
				}
				if b.Len() == 0 {
					t.Errorf("%s: nothing", format.Name)
				}
			}
			golden(t, "kept/"+name+".txt", []byte(text(t, f)))
			runs, err := judge.RunsOf(name, f)
			if err != nil || len(runs) == 0 {
				t.Errorf("%d runs to compare, %v", len(runs), err)
			}
		})
	}
	for s := 1; s <= bench.Schema; s++ {
		if !versions[s] {
			t.Errorf("no result of schema %d is kept", s)
		}
	}
}
