package report

import (
	"fmt"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// suiteWriters are the tables of the suites by name. A writer gets every result of its
// suite in the file, in order, since runs of one suite stand below or beside each other.
func suiteWriters() map[string]func(p *printer, results []*bench.SuiteResult, refs []bench.Reference) {
	return map[string]func(p *printer, results []*bench.SuiteResult, refs []bench.Reference){
		"caterpillar": caterpillar,
		"cyclictest":  cyclictest,
		"lmbench":     lmbench,
		"sel4bench":   sel4bench,
		"oslat":       oslat,
		"hwlat":       hwlat,
	}
}

// suiteText is the report of a file without an OPC UA run.
func suiteText(p *printer, f *bench.File, v *judge.Verdict, refs []bench.Reference) {
	p.line("%s: %s", v.Outcome, v.Text)
	for _, r := range v.Reasons {
		p.item("  - ", r)
	}
	budgets(p, v)
	if f.Suite == suiteCampaign {
		campaign(p, f)
	}
	suites(p, f, refs)
	suiteHost(p, &f.Host)
	machineFound(p, f)
	suiteEnd(p, f)
}

// suiteEnd ends the report of a file without an OPC UA run.
func suiteEnd(p *printer, f *bench.File) {
	if len(f.Warnings) > 0 {
		p.section("Warnings")
		for _, s := range f.Warnings {
			p.item("  - ", s)
		}
	}
	p.line("")
	if !f.Started.IsZero() {
		p.item("Measured: ", fmt.Sprintf("%s, %s %s (%s)", f.Started.UTC().Format(time.RFC3339), f.Tool.Name, orNA(f.Tool.Version), orNA(f.Tool.Go)))
	}
}

// suites prints every suite of the file, those of one name together.
func suites(p *printer, f *bench.File, refs []bench.Reference) {
	var names []string
	of := map[string][]*bench.SuiteResult{}
	for i := range f.Suites {
		r := &f.Suites[i]
		if of[r.Suite] == nil {
			names = append(names, r.Suite)
		}
		of[r.Suite] = append(of[r.Suite], r)
	}
	for _, name := range names {
		if write := suiteWriters()[name]; write != nil {
			write(p, of[name], refs)
		} else {
			for _, r := range of[name] {
				p.section(judge.Title(r))
				suiteFigures(p, r)
			}
		}
		for _, r := range of[name] {
			suiteRemarks(p, r)
		}
	}
}

// suiteFigures is the table of a suite that has none of its own.
func suiteFigures(p *printer, r *bench.SuiteResult) {
	var body [][]string
	for i := range r.Figures {
		g := &r.Figures[i]
		value := g.Text
		switch {
		case g.Value != nil:
			value = figure(*g.Value, g.Unit)
		case g.NA != "":
			value = "n/a: " + g.NA
		}
		body = append(body, []string{g.Object, g.Series, g.Statistic, value})
	}
	if len(body) > 0 {
		p.table([]string{"object", "series", "statistic", "value"}, nil, body)
	}
}

// suiteRemarks says what surrounded one result and what it lacks.
func suiteRemarks(p *printer, r *bench.SuiteResult) {
	title := judge.Title(r)
	if r.Imported != "" {
		p.item("", title+" was measured by "+r.Imported+", not by opcycle, and imported.")
	}
	if r.Role == bench.RoleBeside {
		p.item("", title+" ran beside the measured suite and is noise to it.")
	}
	if !r.Complete {
		p.item("", title+" ended before its plan's end.")
	}
	suitePauses(p, title, r)
	for _, s := range r.Summary {
		p.item(title+": ", s)
	}
	for _, s := range r.Noise {
		p.item(title+": noise: ", s)
	}
	if r.CAT != nil {
		suiteCAT(p, title, r.CAT)
	}
	for _, a := range r.Absent {
		if r.CAT != nil && a.Why == r.CAT.Why {
			continue // said above
		}
		p.item(title+": not had: ", a.What+": "+a.Why)
	}
	for _, s := range r.Failed {
		p.item(title+": failed: ", s)
	}
	for _, s := range r.Invalid {
		p.item(title+": invalid: ", s)
	}
	for _, s := range r.Warnings {
		p.item(title+": mind: ", s)
	}
	for _, s := range r.Files {
		p.item(title+": file: ", s)
	}
}

// suitePauses says where a resumed result was interrupted, and what of it is lost.
func suitePauses(p *printer, title string, r *bench.SuiteResult) {
	if r.Resumed > 0 {
		p.item("", fmt.Sprintf("%s was resumed %d time(s) from a checkpoint.", title, r.Resumed))
	}
	for i, b := range r.Pauses {
		if i == pausesShown {
			p.item(title+": pause: ", fmt.Sprintf("and %d more, in the result", len(r.Pauses)-i))
			break
		}
		lost := "nothing of what was measured before it is lost"
		if b.Lost > 0 {
			lost = "at most " + judge.Span(time.Duration(b.Lost)) + " of what was measured before it is lost"
		}
		p.item(title+": pause: ", fmt.Sprintf("not measured from %s to %s, and %s", b.Checkpoint.UTC().Format(time.RFC3339), b.Again.UTC().Format(time.RFC3339), lost))
	}
}

// pausesShown bounds what a report says of interruptions.
const pausesShown = 10

func suiteCAT(p *printer, title string, c *bench.CAT) {
	if !c.Applied {
		p.item(title+": ", "CAT not applied: "+c.Why)
		return
	}
	for _, g := range c.Groups {
		p.item(title+": with CAT: ", g)
	}
}

func suiteHost(p *printer, h *bench.Host) {
	p.section("Machine")
	if h.Name == "" && h.Kernel == "" {
		p.item("", "n/a: every figure is another program's, whose result does not tell its machine")
		return
	}
	suiteMachine(p, h)
}

func suiteMachine(p *printer, h *bench.Host) {
	p.item("", fmt.Sprintf("%s; %s, %d CPUs; kernel %s, %s", orNA(h.OS), orNA(h.CPUModel), len(h.CPUs), orNA(h.Kernel), orNA(h.Preempt)))
	virtual := "none seen"
	if h.Hypervisor != "" {
		virtual = h.Hypervisor
	}
	p.item("", fmt.Sprintf("hypervisor %s; clock source %s; governor %s; transparent huge pages %s", virtual, orNA(h.ClockSource), orNA(h.Governor), orNA(h.THP)))
}

// suiteRows are the figures, series and readings of one suite in the long form.
func suiteRows(f *bench.File, r *bench.SuiteResult) [][]string {
	rows := figureRows(f, r.Figures)
	for i := range r.Stressors {
		rows = append(rows, figureRows(f, r.Stressors[i].Figures)...)
	}
	for i := range r.Series {
		rows = append(rows, seriesRows(&r.Series[i])...)
	}
	for i := range r.Readings {
		g := &r.Readings[i]
		for _, s := range []struct {
			statistic string
			value     *float64
		}{{g.Statistic, g.Value}, {"min", g.Min}, {"median", g.Median}, {"mean", g.Mean}, {"stddev", g.StdDev}, {"p99", g.P99}, {"max", g.Max}} {
			if s.statistic != g.Statistic || s.value == g.Value {
				rows = append(rows, []string{r.Suite, object(r, g), g.Name, s.statistic, plain(s.value), g.Unit})
			}
		}
	}
	return append(rows, curveRows(r)...)
}

// object tells readings of one name apart: label, run and mechanism.
func object(r *bench.SuiteResult, g *bench.Reading) string {
	out := ""
	for _, s := range []string{r.Label, g.Run, g.Mechanism} {
		if s == "" {
			continue
		}
		if out != "" {
			out += "/"
		}
		out += s
	}
	return out
}

func plain(v *float64) string {
	if v == nil {
		return ""
	}
	return number(judge.Found{Value: *v, OK: true})
}
