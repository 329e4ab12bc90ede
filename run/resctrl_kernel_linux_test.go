package run

import (
	"fmt"
	"maps"
	"math/bits"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"opcycle/bench"
)

// cacheOf is one resource of the fixture: "L3", "L2", "L3CODE", …
type cacheOf struct {
	name      string
	ids       []int
	mask      uint64
	minBits   int
	shareable uint64
}

// kernel is resctrl as the kernel has it (fs/resctrl/rdtgroup.c, ctrlmondata.c), in memory.
type kernel struct {
	mu      sync.Mutex
	caches  []cacheOf
	mb      []int // cache ids of memory bandwidth
	closids int
	cpus    []int // online
	groups  map[string]*kernelGroup
	status  string
	refuse  syscall.Errno // of a mkdir
	writes  []string      // "group/file text"
}

type kernelGroup struct {
	masks map[string]map[int]uint64
	mb    map[int]int
	cpus  []int
	mode  string
}

func newKernel(cpus []int, closids int, mb []int, caches ...cacheOf) *kernel {
	k := &kernel{caches: caches, mb: mb, closids: closids, cpus: cpus, groups: map[string]*kernelGroup{}, status: "ok"}
	k.add("")
	k.groups[""].cpus = slices.Clone(cpus)
	return k
}

// add makes a group as rdtgroup_init_alloc does: all bandwidth, and every way that nobody
// has for himself.
func (k *kernel) add(name string) *kernelGroup {
	g := &kernelGroup{masks: map[string]map[int]uint64{}, mb: map[int]int{}, mode: "shareable"}
	for _, c := range k.caches {
		g.masks[c.name] = map[int]uint64{}
		for _, id := range c.ids {
			free := c.mask
			for _, o := range k.groups {
				if o.mode == "exclusive" {
					free &^= o.masks[c.name][id]
				}
			}
			g.masks[c.name][id] = free
		}
	}
	for _, id := range k.mb {
		g.mb[id] = 100
	}
	k.groups[name] = g
	return g
}

func (k *kernel) kind(name string) (folder, ok bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	dir, file := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	if _, is := k.groups[name]; is || name == "info" {
		return true, true
	}
	if dir == "info" && k.resource(file) != nil {
		return true, true
	}
	if strings.HasPrefix(dir, "info/") && k.resource(path.Base(dir)) != nil {
		return false, slices.Contains(cacheFiles(), file)
	}
	if _, is := k.groups[dir]; is {
		return false, slices.Contains(groupFiles(), file)
	}
	return false, name == "info/last_cmd_status"
}

func cacheFiles() []string {
	return []string{"cbm_mask", "min_cbm_bits", "shareable_bits", "num_closids"}
}
func groupFiles() []string { return []string{"schemata", "cpus_list", "mode", "tasks"} }

func (k *kernel) resource(name string) *cacheOf {
	for i := range k.caches {
		if k.caches[i].name == name {
			return &k.caches[i]
		}
	}
	return nil
}

func (k *kernel) list(name string) []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case name == "":
		return append(append([]string{"info"}, slices.DeleteFunc(slices.Sorted(maps.Keys(k.groups)), func(g string) bool { return g == "" })...), groupFiles()...)
	case name == "info":
		out := []string{"last_cmd_status"}
		for _, c := range k.caches {
			out = append(out, c.name)
		}
		return out
	case strings.HasPrefix(name, "info/"):
		return cacheFiles()
	}
	return groupFiles()
}

func (k *kernel) read(name string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	dir, file := path.Split(name)
	dir = strings.TrimSuffix(dir, "/")
	if name == "info/last_cmd_status" {
		return k.status + "\n"
	}
	if c := k.resource(path.Base(dir)); c != nil {
		return map[string]string{"cbm_mask": fmt.Sprintf("%x\n", c.mask), "min_cbm_bits": fmt.Sprintf("%d\n", c.minBits),
			"shareable_bits": fmt.Sprintf("%x\n", c.shareable), "num_closids": fmt.Sprintf("%d\n", k.closids)}[file]
	}
	g := k.groups[dir]
	if g == nil {
		return ""
	}
	return map[string]string{"schemata": k.schemata(g), "cpus_list": bench.CPUList(g.cpus).String() + "\n", "mode": g.mode + "\n"}[file]
}

// schemata prints as show_doms does: names to the right, masks as wide as the widest.
func (k *kernel) schemata(g *kernelGroup) string {
	var b strings.Builder
	line := func(name string, ids []int, value func(id int) string) {
		fmt.Fprintf(&b, "%*s:", 8, name)
		for i, id := range ids {
			b.WriteString(strings.Repeat(";", min(i, 1)) + strconv.Itoa(id) + "=" + value(id))
		}
		b.WriteByte('\n')
	}
	for _, c := range k.caches {
		line(c.name, c.ids, func(id int) string {
			return fmt.Sprintf("%0*x", (bits.Len64(c.mask)+3)/4, g.masks[c.name][id])
		})
	}
	if len(k.mb) > 0 {
		line("MB", k.mb, func(id int) string { return fmt.Sprintf("%4d", g.mb[id]) })
	}
	return b.String()
}

func (k *kernel) mkdir(name string) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.status = "ok"
	switch {
	case k.refuse != 0:
		return k.refuse
	case strings.Contains(name, "/"):
		return syscall.EPERM
	case k.groups[name] != nil:
		return syscall.EEXIST
	case len(k.groups) >= k.closids:
		k.status = "Out of CLOSIDs"
		return syscall.ENOSPC
	}
	k.add(name)
	return 0
}

func (k *kernel) rmdir(name string) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	g := k.groups[name]
	if g == nil || name == "" {
		return syscall.EPERM
	}
	k.groups[""].cpus = slices.Sorted(slices.Values(append(k.groups[""].cpus, g.cpus...)))
	delete(k.groups, name)
	return 0
}

func (k *kernel) write(name, text string) syscall.Errno {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.writes = append(k.writes, name+" "+text)
	dir, file := path.Split(name)
	g := k.groups[strings.TrimSuffix(dir, "/")]
	k.status = "ok"
	refused := ""
	switch {
	case g == nil || !strings.HasSuffix(text, "\n"):
		return syscall.EINVAL
	case file == "schemata":
		refused = k.setSchemata(g, strings.TrimSuffix(text, "\n"))
	case file == "cpus_list":
		refused = k.setCPUs(g, strings.TrimSuffix(text, "\n"))
	case file == "mode":
		g.mode = strings.TrimSuffix(text, "\n")
	}
	if refused != "" {
		k.status = refused
		return syscall.EINVAL
	}
	return 0
}

// setSchemata takes every line or none.
func (k *kernel) setSchemata(g *kernelGroup, text string) (refused string) {
	var set []func()
	for line := range strings.SplitSeq(text, "\n") {
		name, values, ok := strings.Cut(line, ":")
		if !ok {
			return "Missing ':'"
		}
		name = strings.TrimSpace(name)
		c := k.resource(name)
		if c == nil && name != "MB" {
			return fmt.Sprintf("Unknown or unsupported resource name '%s'", name)
		}
		for v := range strings.SplitSeq(values, ";") {
			id, value, _ := strings.Cut(v, "=")
			n, err := strconv.Atoi(id)
			if err != nil || c == nil && !slices.Contains(k.mb, n) || c != nil && !slices.Contains(c.ids, n) {
				return "Missing '=' or non-numeric domain"
			}
			if c == nil {
				percent, _ := strconv.Atoi(strings.TrimSpace(value))
				set = append(set, func() { g.mb[n] = percent })
				continue
			}
			mask, err := strconv.ParseUint(value, 16, 64)
			if why := k.checkMask(g, c, n, mask, err); why != "" {
				return why
			}
			set = append(set, func() { g.masks[name][n] = mask })
		}
	}
	for _, f := range set {
		f()
	}
	return ""
}

// checkMask is cbm_validate and rdtgroup_cbm_overlaps.
func (k *kernel) checkMask(g *kernelGroup, c *cacheOf, id int, mask uint64, err error) string {
	stretch := mask >> bits.TrailingZeros64(mask)
	switch {
	case err != nil:
		return "Non-hex character in the mask"
	case mask == 0 || mask&^c.mask != 0:
		return "Mask out of range"
	case stretch&(stretch+1) != 0:
		return fmt.Sprintf("The mask %x has non-consecutive 1-bits", mask)
	case bits.OnesCount64(mask) < c.minBits:
		return fmt.Sprintf("Need at least %d bits in the mask", c.minBits)
	}
	for _, o := range k.groups {
		if o != g && o.mode == "exclusive" && o.masks[c.name][id]&mask != 0 {
			return "Overlaps with exclusive group"
		}
	}
	return ""
}

func (k *kernel) setCPUs(g *kernelGroup, text string) (refused string) {
	cpus, err := bench.ParseCPUList(text)
	if err != nil {
		return "Bad CPU list/mask"
	}
	for _, cpu := range cpus {
		if !slices.Contains(k.cpus, cpu) {
			return "Can only assign online CPUs"
		}
		for _, o := range k.groups {
			o.cpus = slices.DeleteFunc(o.cpus, func(c int) bool { return c == cpu })
		}
	}
	g.cpus = cpus
	return ""
}

// group is a copy of what the kernel has of a group; nil: there is none.
func (k *kernel) group(name string) *kernelGroup {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.groups[name]
}

// state is everything that a run must leave as it was.
func (k *kernel) state() string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(k.groups)) {
		g := k.groups[name]
		fmt.Fprintf(&b, "[%s] CPUs %s, %s\n%s", name, bench.CPUList(g.cpus), g.mode, k.schemata(g))
	}
	return b.String()
}
