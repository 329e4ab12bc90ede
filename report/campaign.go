package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// campaign is the head of a campaign's report: what ran, for how long, beside what noise,
// and with which cache allocation. Without these, no figure below means anything.
func campaign(p *printer, f *bench.File) {
	name, phases, every := "", 0, "n/a"
	for _, g := range f.Figures {
		switch {
		case g.Suite != suiteCampaign:
		case g.Statistic == "name":
			name = g.Text
		case g.Statistic == "phases" && g.Value != nil:
			phases = int(*g.Value)
		case g.Statistic == "checkpoint_interval" && g.Value != nil:
			every = judge.Span(time.Duration(*g.Value))
		}
	}
	p.section(strings.TrimSpace("Campaign " + name))
	var notes footnotes
	var body [][]string
	for i := range f.Suites {
		r := &f.Suites[i]
		body = append(body, []string{fmt.Sprintf("%d/%d", i+1, max(phases, len(f.Suites))), judge.Title(r), begun(r), measuredFor(r),
			phaseState(r, &notes), phaseCAT(r, &notes), phaseNoise(r, &notes)})
	}
	p.table([]string{"phase", "suite", "begun (UTC)", "measured for", "state", "cache allocation", "noise"},
		map[int]tw.Align{1: tw.AlignLeft, 4: tw.AlignLeft, 5: tw.AlignLeft, 6: tw.AlignLeft}, body)
	notes.print(p)
	if n := phases - len(f.Suites); n > 0 {
		p.item("", fmt.Sprintf("%d of %d phases were not begun.", n, phases))
	}
	p.item("", "A checkpoint was due every "+every+".")
}

// suiteCampaign is the suite of a file that holds a campaign.
const suiteCampaign = "campaign"

func begun(r *bench.SuiteResult) string {
	if r.Started.IsZero() {
		return "n/a"
	}
	return r.Started.UTC().Format(time.DateTime)
}

// measuredFor is the time from begin to end without the pauses.
func measuredFor(r *bench.SuiteResult) string {
	if r.Started.IsZero() || r.Ended.Before(r.Started) {
		return "n/a"
	}
	d := r.Ended.Sub(r.Started)
	for _, b := range r.Pauses {
		d -= b.Again.Sub(b.Checkpoint)
	}
	return d.Round(time.Second).String()
}

func phaseState(r *bench.SuiteResult, notes *footnotes) string {
	var out []string
	switch {
	case len(r.Invalid) > 0:
		out = append(out, "invalid "+notes.mark(strings.Join(r.Invalid, "; ")))
	case !r.Complete:
		out = append(out, "ended early")
	default:
		out = append(out, "complete")
	}
	if r.Resumed > 0 {
		out = append(out, fmt.Sprintf("resumed %d×", r.Resumed))
	}
	return strings.Join(out, ", ")
}

func phaseCAT(r *bench.SuiteResult, notes *footnotes) string {
	switch {
	case r.CAT == nil:
		return "not asked for"
	case !r.CAT.Applied:
		return "CAT not applied " + notes.mark("CAT not applied: "+orNA(r.CAT.Why))
	}
	return "CAT applied " + notes.mark("CAT applied and read back: "+strings.Join(r.CAT.Groups, "; "))
}

// phaseNoise marks what was verified; a stressor that failed makes its phase invalid.
func phaseNoise(r *bench.SuiteResult, notes *footnotes) string {
	if len(r.Noise) == 0 {
		return "none"
	}
	marks := make([]string, len(r.Noise))
	for i, s := range r.Noise {
		marks[i] = notes.mark("noise: " + s)
	}
	return "verified " + strings.Join(slices.Compact(marks), " ")
}
