package main

import (
	"encoding/csv"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"opcycle/bench"
	"opcycle/judge"
	"opcycle/run"
)

// Both hosts of the task, one and many items, both places of the output: whatever this
// machine did meanwhile, the identities hold and only its own stalls cost anything.
func TestShortRunsSatisfyTheIdentities(t *testing.T) {
	for _, host := range []bench.PLCHost{bench.HostServer, bench.HostClient} {
		for _, items := range []int{1, 100} {
			for _, publish := range []bench.PublishAt{bench.PublishEnd, bench.PublishStart} {
				t.Run(fmt.Sprintf("%s/%d items/%s", host, items, publish), func(t *testing.T) {
					alone(t)
					out := filepath.Join(t.TempDir(), "out")
					c := start(t, "", "run", "--out", out, profile(t, relaxedRun,
						fmt.Sprintf("plc: {%s, host: %s, publish: %s}", relaxedPLC, host, publish),
						fmt.Sprintf("opcua: {items: %d}", items)))
					code := c.code()
					f := identities(t, out)
					leftNothing(t, out)
					if !f.Complete || f.Phase.N != 40 {
						t.Errorf("complete %v, %d cycles", f.Complete, f.Phase.N)
					}
					if code != 0 && code != 1 || len(f.Invalid) != 0 {
						t.Errorf("exit %d, invalid %q", code, f.Invalid)
					}
					n := counts{t, f}
					if n.lost() != 0 || n.get("packets", "partial") != 0 {
						t.Errorf("lost %d, partial %d", n.lost(), n.get("packets", "partial"))
					}
					if v, want := n.get("packets", "values"), n.get("packets", "total")*int64(items); v != want {
						t.Errorf("%d values of %d items, not %d", v, items, want)
					}
					measuredAll(t, f)
					reportsTheSame(t, c, out, code)
					csvIsTheLongForm(t, out, code, f)
				})
			}
		}
	}
}

// measuredAll asserts that on one host every series has values.
func measuredAll(t *testing.T, f bench.File) {
	t.Helper()
	for _, name := range bench.SeriesNames() {
		if !strings.HasPrefix(bench.Statistics(name)[0], "count") || len(bench.Statistics(name)) < 10 {
			continue // no distribution
		}
		t.Run(name, func(t *testing.T) {
			if s := judge.FindSeries(&f, "", name); s == nil || s.Count < 10 {
				t.Errorf("no values: %+v", s)
			}
		})
	}
}

// reportsTheSame asserts that report prints byte for byte what run printed.
func reportsTheSame(t *testing.T, c *command, out string, code int) {
	t.Helper()
	again := start(t, "", "report", filepath.Join(out, run.ResultName))
	if got := again.code(); got != code {
		t.Errorf("run ended with %d, report with %d", code, got)
	}
	if a, b := c.stdout.String(), again.stdout.String(); a != b {
		t.Errorf("report prints something else than run:\n%s", b)
	}
}

func csvIsTheLongForm(t *testing.T, out string, code int, f bench.File) {
	t.Helper()
	c := start(t, "", "report", "--format", "csv", filepath.Join(out, run.ResultName))
	if got := c.code(); got != code {
		t.Errorf("run ended with %d, report --format csv with %d", code, got)
	}
	rows, err := csv.NewReader(strings.NewReader(c.stdout.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(rows[0], ","); got != "suite,object,series,statistic,value,unit" {
		t.Errorf("the head is %s", got)
	}
	values := map[string]string{}
	for _, r := range rows[1:] { // csv.Reader has checked that all have six
		values[r[1]+"/"+r[2]+"."+r[3]] = r[4]
		if _, err := strconv.ParseFloat(r[4], 64); err != nil && r[4] != "" && r[5] != "text" {
			t.Errorf("%v: neither a number nor empty", r)
		}
		if r[0] != "opcua" || r[5] == "" {
			t.Errorf("%v: suite or unit", r)
		}
	}
	for _, g := range f.Figures {
		if g.Series == "run" && g.Statistic == "valid" {
			continue // without an object: of the verdict
		}
		got, ok := values[g.Object+"/"+g.Series+"."+g.Statistic]
		if !ok || (g.Value == nil) != (got == "") {
			t.Errorf("%s/%s.%s: %v in the result, %q in the CSV", g.Object, g.Series, g.Statistic, g.Value, got)
		}
	}
	for _, s := range f.Series {
		for _, q := range s.Quantiles {
			name := s.Object + "/" + s.Name + "." + judge.QuantileName(q.Q)
			if got, ok := values[name]; !ok || (q.Value == nil) != (got == "") {
				t.Errorf("%s: %v in the result, %q in the CSV", name, q.Value, got)
			}
		}
	}
}
