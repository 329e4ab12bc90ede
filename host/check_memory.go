package host

import (
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// memory judges transparent huge pages and swap.
func (c *checker) memory() {
	h, m := &c.f.Host, &c.f.Memory
	f := bench.Finding{Key: "thp", Severity: bench.SeverityFit, Title: "transparent huge pages: " + orUnknown(h.THP),
		Seen: fmt.Sprintf("enabled %s, defrag %s (/sys/kernel/mm/transparent_hugepage)", orUnknown(h.THP), orUnknown(m.Defrag)), Source: "https://docs.kernel.org/admin-guide/mm/transhuge.html"}
	switch h.THP {
	case "always":
		f.Severity = bench.SeverityWarning
		f.Cost = "khugepaged puts pages of running processes together behind their backs: a thread that touches them meanwhile waits"
		if m.Defrag == "always" {
			f.Cost += "; with defrag always a page fault itself compacts memory first (ms)"
		}
		f.Remedy = c.onHost("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled")
	case "":
		f.Severity, f.Title = bench.SeverityNote, "transparent huge pages not known"
	}
	c.add(f)
	s := bench.Finding{Key: "swap", Severity: bench.SeverityFit, Title: "no swap", Seen: "/proc/swaps lists none", Source: "https://man7.org/linux/man-pages/man2/mlockall.2.html"}
	switch {
	case !m.SwapsKnown:
		s.Title, s.Seen = "no swap", "the kernel has none (/proc/swaps is not there)"
	case len(m.Swaps) > 0 && c.had(bench.CallMlockall):
		s.Severity, s.Title, s.Seen = bench.SeverityNote, "swap is on, and measured processes are locked", strings.Join(m.Swaps, ", ")+" (/proc/swaps)"
	case len(m.Swaps) > 0:
		s.Severity, s.Title, s.Seen = bench.SeverityWarning, "swap is on, and memory is not known to be locked", strings.Join(m.Swaps, ", ")+" (/proc/swaps)"
		s.Cost = "a page that was swapped out comes back from the disk in the middle of a cycle (0.1 ms from flash, 10 ms from a disk)"
		s.Remedy = c.onHost("swapoff -a")
	}
	c.add(s)
}

// lockedMemory is what the measured processes and the conductor hold at most, measured over
// 60 s with 1,000 items, 8 clients and all records.
const lockedMemory = 400 << 20

// memoryLimit judges the memory that the control group is given.
func (c *checker) memoryLimit() {
	f := bench.Finding{Key: "memory_limit", Severity: bench.SeverityFit, Title: "no limit of memory", Seen: "none of this control group, or above as far as is seen (memory.max, memory.limit_in_bytes)",
		Source: "https://docs.kernel.org/admin-guide/cgroup-v2.html#memory-interface-files"}
	if limit := c.f.Cgroup.MemoryMax; limit != nil {
		f.Title, f.Seen = "a limit of memory that is large enough", fmt.Sprintf("%d bytes (memory.max, memory.limit_in_bytes)", *limit)
		if *limit < lockedMemory && c.n.Lock {
			f.Severity, f.Title = bench.SeverityWarning, "a limit of memory"
			f.Cost = fmt.Sprintf("a large run locks up to %d MiB; beyond the limit the kernel kills a process, and the run ends", lockedMemory>>20)
			f.Remedy = "podman run --memory=1g, MemoryMax=1G of the unit, limits.memory: 1Gi of the pod"
		}
	}
	c.add(f)
}

// nodes judges memory nodes and the kernel's balancing between them.
func (c *checker) nodes() {
	of := map[int]bool{}
	for _, x := range c.f.Host.CPUs {
		of[x.Node] = true
	}
	f := bench.Finding{Key: "numa", Severity: bench.SeverityFit, Title: "one memory node", Seen: "/sys/devices/system/cpu/cpu*/node*",
		Source: "https://docs.kernel.org/admin-guide/sysctl/kernel.html#numa-balancing"}
	if len(of) > 1 {
		var nodes []int
		for _, cpu := range c.n.Measured {
			if x, ok := c.f.Host.CPUByID(cpu); ok && !slices.Contains(nodes, x.Node) {
				nodes = append(nodes, x.Node)
			}
		}
		f.Title = fmt.Sprintf("%d memory nodes, measured CPUs on node %s", len(of), cpuText(nodes))
		if len(nodes) > 1 {
			f.Severity = bench.SeverityWarning
			f.Cost = "every message crosses between the nodes"
			f.Remedy = "choose CPUs of one node with --server-cpus and --client-cpus"
		}
		if b := c.f.Memory.NUMABalancing; b != nil && *b != 0 {
			f.Severity = bench.SeverityWarning
			f.Title += ", and the kernel balances between them"
			f.Cost = strings.TrimPrefix(f.Cost+"; the kernel unmaps pages to see who uses them: each costs a page fault", "; ")
			f.Remedy = c.onHost("sysctl -w kernel.numa_balancing=0")
			f.Seen += "; kernel.numa_balancing " + fmt.Sprint(*b)
		}
	}
	c.add(f)
}
