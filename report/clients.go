package report

import (
	"fmt"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// ofFirst says in a heading that what follows is client 1's, when there are several.
func ofFirst(f *bench.File) string {
	if n := len(judge.Clients(f)); n > 1 {
		return fmt.Sprintf(", client 1 of %d", n)
	}
	return ""
}

// clients prints every client by itself, when there are several.
func clients(p *printer, f *bench.File) {
	objects := judge.Clients(f)
	if len(objects) < 2 {
		return
	}
	var body [][]string
	for _, o := range objects {
		line := []string{judge.ClientName(f, o)}
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
