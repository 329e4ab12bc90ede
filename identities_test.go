package main

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/HdrHistogram/hdrhistogram-go"

	"opcycle/bench"
	"opcycle/judge"
	"opcycle/record"
	"opcycle/run"
)

// identities asserts what metrics.md, "Identities every report satisfies", says of every
// result of a phase that ran, whatever the machine did meanwhile.
func identities(t *testing.T, dir string) bench.File {
	t.Helper()
	f := result(t, dir)
	c := counts{t, f}
	c.packets()
	c.executed()
	for i := range f.Series {
		series(t, &f.Series[i])
	}
	names(t, f)
	thieves(t, f)
	if f.Cycles != "" {
		records(t, f, dir)
	}
	return f
}

type counts struct {
	t *testing.T
	f bench.File
}

// get is a figure that has to be known.
func (c counts) get(series, statistic string) int64 {
	c.t.Helper()
	v, _, na, ok := judge.Lookup(c.f, "", series, statistic)
	if !ok {
		c.t.Errorf("%s.%s is n/a: %s", series, statistic, na)
	}
	return int64(v)
}

func (c counts) packets() {
	c.t.Helper()
	expected := c.get("packets", "expected")
	if expected != c.f.Phase.Ran || c.f.Complete && c.f.Phase.Ran != c.f.Phase.N || c.f.Phase.N != c.f.Plan.Cycles {
		c.t.Errorf("expected %d, ran %d, n %d, planned %d", expected, c.f.Phase.Ran, c.f.Phase.N, c.f.Plan.Cycles)
	}
	onTime, late, missed := c.get("packets", "on_time"), c.get("packets", "late"), c.get("packets", "missed")
	if onTime+late+missed != expected {
		c.t.Errorf("on time %d + late %d + missed %d is not expected %d", onTime, late, missed, expected)
	}
	if total := c.get("packets", "total"); total != onTime+late {
		c.t.Errorf("total %d is not on time %d + late %d", total, onTime, late)
	}
	var missedBy, lateBy int64
	for _, cause := range bench.MissedCauses() {
		missedBy += c.get("missed", string(cause))
	}
	for _, cause := range bench.LateCauses() {
		lateBy += c.get("late", string(cause))
	}
	if missedBy != missed || lateBy != late {
		c.t.Errorf("causes: %d of %d missed, %d of %d late", missedBy, missed, lateBy, late)
	}
	if n := c.get("packets", "duplicate"); n != 0 && len(c.f.Invalid) == 0 {
		c.t.Errorf("%d duplicates", n)
	}
	if sent, sum := c.get("writes", "sent"), c.get("writes", "acknowledged")+c.get("writes", "no_ack")+c.get("writes", "failed"); sent != sum {
		c.t.Errorf("writes: sent %d, acknowledged + no_ack + failed %d", sent, sum)
	}
	if c.f.AbnormalLeftOut == 0 {
		var l, m int64
		for _, r := range c.f.Abnormal {
			switch r.Outcome {
			case bench.Late:
				l++
			case bench.Missed:
				m++
			}
		}
		if l != late || m != missed {
			c.t.Errorf("abnormal holds %d late and %d missed, counted are %d and %d", l, m, late, missed)
		}
	}
}

// lost are the missed cycles by causes other than skipped_release, which are told.
func (c counts) lost() int64 {
	c.t.Helper()
	n := c.get("packets", "missed") - c.get("missed", string(bench.SkippedRelease))
	for i, r := range c.f.Abnormal {
		if n != 0 && i < 40 {
			text, _ := json.Marshal(r)
			c.t.Logf("index %d of the phase: %s", r.K-c.f.Phase.First, text)
		}
	}
	return n
}

func (c counts) executed() {
	c.t.Helper()
	f := c.f
	execution, response := judge.FindSeries(&f, "", "execution_time"), judge.FindSeries(&f, "", "response_time")
	dead := judge.FindSeries(&f, "", "dead_time")
	if execution == nil || response == nil || dead == nil {
		c.t.Error("execution, response or dead time is not in the result")
		return
	}
	if f.Complete && response.Count != f.Phase.N && len(f.Processes) == 2 {
		c.t.Errorf("response time has %d values, not N = %d", response.Count, f.Phase.N)
	}
	if f.Plan.Task.Host == bench.HostServer && len(f.Processes) == 2 {
		if skipped := c.get("missed", string(bench.SkippedRelease)); execution.Count+skipped != f.Phase.Ran {
			c.t.Errorf("executed %d + skipped %d is not %d", execution.Count, skipped, f.Phase.Ran)
		}
	}
	if execution.Count != dead.Count {
		c.t.Errorf("%d execution times, %d dead times", execution.Count, dead.Count)
	}
	if execution.Count > 0 && execution.Sum+dead.Sum != execution.Count*f.Plan.Period() {
		c.t.Errorf("sum(E) %d + sum(Dead) %d is not %d T", execution.Sum, dead.Sum, execution.Count)
	}
	if execution.Avg != nil && dead.Avg != nil {
		if off := *execution.Avg + *dead.Avg - float64(f.Plan.Period()); math.Abs(off) > 1e-3 {
			c.t.Errorf("avg(E) + avg(Dead) is off T by %g ns", off)
		}
	}
}

// series asserts that a series agrees with itself.
func series(t *testing.T, s *bench.Series) {
	t.Helper()
	wrong := func(what string, args ...any) { t.Helper(); t.Errorf("%s: "+what, append([]any{s.Name}, args...)...) }
	pos, neg := decoded(t, s.Name, s.Positive), decoded(t, s.Name, s.Negative)
	if pos+neg != s.Count-s.Underflow-s.Overflow {
		wrong("the histograms hold %d + %d, not %d − %d − %d", pos, neg, s.Count, s.Underflow, s.Overflow)
	}
	if s.Count == 0 {
		if s.Min != nil || s.Max != nil || s.Avg != nil || s.StdDev != nil || s.NA == "" || len(s.Blocks) != 0 {
			wrong("no value, but %+v", s)
		}
		return
	}
	if s.Min == nil || s.Max == nil || s.Avg == nil || s.NA != "" {
		wrong("%d values and no moments, n/a %q", s.Count, s.NA)
		return
	}
	low, high := *s.Min, *s.Max
	if (low >= 0) != (neg == 0 && s.Underflow == 0) || (high < 0) != (pos == 0 && s.Overflow == 0) {
		wrong("min %d and max %d, but %d values from 0 on and %d below", low, high, pos, neg)
	}
	if float64(low) > *s.Avg || *s.Avg > float64(high) {
		wrong("avg %g lies outside %d to %d", *s.Avg, low, high)
	}
	if math.Abs(*s.Avg*float64(s.Count)-float64(s.Sum)) > 1e-6*math.Abs(float64(s.Sum))+1 {
		wrong("avg %g of %d is not sum %d", *s.Avg, s.Count, s.Sum)
	}
	last := low
	for _, q := range s.Quantiles {
		if q.Value == nil {
			if q.NA == "" || q.Beyond >= bench.SamplesBeyond {
				wrong("p%g has no value with %d beyond: %q", 100*q.Q, q.Beyond, q.NA)
			}
			continue
		}
		if *q.Value < last || *q.Value > high {
			wrong("p%g %d is below the one before (%d) or above max %d", 100*q.Q, *q.Value, last, high)
		}
		last = *q.Value
	}
	blocks(t, s)
}

// blocks asserts that the seconds add up to the whole, exactly.
func blocks(t *testing.T, s *bench.Series) {
	t.Helper()
	if len(s.Blocks) == 0 {
		if s.Name != "floor_transmit" && s.Name != "floor_wake_up" {
			t.Errorf("%s has no seconds", s.Name)
		}
		return
	}
	whole, squares := record.Moments{Min: s.Blocks[0].Min, Max: s.Blocks[0].Max}, new(big.Int)
	for i, b := range s.Blocks {
		if i > 0 && b.Second <= s.Blocks[i-1].Second || b.Count < 1 {
			t.Errorf("%s: second %d with %d values follows second %d", s.Name, b.Second, b.Count, s.Blocks[max(i-1, 0)].Second)
		}
		whole.Count, whole.Sum = whole.Count+b.Count, whole.Sum+b.Sum
		whole.Min, whole.Max = min(whole.Min, b.Min), max(whole.Max, b.Max)
		squares.Add(squares, number(t, b.Squares))
	}
	if whole.Count != s.Count || whole.Sum != s.Sum || whole.Min != *s.Min || whole.Max != *s.Max || squares.Cmp(number(t, s.Squares)) != 0 {
		t.Errorf("%s: the seconds give count %d, sum %d, min %d, max %d, squares %s; the whole has %d, %d, %d, %d, %s", s.Name,
			whole.Count, whole.Sum, whole.Min, whole.Max, squares, s.Count, s.Sum, *s.Min, *s.Max, s.Squares)
	}
}

func number(t *testing.T, s string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(s, 10)
	if !ok {
		t.Fatalf("%q is no number", s)
	}
	return n
}

// decoded is the total count of an exported histogram.
func decoded(t *testing.T, name, export string) int64 {
	t.Helper()
	if export == "" {
		return 0
	}
	h, err := hdrhistogram.Decode([]byte(export))
	if err != nil {
		t.Errorf("%s: the histogram does not decode: %v", name, err)
		return -1
	}
	return h.TotalCount()
}

// beyondTheTable are the figures that a result holds beside the table of metrics.md.
// Whoever adds one adds it here, knowingly; "*" stands for every statistic.
func beyondTheTable() map[string][]string {
	return map[string][]string{
		"packets":              {"values_in_message_max", "unstamped"},
		"writes":               {"sent", "acknowledged", "no_ack", "failed", "late_ack", "echo_skipped"},
		"inputs":               {"fresh", "stale", "skipped_values"},
		"allocations":          {"per_packet"},
		"cpu":                  {"sum", "per_packet"},
		"memory":               {"heap_bytes", "goroutines", "descriptors"},
		"counters":             {"*"}, // the embedded server's own
		"control_cycle_period": {"*"}, // the measured one; run.control_cycle_period is the configured
	}
}

// names asserts that every figure has a machine name and stands there once.
func names(t *testing.T, f bench.File) {
	t.Helper()
	seen := map[string]bool{}
	check := func(object, series, statistic string) {
		t.Helper()
		key := object + "/" + series + "." + statistic
		if seen[key] {
			t.Errorf("%s stands twice in the result", key)
		}
		seen[key] = true
		if beyond := beyondTheTable()[series]; slices.Contains(beyond, "*") || slices.Contains(beyond, statistic) {
			return
		}
		if !slices.Contains(bench.SeriesNames(), series) || statistic != "" && !slices.Contains(bench.Statistics(series), statistic) {
			t.Errorf("%s is no name of metrics.md", key)
		}
	}
	for _, g := range f.Figures {
		check(g.Object, g.Series, g.Statistic)
		if (g.Value == nil) == (g.NA == "") && g.Unit != "text" {
			t.Errorf("%s.%s: value %v and n/a %q", g.Series, g.Statistic, g.Value, g.NA)
		}
		if unit := bench.StatisticUnit(g.Series, g.Statistic); unit != "" && unit != g.Unit {
			t.Errorf("%s.%s is in %q, not %q", g.Series, g.Statistic, g.Unit, unit)
		}
	}
	for _, s := range f.Series {
		check(s.Object, s.Name, "")
	}
}

// thieves asserts that every skipped release and every late value has its thief.
func thieves(t *testing.T, f bench.File) {
	t.Helper()
	for _, r := range f.Abnormal {
		if r.Outcome == bench.OnTime || r.Outcome == bench.Missed && r.Cause != bench.SkippedRelease {
			continue
		}
		var sum int64
		unknown := r.Thieves.RunQueue == nil
		for _, thief := range judge.ThievesOf(r.Thieves) {
			if thief.Lost != nil {
				sum += *thief.Lost
			}
		}
		if sum <= 0 && !unknown {
			t.Errorf("index %d, %s by %s, has no thief: %+v", r.K, r.Outcome, r.Cause, r)
		}
	}
}

// records reads cycles.bin and asserts the identity of every release, and that the exact
// figures of the result are those of the records.
func records(t *testing.T, f bench.File, dir string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, f.Cycles))
	if err != nil {
		t.Fatal(err)
	}
	if f.Cycles != run.RecordsName || len(data)%record.Size != 0 {
		t.Fatalf("%s has %d bytes, no whole number of records", f.Cycles, len(data))
	}
	hosted := f.Plan.Task.Host == bench.HostClient
	again := map[string][]int64{}
	last := f.Phase.First + f.Phase.Ran - 1
	for at := 0; at < len(data); at += record.Size {
		r, client := unpack(data[at : at+record.Size])
		if r.K < f.Phase.First || r.K > last {
			if r.K >= f.Phase.First+f.Phase.N || r.K < f.Phase.First {
				t.Errorf("a record of index %d, outside the phase", r.K)
			}
			continue
		}
		if r.Kind == record.KindRelease {
			grid := f.Phase.Grid
			if client {
				grid = f.Phase.Task
			}
			release(t, r.Release(), grid, client == hosted, again)
		}
		if r.Kind == record.KindArrival && r.Flags&record.FlagPartial == 0 {
			again["arrival_offset"] = append(again["arrival_offset"], r.Arrival().Received-f.Phase.Grid.Due(r.K))
		}
	}
	if hosted && f.Phase.Task.Origin == f.Phase.Grid.Origin {
		t.Error("the client's task has the server's grid: it was not aligned")
	}
	for name, values := range again {
		same(t, &f, name, values)
	}
}

// unpack is the inverse of the record writer of package run.
func unpack(b []byte) (record.Record, bool) {
	le := binary.LittleEndian
	kind := le.Uint32(b)
	r := record.Record{Kind: record.Kind(kind &^ (1 << 31)), Flags: record.Flags(le.Uint32(b[4:])), K: int64(le.Uint64(b[8:]))}
	for i := range r.A {
		r.A[i] = int64(le.Uint64(b[16+8*i:]))
	}
	return r, kind&(1<<31) != 0
}

// release asserts identity 1 on one record; of the program's task it keeps the figures.
func release(t *testing.T, r record.Release, grid bench.Grid, program bool, again map[string][]int64) {
	t.Helper()
	if r.Due != grid.Due(r.K) {
		t.Errorf("release %d is due at %d, on the grid at %d", r.K, r.Due, grid.Due(r.K))
	}
	if r.Wake < r.Due || r.Begin < r.Wake || r.End < r.Begin || r.Done < r.End {
		t.Errorf("release %d: S %d, W %d, C0 %d, C1 %d, X %d are not in order", r.K, r.Due, r.Wake, r.Begin, r.End, r.Done)
	}
	e := r.Done - r.Due
	if sum := (r.Wake - r.Due) + (r.Begin - r.Wake) + (r.End - r.Begin) + (r.Done - r.End); sum != e {
		t.Errorf("release %d: the parts are %d, the whole is %d", r.K, sum, e)
	}
	if !program {
		return
	}
	for name, v := range map[string]int64{"start_latency": r.Wake - r.Due, "calculation_time": r.End - r.Begin,
		"execution_time": e, "task_time": r.Done - r.Wake, "dead_time": grid.Period - e} {
		again[name] = append(again[name], v)
	}
}

// same asserts that the series of that name is exactly these values.
func same(t *testing.T, f *bench.File, name string, values []int64) {
	t.Helper()
	s := judge.FindSeries(f, "", name)
	if s == nil || s.Count != int64(len(values)) {
		t.Errorf("%s: the records give %d values, the result %+v", name, len(values), s)
		return
	}
	var sum int64
	squares := new(big.Int)
	for _, v := range values {
		sum += v
		squares.Add(squares, new(big.Int).Mul(big.NewInt(v), big.NewInt(v)))
	}
	slices.Sort(values)
	if sum != s.Sum || values[0] != *s.Min || values[len(values)-1] != *s.Max || squares.Cmp(number(t, s.Squares)) != 0 {
		t.Errorf("%s: the records give sum %d, min %d, max %d, squares %s; the result %d, %d, %d, %s", name,
			sum, values[0], values[len(values)-1], squares, s.Sum, *s.Min, *s.Max, s.Squares)
	}
	for _, q := range s.Quantiles {
		if q.Value == nil || !q.Exact {
			continue
		}
		rank := int(math.Ceil(q.Q*float64(len(values)) - 1e-9))
		if want := values[max(rank, 1)-1]; *q.Value != want {
			t.Errorf("%s: p%g is %d, of the records %d", name, 100*q.Q, *q.Value, want)
		}
	}
}
