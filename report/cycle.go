package report

import (
	"fmt"
	"html"
	"strings"

	"opcycle/bench"
	"opcycle/judge"
)

// stretch is one part of a cycle, ns from its due time.
type stretch struct {
	part     cyclePart
	from, to float64
}

// cyclePart is a part of a cycle with its colour.
type cyclePart struct {
	name   string
	colour tint
}

// The parts of a cycle in their order; dead time is what is left of T.
func cycleParts() [4]cyclePart {
	return [4]cyclePart{{"start latency", warnColour}, {"calculation", barColour}, {"output and transmit", secondColour}, {"dead time", lineColour}}
}

// cycleBoxes draws an average and the worst kept cycle to one scale.
func cycleBoxes(p *printer, f *bench.File) {
	period := float64(f.Plan.Period())
	if period <= 0 {
		return
	}
	p.section("One cycle, to scale")
	average, ok := averageCycle(f)
	worst, at, kept := worstCycle(f)
	end := period
	for _, s := range append(average, worst...) {
		end = max(end, s.to)
	}
	if ok {
		p.cycle("An average cycle", average, period, end)
	} else {
		p.line("An average cycle: n/a: no cycle was measured")
	}
	if kept {
		p.cycle("The worst kept cycle ("+at+")", worst, period, end)
	} else {
		p.line("The worst cycle: n/a: no cycle was kept in full, since none was late, missed or slow; the largest execution time is %s", found(judge.Statistic(seriesOr(f, "execution_time"), "max")))
	}
	var keys []string
	for _, c := range cycleParts() {
		keys = append(keys, key("■", c.colour, c.name))
	}
	keys = append(keys, key("┃", badColour, "the cycle's end, T = "+judge.Span(f.Plan.Task.Interval)))
	if ok || kept {
		p.raw(keyList(keys))
	}
}

// averageCycle is made of the averages; its parts follow each other as in a cycle.
func averageCycle(f *bench.File) ([]stretch, bool) {
	avg := func(name string) (float64, bool) {
		r := judge.Statistic(seriesOr(f, name), "avg")
		return r.Value, r.OK
	}
	start, ok1 := avg("start_latency")
	work, ok2 := avg("calculation_time")
	done, ok3 := avg("execution_time")
	if !ok1 || !ok2 || !ok3 {
		return nil, false
	}
	return cycleOf(start, start+work, done, float64(f.Plan.Period())), true
}

// worstCycle is the kept cycle that executed the longest.
func worstCycle(f *bench.File) (parts []stretch, at string, ok bool) {
	var worst *bench.Release
	for i := range f.Abnormal {
		r := &f.Abnormal[i]
		if r.Wake != nil && r.End != nil && r.Done != nil && r.Begin != nil && (worst == nil || late(r, f) > late(worst, f)) {
			worst = r
		}
	}
	if worst == nil {
		return nil, "", false
	}
	due := float64((worst.K - f.Phase.First) * f.Plan.Period())
	from := func(v *int64) float64 { return float64(*v) - due }
	return cycleOf(from(worst.Begin), from(worst.End), from(worst.Done), float64(f.Plan.Period())),
		fmt.Sprintf("k = %d, at %.2f s, %s", worst.K, worst.Second, worst.Outcome), true
}

// late is when a release was done, ns after its due time.
func late(r *bench.Release, f *bench.File) int64 {
	return *r.Done - (r.K-f.Phase.First)*f.Plan.Period()
}

func cycleOf(start, calculated, done, period float64) []stretch {
	c := cycleParts()
	parts := []stretch{{c[0], 0, start}, {c[1], start, calculated}, {c[2], calculated, done}}
	if done < period {
		parts = append(parts, stretch{c[3], done, period})
	}
	return parts
}

// cycle draws parts as one bar on a scale up to end; what is beyond T is an overrun.
func (p *printer) cycle(title string, parts []stretch, period, end float64) {
	var words []string
	for _, s := range parts {
		words = append(words, fmt.Sprintf("%s %s", s.part.name, figure(s.to-s.from, "ns")))
	}
	if done := parts[len(parts)-1].to; done > period {
		words = append(words, "overrun "+figure(done-period, "ns"))
	}
	said := title + ": " + strings.Join(words, ", ")
	var b strings.Builder
	fmt.Fprintf(&b, `<svg role="img" aria-label="%s" viewBox="0 0 1000 40" preserveAspectRatio="none" xmlns="http://www.w3.org/2000/svg">`, html.EscapeString(said))
	for _, s := range parts {
		fmt.Fprintf(&b, `<rect x="%.2f" y="4" width="%.2f" height="32" style="fill:%s"><title>%s</title></rect>`,
			s.from/end*1000, max((s.to-s.from)/end*1000, 0.5), s.part.colour.variable(), html.EscapeString(s.part.name))
	}
	at := min(period/end*1000, 998)
	fmt.Fprintf(&b, `<line x1="%.2f" x2="%.2f" y1="0" y2="40" style="stroke:%s;stroke-width:3"/></svg>`, at, at, badColour.variable())
	p.raw("<figure class=\"cycle\">" + b.String() + "<figcaption>" + html.EscapeString(said) + "</figcaption></figure>")
}
