package host

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"opcycle/bench"
)

// processors fills what is known of the CPUs: model, topology, isolation, interrupts.
func (t *tree) processors(h *bench.Host) {
	const dir = "sys/devices/system/cpu"
	h.CPUModel = t.model()
	irqs, err := parseTable(t.text("proc/interrupts"))
	if err != nil {
		t.miss("proc/interrupts", err)
	}
	for _, id := range t.list(dir+"/online", t.text(dir+"/online")) {
		h.CPUs = append(h.CPUs, t.processor(id, irqs))
	}
	for name, to := range map[string]*[]int{"isolated": &h.Isolated, "nohz_full": &h.NohzFull} {
		if s, ok := t.option(dir + "/" + name); ok && s != "(null)" { // old kernels print that for none
			*to = t.list(dir+"/"+name, s)
		}
	}
	h.Governor = t.governor(h.CPUs)
	h.NetworkCPUs = t.networkCPUs(irqs)
}

// list reads the kernel's list format.
func (t *tree) list(name, s string) []int {
	l, err := bench.ParseCPUList(s)
	if err != nil {
		t.miss(name, err)
	}
	return l
}

// processor reads one CPU's place. What is not readable is as if it were a core alone.
func (t *tree) processor(id int, irqs table) bench.CPU {
	dir := fmt.Sprintf("sys/devices/system/cpu/cpu%d", id)
	c := bench.CPU{ID: id, Core: id, Siblings: []int{id}, IRQs: irqs.device(id)}
	if n := t.number(dir + "/topology/core_id"); n != nil {
		c.Core = int(*n)
	}
	if n := t.number(dir + "/topology/physical_package_id"); n != nil {
		c.Package = int(*n)
	}
	if l := t.list(dir, t.text(dir+"/topology/thread_siblings_list")); len(l) > 0 {
		c.Siblings = l
	}
	c.Caches = t.caches(dir + "/cache")
	for _, e := range t.entries(dir) { // a link "node1"; none on kernels without NUMA
		if n, ok := strings.CutPrefix(e, "node"); ok {
			c.Node, _ = strconv.Atoi(n)
		}
	}
	return c
}

// model is the processor's name; on arm64 the implementer and part, which have no name.
func (t *tree) model() string {
	fields := map[string]string{}
	for line := range strings.Lines(t.text("proc/cpuinfo")) {
		k, v, ok := strings.Cut(line, ":")
		if k = strings.TrimSpace(k); ok && fields[k] == "" {
			fields[k] = strings.TrimSpace(v)
		}
	}
	if m := fields["model name"]; m != "" {
		return m
	}
	if i, p := fields["CPU implementer"], fields["CPU part"]; i != "" && p != "" {
		return fmt.Sprintf("arm implementer %s part %s revision %s", i, p, fields["CPU revision"])
	}
	return ""
}

// governor is the frequency governor; several different ones are joined by a comma.
func (t *tree) governor(cpus []bench.CPU) string {
	var out []string
	for _, c := range cpus {
		name := fmt.Sprintf("sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", c.ID)
		if s, ok := t.option(name); ok && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if len(out) == 0 {
		t.unreadable = append(t.unreadable, "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor: no frequency driver")
	}
	return strings.Join(out, ",")
}
