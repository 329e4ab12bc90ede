package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Budget is one requirement on a figure, in the names of metrics.md:
// "[object/]series.statistic op limit".
type Budget struct {
	Object    string // empty: every object that has the series
	Series    string
	Statistic string
	Op        string  // <= < >= > ==
	Limit     float64 // in Unit; a share is a fraction of T
	Unit      string  // "ns", "1", "ratio", or "share": of the cycle T
	Text      string  // as written
}

// UnitShare marks a limit that is a fraction of T ("60%").
const UnitShare = "share"

// DefaultBudgets returns the budgets of every OPC UA profile that names none.
func DefaultBudgets() []string {
	return []string{"packets.missed <= 0", "packets.late <= 0", "dead_time.min >= 0"}
}

// String is the budget as written.
func (b Budget) String() string { return b.Text }

// In returns the limit in the figure's own unit, for a cycle of period ns.
func (b Budget) In(period int64) float64 {
	if b.Unit == UnitShare {
		return b.Limit * float64(period)
	}
	return b.Limit
}

// Holds compares value, in the figure's own unit, with the limit for a cycle of period ns.
func (b Budget) Holds(value float64, period int64) bool {
	limit := b.In(period)
	switch b.Op {
	case "<=":
		return value <= limit
	case "<":
		return value < limit
	case ">=":
		return value >= limit
	case ">":
		return value > limit
	default:
		return value == limit
	}
}

// ParseBudget reads a budget. Its error has the form "what; way out".
func ParseBudget(s string) (Budget, error) {
	b := Budget{Text: strings.TrimSpace(s)}
	at := strings.IndexAny(b.Text, "<>=")
	if at <= 0 {
		return b, fmt.Errorf("%q is no budget; write it as \"packets.late <= 0\"", s)
	}
	name, rest := strings.TrimSpace(b.Text[:at]), b.Text[at:]
	end := len(rest) - len(strings.TrimLeft(rest, "<>="))
	b.Op = rest[:end]
	if !slices.Contains([]string{"<=", "<", ">=", ">", "=="}, b.Op) {
		return b, fmt.Errorf("%q is no comparison; use <=, <, >=, > or ==", b.Op)
	}
	if err := b.name(name); err != nil {
		return b, err
	}
	return b, b.limit(strings.TrimSpace(rest[end:]))
}

// name splits at the first slash and then at the first dot, and checks both halves.
func (b *Budget) name(s string) error {
	series := s
	if object, after, ok := strings.Cut(s, "/"); ok {
		b.Object, series = object, after
	}
	var ok bool
	b.Series, b.Statistic, ok = strings.Cut(series, ".")
	if !ok {
		return fmt.Errorf("%q names no statistic; write series.statistic, such as execution_time.p99", s)
	}
	if !slices.Contains(SeriesNames(), b.Series) {
		return fmt.Errorf("no series is called %q; %s", b.Series, Suggest(b.Series, SeriesNames()))
	}
	stats := Statistics(b.Series)
	if !slices.Contains(stats, b.Statistic) {
		return fmt.Errorf("%s has no statistic %q; %s", b.Series, b.Statistic, Suggest(b.Statistic, stats))
	}
	return nil
}

// limit reads the limit in the unit of the statistic.
func (b *Budget) limit(s string) error {
	unit := StatisticUnit(b.Series, b.Statistic)
	name := b.Series + "." + b.Statistic
	if share, ok := strings.CutSuffix(s, "%"); ok {
		v, err := strconv.ParseFloat(strings.TrimSpace(share), 64)
		if err != nil || unit != "ns" {
			return fmt.Errorf("%q is no limit for %s; a share of the cycle is a number and %%, and for times only", s, name)
		}
		b.Limit, b.Unit = v/100, UnitShare
		return nil
	}
	b.Unit = unit
	if unit == "ns" {
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("%q is no limit for %s; write a time with its unit, such as 6ms, or a share of the cycle, such as 60%%", s, name)
		}
		b.Limit = float64(d)
		return nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || v-v != 0 {
		return fmt.Errorf("%q is no limit for %s; write a plain number", s, name)
	}
	b.Limit = v
	return nil
}
