package host

import (
	"path"
	"slices"
	"strings"
)

// networkCPUs are the CPUs to which the interrupts of network cards are delivered now;
// nil when no card's interrupts could be found or their targets not be read.
func (t *tree) networkCPUs(irqs table) []int {
	const dir = "sys/class/net"
	var names, numbers []string // how cards are called in /proc/interrupts, their MSI numbers
	for _, card := range t.entries(dir) {
		link, ok := t.link(dir + "/" + card + "/device")
		if !ok {
			continue // lo, bridges: no hardware
		}
		device := path.Base(link) // "0000:03:00.0" with its MSI numbers, or "virtio3", known by name
		names = append(names, card, device)
		numbers = append(numbers, t.entries(dir+"/"+card+"/device/msi_irqs")...)
	}
	var out []int
	for _, r := range irqs.rows {
		if r.isDevice() && slices.Max(r.counts) > 0 && (slices.Contains(numbers, r.label) || servesAny(r.device, names)) {
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
