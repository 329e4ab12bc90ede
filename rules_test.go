package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The import table of the house: which room may import which of ours. A room that is not
// listed here is refused.
func mayImport() map[string][]string {
	all := []string{"bench", "record", "rt", "host", "wire", "plc", "server", "client", "run", "judge", "report", "configs",
		"imports", "deploy", "workloads", "workloads/opcua"}
	return map[string][]string{
		"record":          nil,
		"rt":              nil,
		"wire":            nil,
		"bench":           {"record"},
		"host":            {"bench", "rt"},
		"plc":             {"bench", "record", "rt"},
		"client":          {"bench", "record", "rt"},
		"server":          {"bench", "record", "rt", "wire"},
		"workloads/opcua": {"bench", "record", "rt", "plc", "server", "client"},
		"run":             {"bench", "record", "rt", "host", "wire", "plc", "server", "client", "workloads", "workloads/opcua", "workloads/stress"},
		"imports":         {"bench", "record"},
		"deploy":          {"bench", "record"},

		// The list of suites, and the suites. A suite may read another program's result.
		"workloads":             {"bench", "rt", "workloads/stress", "workloads/cyclictest", "workloads/caterpillar", "workloads/oslat", "workloads/lmbench", "workloads/sel4bench"},
		"workloads/cyclictest":  {"bench", "record", "rt", "imports"},
		"workloads/caterpillar": {"bench", "record", "rt"},
		"workloads/oslat":       {"bench", "record", "rt"},
		"workloads/lmbench":     {"bench", "record", "rt", "imports"},
		"workloads/sel4bench":   {"bench", "record", "rt"},
		"workloads/stress":      {"bench", "record", "rt", "imports"},
		"judge":                 {"bench", "record"},
		"report":                {"bench", "record", "judge"},
		"configs":               {"bench"},
		"":                      all, // main
	}
}

// Modules that only some rooms may import.
func only() map[string][]string {
	return map[string][]string{
		"golang.org/x/sys":                         {"rt"},
		"github.com/gopcua/opcua":                  {"wire", "server", "client"},
		"github.com/awcullen/opcua":                {},
		"github.com/spf13/cobra":                   {""},
		"github.com/prometheus/procfs":             {"host", "workloads/stress"},
		"github.com/prometheus/client_golang":      {""},
		"github.com/schollz/progressbar/v3":        {""},
		"github.com/olekukonko/tablewriter":        {"report"},
		"gonum.org/v1/gonum":                       {"judge", "workloads/caterpillar", "workloads/sel4bench"},
		"gonum.org/v1/plot":                        {"report"},
		"github.com/santhosh-tekuri/jsonschema/v6": {""},
		"github.com/HdrHistogram/hdrhistogram-go":  {"record", "bench"},
	}
}

type source struct {
	room, path string
	test       bool
	imports    []string
	tags       bool
}

func sources(t *testing.T) []source {
	t.Helper()
	var out []source
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && (d.Name() == "testdata" || path != "." && strings.HasPrefix(d.Name(), ".")) {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, ".go") {
			return nil
		}
		fset := token.NewFileSet()
		f, err := parser.ParseFile(fset, path, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		room := filepath.ToSlash(filepath.Dir(path))
		if room == "." {
			room = ""
		}
		s := source{room: room, path: path, test: strings.HasSuffix(path, "_test.go")}
		for _, i := range f.Imports {
			p, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				return err
			}
			s.imports = append(s.imports, p)
		}
		for _, g := range f.Comments {
			if g.Pos() < f.Package && strings.Contains(g.List[0].Text, "go:build") {
				s.tags = true
			}
		}
		out = append(out, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 50 {
		t.Fatalf("only %d sources found: the walk is broken", len(out))
	}
	return out
}

func TestRoomsImportOnlyWhatTheTableAllows(t *testing.T) {
	table := mayImport()
	for _, s := range sources(t) {
		allowed, known := table[s.room]
		if !known {
			t.Errorf("%s: the room %q is not in the import table", s.path, s.room)
			continue
		}
		if s.test {
			continue // tests may bring a peer; what ships may not
		}
		for _, i := range s.imports {
			if ours, ok := strings.CutPrefix(i, "opcycle/"); ok && !slices.Contains(allowed, ours) {
				t.Errorf("%s imports %s: not in the table for %q", s.path, i, s.room)
			}
		}
	}
}

func TestLibrariesStayInTheirRooms(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, i := range s.imports {
			for module, rooms := range only() {
				if (i == module || strings.HasPrefix(i, module+"/")) && !slices.Contains(rooms, s.room) {
					t.Errorf("%s imports %s: only %v may", s.path, i, rooms)
				}
			}
		}
	}
}

func TestBuildTagsLiveInRTOnly(t *testing.T) {
	for _, s := range sources(t) {
		named := strings.HasSuffix(s.path, "_linux.go") || strings.HasSuffix(s.path, "_other.go")
		if (s.tags || named) && s.room != "rt" && !s.test {
			t.Errorf("%s has a build tag: these live in rt only", s.path)
		}
	}
}

func TestOneRoomOfWorkloadsKnowsNoOther(t *testing.T) {
	for room, rooms := range mayImport() {
		if !strings.HasPrefix(room, "workloads/") {
			continue
		}
		for _, other := range rooms {
			if strings.HasPrefix(other, "workloads/") {
				t.Errorf("%s may import %s: workloads never know each other", room, other)
			}
		}
	}
}
