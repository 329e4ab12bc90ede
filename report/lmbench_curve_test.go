package report

import (
	"strings"
	"testing"

	"opcycle/bench"
)

// curveFixture is a result with two runs of a curve, the second with a lower and a higher
// point, and a point that has no number.
func curveFixture() bench.File {
	f := lmbenchFixture()
	so := &bench.Samples{Columns: curveColumns(), Units: []string{"", "bytes", "ns", "ns"}}
	for _, row := range [][4]float64{{1, 512, 1.5, 1.5}, {1, 1536, 1.6, 3}, {1, 1 << 20, 2, 12.25}, {2, 512, 1.4, 1.6}, {2, 1536, 1.7, 3.1}, {2, 1 << 20, 2, 12.5}, {2, 1 << 30, 20, 150}} {
		so.Rows = append(so.Rows, []*float64{&row[0], &row[1], &row[2], &row[3]})
	}
	so.Rows = append(so.Rows, []*float64{number64(2), number64(1 << 31), nil, nil})
	f.Suites[0].Samples = so
	return f
}

func TestLmbenchCurve(t *testing.T) {
	golden(t, "lmbench_curve.txt", []byte(fromTitle(t, text(t, curveFixture()), "Memory load latency by working set")))
	f := lmbenchFixture()
	if out := text(t, f); strings.Contains(out, "by working set") {
		t.Error("a curve that nobody asked for")
	}
	f.Suites[0].Readings = append(f.Suites[0].Readings, bench.Reading{Table: "memory_latency", Name: "curve", Run: "1", Headline: true, NA: "too little memory"})
	if out := fromTitle(t, text(t, f), "by working set"); !strings.Contains(out, "n/a: too little memory") {
		t.Errorf("without its reason: %s", out)
	}
	f.Suites[0].Samples = &bench.Samples{Columns: []string{"another's"}, Rows: [][]*float64{{number64(1)}}}
	if rows := curveRows(&f.Suites[0]); rows != nil {
		t.Errorf("another's samples are a curve: %v", rows)
	}
}

// fromTitle is the text from the line that has a title to the next section.
func fromTitle(t *testing.T, out, title string) string {
	t.Helper()
	i := strings.Index(out, title)
	if i < 0 {
		t.Fatalf("no %q in\n%s", title, out)
	}
	out, _, _ = strings.Cut(out[i:], "\nCross-check")
	return out
}

func TestCurveRows(t *testing.T) {
	f := curveFixture()
	rows := curveRows(&f.Suites[0])
	if len(rows) != 14 {
		t.Fatalf("%d rows", len(rows))
	}
	if got := strings.Join(rows[3], ","); got != "lmbench,1/working set of 1536 bytes,curve_random,minimum_of_tries,3,ns" {
		t.Errorf("%s", got)
	}
}
