package judge

import (
	"fmt"
	"slices"

	"opcycle/bench"
)

// Reasons lists why the run is invalid, empty for a valid one: what the run recorded of
// itself (metrics.md, "Validity"), and counts that contradict each other.
func Reasons(f bench.File) []string {
	if f.Suite != bench.SuiteOPCUA {
		return suiteReasons(&f)
	}
	return append(slices.Clone(f.Invalid), counts(&f)...)
}

// counts asserts the identities of the packets, of every client: a report must never explain
// figures that do not add up.
func counts(f *bench.File) []string {
	clients := Clients(f)
	if n := expectedOf(f, ""); n == 0 {
		if len(f.Invalid) > 0 { // which says why
			return nil
		}
		return []string{"no cycle was measured"}
	}
	var out []string
	if told := len(clients); told < f.Plan.OPCUA.Clients {
		out = append(out, fmt.Sprintf("only %d of %d clients have figures", told, f.Plan.OPCUA.Clients))
	}
	for _, o := range clients {
		whose := ""
		if len(clients) > 1 {
			whose = ClientName(f, o) + ": "
		}
		if n, first := expectedOf(f, o), expectedOf(f, ""); n != first {
			out = append(out, fmt.Sprintf("%sexpected %d cycles, client 1 %d", whose, n, first))
			continue
		}
		for _, s := range identities(f, o) {
			out = append(out, whose+s)
		}
	}
	return out
}

// expectedOf is packets.expected of an object, 0 when it is not known.
func expectedOf(f *bench.File, object string) int64 {
	return int64(find(f, object, "packets", "expected").Value)
}

// identities are those that the packets of one client break.
func identities(f *bench.File, object string) []string {
	get := func(series, statistic string) (int64, bool) {
		r := find(f, object, series, statistic)
		return int64(r.Value), r.OK
	}
	expected := expectedOf(f, object)
	var out []string
	onTime, ok1 := get("packets", "on_time")
	late, ok2 := get("packets", "late")
	missed, ok3 := get("packets", "missed")
	if ok1 && ok2 && ok3 && onTime+late+missed != expected {
		out = append(out, fmt.Sprintf("the counts do not add up: on time %d + late %d + missed %d is not expected %d", onTime, late, missed, expected))
	}
	for series, of := range map[string][]bench.Cause{"late": bench.LateCauses(), "missed": bench.MissedCauses()} {
		whole, ok := get("packets", series)
		var sum int64
		for _, c := range of {
			n, known := get(series, string(c))
			ok, sum = ok && known, sum+n
		}
		if ok && sum != whole {
			out = append(out, fmt.Sprintf("the causes do not add up: %d of %d %s", sum, whole, series))
		}
	}
	slices.Sort(out)
	return out
}
