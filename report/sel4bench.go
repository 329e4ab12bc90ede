package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// sel4Figures are the page's four columns.
func sel4Figures() [][2]string {
	return [][2]string{{"IRQ Invoke", "irq_invoke"}, {"IPC call", "ipc_call"}, {"IPC reply", "ipc_reply"}, {"Notify", "notify"}}
}

// sel4bench is the page's table with our line first, the published rows beneath, and then
// every mechanism.
func sel4bench(p *printer, results []*bench.SuiteResult, refs []bench.Reference) {
	p.section("sel4bench-style (Linux counterparts): cycles, mean (standard deviation)")
	head := []string{"ISA", "Mode", "Core/SoC/Board", "Clock"}
	for _, f := range sel4Figures() {
		head = append(head, f[0])
	}
	left := map[int]tw.Align{1: tw.AlignLeft, 2: tw.AlignLeft}
	var notes footnotes
	var body [][]string
	for _, r := range results {
		body = append(body, sel4Line(r, &notes))
	}
	p.table(head, left, body)
	notes.print(p)
	for _, r := range results {
		p.item(judge.Title(r)+": ", sel4Clock(r))
	}
	for _, table := range []string{"Default", "MCS"} {
		sel4References(p, refs, table, head, left)
	}
	p.item("", "seL4's rows are another kernel's; MCS is a configuration of seL4 without a counterpart here. The page calls notify one between processes; in sel4bench's source (0a48bd47) both ends are threads of one address space. Ours are processes, as the page says.")
	for _, r := range results {
		sel4Details(p, r)
	}
}

// sel4Mode is the only one that is measured: both machines are of 64 bits.
const sel4Mode = 64

func sel4Line(r *bench.SuiteResult, notes *footnotes) []string {
	clock := "n/a"
	if hz := suiteFigure(r, "clock", "rate"); hz.OK {
		clock = sel4Rate(hz.Value)
	}
	board := figureText(r, "cpu", "text")
	if r.Label != "" {
		board += ", " + r.Label
	}
	line := []string{figureText(r, "isa", "text"), strconv.Itoa(sel4Mode), board, clock}
	for _, f := range sel4Figures() {
		line = append(line, sel4Cell(r, f[1], notes))
	}
	return line
}

// sel4Rate is the counter's: a time stamp counter's are GHz, a board's often some 10 MHz.
func sel4Rate(hz float64) string {
	if hz < 1e9 {
		return fmt.Sprintf("%.1f MHz", hz/1e6)
	}
	return fmt.Sprintf("%.1f GHz", hz/1e9)
}

func sel4Cell(r *bench.SuiteResult, name string, notes *footnotes) string {
	i := slices.IndexFunc(r.Readings, func(g bench.Reading) bool { return g.Headline && g.Table == "sel4bench" && g.Name == name })
	if i < 0 {
		return "n/a " + notes.mark("n/a: not measured: the run ended before it")
	}
	g := &r.Readings[i]
	if g.Value == nil || g.StdDev == nil {
		return "n/a " + notes.mark(name+": n/a: "+g.NA)
	}
	note := fmt.Sprintf("%s by %s, %s, %s; %s; median %.0f, min %.0f %s", name, orNA(g.Mechanism), g.Placement, g.Policy, g.Deviation, *g.Median, *g.Min, g.Unit)
	if g.Unstable != "" {
		note += "; UNSTABLE: " + g.Unstable
	}
	unit := ""
	if g.Unit == "ns" {
		unit = " ns"
	}
	return fmt.Sprintf("%.0f (%.0f)%s %s", math.Round(*g.Value), math.Round(*g.StdDev), unit, notes.mark(note))
}

func sel4Clock(r *bench.SuiteResult) string {
	hz, unit := suiteFigure(r, "clock", "rate"), figureText(r, "clock", "unit")
	if !hz.OK {
		return "the counter's rate and unit are n/a: not measured"
	}
	ratio := suiteFigure(r, "clock", "core_ratio")
	s := fmt.Sprintf("in %s @ %s, reference cycles, not core cycles; ", unit, sel4Rate(hz.Value))
	if unit != "TSC cycles" {
		s = fmt.Sprintf("in ns: %s @ %s are too coarse for cycles; ", unit, sel4Rate(hz.Value))
	}
	if ratio.OK {
		s += fmt.Sprintf("measured: %.3f core cycles in one of them", ratio.Value)
	} else {
		s += "their ratio to core cycles is n/a: " + ratio.NA
	}
	low, high := suiteFigure(r, "overhead", "min"), suiteFigure(r, "overhead", "max")
	stable := "not stable by sel4bench's rule, all equal"
	switch {
	case !low.OK || !high.OK:
		stable = "n/a"
	case low.Value == high.Value:
		stable = "stable, all equal"
	}
	return s + fmt.Sprintf("; overhead subtracted: %s (least of 110 reads back to back; the largest %s: %s)", cyclesOf(low), cyclesOf(high), stable)
}

func cyclesOf(f judge.Found) string {
	if !f.OK {
		return "n/a"
	}
	return strconv.FormatFloat(f.Value, 'f', 0, 64)
}

// sel4References are the published rows of one table, mean and deviation in one cell.
func sel4References(p *printer, refs []bench.Reference, table string, head []string, left map[int]tw.Align) {
	type row struct {
		isa, mode, board, clock string
		cells                   map[string]string
		build                   string
	}
	var rows []*row
	at := map[string]*row{}
	for _, r := range refs {
		if r.Suite != "sel4bench" || r.Table != table {
			continue
		}
		x := at[r.Platform+r.Run]
		if x == nil {
			isa, mode, _ := strings.Cut(r.Run, ", mode ")
			x = &row{isa: isa, mode: mode, board: r.Platform, cells: map[string]string{}, build: r.Conditions}
			x.clock, _, _ = strings.Cut(strings.TrimPrefix(r.Conditions, "clock "), ";")
			at[r.Platform+r.Run] = x
			rows = append(rows, x)
		}
		if r.Statistic == "mean" {
			x.cells[r.Series] = r.Value + x.cells[r.Series]
		} else {
			x.cells[r.Series] += " (" + r.Value + ")"
		}
	}
	if len(rows) == 0 {
		return
	}
	p.section("seL4, " + table + " (published)")
	var body [][]string
	for _, x := range rows {
		line := []string{x.isa, x.mode, x.board, x.clock}
		for _, f := range sel4Figures() {
			line = append(line, x.cells[f[1]])
		}
		body = append(body, line)
	}
	p.table(head, left, body)
	for _, x := range rows {
		p.item("  - ", x.board+": "+x.build)
	}
}

func sel4Details(p *printer, r *bench.SuiteResult) {
	if len(r.Readings) == 0 {
		return
	}
	p.section(judge.Title(r) + ": every mechanism")
	var body [][]string
	var notes footnotes
	cell := func(v *float64) string {
		if v == nil {
			return "n/a"
		}
		return strconv.FormatFloat(*v, 'f', 0, 64)
	}
	for i := range r.Readings {
		g := &r.Readings[i]
		why := notes.mark(g.Deviation)
		if g.NA != "" {
			why += " n/a " + notes.mark("n/a: "+g.NA)
		}
		if g.Unstable != "" {
			why += " unstable " + notes.mark("unstable: "+g.Unstable)
		}
		name := "  " + g.Name
		if g.Headline {
			name = "* " + g.Name
		}
		body = append(body, []string{name, g.Mechanism, cell(g.Min), cell(g.Median), cell(g.Mean), cell(g.StdDev), cell(g.P99), judge.Group(g.N), g.Unit, g.Policy, why})
	}
	p.table([]string{"figure (* above)", "mechanism", "min", "median", "mean", "std dev", "p99", "n", "unit", "policy", "label"},
		map[int]tw.Align{1: tw.AlignLeft, 8: tw.AlignLeft, 9: tw.AlignLeft, 10: tw.AlignLeft}, body)
	notes.print(p)
	for i := range r.Figures {
		g := &r.Figures[i]
		if g.Series == "samples" && g.Value != nil {
			p.item("switches, "+g.Object+": ", fmt.Sprintf("%s samples; this end %s, the peer %s over its life", cyclesOf(judge.Found{Value: *g.Value, OK: true}),
				cyclesOf(sel4Switches(r, g.Object, "own")), cyclesOf(sel4Switches(r, g.Object, "peer"))))
		}
	}
}

func sel4Switches(r *bench.SuiteResult, object, end string) judge.Found {
	for i := range r.Figures {
		if g := &r.Figures[i]; g.Object == object && g.Series == "switches" && g.Statistic == end && g.Value != nil {
			return judge.Found{Value: *g.Value, OK: true}
		}
	}
	return judge.Found{}
}
