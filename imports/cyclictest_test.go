package imports

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
)

// The fixtures are what cyclictest 2.40 (Debian's rt-tests 2.4) printed and wrote.
func fixture(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// said is what a result says of one thread; -1 is n/a.
type said struct {
	Object                                string
	Cycles, Overflow, Low, High, P50, P99 int64
	Avg                                   float64
	StdDev                                bool
}

func saidBy(t *testing.T, r *bench.SuiteResult) []said {
	t.Helper()
	var out []said
	for i := range r.Series {
		s := &r.Series[i]
		x := said{Object: s.Object, Cycles: s.Count, Overflow: -1, Low: *s.Min, High: *s.Max, P50: -1, P99: -1, Avg: *s.Avg, StdDev: s.StdDev != nil}
		for _, q := range s.Quantiles {
			switch {
			case q.Value == nil && q.NA == "":
				t.Errorf("%s: quantile %v is neither a value nor n/a", s.Object, q.Q)
			case q.Value != nil && q.Q == 0.5:
				x.P50 = *q.Value
			case q.Value != nil && q.Q == 0.99:
				x.P99 = *q.Value
			}
		}
		for _, f := range r.Figures {
			if f.Object == s.Object && f.Series == "histogram" && f.Statistic == "overflow" && f.Value != nil {
				x.Overflow = int64(*f.Value)
			}
		}
		out = append(out, x)
	}
	return out
}

func TestCyclictestIsRead(t *testing.T) {
	for name, want := range map[string][]said{
		"one.json":          {{"cpu1", 7782, 36, 17_000, 3_098_000, 32_000, 68_000, 40_910, false}},
		"one-h.txt":         {{"thread0", 7782, 36, 17_000, 3_098_000, 32_000, 68_000, 40_000, false}}, // the same run
		"two.json":          {{"cpu0", 300, 0, 19_000, 48_000, 21_000, -1, 22_350, true}, {"cpu1", 300, 0, 19_000, 1_020_000, 40_000, -1, 42_030, true}},
		"two-histofall.txt": {{"thread0", 400, 2, 18_000, 137_000, 23_000, -1, 23_000, false}, {"thread1", 400, 21, 30_000, 158_000, 41_000, -1, 42_000, false}},
		"others.txt":        {{"thread0", 40, 40, 20_000, 33_000, -1, -1, 22_000, false}, {"thread1", 40, 40, 35_000, 105_000, -1, -1, 46_000, false}},
		"one-progress.txt":  {{"thread0", 200, -1, 21_000, 118_000, -1, -1, 44_000, false}},
		"ns.json":           {{"cpu1", 400, -1, 17_282, 77_559, -1, -1, 47_941.98, false}},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Cyclictest(name, fixture(t, name))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, saidBy(t, &r)); d != "" {
				t.Error(d)
			}
			if r.Suite != cyclictest || !r.Complete {
				t.Errorf("suite %q, complete %v", r.Suite, r.Complete)
			}
		})
	}
}

// What the JSON says of the run itself: two of its keys end in a colon.
func TestCyclictestSaysItsVersionAndTime(t *testing.T) {
	run, err := ReadCyclictest("one.json", fixture(t, "one.json"))
	if err != nil {
		t.Fatal(err)
	}
	begin := time.Date(2026, 12, 1, 3, 32, 38, 0, time.UTC)
	if run.Version != "2.40" || run.Command != "cyclictest -a1 -t1 -p99 -m -i250 -D2 -h400 -q --json=one.json" ||
		run.Started.Sub(begin).Abs() > time.Minute || run.Ended.Sub(run.Started) < time.Second {
		t.Errorf("%+v", run)
	}
	newer := strings.NewReplacer(`cmdline:"`, `cmdline"`, `version:"`, `version"`).Replace(string(fixture(t, "one.json")))
	if again, err := ReadCyclictest("newer", []byte(newer)); err != nil || again.Version != run.Version || again.Command != run.Command {
		t.Errorf("without the colons: %+v, %v", again, err)
	}
}

// What can't be read is an error with the number of its line, and names the file.
func TestCyclictestThatCannotBeReadIsAnError(t *testing.T) {
	with := func(name, old, new string) string {
		text := string(fixture(t, name))
		if !strings.Contains(text, old) {
			t.Fatalf("%s holds no %q", name, old)
		}
		return strings.Replace(text, old, new, 1)
	}
	half := string(fixture(t, "one.json"))
	half = half[:len(half)/2]
	for name, c := range map[string]struct{ text, want string }{
		"empty":                   {"", "no thread of cyclictest"},
		"only its head":           {"# /dev/cpu_dma_latency set to 0us\n", "no thread of cyclictest"},
		"another program":         {"hello\n", "line 1: no line of cyclictest"},
		"a shell's prompt":        {"# /dev/cpu_dma_latency set to 0us\n$ uname -a\n", `line 2: no line of cyclictest that can be read: "$ uname -a"`},
		"-v":                      {"       0:       0:      15\n", "line 1: no line"},
		"a table cut short":       {with("one-h.txt", "# Min Latencies: 00017\n", ""), "threads"},
		"a row with a column":     {with("others.txt", "000001 000000\t000000", "000001 000000"), "line 4: a row of the histogram"},
		"a row twice":             {with("others.txt", "000001 ", "000000 "), "line 4: a row of the histogram"},
		"a number too large":      {with("others.txt", "000001 000000", "000001 99999999999999999999"), `line 4: "99999999999999999999" is too large`},
		"another total":           {with("others.txt", "# Total: 000000000", "# Total: 000000001"), "# Total"},
		"a missing thread":        {"T: 1 (  1) P:99 I:500 C:  1 Min:  1 Act:  1 Avg:  1 Max:  1\n", "there is no thread 0"},
		"minimum above maximum":   {"T: 0 (  1) P:99 I:500 C:  1 Min:  3 Act:  1 Avg:  1 Max:  1\n", "line 1: a minimum of 3 and a maximum of 1"},
		"JSON cut short":          {half, "unexpected end of JSON"},
		"JSON with a text":        {with("one.json", `"cycles": 7782`, `"cycles": "many"`), "line "},
		"JSON of another version": {with("one.json", `"file_version": 1`, `"file_version": 2`), "line 2: its file_version is not 1"},
		"JSON without a thread":   {with("one.json", `"num_threads": 1`, `"num_threads": 2`), "1 threads are in it"},
		"JSON with a strange key": {with("one.json", `"17":`, `"x":`), `of "x"`},
		"JSON that holds more":    {with("one.json", `"cycles": 7782`, `"cycles": 7`), "its histogram holds 7746 of 7 cycles"},
		"JSON without a minimum":  {with("one.json", `"min": 17,`, ``), "has to have cycles, min, max and avg"},
		"JSON with no time":       {with("one.json", `"start_time": "Tue,`, `"start_time": "Someday,`), `line 5: start_time "Someday`},
		"JSON of a nan":           {with("one.json", `"avg": 40.91`, `"avg": -nan`), "invalid character"},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Cyclictest("file.x", []byte(c.text))
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "file.x: ") {
				t.Errorf("%v, want %q (%d series)", err, c.want, len(r.Series))
			}
		})
	}
}

// An error has the right line: the one that was broken.
func TestAnErrorOfJSONHasItsLine(t *testing.T) {
	lines := strings.Split(string(fixture(t, "one.json")), "\n")
	for i, l := range lines {
		if !strings.Contains(l, `: 1,`) || !strings.HasPrefix(l, "        ") {
			continue
		}
		broken := append(append(append([]string{}, lines[:i]...), strings.Replace(l, "1,", "1x,", 1)), lines[i+1:]...)
		_, err := Cyclictest("f", []byte(strings.Join(broken, "\n")))
		if want := fmt.Sprintf("line %d:", i+1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func FuzzCyclictest(f *testing.F) {
	names, err := filepath.Glob("testdata/*")
	if err != nil || len(names) == 0 {
		f.Fatal("no fixtures", err)
	}
	for _, name := range names {
		f.Add(fixture(f, filepath.Base(name)))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Cyclictest("f", data)
		if err == nil && len(r.Series) == 0 {
			t.Error("neither a series nor an error")
		}
	})
}
