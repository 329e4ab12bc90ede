package report

import (
	"fmt"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// abnormalShown is how many abnormal cycles the text shows; run.json holds them all.
const abnormalShown = 10

func thiefMeanings() map[string]string {
	return map[string]string{
		"run_queue": "another task ran on the CPU",
		"fault":     "page faults",
		"gc":        "a collector pause of this process",
		"throttle":  "suspected: RT throttling",
		"rest":      "interrupts, SMI, hypervisor, and what has no counter",
	}
}

// thieves prints who took the time of the releases that were late, overrun, skipped or slow.
func thieves(p *printer, f *bench.File) {
	p.section("What stole the time (of late, overrun, skipped and slow releases)")
	_, _, whole, _ := judge.Biggest(*f)
	var body [][]string
	var reasons footnotes
	for _, name := range judge.ThiefNames() {
		v, unit, na, ok := judge.Lookup(*f, "", "thieves", name)
		cells := []string{name, "n/a", "", thiefMeanings()[name]}
		if ok {
			cells[1] = figure(v, unit)
			cells[2] = share(v, whole)
		} else {
			cells[0] += " " + reasons.mark(na)
		}
		body = append(body, cells)
	}
	p.table([]string{"thief", "lost", "share", "meaning"}, map[int]tw.Align{3: tw.AlignLeft}, body)
	reasons.printNA(p)
}

// abnormal prints the first abnormal cycles one by one.
func abnormal(p *printer, f *bench.File) {
	whole := int64(len(f.Abnormal)) + f.AbnormalLeftOut
	if whole == 0 {
		return
	}
	shown := f.Abnormal[:min(len(f.Abnormal), abnormalShown)]
	p.section(fmt.Sprintf("Abnormal cycles (%d of %s; all in run.json)", len(shown), judge.Group(whole)) + ofFirst(f))
	if f.AbnormalLeftOut > 0 {
		p.line("%s more are counted and not kept", judge.Group(f.AbnormalLeftOut))
	}
	var body [][]string
	for i := range shown {
		r := &shown[i]
		task := "n/a"
		if !r.Executed {
			task = "not executed"
		} else if r.Wake != nil && r.Done != nil {
			task = micros(float64(*r.Done-*r.Wake), 1)
		}
		cause := string(r.Cause)
		if r.Detail != "" {
			cause += " (" + r.Detail + ")"
		}
		body = append(body, []string{fmt.Sprint(r.K), fmt.Sprintf("%.3f", r.Second), string(r.Outcome), cause, task, thiefOf(r.Thieves)})
	}
	p.table([]string{"index", "due at (s)", "outcome", "cause", "X-W (µs)", "biggest thief"},
		map[int]tw.Align{2: tw.AlignLeft, 3: tw.AlignLeft, 5: tw.AlignLeft}, body)
}

// thiefOf names who took most of one release's lost time.
func thiefOf(t bench.Thieves) string {
	var biggest judge.Thief
	for _, c := range judge.ThievesOf(t) {
		if c.Lost != nil && *c.Lost > 0 && (biggest.Lost == nil || *c.Lost > *biggest.Lost) {
			biggest = c
		}
	}
	if biggest.Lost == nil {
		return "none"
	}
	name := fmt.Sprintf("%s %s µs", biggest.Name, micros(float64(*biggest.Lost), 1))
	if t.Fault == nil && t.Faults > 0 { // their time is in rest
		name += fmt.Sprintf(" (%s page faults)", judge.Group(t.Faults))
	}
	return name
}
