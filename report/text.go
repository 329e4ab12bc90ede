package report

import (
	"fmt"
	"io"
	"path"
	"strings"
	"time"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// Text writes the whole report: the verdict's line first, then whether the run is valid,
// the budgets, the vendor's table, the further rows, packets, thieves, processes, warnings
// and where the result lies. v must be judge.Judge(f).
func Text(w io.Writer, f bench.File, v judge.Verdict, refs []bench.Reference) error {
	return write(&printer{w: w}, f, v, refs)
}

// write is the whole report, in the form that p writes.
func write(p *printer, f bench.File, v judge.Verdict, refs []bench.Reference) error {
	if f.Suite != bench.SuiteOPCUA {
		suiteText(p, &f, &v, refs)
		return p.err
	}
	p.line("%s: %s", v.Outcome, v.Text) // one line, however long: scripts read it
	validity(p, &f, &v)
	budgets(p, &v)
	vendor(p, &f, refs)
	nodes(p, &f)
	rows(p, &f)
	tails(p, &f)
	packets(p, &f)
	clients(p, &f)
	thieves(p, &f)
	abnormal(p, &f)
	processes(p, &f)
	others(p, &f)
	suites(p, &f, refs)
	machineFound(p, &f)
	remarks(p, &f)
	return p.err
}

func validity(p *printer, f *bench.File, v *judge.Verdict) {
	word := "valid"
	if !v.Valid {
		word = "invalid"
	}
	complete := "complete"
	if !v.Complete {
		complete = fmt.Sprintf("incomplete: ended after %s of %s cycles", judge.Group(f.Phase.Ran), judge.Group(f.Phase.N))
	}
	t := f.Plan.Task
	p.item(word+", ", fmt.Sprintf("%s; %s: plc.host %s, cycle %s, %s %s iterations, %d monitored item(s), %s of %s cycles",
		complete, orNA(f.Plan.Name), t.Host, judge.Span(t.Interval), t.Workload, judge.Group(iterations(f)),
		f.Plan.OPCUA.Items, judge.Span(f.Plan.Duration), judge.Group(f.Plan.Cycles)))
	granted(p, f)
	p.item("switches: ", f.Plan.Switches())
	switch {
	case f.CAT != nil && f.CAT.Applied:
		p.item("cache allocation: ", "applied and read back: "+strings.Join(f.CAT.Groups, "; "))
	case f.CAT != nil:
		p.item("cache allocation: ", "not applied: "+f.CAT.Why)
	}
	for _, r := range v.Reasons {
		p.item("  - ", r)
	}
}

// granted says what the server made of our requests, beside what was asked.
func granted(p *printer, f *bench.File) {
	a, o := f.Attained, f.Plan.OPCUA
	if a.PublishingInterval == 0 && a.QueueSize == 0 {
		p.line("granted: n/a: no subscription was made")
		return
	}
	p.item("granted: ", fmt.Sprintf("publishing interval %g ms (asked %g), sampling interval %g ms (asked %g), queue size %d (asked %d)",
		a.PublishingInterval, o.PublishingInterval.Seconds()*1e3, a.SamplingInterval, o.SamplingInterval.Seconds()*1e3, a.QueueSize, o.QueueSize))
}

// iterations are those that ran; the plan holds 0 while auto has not found any.
func iterations(f *bench.File) int64 {
	if f.Attained.Iterations > 0 {
		return f.Attained.Iterations
	}
	return f.Plan.Task.Iterations
}

func budgets(p *printer, v *judge.Verdict) {
	if len(v.Budgets) == 0 {
		return
	}
	p.section("Budgets")
	var body [][]string
	for _, b := range v.Budgets {
		margin := "n/a"
		if b.Found.OK {
			margin = signed(figure(b.Margin, b.Found.Unit))
		}
		measured := "n/a"
		if b.Found.OK {
			measured = figure(b.Found.Value, b.Found.Unit)
		}
		body = append(body, []string{budgetOf(b), measured, margin, string(b.Outcome)})
	}
	p.table([]string{"budget", "measured", "margin", "outcome"}, map[int]tw.Align{3: tw.AlignLeft}, body)
	said := map[string]bool{}
	for _, b := range v.Budgets {
		why := b.Why
		if why != "" && v.Valid && v.Complete { // else one reason withholds all
			why = budgetOf(b) + ": " + why
		}
		if why != "" && !said[why] {
			p.item("inconclusive: ", why)
			said[why] = true
		}
	}
}

// budgetOf is a budget with the object whose figure decided it, where that is not plain.
func budgetOf(b judge.Budgeted) string {
	if b.Object == "" {
		return b.Budget.Text
	}
	return fmt.Sprintf("%s (%s)", b.Budget.Text, b.Object)
}

// remarks end the report: what was given up, what to mind, and what to do next.
func remarks(p *printer, f *bench.File) {
	if len(f.Warnings) > 0 {
		p.section("Warnings")
		for _, s := range f.Warnings {
			p.item("  - ", s)
		}
	}
	if len(f.Plan.Notes) > 0 {
		p.section("Notes")
		for _, s := range f.Plan.Notes {
			p.item("  - ", s)
		}
	}
	p.line("")
	if f.Plan.Task.Host == bench.HostClient {
		p.item("", "This run has the vendor's topology: the control task is the OPC UA client.")
	} else {
		p.item("", "To measure the vendor's topology (the control task is the OPC UA client): opcycle run --plc client")
	}
	if f.Plan.Out != "" {
		p.item("Result: ", path.Join(f.Plan.Out, "run.json"))
	}
	if !f.Started.IsZero() {
		p.item("Measured: ", fmt.Sprintf("%s, %s %s (%s)", f.Started.UTC().Format(time.RFC3339), f.Tool.Name, orNA(f.Tool.Version), orNA(f.Tool.Go)))
	}
}

func orNA(s string) string {
	if s == "" {
		return "n/a"
	}
	return s
}
