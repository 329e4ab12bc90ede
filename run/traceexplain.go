package run

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"opcycle/bench"
)

var (
	switchLine  = regexp.MustCompile(`prev_comm=(.*) prev_pid=(\d+) .*==> next_comm=(.*) next_pid=(\d+)`)
	wakingLine  = regexp.MustCompile(`pid=(\d+) prio=`)
	irqLine     = regexp.MustCompile(`^irq=(\d+)(?: name=(.*))?`)
	softirqLine = regexp.MustCompile(`action=(\w+)`)
)

// explain says in plain words who had the CPU of a breach in the last millisecond before
// it, or since the release was due if that is longer, and how the late thread came to run.
// events are those before the breach, in order of time.
func explain(events []traceEvent, breach traceEvent, s *traceSummary) []string {
	due := breach.at - s.Took // of the mark, written within a microsecond or two of its instant
	from := min(breach.at-int64(traceWindow), due)
	how := fmt.Sprintf("release %d began %.1f us after it was due", s.K, float64(s.Took)/1e3)
	if s.What == bench.TraceOverrun {
		how = fmt.Sprintf("release %d ended %.1f us after it was due, beyond its cycle,", s.K, float64(s.Took)/1e3)
	}
	o := ownersOf(events, breach, from)
	out := []string{fmt.Sprintf("%s and stopped the tracer; in the %.3f ms before, on CPU %d:", how, float64(breach.at-from)/1e6, breach.cpu)}
	out = append(out, o.text()...)
	if due > from {
		if o := ownersOf(events, breach, due); o.seen {
			out = append(out, fmt.Sprintf("of the %.1f us since its due time: %s", float64(s.Took)/1e3, o.list()))
		}
	}
	if s.What == bench.TraceLate {
		out = append(out, wakeUp(events, breach, due)...)
	}
	return out
}

// owners are who had a CPU for a stretch of time.
type owners struct {
	ran      map[string]int64 // ns by thread, "name-pid"; those of the handlers are in it
	handlers map[string]int64 // ns by interrupt
	count    map[string]int
	names    map[string]string // of interrupts that have one
	seen     bool              // false: no switch of threads tells
}

// ownersOf are the owners of a breach's CPU from an instant to the breach.
func ownersOf(events []traceEvent, breach traceEvent, from int64) owners {
	o := owners{ran: map[string]int64{}, handlers: map[string]int64{}, count: map[string]int{}, names: map[string]string{}}
	running, since := "", from
	entered := map[string]int64{}
	leave := func(kind string, at int64) {
		if t, ok := entered[kind]; ok && at > from {
			o.handlers[kind] += at - max(t, from)
			o.count[kind]++
		}
		delete(entered, kind)
	}
	for _, e := range events {
		if e.cpu != breach.cpu || e.at > breach.at {
			continue
		}
		if kind, enters := handler(e); kind != "" {
			if enters {
				entered[kind] = e.at
				if m := irqLine.FindStringSubmatch(e.rest); m != nil {
					o.names[kind] = " (" + m[2] + ")"
				}
			} else {
				leave(kind, e.at)
			}
			continue
		}
		m := switchLine.FindStringSubmatch(e.rest)
		if e.name != "sched_switch" || m == nil {
			continue
		}
		if e.at > from {
			o.ran[m[1]+"-"+m[2]] += e.at - max(since, from)
			o.seen = true
		}
		running, since = m[3]+"-"+m[4], e.at
	}
	for kind := range maps.Clone(entered) {
		leave(kind, breach.at)
	}
	if running != "" {
		o.ran[running] += breach.at - max(since, from)
		o.seen = true
	}
	return o
}

// handler names the interrupt that e enters or leaves; empty: e is something else.
func handler(e traceEvent) (kind string, enters bool) {
	name, enters := strings.CutSuffix(e.name, "_entry")
	if !enters {
		var leaves bool
		if name, leaves = strings.CutSuffix(e.name, "_exit"); !leaves {
			return "", false
		}
	}
	switch name {
	case "local_timer":
		return "local timer interrupt", enters
	case "irq_handler":
		if m := irqLine.FindStringSubmatch(e.rest); m != nil {
			return "interrupt " + m[1], enters // its name stands at the entry only
		}
	case "softirq":
		if m := softirqLine.FindStringSubmatch(e.rest); m != nil {
			return "softirq " + m[1], enters
		}
	}
	return "", false
}

// text is one line an owner, that with the most time first.
func (o owners) text() []string {
	if !o.seen {
		return []string{"no switch of threads is in the trace: one thread had the CPU all the time, or the buffer does not reach back so far"}
	}
	var out []string
	for _, who := range byTime(o.ran) {
		out = append(out, fmt.Sprintf("%s for %.1f us", nameOf(who), float64(o.ran[who])/1e3))
	}
	for _, kind := range byTime(o.handlers) {
		out = append(out, fmt.Sprintf("within these, %s%s: %d time(s), %.1f us in all", kind, o.names[kind], o.count[kind], float64(o.handlers[kind])/1e3))
	}
	return out
}

func (o owners) list() string {
	var parts []string
	for _, who := range byTime(o.ran) {
		parts = append(parts, fmt.Sprintf("%s %.1f us", nameOf(who), float64(o.ran[who])/1e3))
	}
	return strings.Join(parts, ", ")
}

func nameOf(who string) string {
	if strings.HasPrefix(who, "swapper/") {
		return "nobody (idle)"
	}
	return who
}

// wakeUp tells a late wake-up from a wait for the CPU from a thread that was there and was
// held up unseen.
func wakeUp(events []traceEvent, breach traceEvent, due int64) []string {
	pid := breach.task[strings.LastIndexByte(breach.task, '-')+1:]
	woken, on, off := int64(0), int64(0), int64(0) // the newest of each; 0: not in the trace
	for _, e := range events {
		switch {
		case e.at > breach.at:
		case e.name == "sched_waking":
			if m := wakingLine.FindStringSubmatch(e.rest); m != nil && m[1] == pid {
				woken = e.at
			}
		case e.name == "sched_switch":
			m := switchLine.FindStringSubmatch(e.rest)
			if m != nil && m[2] == pid {
				off = e.at
			} else if m != nil && m[4] == pid {
				on = e.at
			}
		}
	}
	us := func(ns int64) string { return strconv.FormatFloat(float64(ns)/1e3, 'f', 1, 64) + " us" }
	switch {
	case woken == 0 && on == 0:
		return nil
	case on > off && on <= due:
		return []string{fmt.Sprintf("%s had the CPU since %s before the release was due and was held up in it: by the interrupts above, or by what no kernel sees (hypervisor, firmware)", breach.task, us(due-on))}
	case woken > due && woken > off:
		return []string{fmt.Sprintf("%s was woken only %s after the release was due: the timer's interrupt came late (interrupts off, hypervisor, firmware), then it waited %s for the CPU", breach.task, us(woken-due), us(max(on-woken, 0)))}
	case woken > off && on > woken:
		return []string{fmt.Sprintf("%s was woken %s before the release was due and waited %s for the CPU", breach.task, us(due-woken), us(on-woken))}
	case on > off:
		return []string{fmt.Sprintf("%s had lost the CPU to others and was ready to run all the time; it got it back %s after the release was due", breach.task, us(on-due))}
	}
	return nil
}

// byTime are the keys with the most time first.
func byTime(m map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(m[b], m[a]), cmp.Compare(a, b)) })
}
