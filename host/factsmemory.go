package host

import "strings"

// MemoryFacts are what moves, compacts or swaps pages under a running thread.
type MemoryFacts struct {
	Defrag        string   // THP's, the chosen word
	Swaps         []string // devices and files in use; nil: none, or not known
	SwapsKnown    bool
	NUMABalancing *int64 // 0: off
}

func (t *tree) memory() MemoryFacts {
	m := MemoryFacts{
		Defrag:        bracketed(t.maybe("sys/kernel/mm/transparent_hugepage/defrag")),
		NUMABalancing: whole(t.maybe("proc/sys/kernel/numa_balancing")),
	}
	s, ok := t.option("proc/swaps")
	m.SwapsKnown = ok
	first := true
	for line := range strings.Lines(s) {
		if f := strings.Fields(line); !first && len(f) > 0 {
			m.Swaps = append(m.Swaps, f[0])
		}
		first = false
	}
	return m
}
