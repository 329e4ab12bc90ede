package report

import (
	"bytes"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"opcycle/bench"
	"opcycle/judge"
)

// shippedOf are the shipped references of one suite.
func shippedOf(t *testing.T, suite string) []bench.Reference {
	t.Helper()
	return slices.DeleteFunc(shipped(t), func(r bench.Reference) bool { return r.Suite != suite })
}

// file reads one shipped file alone.
func file(t *testing.T, name string) []bench.Reference {
	t.Helper()
	data, err := os.ReadFile("../configs/reference/" + name)
	if err != nil {
		t.Fatal(err)
	}
	refs, err := ReadReferences(fstest.MapFS{name: {Data: data}})
	if err != nil {
		t.Fatal(err)
	}
	return refs
}

// The number of rows of a file follows from the tables of its source.
func TestShippedReferencesAreWhole(t *testing.T) {
	want := map[string]struct{ rows, blank, noNumber int }{
		"codesys-opcua-client.csv": {16, 0, 0},        // 16 lines
		"caterpillar.csv":          {2 * 2 * 3, 0, 0}, // platforms, without and with CAT, lines
		"cyclictest.csv":           {2 * 2 * 4, 0, 1}, // the same with four lines; one misprint
		// 8 lines a table, columns without host and OS: 11 processor, 7 context switching,
		// 8 local latency, 7 file and VM, 9 bandwidth, 5 memory. Blank: RPC/UDP and RPC/TCP
		// of each line, 7 guesses. No number: these, the guess, 7 times 0 and 8 times 0.0K.
		"lmbench-1.9.csv": {8 * (11 + 7 + 8 + 7 + 9 + 5), 8*2 + 7, 8*2 + 7 + 1 + 7 + 8},
		// default and MCS, boards, figures, mean and standard deviation
		"sel4bench.csv": {2 * 5 * 4 * 2, 0, 0},
	}
	names, err := fs.Glob(os.DirFS("../configs/reference"), "*.csv")
	if err != nil || len(names) != len(want) {
		t.Errorf("files %q (%v), want %d", names, err, len(want))
	}
	for name, n := range want {
		blank, noNumber := 0, 0
		refs := file(t, name)
		for _, r := range refs {
			if r.Value == "" {
				blank++
			}
			if !r.Number().OK {
				noNumber++
			}
		}
		if len(refs) != n.rows || blank != n.blank || noNumber != n.noNumber {
			t.Errorf("%s: %d rows, %d blank, %d without number; want %+v", name, len(refs), blank, noNumber, n)
		}
	}
}

func TestShippedReferencesSayWhereFromAndHow(t *testing.T) {
	for _, r := range shipped(t) {
		if r.Source == "not stated" || r.Conditions == "not stated" || !strings.HasSuffix(r.Why, ".") {
			t.Errorf("%s, %s: source %q, conditions %q, why %q", r.Table, r.Row, r.Source, r.Conditions, r.Why)
		}
		if r.Suite == "sel4bench" {
			for _, part := range []string{"clock ", " GHz; compiler ", "gcc GNU ", "; build command init-build.sh -D"} {
				if !strings.Contains(r.Conditions, part) {
					t.Errorf("%s, %s: no %q in %q", r.Platform, r.Row, part, r.Conditions)
				}
			}
			if strings.Contains(r.Conditions, "-DMCS=TRUE") != (r.Table == "MCS") {
				t.Errorf("%s, table %s: %s", r.Platform, r.Table, r.Conditions)
			}
		}
		if r.Suite != "opcua" && r.ComparableServer != r.ComparableClient {
			t.Errorf("%s, %s: two words for a suite without a PLC", r.Table, r.Row)
		}
	}
}

// Cells of the sources that contradict each other or are misprinted, and no others.
func TestShippedReferencesInconsistent(t *testing.T) {
	var got []string
	for _, r := range shipped(t) {
		if r.ComparableServer == inconsistent || r.ComparableClient == inconsistent {
			got = append(got, strings.Join([]string{r.Suite, r.Run, r.Row, r.Value}, "|"))
		}
	}
	want := []string{"opcua|Single-node|Execution Time - Minimum|2448", "opcua|Single-node|Execution Time - Average|5597",
		"cyclictest|With CAT|Minimum Latencies|0000`", "lmbench|class-tex/1|Guesses|No L2 cache?"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestShippedReferencesParsed(t *testing.T) {
	tests := []struct {
		suite, platform, table, run, name string
		value                             float64 // 0: none
		unit                              string
	}{
		{"opcua", "i7", "CODESYS", "Single-node", "server_transmit_jitter.min", -1_842_000, "ns"},
		{"opcua", "i7", "CODESYS", "Single-node", "packets.total", 5996, "1"},
		{"caterpillar", "i7", "i7", "Without CAT", "sample_jitter.max", 1398, "cycles"},
		{"caterpillar", "Atom", "Atom", "With CAT", "sample_jitter.stddev", 31.29, "cycles"},
		{"cyclictest", "i7", "i7", "Without CAT", "latency.max", 55_000, "ns"},
		{"cyclictest", "i7", "i7", "With CAT", "latency.min", 0, "ns"},
		{"cyclictest", "Atom", "Atom", "With CAT", "latency.count", 345_600_000, "1"},
		{"lmbench", "Athlon", "Processor", "class-tex/1", "processor/select.median", 20_000, "ns"},
		{"lmbench", "Athlon", "Processor", "riel-text/3", "processor/fork.median", 300_000, "ns"},
		{"lmbench", "Athlon", "Processor", "riel-text/4", "processor/sh.median", 6_000_000, "ns"},
		{"lmbench", "Athlon", "Context", "riel-text/2", "context_switching/context_switch_2p_64k.median", 109_000, "ns"},
		{"lmbench", "Athlon", "Communication lat", "class-tex/1", "local_latency/rpc_udp.median", 0, "ns"},
		{"lmbench", "Athlon", "Communication lat", "class-tex/1", "local_latency/tcp.median", 134_000, "ns"},
		{"lmbench", "Athlon", "Communication lat", "class-tex/1", "local_latency/rpc_tcp.median", 0, "ns"},
		{"lmbench", "Athlon", "Communication lat", "class-tex/1", "local_latency/tcp_connect.median", 100_000, "ns"},
		{"lmbench", "Athlon", "File", "riel-text/4", "file_vm/protection_fault.median", 1000, "ns"},
		{"lmbench", "Athlon", "File", "riel-text/3", "file_vm/protection_fault.median", 0, "ns"},
		{"lmbench", "Athlon", "File", "riel-text/4", "file_vm/page_fault.median", 0, "ns"},
		{"lmbench", "Athlon", "bandwidths", "class-tex/2", "local_bandwidth/pipe.median", 378, "MB/s"},
		{"lmbench", "Athlon", "Memory", "riel-text/3", "memory_latency/l2.minimum_of_tries", 32, "ns"},
		{"lmbench", "Athlon", "Memory", "class-tex/1", "memory_latency/guess.text", 0, "text"},
		{"lmbench", "Athlon", "Memory", "class-tex/4", "memory_latency/clock.median", 705, "MHz"},
		{"sel4bench", "i7-6700", "Default", "x86_64", "sel4/irq_invoke.mean", 1280, "cycles"},
		{"sel4bench", "i7-4770", "MCS", "x86_64", "sel4/notify.stddev", 12, "cycles"},
		{"sel4bench", "U54", "MCS", "RV64IMAC", "sel4/notify.mean", 3855, "cycles"},
	}
	refs := shipped(t)
	for _, tt := range tests {
		found := slices.DeleteFunc(slices.Clone(refs), func(r bench.Reference) bool {
			return r.Suite != tt.suite || !strings.Contains(r.Platform, tt.platform) || !strings.Contains(r.Table, tt.table) ||
				!strings.HasPrefix(r.Run, tt.run) || machineName(r) != tt.name
		})
		if len(found) != 1 {
			t.Errorf("%+v: %d rows", tt, len(found))
			continue
		}
		n := found[0].Number()
		if n.Value != tt.value || n.Unit != tt.unit || n.OK != (tt.value != 0) || n.OK == (n.NA != "") {
			t.Errorf("%+v: %+v", tt, n)
		}
	}
}

func TestReferencesGolden(t *testing.T) {
	var b bytes.Buffer
	if err := References(&b, shipped(t)); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > width {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	golden(t, "references.txt", b.Bytes())
}

func TestReadReferencesRefuses(t *testing.T) {
	head := strings.Join(referenceColumns(), ",")
	line := "opcua,V,P,M,T,One,Execution Time - Maximum,,execution_time,max,5597,us,C,S,not stated,topology,definition,Because."
	with := func(pairs ...string) string { return head + "\n" + strings.NewReplacer(pairs...).Replace(line) + "\n" }
	tests := []struct{ name, data, want string }{
		{"another head", "a,b\n", "a.csv:1: the columns are"},
		{"nothing", "", "a.csv:1: no head line"},
		{"too few fields", head + "\n" + line + "\nV,P\n", "a.csv:3: 2 fields; write 18"},
		{"no conditions", with(",C,", ",,"), "a.csv:2: conditions is empty"},
		{"no source", with(",S,", ",,"), "a.csv:2: source is empty"},
		{"a space", with(",C,", ", C,"), `a.csv:2: conditions " C" begins or ends with a space`},
		{"a word", with(",topology,", ",maybe,"), `a.csv:2: "maybe" says nothing about comparability`},
		{"a suite", with("opcua", "winstone"), `a.csv:2: suite "winstone" is not known`},
		{"a figure", with(",max,", ",biggest,"), "a.csv:2: no figure is called execution_time.biggest in the suite opcua"},
		{"a figure of another suite", with("opcua", "lmbench"), "a.csv:2: no figure is called execution_time.max in the suite lmbench"},
		{"an object too many", with(",,execution", ",task,execution"), "a.csv:2: no figure is called task/execution_time.max"},
		{"a value", with("5597", "fast"), `a.csv:2: the published value "fast" of "Execution Time - Maximum": no number as printed; correct it, or mark both topologies inconsistent`},
		{"a blank that is compared", with("5597", ""), `a.csv:2: the published value "" of "Execution Time - Maximum": the cell is blank: not measured; correct it, or mark both topologies unknown`},
		{"a zero that is compared", with("5597", "0.0K"), "a.csv:2: the published value \"0.0K\" of \"Execution Time - Maximum\": printed as 0"},
		{"a unit", with(",us,", ",ms,"), `a.csv:2: the unit "ms" is not one of execution_time.max; write us or ns`},
		{"twice", head + "\n" + line + "\n" + line + "\n", "a.csv:3: row \"Execution Time - Maximum\" stands already in line 2"},
		{"two rows of one name", head + "\n" + line + "\n" + strings.Replace(line, "Maximum", "Most", 1) + "\n", "a.csv:3: figure execution_time.max stands already in line 2"},
		{"quotes", head + "\n\"V\n", "a.csv:2: extraneous or missing"},
	}
	for _, tt := range tests {
		_, err := ReadReferences(fstest.MapFS{"a.csv": {Data: []byte(tt.data)}})
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
	if _, err := ReadReferences(fstest.MapFS{}); err == nil {
		t.Error("no file at all must be an error")
	}
	for _, good := range []string{with(), with("5597", "", "topology,definition", "unknown,unknown"),
		with("5597", "0000`", "topology,definition", "inconsistent,inconsistent")} {
		if refs, err := ReadReferences(fstest.MapFS{"a.csv": {Data: []byte(good)}}); err != nil || len(refs) != 1 {
			t.Errorf("a good line: %v, %v\n%s", refs, err, good)
		}
	}
}

// A run stands beside the references of its own suite only.
func TestComparableTakesTheSuiteOfTheRun(t *testing.T) {
	for suite, want := range map[string]int{"opcua": 16, "lmbench": 376, "": 0} {
		f := scenarioFile(t, "clean")
		f.Suite = suite
		if got := judge.Comparable(f, shipped(t)); len(got) != want {
			t.Errorf("suite %q: %d references, want %d", suite, len(got), want)
		}
	}
}
