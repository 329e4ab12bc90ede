package host

import (
	"fmt"
	"maps"
	"net"
	"net/netip"
	"path"
	"slices"
	"strings"

	"opcycle/bench"
	"opcycle/rt"
)

// CardOf is the network interface of this network namespace that has the address of local,
// host:port. root is where the files are read below; the driver is asked by ioctl.
func CardOf(root, local string) (bench.Card, error) {
	at, err := netip.ParseAddrPort(local)
	if err != nil {
		return bench.Card{}, fmt.Errorf("the address of the connection: %w", err)
	}
	name, err := interfaceWith(at.Addr())
	if err != nil {
		return bench.Card{}, err
	}
	return readCard(&tree{files: disk(root)}, name, 0)
}

// cardsBelow bounds how far down VLANs of bonds of bridges are followed.
const cardsBelow = 4

func readCard(t *tree, name string, depth int) (bench.Card, error) {
	c, err := rt.ReadCard(name)
	if err != nil {
		return bench.Card{}, err
	}
	out := bench.Card{Name: name, Driver: c.Driver, Offloads: []bench.Offload{}, Unknown: c.Unknown}
	for _, o := range slices.Sorted(maps.Keys(c.Offloads)) {
		out.Offloads = append(out.Offloads, bench.Offload{Name: o, On: c.Offloads[o]})
	}
	if q := c.Coalescing; q != nil {
		out.Coalescing = &bench.Coalescing{RxDelay: int64(q.RxDelay), RxFrames: q.RxFrames, AdaptiveRx: q.AdaptiveRx,
			TxDelay: int64(q.TxDelay), TxFrames: q.TxFrames, AdaptiveTx: q.AdaptiveTx}
	}
	if q := c.EEE; q != nil {
		out.EEE = &bench.EEE{Enabled: q.Enabled, Active: q.Active}
	}
	t.card(&out)
	for _, e := range t.entries("sys/class/net/" + name) {
		lower, ok := strings.CutPrefix(e, "lower_")
		if !ok || depth == cardsBelow {
			continue
		}
		below, err := readCard(t, lower, depth+1)
		if err != nil {
			out.Unknown = append(out.Unknown, err.Error())
			continue
		}
		out.Below = append(out.Below, below)
	}
	return out, nil
}

func interfaceWith(a netip.Addr) (string, error) {
	all, err := net.Interfaces()
	if err != nil {
		return "", fmt.Errorf("list the network interfaces: %w", err)
	}
	for _, i := range all {
		addresses, err := i.Addrs()
		if err != nil {
			continue // it is gone meanwhile
		}
		for _, x := range addresses {
			if p, err := netip.ParsePrefix(x.String()); err == nil && p.Addr().WithZone("") == a.Unmap().WithZone("") {
				return i.Name, nil
			}
		}
	}
	return "", fmt.Errorf("no network interface of this network namespace has the address %s", a)
}

// card reads what the kernel's files tell: speed, interrupts, their CPUs and threads.
func (t *tree) card(c *bench.Card) {
	dir := "sys/class/net/" + c.Name
	text, ok := t.option(dir + "/speed")
	if n := whole(text); n != nil && *n > 0 { // −1: no link, or none of a known speed
		c.Speed = n
	} else {
		c.Unknown = append(c.Unknown, "speed: "+why(ok, text))
	}
	irqs, err := parseTable(t.text("proc/interrupts"))
	if err != nil {
		c.IRQsNA = "/proc/interrupts: " + err.Error()
		return
	}
	c.IRQs = []bench.CardIRQ{}
	threads := t.irqThreads()
	for _, r := range t.cardInterrupts(c.Name, irqs) {
		x := bench.CardIRQ{Number: r.label, Name: lastWord(r.device), CPUs: t.deliveredTo(r.label)}
		if th, ok := threads[r.label]; ok {
			x.Thread, x.Policy, x.Priority = th.Name, rt.Policy(th.Policy).String(), th.Priority
		}
		c.IRQs = append(c.IRQs, x)
	}
	if len(c.IRQs) == 0 {
		c.IRQsNA = "no hardware behind it, or its interrupts bear neither its name nor its numbers"
		if _, hardware := t.link(dir + "/device"); !hardware {
			c.IRQsNA = "none: it has no hardware of its own"
		}
	}
}

func why(readable bool, text string) string {
	if !readable || text == "" {
		return "not told"
	}
	return "the kernel says " + text
}

// irqThreads are the threads of interrupts by their number: "irq/131-eth0-rx-0". Of an
// interrupt that is shared, or has a secondary thread, the first.
func (t *tree) irqThreads() map[string]Thread {
	out := map[string]Thread{}
	for _, x := range t.threadFacts().Threads {
		rest, ok := strings.CutPrefix(x.Name, "irq/")
		number, _, named := strings.Cut(rest, "-")
		if _, there := out[number]; x.Kernel && ok && named && !there {
			out[number] = x
		}
	}
	return out
}

// cardInterrupts are the interrupts of one card: by its MSI numbers, or by its name.
func (t *tree) cardInterrupts(card string, irqs table) []irq {
	dir := "sys/class/net/" + card
	link, ok := t.link(dir + "/device")
	if !ok {
		return nil // lo, bridges, veth: no hardware
	}
	names := []string{card, path.Base(link)} // "0000:03:00.0" with its MSI numbers, or "virtio3", known by name
	numbers := t.entries(dir + "/device/msi_irqs")
	var out []irq
	for _, r := range irqs.rows {
		if r.isDevice() && slices.Max(r.counts) > 0 && (slices.Contains(numbers, r.label) || servesAny(r.device, names)) {
			out = append(out, r)
		}
	}
	return out
}
