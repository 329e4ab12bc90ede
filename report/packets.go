package report

import (
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// packets prints what became of every expected cycle, with causes, and every counter.
func packets(p *printer, f *bench.File) {
	p.section("Packets" + ofFirst(f))
	get := func(series, statistic string) judge.Found {
		v, unit, na, ok := judge.Lookup(*f, "", series, statistic)
		return judge.Found{Value: v, Unit: unit, NA: na, OK: ok}
	}
	expected := get("packets", "expected")
	var body [][]string
	var reasons footnotes
	add := func(label string, r judge.Found, shared bool, causes string) {
		count, part := "n/a", ""
		if r.OK {
			count = judge.Group(int64(r.Value))
		} else {
			label += " " + reasons.mark(r.NA)
		}
		if r.OK && expected.OK && shared {
			part = share(r.Value, expected.Value)
		}
		body = append(body, []string{label, count, part, causes})
	}
	add("expected", expected, false, "")
	add("on time", get("packets", "on_time"), true, "")
	add("late", get("packets", "late"), true, causesOf(f, "", "late", bench.LateCauses()))
	add("missed", get("packets", "missed"), true, causesOf(f, "", "missed", bench.MissedCauses()))
	for _, r := range []row{{"total received", "total"}, {"longest late run", "late_run_max"}, {"duplicates", "duplicate"},
		{"reordered", "reordered"}, {"partial cycles", "partial"}, {"messages", "messages"}, {"keep-alives", "keep_alives"},
		{"values", "values"}, {"most values in a message", "values_in_message_max"}, {"without an exact kernel stamp", "unstamped"}} {
		add(r.label, get("packets", r.series), false, "")
	}
	p.table([]string{"cycles", "count", "share", "causes"}, map[int]tw.Align{3: tw.AlignLeft}, body)
	reasons.printNA(p)
}

// causesOf lists the causes that occurred, and those that are not known.
func causesOf(f *bench.File, object, series string, causes []bench.Cause) string {
	var parts []string
	unknown := 0
	for _, c := range causes {
		v, _, na, ok := judge.Lookup(*f, object, series, string(c))
		switch {
		case !ok:
			unknown++
			parts = append(parts, fmt.Sprintf("%s n/a: %s", c, na))
		case v > 0:
			parts = append(parts, fmt.Sprintf("%s %s", c, judge.Group(int64(v))))
		}
	}
	if unknown == len(causes) {
		return "n/a"
	}
	return strings.Join(parts, ", ")
}
