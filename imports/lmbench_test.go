package imports

import (
	"encoding/csv"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
)

// lmbench-1.9-seed.txt is the posting, whose copy lost its columns; lmbench-1.9.txt its
// figures as lmbench 1.9 lays them out; 2.0 and 3.0 are invented figures in the layouts of
// these versions.

// The copy without columns and the one with them say the same, but the guesses of the rule.
func TestLmbenchWithAndWithoutColumns(t *testing.T) {
	with, without := lmbench(t, "lmbench-1.9.txt"), lmbench(t, "lmbench-1.9-seed.txt")
	if len(with.Warnings) != 0 || len(without.Warnings) != 1 || !strings.Contains(without.Warnings[0], "RPC/UDP and RPC/TCP are taken as the blank ones") {
		t.Errorf("warnings %q and %q", with.Warnings, without.Warnings)
	}
	if diff := cmp.Diff(with.Readings, without.Readings); diff != "" {
		t.Error(diff)
	}
	if n := len(with.Readings); n != 8*(11+7+8+7+9+4) {
		t.Errorf("%d readings", n)
	}
	if with.Imported != "lmbench 1.9" || without.Imported != "lmbench 1.9" {
		t.Errorf("imported from %q and %q", with.Imported, without.Imported)
	}
}

func lmbench(t *testing.T, name string) bench.SuiteResult {
	t.Helper()
	r, err := Lmbench(name, fixture(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// What is read of the seed is what configs/reference says of it, cell by cell.
func TestLmbenchReadsTheReference(t *testing.T) {
	f, err := os.Open("../configs/reference/lmbench-1.9.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := map[string]int{}
	for i, name := range rows[0] {
		column[name] = i
	}
	want := map[string]string{}
	for _, r := range rows[1:] {
		if r[column["series"]] != "guess" {
			want[r[column["run"]]+" "+r[column["object"]]+" "+r[column["series"]]] = r[column["value"]]
		}
	}
	got := lmbench(t, "lmbench-1.9-seed.txt").Readings
	if len(got) != len(want) {
		t.Errorf("%d readings of %d cells", len(got), len(want))
	}
	for _, g := range got {
		key := g.Run + " " + g.Table + " " + g.Name
		text, ok := want[key]
		var again bench.Reading
		if err := printed(&again, text); !ok || err != nil {
			t.Errorf("%s: %v, %v", key, ok, err)
		}
		if diff := cmp.Diff(again.Value, g.Value); diff != "" {
			t.Errorf("%s: %q: %s", key, text, diff)
		}
	}
}

// One row a table of each version: blank cells, K, cut-off digits, what has no value.
func TestLmbenchVersions(t *testing.T) {
	for _, tt := range []struct{ file, run, table, want string }{
		{"lmbench-1.9.txt", "class-tex/1", "processor", "clock=705 null_call=0.4 null_io=0.6 stat=3 open_close=5 select=20 signal_install=1.1 signal_handler=2 fork=200 exec=1000 sh=6000"},
		{"lmbench-1.9.txt", "riel-text/4", "local_latency", "context_switch_2p_0k=2 pipe=6 af_unix=14 udp=22 rpc_udp=blank tcp=154 rpc_tcp=blank tcp_connect=118"},
		{"lmbench-1.9.txt", "class-tex/1", "file_vm", "create_0k=6 delete_0k=1 create_10k=12 delete_10k=2 mmap=759 protection_fault=0:1us page_fault=0.0K:100us"},
		{"lmbench-1.9.txt", "class-tex/1", "memory_latency", "clock=705 l1=4 l2=175 main=218"},
		{"lmbench-2.0.txt", "alpha/1", "processor", "clock=797 null_call=0.4 null_io=0.61 stat=3.78 open_close=4.76 select=blank signal_install=1.02 signal_handler=3.37 fork=201 exec=1458 sh=13000"},
		{"lmbench-2.0.txt", "alpha/2", "local_latency", "context_switch_2p_0k=1.04 pipe=4.888 af_unix=8.7 udp=blank rpc_udp=blank tcp=blank rpc_tcp=blank tcp_connect=blank"},
		{"lmbench-2.0.txt", "alpha/2", "memory_latency", "clock=-1 l1=- l2=- main=-"},
		{"lmbench-3.0.txt", "beta/2", "processor", "clock=2801 null_call=0.08 null_io=0.12 stat=0.71 open_close=1.5 select=46.6 signal_install=0.18 signal_handler=45 fork=11000 exec=28000 sh=144000"},
		{"lmbench-3.0.txt", "beta/2", "context_switching", "context_switch_2p_0k=1.73 context_switch_2p_16k=0.88 context_switch_2p_64k=blank context_switch_8p_16k=blank context_switch_8p_64k=14.7 context_switch_16p_16k=0.1 context_switch_16p_64k=24.9"},
		{"lmbench-3.0.txt", "beta/1", "file_vm", "create_0k=31.4 delete_0k=4.138 create_10k=66.9 delete_10k=8.245 mmap=1124 protection_fault=1.327 page_fault=2.9568 select_100_files=5.316"},
		{"lmbench-3.0.txt", "beta/2", "memory_latency", "clock=2801 l1=1.3 l2=11.8 main=12.2 main_random=85.2"},
	} {
		t.Run(tt.file+" "+tt.table, func(t *testing.T) {
			var got []string
			for _, g := range lmbench(t, tt.file).Readings {
				if g.Run == tt.run && g.Table == tt.table {
					got = append(got, g.Name+"="+cell(t, &g))
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// cell is a reading in a word.
func cell(t *testing.T, g *bench.Reading) string {
	t.Helper()
	var text, last string
	switch {
	case g.Value != nil && g.NA == "":
		return fmt.Sprint(*g.Value)
	case g.NA == "not measured: the cell is blank":
		return "blank"
	}
	if n, _ := fmt.Sscanf(g.NA, "printed as %s less than %s", &text, &last); n == 2 {
		return text + last + g.Unit
	}
	if n, _ := fmt.Sscanf(g.NA, "not measured: printed as %s", &text); n == 1 {
		return text
	}
	t.Errorf("%+v", g)
	return ""
}

func TestLmbenchWarns(t *testing.T) {
	got := lmbench(t, "lmbench-3.0.txt").Warnings
	want := []string{
		`the table "Basic integer operations" was left out (2 rows): it has none of our figures`,
		"the table file_vm has 1 rows, another 2: lmbench leaves out rows without a figure, so which run of a host a row is of is not sure",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// Every line that it can't read is named.
func TestLmbenchComplains(t *testing.T) {
	whole := string(fixture(t, "lmbench-1.9.txt"))
	seed := string(fixture(t, "lmbench-1.9-seed.txt"))
	change := func(text, old, by string) string {
		t.Helper()
		if !strings.Contains(text, old) {
			t.Fatalf("the fixture has no %q", old)
		}
		return strings.Replace(text, old, by, 1)
	}
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", `f: no table of an lmbench summary is in it`},
		{"prose", "Hello\n", `f: no table of an lmbench summary is in it`},
		{"a word", change(whole, "  705  0.4  0.6    3    5", "  705  0.4  0.6 fast    5"), `f: line 11: "Processor, Processes - times in microseconds": column stat: "fast" is no number`},
		{"two in a column", change(whole, "0.4  0.6    3    5", "0.4  0.6  3 3    5"), `f: line 11: "Processor, Processes - times in microseconds": "3" and "3" stand under one column`},
		{"under two columns", change(whole, "0.4  0.6    3    5", "0.4  0.6 333333  5"), `f: line 11: "Processor, Processes - times in microseconds": "333333" stands under two columns`},
		{"behind all columns", change(whole, "0.2K   1K   6K\n", "0.2K   1K   6K    7\n"), `f: line 11: "Processor, Processes - times in microseconds": "7" stands under no column`},
		{"an annotation", change(whole, "class-tex Linux 2.4.0-t     2     13", "          ~~~~\nclass-tex Linux 2.4.0-t     2     13"), `f: line 26: "Context switching - times in microseconds": a row begins with the name of its host; remove the line "~~~~"`},
		{"fewer dashes", change(whole, "--------- ------------- ---- ---- ---- ---- ---- ----- ---- ---- ---- ---- ----", "--------- ------------- ---- ---- ---- ---- ---- ----- ----"), `f: line 10: 7 columns of dashes under 11 heads: the line was broken or cut off`},
		{"no dashes", change(whole, "--------- ------------- ---- ---- ---- ---- ---- ----- ---- ---- ---- ---- ----\n", ""), `f: line 8: no line of dashes in the three lines below`},
		{"other heads", change(whole, "selct sig  sig  fork", "selct sig  sig  spwn"), `f: line 8: the heads "Host OS Mhz null null open selct sig sig spwn exec sh" of "Processor, Processes - times in microseconds" are not those of lmbench 1.9, 2 or 3`},
		{"no title", change(whole, "Processor, Processes", "Something else"), `f: line 8: the heads of a table, but no title of lmbench's is in the four lines above`},
		{"lost columns, a value less", change(seed, "0.4 0.6 3 5 0.02K", "0.4 0.6 5 0.02K"), `f: line 21: "Processor, Processes - times in microseconds": 10 values under 11 heads, and the copy lost its columns`},
		{"lost columns, seven latencies", change(seed, "1 6 11 20 134 100", "1 6 11 20 30 134 100"), `f: line 47: "*Local* Communication latencies in microseconds": 7 values under 8 heads, and the copy lost its columns`},
		{"twice", whole + whole, `f: line 98: a second table "Processor, Processes - times in microseconds": keep one summary a file`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Lmbench("f", []byte(tt.text))
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("%v\nwant\n%s", err, tt.want)
			}
		})
	}
}

// Whatever is in a file, it is a result or an error; a value is never both known and n/a.
func FuzzLmbench(f *testing.F) {
	for _, name := range []string{"lmbench-1.9.txt", "lmbench-1.9-seed.txt", "lmbench-2.0.txt", "lmbench-3.0.txt"} {
		f.Add(fixture(f, name))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Lmbench("f", data)
		if err != nil {
			return
		}
		for _, g := range r.Readings {
			if (g.Value == nil) == (g.NA == "") || g.Value != nil && *g.Value <= 0 {
				t.Errorf("%+v", g)
			}
		}
	})
}
