package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opcycle/bench"
	"opcycle/judge"
)

// sideOf is a side of n runs, each a scenario.
func sideOf(t *testing.T, name string, n int, scenario string) judge.Side {
	t.Helper()
	s := judge.Side{Name: name}
	for range n {
		runs, err := judge.RunsOf(name+"/run.json", scenarioFile(t, scenario))
		if err != nil {
			t.Fatal(err)
		}
		s.Runs = append(s.Runs, runs...)
	}
	return s
}

func pairOf(base, other judge.Side, r judge.Rules) Pair {
	return Pair{Is: judge.Compare(base, other, r), Base: base, Other: other}
}

// pairs are comparisons of every kind: tested, untested, refused.
func pairs(t *testing.T) []Pair {
	t.Helper()
	rules := judge.Rules{Same: judge.DefaultSame}
	base := sideOf(t, "before", 5, "clean")
	other := sideOf(t, "after", 5, "overrun")
	other.LeftOut = []string{"after/6/run.json: incomplete"}
	for i := range other.Runs { // another machine, and a shift that five runs show
		other.Runs[i].Host["governor"] = "powersave"
		for j := range other.Runs[i].Series {
			s := &other.Runs[i].Series[j]
			for k := range s.Quantiles {
				if v := s.Quantiles[k].Value; v != nil && s.Name == "execution_time" {
					*v += int64(100_000 + 1000*i)
				}
			}
		}
	}
	return []Pair{pairOf(base, other, rules), pairOf(sideOf(t, "one", 1, "clean"), sideOf(t, "two", 1, "clean"), rules),
		pairOf(sideOf(t, "server", 1, "clean"), sideOf(t, "client", 1, "client"), rules)}
}

func comparedAs(t *testing.T, format string, list []Pair) []byte {
	t.Helper()
	f, err := FindCompareFormat(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b, list); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestCompareGoldens(t *testing.T) {
	for format, name := range map[string]string{"text": "compare.txt", "markdown": "compare.md", "csv": "compare.csv"} {
		t.Run(format, func(t *testing.T) { golden(t, name, comparedAs(t, format, pairs(t))) })
	}
}

func TestComparisonsAsJSON(t *testing.T) {
	list := pairs(t)
	var f comparedFile
	if err := json.Unmarshal(comparedAs(t, "json", list), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Comparisons) != 3 || f.Schema != compareSchema {
		t.Fatalf("%d comparisons of schema %d", len(f.Comparisons), f.Schema)
	}
	for i, c := range f.Comparisons {
		is := &list[i].Is
		if c.Outcome != is.Outcome || len(c.Rows) != len(is.Rows) || len(c.Differences) != len(is.Differences) || len(c.Refused) != len(is.Refused) {
			t.Errorf("%d: %s with %d rows", i, c.Outcome, len(c.Rows))
		}
		for j, r := range c.Rows {
			if known := !math.IsInf(is.Rows[j].Low, 0); known != (r.Low != nil) || known && *r.Low != is.Rows[j].Low {
				t.Errorf("%s.%s: low %v for %v", r.Series, r.Statistic, r.Low, is.Rows[j].Low)
			}
		}
	}
	if c := f.Comparisons[0]; c.Outcome != judge.Worse || len(c.LeftOut) != 1 || len(c.Base.Runs) != 5 {
		t.Errorf("%+v", c)
	}
}

// The page has both sides over each other, in words too, and a browser shows it.
func TestComparePage(t *testing.T) {
	page := comparedAs(t, "html", pairs(t)[:1])
	if m := outside.FindString(string(page)); m != "" {
		t.Errorf("asks for something outside: %s", m)
	}
	for _, w := range []string{"<b>worse</b>", "Histograms over each other", `aria-label="Histograms of task execution_time over each other: p50 `, "before, filled (5 run(s))", "after, line (5 run(s))", "left out"} {
		if !strings.Contains(string(page), w) {
			t.Errorf("%q is not on the page", w)
		}
	}
	path := filepath.Join(t.TempDir(), "c.html")
	if err := os.WriteFile(path, page, 0o644); err != nil {
		t.Fatal(err)
	}
	browsed(t, path)
}

func fleetOfScenarios(t *testing.T) ([]judge.Node, []judge.Left) {
	t.Helper()
	var runs []judge.FleetRun
	for _, n := range []struct{ node, scenario string }{{"plc-a", "overrun"}, {"plc-b", "clean"}, {"plc-c", "eventful"}, {"plc-d", "clean"}, {"plc-e", "invalid"}, {"plc-f", "client"}} {
		f := scenarioFile(t, n.scenario)
		f.Host.Name = n.node
		f.Plan.Server.CPUs = []int{len(runs)} // of each machine its own
		r, err := judge.FleetRunOf(n.node+"/run.json", f)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, r)
	}
	return judge.Fleet(runs, judge.Rules{Same: judge.DefaultSame})
}

func TestFleetGoldens(t *testing.T) {
	nodes, left := fleetOfScenarios(t)
	for format, name := range map[string]string{"text": "fleet.txt", "markdown": "fleet.md", "csv": "fleet.csv", "json": "fleet.json", "html": "fleet.html"} {
		t.Run(format, func(t *testing.T) {
			f, err := FindCompareFormat(format)
			if err != nil {
				t.Fatal(err)
			}
			var b bytes.Buffer
			if err := f.Fleet(&b, nodes, left); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}

func TestAgainst(t *testing.T) {
	refs, err := Against(shipped(t), "codesys")
	if err != nil || len(refs) != 16 {
		t.Fatalf("%d rows, %v", len(refs), err)
	}
	for _, name := range []string{"", "nobody", "intel"} {
		if _, err := Against(shipped(t), name); err == nil || !strings.Contains(err.Error(), "intel-codesys-opc-ua-client-benchmark") {
			t.Errorf("%q: %v", name, err)
		}
	}
	for _, p := range Products(shipped(t)) {
		if r, err := Against(shipped(t), p); err != nil || len(r) == 0 {
			t.Errorf("%s: %v", p, err)
		}
	}
	f := scenarioFile(t, "eventful")
	v := judge.Judge(f)
	for format, name := range map[string]string{"text": "against.txt", "markdown": "against.md", "csv": "against.csv", "json": "against.json"} {
		form, err := FindCompareFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := form.Against(&b, f, v, refs); err != nil {
			t.Fatal(err)
		}
		golden(t, name, b.Bytes())
	}
	suite := bench.File{Suite: "cyclictest", Suites: []bench.SuiteResult{{Suite: "cyclictest"}}}
	var b bytes.Buffer
	if err := CompareFormats()[0].Against(&b, suite, v, refs); err == nil || !strings.Contains(err.Error(), "publishes figures of opcua, this is a result of cyclictest") {
		t.Errorf("%v", err)
	}
}
