package report

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"opcycle/bench"
)

func TestShippedReferences(t *testing.T) {
	refs := shipped(t)
	if len(refs) != 16 {
		t.Fatalf("%d rows, the vendor's table has 16", len(refs))
	}
	contradictory := map[string]bool{"Execution Time - Minimum": true, "Execution Time - Average": true}
	for _, r := range refs {
		for _, host := range []bench.PLCHost{bench.HostServer, bench.HostClient} {
			if (r.Comparable(host) == "inconsistent") != contradictory[r.Row] {
				t.Errorf("%s is %q with host = %s", r.Row, r.Comparable(host), host)
			}
		}
	}
	var b bytes.Buffer
	if err := References(&b, refs); err != nil {
		t.Fatal(err)
	}
	golden(t, "references.txt", b.Bytes())
}

func TestReadReferencesRefuses(t *testing.T) {
	head := strings.Join(referenceColumns(), ",")
	line := "V,P,M,Execution Time - Maximum,execution_time,max,5597,us,C,S,not stated,topology,definition,Because."
	tests := []struct{ name, data, want string }{
		{"another head", "a,b\n", "a.csv:1: the columns are"},
		{"nothing", "", "a.csv:1: no head line"},
		{"too few fields", head + "\n" + line + "\nV,P\n", "a.csv:3: 2 fields; write 14"},
		{"an empty field", head + "\n" + strings.Replace(line, ",C,", ",,", 1) + "\n", "a.csv:2: conditions is empty"},
		{"a word", head + "\n" + strings.Replace(line, ",topology,", ",maybe,", 1) + "\n", `a.csv:2: "maybe" says nothing about comparability`},
		{"a figure", head + "\n" + strings.Replace(line, ",max,", ",biggest,", 1) + "\n", "a.csv:2: no figure is called execution_time.biggest"},
		{"a value", head + "\n" + strings.Replace(line, ",5597,", ",fast,", 1) + "\n", `a.csv:2: the published value "fast"`},
		{"a unit", head + "\n" + strings.Replace(line, ",us,", ",ms,", 1) + "\n", `a.csv:2: the unit "ms"`},
		{"twice", head + "\n" + line + "\n" + line + "\n", "a.csv:3: row \"Execution Time - Maximum\" stands already in line 2"},
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
	if refs, err := ReadReferences(fstest.MapFS{"a.csv": {Data: []byte(head + "\n" + line + "\n")}}); err != nil || len(refs) != 1 {
		t.Errorf("a good line: %v, %v", refs, err)
	}
}
