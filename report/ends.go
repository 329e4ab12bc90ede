package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// ends prints what each end's kernel told of the way between the two.
func ends(p *printer, f *bench.File) {
	known := false
	for _, x := range []struct {
		name, object string
		end          *bench.End
	}{{"Server's", bench.ProcessServer, f.Nodes.Server}, {"Client's", bench.ProcessClient, f.Nodes.Client}} {
		if x.end == nil {
			continue
		}
		known = true
		for _, c := range x.end.Connections {
			p.item(x.name+" connection: ", connection(c))
		}
		if n, _, na, ok := judge.Lookup(*f, x.object, "tcp", "retransmissions"); ok {
			p.item(x.name+" retransmissions: ", judge.Group(int64(n))+" in the phase")
		} else {
			p.item(x.name+" retransmissions: ", "n/a: "+na)
		}
		p.item(x.name+" card: ", card(x.end))
		p.item(x.name+" measured CPUs: ", activity(x.end.CPUs))
	}
	if known {
		p.item("", "The kernel keeps a number of retransmissions only. Each end looks at it when a message has come, at most ten times a second: a segment sent again is known to the stretch between two looks, and late values within 1 s of that bear the cause retransmission.")
	}
}

// connection is TCP_INFO in words.
func connection(c bench.Connection) string {
	if c.NA != "" {
		return "n/a: " + c.NA
	}
	span := func(ns int64) string { return judge.Span(time.Duration(ns)) }
	text := fmt.Sprintf("%s to %s: round trip %s ± %s, at least %s; retransmission time-out %s; segments sent again since it was made: %s", c.Local, c.Peer,
		span(c.RTT), span(c.RTTVar), span(c.MinRTT), span(c.RTO), judge.Group(c.Total))
	if c.LeftOut > 0 {
		text += fmt.Sprintf(" (the times of %s stretches were not kept)", judge.Group(c.LeftOut))
	}
	return text
}

// card is a network card in words.
func card(e *bench.End) string {
	if e.Card == nil {
		return "n/a: " + e.CardNA
	}
	return cardText(e.Card)
}

func cardText(c *bench.Card) string {
	parts := []string{c.Name}
	if c.Driver != "" {
		parts[0] += ", driver " + c.Driver
	}
	if c.Speed != nil {
		parts[0] += ", " + judge.Group(*c.Speed) + " Mbit/s"
	}
	if q := c.Coalescing; q != nil {
		parts = append(parts, fmt.Sprintf("interrupts kept back: rx %s, tx %s", coalescing(q.RxDelay, q.RxFrames, q.AdaptiveRx), coalescing(q.TxDelay, q.TxFrames, q.AdaptiveTx)))
	}
	if q := c.EEE; q != nil {
		parts = append(parts, "EEE "+map[bool]string{false: "off", true: "on"}[q.Enabled]+map[bool]string{false: ", not in use", true: ", in use"}[q.Active])
	}
	var on, off []string
	for _, o := range c.Offloads {
		if o.On {
			on = append(on, o.Name)
		} else {
			off = append(off, o.Name)
		}
	}
	if len(on)+len(off) > 0 {
		parts = append(parts, "offloads on: "+words(on)+"; off: "+words(off))
	}
	parts = append(parts, interrupts(c))
	if len(c.Unknown) > 0 {
		parts = append(parts, "n/a: "+strings.Join(c.Unknown, ", "))
	}
	for i := range c.Below {
		parts = append(parts, "through "+cardText(&c.Below[i]))
	}
	return strings.Join(parts, "; ")
}

func words(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, " ")
}

func coalescing(delay int64, frames uint32, adaptive bool) string {
	text := judge.Span(time.Duration(delay))
	if frames > 0 {
		text += " or " + strconv.Itoa(int(frames)) + " packets"
	}
	if adaptive {
		text += ", adaptive"
	}
	return text
}

// interrupts are the card's, with their CPUs and threads.
func interrupts(c *bench.Card) string {
	if len(c.IRQs) == 0 {
		return "interrupts n/a: " + c.IRQsNA
	}
	var list []string
	for _, q := range c.IRQs {
		cpus, thread := "unknown", "no thread seen"
		if q.CPUs != nil {
			cpus = bench.CPUList(q.CPUs).String()
		}
		if q.Thread != "" {
			thread = fmt.Sprintf("thread %s %s %d", q.Thread, q.Policy, q.Priority)
		}
		list = append(list, fmt.Sprintf("%s (%s) on CPU %s, %s", q.Number, q.Name, cpus, thread))
	}
	return "interrupts " + strings.Join(list, ", ")
}

// activity is what the kernel counted on the measured CPUs in the phase.
func activity(cpus []bench.CPUActivity) string {
	number := func(n *int64, what string) string {
		if n == nil {
			return what + " n/a"
		}
		return judge.Group(*n) + " " + what
	}
	var list []string
	for _, c := range cpus {
		list = append(list, fmt.Sprintf("CPU %d: %s, %s, %s", c.CPU, number(c.Interrupts, "interrupts"), number(c.Devices, "of devices"), number(c.Softirqs, "softirqs")))
	}
	if len(list) == 0 {
		return "n/a"
	}
	return strings.Join(list, "; ") + " in the phase"
}
