package report

import (
	"fmt"
	"strings"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// processes prints the machine and each process as it really ran: properties down,
// processes across.
func processes(p *printer, f *bench.File) {
	h := &f.Host
	p.section("Machine and processes")
	p.item("machine: ", fmt.Sprintf("%s, %d CPUs, %s, kernel %s, %s, clock %s, hypervisor %s",
		orNA(h.CPUModel), len(h.CPUs), orNA(h.OS), orNA(h.Kernel), orNA(h.Preempt), orNA(h.ClockSource), orNone(h.Hypervisor)))
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
	add := func(label string, cell func(q *bench.ProcessInfo) string) {
		cells := []string{label}
		for i := range f.Processes {
			cells = append(cells, cell(&f.Processes[i]))
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
	for _, s := range []row{{"collector pauses", "gc_pause"}, {"allocations", "allocations"}, {"context switches", "context_switches"},
		{"page faults", "page_faults"}, {"migrations", "migrations"}} {
		add(s.label, func(q *bench.ProcessInfo) string { return processFigures(f, q.Name, s.series) })
	}
	add("ended", func(q *bench.ProcessInfo) string {
		if q.Error == "" {
			return "well"
		}
		return q.Error
	})
	p.table(head, align, body)
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

// processFigures are all figures of one series of a process: "count 3, sum 120.1 µs".
func processFigures(f *bench.File, process, series string) string {
	var parts []string
	for i := range f.Figures {
		g := &f.Figures[i]
		if g.Object != process || g.Series != series {
			continue
		}
		parts = append(parts, g.Statistic+" "+found(judge.Known(f, g)))
	}
	if len(parts) == 0 {
		return "n/a: not in this result"
	}
	return strings.Join(parts, ", ")
}

// others prints figures that no part above knows: what is counted is printed.
func others(p *printer, f *bench.File) {
	known := map[string]bool{}
	for _, s := range bench.SeriesNames() {
		known[s] = true
	}
	var body [][]string
	for i := range f.Figures {
		g := &f.Figures[i]
		if known[g.Series] {
			continue
		}
		value := g.Text
		if g.Unit != "text" {
			value = found(judge.Known(f, g))
		}
		body = append(body, []string{g.Object, g.Series + "." + g.Statistic, value})
	}
	if len(body) > 0 {
		p.section("Further counters")
		p.table([]string{"object", "figure", "value"}, map[int]tw.Align{1: tw.AlignLeft}, body)
	}
}
