package report

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// processes prints the machine and each process as it really ran: properties down,
// processes across.
func processes(p *printer, f *bench.File) {
	h := &f.Host
	if p.form == asHTML { // the machine has a table of its own there
		p.section("Processes")
	} else {
		p.section("Machine and processes")
		machineLine(p, h)
	}
	if len(f.Processes) == 0 {
		p.line("processes: n/a: none reported")
		return
	}
	head := []string{"process"}
	align := map[int]tw.Align{}
	for i, q := range f.Processes {
		head = append(head, q.Name)
		align[i+1] = tw.AlignLeft
	}
	var body [][]string
	var notes footnotes
	add := func(label string, cell func(q *bench.ProcessInfo) string) {
		cells := []string{label}
		for i := range f.Processes {
			text := cell(&f.Processes[i])
			if utf8.RuneCountInString(text) > processCell {
				text = notes.mark(text)
			}
			cells = append(cells, text)
		}
		body = append(body, cells)
	}
	for _, role := range roles(f) {
		add(role+" threads", func(q *bench.ProcessInfo) string { return threads(q, role) })
	}
	add("GOMAXPROCS", func(q *bench.ProcessInfo) string { return fmt.Sprint(q.MaxProcs) })
	add("memory locked", lockedCell)
	add("C-states", func(q *bench.ProcessInfo) string { return orNA(q.CState) })
	add("GOGC", func(q *bench.ProcessInfo) string { return orNA(q.GOGC) })
	for _, s := range processRows() {
		for _, statistic := range statisticsOf(f, s.series) {
			add(s.label+", "+statistic, func(q *bench.ProcessInfo) string { return processFigure(f, q.Name, s.series, statistic) })
		}
	}
	add("ended", func(q *bench.ProcessInfo) string {
		if q.Error == "" {
			return "well"
		}
		return q.Error
	})
	p.table(head, align, body)
	notes.print(p)
}

func machineLine(p *printer, h *bench.Host) {
	p.item("machine: ", fmt.Sprintf("%s, %d CPUs, %s, kernel %s, %s, clock %s, hypervisor %s",
		orNA(h.CPUModel), len(h.CPUs), orNA(h.OS), orNA(h.Kernel), orNA(h.Preempt), orNA(h.ClockSource), orNone(h.Hypervisor)))
}

// processCell is the longest text in a cell; what is longer stands below the table.
const processCell = 34

// processRows are the series of a process.
func processRows() []row {
	return []row{{"collector pauses", "gc_pause"}, {"allocations", "allocations"}, {"context switches", "context_switches"},
		{"page faults", "page_faults"}, {"migrations", "migrations"}, {"CPU time", "cpu"}, {"memory", "memory"}}
}

func lockedCell(q *bench.ProcessInfo) string {
	switch {
	case q.Locked:
		return "yes"
	case q.LockError != "":
		return "no: " + q.LockError
	}
	return "no"
}

func orNone(s string) string {
	if s == "" {
		return "none seen"
	}
	return s
}

// roles are the thread roles of all processes, in the order in which they first occur.
func roles(f *bench.File) []string {
	var out []string
	seen := map[string]bool{}
	for _, q := range f.Processes {
		for _, t := range q.Threads {
			if !seen[t.Role] {
				seen[t.Role] = true
				out = append(out, t.Role)
			}
		}
	}
	return out
}

// threads says how the threads of one role are scheduled: "6 x FIFO 45 on 0".
func threads(q *bench.ProcessInfo, role string) string {
	var order []string
	count := map[string]int{}
	for _, t := range q.Threads {
		if t.Role != role {
			continue
		}
		what := fmt.Sprintf("%s %d on %s", strings.TrimPrefix(t.Policy, "SCHED_"), t.Priority, bench.CPUList(t.CPUs))
		if count[what] == 0 {
			order = append(order, what)
		}
		count[what]++
	}
	for i, what := range order {
		order[i] = fmt.Sprintf("%d x %s", count[what], what)
	}
	if len(order) == 0 {
		return "none"
	}
	return strings.Join(order, "; ")
}

// statisticsOf are the statistics that any process has of a series, in their order.
func statisticsOf(f *bench.File, series string) []string {
	var out []string
	for i := range f.Figures {
		if g := &f.Figures[i]; g.Series == series && isProcess(f, g.Object) && !slices.Contains(out, g.Statistic) {
			out = append(out, g.Statistic)
		}
	}
	return out
}

func isProcess(f *bench.File, name string) bool {
	return slices.ContainsFunc(f.Processes, func(q bench.ProcessInfo) bool { return q.Name == name })
}

func processFigure(f *bench.File, process, series, statistic string) string {
	v, unit, na, ok := judge.Lookup(*f, process, series, statistic)
	return found(judge.Found{Value: v, Unit: unit, NA: na, OK: ok})
}
