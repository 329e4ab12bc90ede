package judge

import (
	"math"
	"slices"
	"strconv"

	"opcycle/bench"
)

// notMeasured is the reason of a figure that a result does not hold at all.
const notMeasured = "not in this result"

// Found is one figure of a result. Value counts only when OK; else NA says why there is
// none. Unit is "ns", "1" or "ratio".
type Found struct {
	Value float64
	Unit  string
	NA    string
	OK    bool
}

// Lookup finds a figure by its machine name (metrics.md, "Machine names"): object may be
// empty and then means the first that has the series.
func Lookup(f bench.File, object, series, statistic string) (value float64, unit, na string, ok bool) {
	r := find(&f, object, series, statistic)
	return r.Value, r.Unit, r.NA, r.OK
}

func find(f *bench.File, object, series, statistic string) Found {
	for i := range f.Figures {
		g := &f.Figures[i]
		if g.Series != series || g.Statistic != statistic || object != "" && g.Object != object {
			continue
		}
		return Known(f, g)
	}
	if s := FindSeries(f, object, series); s != nil {
		return Statistic(s, statistic)
	}
	return Found{NA: notMeasured}
}

// objectsOf are the objects that have series.statistic, known or n/a, in the order of find:
// the first is the one that an empty object means.
func objectsOf(f *bench.File, series, statistic string) []string {
	var out []string
	add := func(object string) {
		if !slices.Contains(out, object) {
			out = append(out, object)
		}
	}
	for i := range f.Figures {
		if g := &f.Figures[i]; g.Series == series && g.Statistic == statistic {
			add(g.Object)
		}
	}
	for i := range f.Series {
		if s := &f.Series[i]; s.Name == series && Statistic(s, statistic).NA != notMeasured {
			add(s.Object)
		}
	}
	return out
}

// Known is what a figure of f says. A count of packets of a run that reached no cycle is
// unknown, whatever the figure holds: 0 missed of 0 is not "0 missed". Nor is a cause of late
// packets known where packets.late is not.
func Known(f *bench.File, g *bench.Figure) Found {
	switch {
	case g.Unit == "text":
		return Found{Unit: g.Unit, NA: "a text, not a number"}
	case g.Value == nil:
		return Found{Unit: g.Unit, NA: reason(g.NA)}
	case f.Phase.Ran == 0 && counted(g):
		return Found{Unit: g.Unit, NA: "no cycle was measured"}
	}
	if na := lateNA(f, g); na != "" {
		return Found{Unit: g.Unit, NA: na}
	}
	return Found{Value: *g.Value, Unit: g.Unit, OK: true}
}

// lateNA is why a cause of late packets is n/a although its figure holds a number: the
// object's packets.late is; else "".
func lateNA(f *bench.File, g *bench.Figure) string {
	if g.Series != "late" {
		return ""
	}
	for i := range f.Figures {
		if p := &f.Figures[i]; p.Object == g.Object && p.Series == "packets" && p.Statistic == "late" && p.Value == nil {
			return reason(p.NA)
		}
	}
	return ""
}

// counted tells the figures that count cycles.
func counted(g *bench.Figure) bool {
	return g.Series == "packets" && g.Statistic != "expected" || g.Series == "missed" || g.Series == "late"
}

// FindSeries returns the series of that name, or nil; an empty object matches every object.
func FindSeries(f *bench.File, object, series string) *bench.Series {
	for i := range f.Series {
		if s := &f.Series[i]; s.Name == series && (object == "" || s.Object == object) {
			return s
		}
	}
	return nil
}

// Statistic is one statistic of a series by its machine name.
func Statistic(s *bench.Series, statistic string) Found {
	count := func(v int64) Found { return Found{Value: float64(v), Unit: "1", OK: true} }
	ns := func(v *int64) Found {
		if v == nil {
			return Found{Unit: s.Unit, NA: reason(s.NA)}
		}
		return Found{Value: float64(*v), Unit: s.Unit, OK: true}
	}
	mean := func(v *float64, na string) Found {
		if v == nil {
			return Found{Unit: s.Unit, NA: na}
		}
		return Found{Value: *v, Unit: s.Unit, OK: true}
	}
	switch statistic {
	case "count":
		return count(s.Count)
	case "underflow":
		return count(s.Underflow)
	case "overflow":
		return count(s.Overflow)
	case "min":
		return ns(s.Min)
	case "max":
		return ns(s.Max)
	case "avg":
		return mean(s.Avg, reason(s.NA))
	case "stddev":
		if s.NA == "" {
			return mean(s.StdDev, "needs 2 samples")
		}
		return mean(s.StdDev, s.NA)
	}
	if q := FindQuantile(s, statistic); q != nil {
		if q.Value == nil && s.NA == "" {
			return Found{Unit: s.Unit, NA: reason(q.NA)}
		}
		return ns(q.Value)
	}
	return Found{NA: notMeasured}
}

// FindQuantile returns the quantile of that machine name ("p99.9"), or nil.
func FindQuantile(s *bench.Series, name string) *bench.Quantile {
	for i := range s.Quantiles {
		if QuantileName(s.Quantiles[i].Q) == name {
			return &s.Quantiles[i]
		}
	}
	return nil
}

// QuantileName is the machine name of a quantile: 0.999 is "p99.9".
func QuantileName(q float64) string {
	return "p" + strconv.FormatFloat(math.Round(q*1e8)/1e6, 'f', -1, 64)
}

func reason(na string) string {
	if na == "" {
		return "no reason given"
	}
	return na
}
