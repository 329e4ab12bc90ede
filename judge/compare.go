package judge

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Side is one side of a comparison: runs of one plan.
type Side struct {
	Name    string
	Runs    []Run
	LeftOut []string // runs of it that are not compared, with their reason
}

// Compared is what a comparison of two sides came to, for one statistic or as a whole.
type Compared string

// The words of a comparison. Lower is better in every series that is compared, but in
// dead_time.
const (
	Better   Compared = "better"
	Worse    Compared = "worse"
	Same     Compared = "same"
	CantTell Compared = "can't tell"
)

// runsASide is from how many runs a side on the runs themselves are tested.
const runsASide = 5

// Rules are how a comparison is made.
type Rules struct {
	Ignore  []string // keys of the plan that may differ
	AnyPlan bool     // so may every key: the plans are what is compared
	Same    float64  // an effect whose whole interval lies within this share of the base is "same"
	History []Run    // earlier runs of the base's plan on its host: what runs differ by anyway
}

// DefaultSame is the share of Rules.Same. sameLeast, in ns, is a difference that is none
// whatever its share: a few reads of the clock.
const (
	DefaultSame = 0.01
	sameLeast   = 200
)

// Comparison is a comparison of a side with the base, the first side.
type Comparison struct {
	Base, Other string
	Differences []Difference
	LeftOut     []string // of both sides
	Refused     []string // why they must not be compared: differences of the plan that are not ignored, invalid runs
	Rows        []ComparedRow
	Outcome     Compared
	Why         string // of the outcome
}

// ComparedRow is one statistic of one series. Values are in ns.
type ComparedRow struct {
	Object, Series, Statistic string
	Base, Other               float64  // median over the side's runs
	Effect, Low, High         float64  // other - base, with its interval at Confidence
	P                         *float64 // of the test on the runs; nil: none was made
	Primary                   bool     // counts for the outcome
	Outcome                   Compared
	Why                       string
}

// primary are the statistics that the outcome rests on. Six, no more: with five runs a
// side the smallest p there is, 2/252, survives Holm's correction for six.
func primary() [][2]string {
	return [][2]string{{"execution_time", "p50"}, {"execution_time", "p99"},
		{"server_transmit_time", "p50"}, {"server_transmit_time", "p99"},
		{"start_latency", "p50"}, {"start_latency", "p99"}}
}

// suitePrimary are those of suites that have series.
func suitePrimary() [][2]string { return [][2]string{{"latency", "p50"}, {"latency", "p99"}} }

// Compare holds other against base. cold.
func Compare(base, other Side, r Rules) Comparison {
	c := Comparison{Base: base.Name, Other: other.Name, Outcome: CantTell}
	c.Differences = differences(base, other)
	c.LeftOut = slices.Concat(base.LeftOut, other.LeftOut)
	c.Refused = refusals(base, other, c.Differences, r)
	if len(c.Refused) > 0 {
		c.Why = "not comparable"
		return c
	}
	for _, s := range common(base, other) {
		for _, statistic := range comparedStatistics() {
			if row, ok := compareRow(base, other, s, statistic, r); ok {
				c.Rows = append(c.Rows, row)
			}
		}
	}
	slices.SortStableFunc(c.Rows, func(a, b ComparedRow) int { return cmp.Compare(first(a.Primary), first(b.Primary)) })
	holm(c.Rows)
	c.Outcome, c.Why = outcome(c.Rows)
	return c
}

func first(primary bool) int {
	if primary {
		return 0
	}
	return 1
}

// comparedStatistics are those that a row is made of; a maximum is a property of its run's
// length and is compared by nobody.
func comparedStatistics() []string { return []string{"avg", "p50", "p99"} }

// seriesName is one series of a file.
type seriesName struct{ object, name string }

// common are the series that the first run of both sides has values of, in the base's order.
func common(base, other Side) []seriesName {
	var out []seriesName
	for i := range base.Runs[0].Series {
		s := &base.Runs[0].Series[i]
		if s.Count > 0 && !aimless(s.Name) && other.Runs[0].find(s.Object, s.Name) != nil {
			out = append(out, seriesName{s.Object, s.Name})
		}
	}
	return out
}

// aimless tells the series in which neither direction is better: signed deviations, whose
// mean is 0 by their definition, and periods; and the floor, which is the machine's.
func aimless(series string) bool {
	switch series {
	case "server_transmit_jitter", "inter_arrival_deviation", "control_cycle_period", "floor_transmit", "floor_wake_up":
		return true
	}
	return false
}

func compareRow(base, other Side, s seriesName, statistic string, r Rules) (ComparedRow, bool) {
	row := ComparedRow{Object: s.object, Series: s.name, Statistic: statistic, Outcome: CantTell,
		Primary: slices.Contains(append(primary(), suitePrimary()...), [2]string{s.name, statistic})}
	a, b := values(base.Runs, s, statistic), values(other.Runs, s, statistic)
	if len(a) != len(base.Runs) || len(b) != len(other.Runs) {
		if len(a) == 0 || len(b) == 0 {
			return row, false
		}
		row.Why = "n/a in some of the runs"
		row.Base, row.Other = middle(a), middle(b)
		row.Effect = row.Other - row.Base
		row.Low, row.High = math.Inf(-1), math.Inf(1)
		return row, true
	}
	row.Base, row.Other = middle(a), middle(b)
	if len(a) >= runsASide && len(b) >= runsASide {
		p := MannWhitney(a, b)
		row.P = &p
		row.Effect, row.Low, row.High, _ = Shift(a, b)
		row.judge(p <= 1-Confidence, r.Same)
		return row, true
	}
	row.fewRuns(base, other, s, statistic, a, b, r)
	return row, true
}

// judge gives the word for an interval; significant says that the test agrees.
func (row *ComparedRow) judge(significant bool, same float64) {
	room := max(same*math.Abs(row.Base), sameLeast)
	more, less := Worse, Better
	if row.Series == "dead_time" {
		more, less = Better, Worse
	}
	switch {
	case row.Low >= -room && row.High <= room:
		row.Outcome, row.Why = Same, fmt.Sprintf("the interval lies within %g %% of the base, or 0.2 µs", same*100)
	case significant && row.Low > 0:
		row.Outcome = more
	case significant && row.High < 0:
		row.Outcome = less
	default:
		row.Outcome, row.Why = CantTell, "the interval holds no difference and a relevant one"
	}
}

// holm takes back what does not survive Holm's correction over the primary rows that were
// tested. The other rows are shown with their own p and count for nothing.
func holm(rows []ComparedRow) {
	var tested []*ComparedRow
	for i := range rows {
		if rows[i].Primary && rows[i].P != nil {
			tested = append(tested, &rows[i])
		}
	}
	slices.SortStableFunc(tested, func(x, y *ComparedRow) int {
		switch {
		case *x.P < *y.P:
			return -1
		case *x.P > *y.P:
			return 1
		}
		return 0
	})
	held := true
	for i, row := range tested {
		held = held && *row.P <= (1-Confidence)/float64(len(tested)-i)
		if !held && (row.Outcome == Better || row.Outcome == Worse) {
			row.Outcome, row.Why = CantTell, fmt.Sprintf("p = %.3g does not survive Holm's correction over %d tests", *row.P, len(tested))
		}
	}
}

// outcome is the worst that the primary rows say.
func outcome(rows []ComparedRow) (Compared, string) {
	count := map[Compared]int{}
	var worst, best, unknown string
	for i := range rows {
		row := &rows[i]
		if !row.Primary {
			continue
		}
		count[row.Outcome]++
		name := row.Series + "." + row.Statistic
		switch {
		case row.Outcome == Worse && worst == "":
			worst = name
		case row.Outcome == Better && best == "":
			best = name
		case row.Outcome == CantTell && unknown == "":
			unknown = name + ": " + row.Why
		}
	}
	switch {
	case count[Worse] > 0 && count[Better] > 0:
		return Worse, worst + " is worse, though " + best + " is better"
	case count[Worse] > 0:
		return Worse, worst + " is worse"
	case count[Better] > 0:
		return Better, best + " is better, nothing is worse"
	case count[CantTell] > 0:
		return CantTell, unknown
	case count[Same] > 0:
		return Same, "every statistic that the outcome rests on lies within the same"
	}
	return CantTell, "no series that the outcome rests on is in both"
}

// values are the runs' statistics, of those that have it.
func values(runs []Run, s seriesName, statistic string) []float64 {
	var out []float64
	for i := range runs {
		if x := runs[i].find(s.object, s.name); x != nil {
			if r := Statistic(x, statistic); r.OK {
				out = append(out, r.Value)
			}
		}
	}
	return out
}

// middle is the median.
func middle(v []float64) float64 {
	v = slices.Sorted(slices.Values(v))
	return median(v)
}
