package report

import (
	"fmt"
	"slices"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// row is one series of a table of quantiles.
type row struct{ label, series string }

// fullRows are the rows of metrics.md with their defining instants.
func fullRows() []row {
	return []row{
		{"Control cycle  W(k)-W(k-1)", "control_cycle_period"},
		{"Start latency  W-S", "start_latency"},
		{"Calculation time  C1-C0", "calculation_time"},
		{"Execution time  X-S", "execution_time"},
		{"Execution time jitter", "execution_time_jitter"},
		{"Task time  X-W", "task_time"},
		{"Response time  X(n)-S(k)", "response_time"},
		{"Dead time  T-E", "dead_time"},
		{"Client transmit time", "client_transmit_time"},
		{"  encode", "client_encode_time"},
		{"  write", "client_write_time"},
		{"Server transmit time  R-P", "server_transmit_time"},
		{"  network  K-P", "network_time"},
		{"  client  R-K", "client_receive_time"},
		{"Arrival offset  R-S", "arrival_offset"},
		{"Server transmit jitter", "server_transmit_jitter"},
		{"Loop time", "loop_time"},
		{"Write round trip", "write_round_trip"},
		{"Inter-arrival deviation", "inter_arrival_deviation"},
	}
}

func floorRows() []row {
	return []row{{"Floor: transmit", "floor_transmit"}, {"Floor: wake-up", "floor_wake_up"}}
}

// rows prints every series with its quantiles, then the floor and the ratios to it.
func rows(p *printer, f *bench.File) {
	p.section("In full (µs)" + ofFirst(f))
	quantileTable(p, f, fullRows())
	p.section("Floor of this machine (µs): two empty processes on the same CPUs, without spin")
	quantileTable(p, f, floorRows())
	ratio(p, f, "Server transmit time / floor, p50 / p50: ", "server_transmit_to_floor", "")
	spin := fmt.Sprintf(" (the task spins over the last %s; below 1 is possible)", judge.Span(f.Plan.Task.Spin))
	ratio(p, f, "Start latency / raw clock_nanosleep, p50 / p50: ", "start_latency_to_clock_nanosleep", spin)
}

func ratio(p *printer, f *bench.File, label, statistic, remark string) {
	v, unit, na, ok := judge.Lookup(*f, "", "ratio", statistic)
	p.item(label, found(judge.Found{Value: v, Unit: unit, NA: na, OK: ok})+remark)
}

// quantileTable prints count, min, avg, quantiles and max of each row. A quantile that no
// row has enough samples for is no column but a line below; so is the reason of a row
// without any value.
func quantileTable(p *printer, f *bench.File, list []row) {
	quantiles := []string{"p50", "p99", "p99.9"}
	statistics := []string{"count", "min", "avg"}
	var below []string
	for _, q := range quantiles {
		if na := missingEverywhere(f, list, q); na != "" {
			below = append(below, fmt.Sprintf("%s: n/a (%s)", q, na))
			continue
		}
		statistics = append(statistics, q)
	}
	statistics = append(statistics, "max", "out")
	var body [][]string
	bursts := false
	var reasons footnotes
	for _, r := range list {
		cells := []string{r.label}
		s := judge.FindSeries(f, "", r.series)
		if s == nil || s.Count == 0 {
			why := "not in this result"
			if s != nil && s.NA != "" {
				why = s.NA
			}
			cells[0] += " " + reasons.mark(why)
		}
		for _, name := range statistics {
			cell, few := quantileCell(s, name)
			bursts = bursts || few
			cells = append(cells, cell)
		}
		body = append(body, cells)
	}
	p.table(append([]string{"Row"}, statistics...), map[int]tw.Align{}, body)
	reasons.printNA(p)
	for _, line := range below {
		p.line("%s", line)
	}
	if bursts {
		p.line("~: the samples beyond it came in fewer than %d bursts; it would differ in another run", fewBursts)
	}
	if slices.ContainsFunc(list, func(r row) bool {
		s := judge.FindSeries(f, "", r.series)
		return s != nil && s.Underflow+s.Overflow > 0
	}) {
		p.line("out: values beyond ±10 min, in min, avg and max, but in no quantile's bucket")
	}
}

// fewBursts is the number of bursts below which a quantile is marked.
const fewBursts = 5

// missingEverywhere is the common reason why no row has quantile q, or "".
func missingEverywhere(f *bench.File, list []row, q string) string {
	na := ""
	for _, r := range list {
		s := judge.FindSeries(f, "", r.series)
		if s == nil || s.Count == 0 {
			continue
		}
		g := judge.FindQuantile(s, q)
		if g == nil || g.Value != nil {
			return ""
		}
		na = g.NA
	}
	return na
}

// quantileCell is one cell; few says that the quantile is marked with "~".
func quantileCell(s *bench.Series, statistic string) (cell string, few bool) {
	if s == nil || s.NA != "" && s.Count == 0 {
		return "n/a", false
	}
	switch statistic {
	case "count":
		return judge.Group(s.Count), false
	case "out":
		return judge.Group(s.Underflow + s.Overflow), false
	}
	r := judge.Statistic(s, statistic)
	q := judge.FindQuantile(s, statistic)
	switch {
	case !r.OK && q != nil:
		return fmt.Sprintf("n/a (%s)", r.NA), false
	case !r.OK:
		return "n/a", false
	case q != nil && q.Bursts < fewBursts:
		return fmt.Sprintf("~%s (%s)", micros(r.Value, 1), burstsOf(q.Bursts)), true
	}
	return micros(r.Value, 1), false
}

func burstsOf(n int) string {
	switch n {
	case 0:
		return "bursts n/a"
	case 1:
		return "1 burst"
	}
	return fmt.Sprintf("%d bursts", n)
}
