package host

import (
	"slices"
	"strings"
)

// networkCPUs are the CPUs to which the interrupts of network cards are delivered now;
// nil when no card's interrupts could be found or their targets not be read.
func (t *tree) networkCPUs(irqs table) []int {
	var out []int
	for _, card := range t.entries("sys/class/net") {
		for _, r := range t.cardInterrupts(card, irqs) {
			out = append(out, t.deliveredTo(r.label)...)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// servesAny is true when a name of the interrupt's description is one of names, or
// begins with one and a dash: "eth0-TxRx-3", "virtio3-input.0".
func servesAny(device string, names []string) bool {
	for _, word := range strings.Fields(device) {
		for _, n := range names {
			if word == n || strings.HasPrefix(word, n+"-") {
				return true
			}
		}
	}
	return false
}

// deliveredTo reads the CPUs that take an interrupt.
func (t *tree) deliveredTo(number string) []int {
	for _, name := range []string{"effective_affinity_list", "smp_affinity_list"} {
		if s, ok := t.option("proc/irq/" + number + "/" + name); ok && s != "" {
			return t.list("proc/irq/"+number+"/"+name, s)
		}
	}
	return nil
}
