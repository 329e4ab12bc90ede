package report

import (
	"fmt"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
)

// Check writes what a check came to: the findings, the worst first, then the verdict in
// one line.
func Check(w io.Writer, c bench.Checked) error {
	p := &printer{w: w}
	h, n := &c.Host, &c.Need
	p.item("machine: ", fmt.Sprintf("%s, %d CPUs, %s, kernel %s%s", orNA(h.CPUModel), len(h.CPUs), orNA(h.OS), orNA(h.Kernel), below(c.Root)))
	p.item("plan: ", planOf(n))
	p.line("")
	findings(p, c.Findings)
	p.line("")
	p.line("%s", c.Verdict) // one line, however long: scripts read it
	return p.err
}

func below(root string) string {
	if root == "/" {
		return ""
	}
	return ", read from " + root
}

// planOf is what a plan asks for, in a line.
func planOf(n *bench.Need) string {
	parts := []string{n.Plan}
	if n.Interval > 0 {
		parts = append(parts, "cycle "+n.Interval.String())
	}
	for _, t := range n.Threads {
		policy := "SCHED_OTHER"
		if t.FIFO > 0 {
			policy = fmt.Sprintf("SCHED_FIFO %d", t.FIFO)
		}
		parts = append(parts, fmt.Sprintf("%s on CPU %s at %s", t.Name, bench.CPUList(t.CPUs), policy))
	}
	return strings.Join(append(parts, "rt "+string(n.RT)), ", ")
}

// findings writes each finding: in full what costs anything, in a line what does not.
func findings(p *printer, list []bench.Finding) {
	for _, f := range list {
		if f.Cost == "" && f.Remedy == "" {
			p.item(fmt.Sprintf("%-9s", f.Severity), f.Title+": "+f.Seen)
			continue
		}
		p.item(fmt.Sprintf("%-9s", f.Severity), f.Title)
		for _, l := range []struct{ label, text string }{{"seen: ", f.Seen}, {"cost: ", f.Cost}, {"mend: ", f.Remedy}, {"see: ", f.Source}} {
			if l.text != "" {
				p.item("          "+l.label, l.text)
			}
		}
	}
}

// machineFindings is a machine's part of a file, with its title.
type machineFindings struct {
	title string
	list  []bench.Finding
}

func foundIn(f *bench.File) []machineFindings {
	return []machineFindings{{"The machine, for this plan", f.Findings}, {"The server's machine, for this plan", f.ServerFindings}}
}

// machineFound writes what check found of the machine before the run: warnings and worse,
// each in a line with what mends it.
func machineFound(p *printer, f *bench.File) {
	for _, m := range foundIn(f) {
		left := 0
		begun := false
		for _, x := range m.list {
			if !x.Severity.AtLeastWarning() {
				left++
				continue
			}
			if !begun {
				p.section(m.title)
				begun = true
			}
			text := string(x.Severity) + ": " + x.Title
			if x.Remedy != "" {
				text += "; mend: " + x.Remedy
			}
			p.item("  - ", text)
		}
		if begun {
			p.item("", fmt.Sprintf("%d further finding(s) are notes or fit; opcycle check says what was seen, and what each costs.", left))
		}
	}
}

// allFound is every finding as a table.
func allFound(p *printer, f *bench.File) {
	align := map[int]tw.Align{}
	for i := range 6 {
		align[i] = tw.AlignLeft
	}
	for _, m := range foundIn(f) {
		if len(m.list) == 0 {
			continue
		}
		p.section(m.title)
		var body [][]string
		for _, x := range m.list {
			body = append(body, []string{string(x.Severity), x.Title, x.Seen, x.Cost, x.Remedy, x.Source})
		}
		p.table([]string{"severity", "finding", "seen", "cost", "mend", "source"}, align, body)
	}
}
