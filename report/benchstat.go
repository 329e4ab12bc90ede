package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"opcycle/bench"
	"opcycle/judge"
)

// Benchstat writes one result line a series in Go's benchmark format: benchstat then
// compares results of several runs, each run one sample.
// https://go.dev/design/14313-benchmark-format
//
// A quantile that is n/a is left out, as an unknown has no place in the format; the line's
// iterations are the samples of the series.
func Benchstat(w io.Writer, f bench.File, v judge.Verdict, _ []bench.Reference) error {
	var b strings.Builder
	fmt.Fprintf(&b, "pkg: %s/%s\n", toolName, f.Suite)
	for _, kv := range [][2]string{{"host", f.Host.Name}, {"cpu", f.Host.CPUModel}, {"kernel", f.Host.Kernel}, {"plan", f.Plan.Name}} {
		if kv[1] != "" {
			fmt.Fprintf(&b, "%s: %s\n", kv[0], strings.Join(strings.Fields(kv[1]), " "))
		}
	}
	fmt.Fprintf(&b, "valid: %t\n\n", v.Valid)
	for _, unit := range append(benchStatistics(), "packets") {
		if unit != "packets" {
			unit += "-ns"
		}
		fmt.Fprintf(&b, "Unit %s better=lower\n", unit)
	}
	for i := range f.Series {
		benchLine(&b, f.Suite, "", &f.Series[i])
	}
	for i := range f.Suites {
		r := &f.Suites[i]
		for j := range r.Series {
			benchLine(&b, r.Suite, r.Label, &r.Series[j])
		}
		for j := range r.Readings {
			benchReading(&b, r, &r.Readings[j])
		}
	}
	for i := range f.Figures {
		if g := &f.Figures[i]; g.Series == "packets" && (g.Statistic == "missed" || g.Statistic == "late") {
			if k := judge.Known(&f, g); k.OK {
				fmt.Fprintf(&b, "%s 1 %s packets\n", benchName(g.Object, "packets", g.Statistic), plain(&k.Value))
			}
		}
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write benchstat: %w", err)
	}
	return nil
}

func benchLine(b *strings.Builder, suite, label string, s *bench.Series) {
	if s.Count == 0 {
		return
	}
	object := s.Object
	if suite != bench.SuiteOPCUA {
		object = strings.TrimSuffix(suite+"/"+label, "/") + "/" + s.Object
	}
	fmt.Fprintf(b, "%s %d", benchName(object, s.Name), s.Count)
	for _, statistic := range benchStatistics() {
		if r := judge.Statistic(s, statistic); r.OK {
			fmt.Fprintf(b, " %s %s-%s", strconv.FormatFloat(r.Value, 'f', -1, 64), statistic, s.Unit)
		}
	}
	b.WriteByte('\n')
}

// benchStatistics are the statistics of a series that a line holds.
func benchStatistics() []string {
	return []string{"avg", "p50", "p90", "p99", "p99.9", "p99.99", "min", "max"}
}

func benchReading(b *strings.Builder, r *bench.SuiteResult, g *bench.Reading) {
	if g.Value != nil && g.Headline {
		fmt.Fprintf(b, "%s %d %s %s\n", benchName(r.Suite, r.Label, g.Table, g.Name), max(g.N, 1), plain(g.Value), strings.ReplaceAll(g.Unit, " ", "-"))
	}
}

// benchName is a benchmark's name: "Benchmark", then words separated by slashes, without
// spaces.
func benchName(words ...string) string {
	name := "Benchmark"
	for _, w := range words {
		if w == "" {
			continue
		}
		if name != "Benchmark" {
			name += "/"
			name += strings.ReplaceAll(w, " ", "_")
			continue
		}
		w = strings.ReplaceAll(w, " ", "_")
		name += strings.ToUpper(w[:1]) + w[1:]
	}
	return name
}
