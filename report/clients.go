package report

import (
	"slices"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// clients prints every client by itself, when there are several.
func clients(p *printer, f *bench.File) {
	var objects []string
	for _, g := range f.Figures {
		if g.Series == "packets" && g.Statistic == "expected" && !slices.Contains(objects, g.Object) {
			objects = append(objects, g.Object)
		}
	}
	if len(objects) < 2 {
		return
	}
	var body [][]string
	for i, o := range objects {
		line := []string{o}
		if i == 0 {
			line[0] = "client 1"
		}
		for _, s := range []string{"on_time", "late", "missed"} {
			v, unit, na, ok := judge.Lookup(*f, o, "packets", s)
			line = append(line, found(judge.Found{Value: v, Unit: unit, NA: na, OK: ok}))
		}
		v, unit, na, ok := judge.Lookup(*f, o, "server_transmit_time", "p50")
		line = append(line, found(judge.Found{Value: v, Unit: unit, NA: na, OK: ok}))
		causes := causesOf(f, o, "missed", bench.MissedCauses())
		if late := causesOf(f, o, "late", bench.LateCauses()); late != "" {
			if causes != "" {
				causes += "; "
			}
			causes += "late: " + late
		}
		body = append(body, append(line, causes))
	}
	p.section("Every client by itself")
	p.table([]string{"client", "on time", "late", "missed", "R-P p50", "causes"}, map[int]tw.Align{5: tw.AlignLeft}, body)
}
