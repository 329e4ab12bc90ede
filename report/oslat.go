package report

import (
	"fmt"
	"slices"
	"time"

	"github.com/olekukonko/tablewriter/tw"

	"opcycle/bench"
	"opcycle/judge"
)

// oslatShown is how many gaps a report lists.
const oslatShown = 16

// oslat is one line a CPU, then the longest gaps.
func oslat(p *printer, results []*bench.SuiteResult, _ []bench.Reference) {
	for _, r := range results {
		p.section(judge.Title(r) + ": gaps of system and hardware (µs)")
		var body [][]string
		for i := range r.Series {
			s := &r.Series[i]
			line := []string{s.Object, judge.Group(s.Count)}
			for _, statistic := range []string{"min", "avg", "p99.99", "p99.999", "p99.9999", "max"} {
				if f := judge.Statistic(s, statistic); f.OK {
					line = append(line, micros(f.Value, 2))
				} else {
					line = append(line, "n/a")
				}
			}
			body = append(body, append(line, countOf(r, s.Object, "over_threshold"), lostShare(r, s.Object), countOf(r, s.Object, "suspected_throttling")))
		}
		p.table([]string{"CPU", "readings", "min", "avg", "p99.99", "p99.999", "p99.9999", "max", "over threshold", "lost in these", "suspected throttling"}, nil, body)
		p.item("", fmt.Sprintf("%s; what limits FIFO time: %s (%s)", figureText(r, "thread", "policy"), figureText(r, "fifo_limit", "by"), figureText(r, "fifo_limit", "why")))
		longest(p, r.Moments)
	}
}

func countOf(r *bench.SuiteResult, object, statistic string) string {
	for i := range r.Figures {
		if g := &r.Figures[i]; g.Object == object && g.Statistic == statistic && g.Value != nil {
			return judge.Group(int64(*g.Value))
		}
	}
	return "n/a"
}

// lostShare is how much of the watched time went into gaps; n/a in other programs' results.
func lostShare(r *bench.SuiteResult, object string) string {
	var lost, watched *float64
	for i := range r.Figures {
		switch g := &r.Figures[i]; {
		case g.Object != object:
		case g.Series == "gaps" && g.Statistic == "lost_time":
			lost = g.Value
		case g.Series == "watched" && g.Statistic == "sum":
			watched = g.Value
		}
	}
	if lost == nil || watched == nil || *watched <= 0 {
		return "n/a"
	}
	return fmt.Sprintf("%.3f %%", 100**lost / *watched)
}

// longest lists the longest gaps in order of length.
func longest(p *printer, moments []bench.Moment) {
	if len(moments) == 0 {
		p.line("no gap at or above the threshold")
		return
	}
	all := slices.Clone(moments)
	slices.SortStableFunc(all, func(a, b bench.Moment) int { return int(max(min(b.Value-a.Value, 1), -1)) })
	var body [][]string
	for _, m := range all[:min(len(all), oslatShown)] {
		body = append(body, []string{m.At.UTC().Format("2006-01-02 15:04:05.000000"), fmt.Sprint(m.CPU), micros(float64(m.Value), 1), judge.Span(time.Duration(m.Since).Round(time.Millisecond)), m.What})
	}
	p.table([]string{"end (UTC)", "CPU", "gap µs", "since begin", "what"}, map[int]tw.Align{0: tw.AlignLeft, 4: tw.AlignLeft}, body)
}

// hwlat is the kernel's list.
func hwlat(p *printer, results []*bench.SuiteResult, _ []bench.Reference) {
	for _, r := range results {
		p.section(judge.Title(r) + ": gaps of the hardware alone")
		if len(r.Invalid) > 0 {
			continue // the remarks say why
		}
		p.item("", fmt.Sprintf("%s gap(s), %s lost, largest %s", found(suiteFigure(r, "gaps", "count")), found(suiteFigure(r, "gaps", "lost")), found(suiteFigure(r, "gaps", "max"))))
		longest(p, r.Moments)
	}
}
