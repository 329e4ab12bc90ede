package run

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strconv"
	"strings"

	"opcycle/bench"
	"opcycle/rt"
)

// The groups that we make. Whatever else begins with ownPrefix is from a killed run too.
const (
	ownPrefix = "opcycle-"
	groupRT   = ownPrefix + "rt"
	groupRest = ownPrefix + "rest"
)

// groupState is a group as the kernel shows it.
type groupState struct {
	name      string // empty: the default group
	schemata  rt.Schemata
	cpus      bench.CPUList
	exclusive bool
}

func readGroup(fs rt.Resctrl, name string) (groupState, error) {
	g := groupState{name: name}
	var err error
	if g.schemata, err = fs.Schemata(name); err != nil {
		return g, err
	}
	list, err := fs.CPUs(name)
	if err != nil {
		return g, err
	}
	if g.cpus, err = bench.ParseCPUList(list); err != nil {
		return g, fmt.Errorf("the CPUs of the group %q: %w", name, err)
	}
	g.exclusive, err = fs.Exclusive(name)
	return g, err
}

// catPlan is what is to be written: two groups, each with CPUs and masks of those caches
// only that the measured CPUs use.
type catPlan struct {
	groups []groupState
	shares []string // what takes from the measured CPUs' ways nonetheless
}

// planCAT decides. base is the default group, others are all groups but it and ours.
//
// The rest has a group of its own and not a narrower default group: so nothing has to be
// put back that a killed run could leave narrow, and removing a group is the whole end.
func planCAT(o CATOptions, h *bench.Host, measured []int, control func(level int) (rt.CacheControl, error), base groupState, others []groupState) (catPlan, error) {
	var none catPlan
	c, err := controlOf(o.Level, control)
	if err != nil {
		return none, err
	}
	ids, neighbours, err := cachesOf(h, measured, c.Level)
	if err != nil {
		return none, err
	}
	neighbours = slices.DeleteFunc(neighbours, func(cpu int) bool { return !slices.Contains(base.cpus, cpu) })
	if len(neighbours) == 0 {
		return none, fmt.Errorf("no other CPU of the default group uses the L%d cache of CPU %s: nothing to keep away from it; choose another level with --cat-level, or fewer CPUs", c.Level, bench.CPUList(measured))
	}
	p := catPlan{groups: []groupState{{name: groupRT, cpus: measured}, {name: groupRest, cpus: neighbours}}}
	for _, id := range ids {
		usable, ok := base.schemata.Mask(c.Resources[0], id)
		if !ok {
			return none, fmt.Errorf("the default group's schemata has no %s:%d, the cache of CPU %s", c.Resources[0], id, bench.CPUList(measured))
		}
		w, err := waysOf(o, c, usable)
		if err != nil {
			return none, err
		}
		for _, resource := range c.Resources {
			p.groups[0].schemata = p.groups[0].schemata.Set(resource, id, strconv.FormatUint(w.rt, 16))
			p.groups[1].schemata = p.groups[1].schemata.Set(resource, id, strconv.FormatUint(w.rest, 16))
		}
		shares, err := shared(c, id, w, others)
		if err != nil {
			return none, err
		}
		p.shares = append(p.shares, shares...)
	}
	return p, nil
}

// controlOf is what can be allocated at the level asked for; auto: L3, else L2.
func controlOf(level string, control func(int) (rt.CacheControl, error)) (rt.CacheControl, error) {
	if n, err := strconv.Atoi(level); err == nil {
		c, err := control(n)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%w; the other level, or --cat-level auto, may work", err)
		}
		return c, err
	}
	c, err := control(3)
	if errors.Is(err, fs.ErrNotExist) {
		if c, err = control(2); errors.Is(err, fs.ErrNotExist) {
			err = errors.New("CPUID: resctrl is mounted, but this processor allocates neither L3 nor L2 (it may monitor only)")
		}
	}
	return c, err
}

// cachesOf are the ids of the measured CPUs' caches of a level, and the other CPUs that use
// these.
func cachesOf(h *bench.Host, measured []int, level int) (ids, neighbours []int, err error) {
	id := func(cpu int) int {
		c, _ := h.CPUByID(cpu)
		if k, ok := c.DataCache(level); ok {
			return k.ID
		}
		return -1
	}
	ours := map[int]bool{}
	for _, cpu := range measured {
		if id(cpu) < 0 {
			return nil, nil, fmt.Errorf("the id of CPU %d's L%d cache is not known: no sys/devices/system/cpu/cpu%d/cache/index*/id of that level", cpu, level, cpu)
		}
		ours[id(cpu)] = true
	}
	for _, c := range h.CPUs {
		if ours[id(c.ID)] && !slices.Contains(measured, c.ID) {
			neighbours = append(neighbours, c.ID)
		}
	}
	return slices.Sorted(maps.Keys(ours)), neighbours, nil
}

// owned refuses measured CPUs that somebody else has put into a group: taking them away
// could not be undone, since a removed group's CPUs go to the default one.
func owned(measured []int, base groupState, others []groupState) error {
	for _, cpu := range measured {
		if slices.Contains(base.cpus, cpu) {
			continue
		}
		for _, g := range others {
			if slices.Contains(g.cpus, cpu) {
				return fmt.Errorf("exclusive use: CPU %d belongs to the group %s; remove that group (rmdir), or measure without CAT, which then means with that group's", cpu, g.name)
			}
		}
		return fmt.Errorf("CPU %d belongs to no group", cpu)
	}
	return nil
}

// shared names who else may fill the measured CPUs' ways of one cache. A group that allows
// no sharing is refused before the kernel does.
func shared(c rt.CacheControl, id int, w ways, others []groupState) ([]string, error) {
	var out []string
	where := fmt.Sprintf("L%d:%d", c.Level, id)
	if both := w.rt & w.rest; both != 0 {
		out = append(out, fmt.Sprintf("the ways %x of %s are in both masks", both, where))
	}
	if both := w.rt & c.Shareable; both != 0 {
		out = append(out, fmt.Sprintf("the ways %x of %s are also filled by hardware (I/O or graphics)", both, where))
	}
	for _, g := range others {
		var theirs uint64
		for _, resource := range c.Resources {
			mask, _ := g.schemata.Mask(resource, id)
			theirs |= mask
		}
		switch {
		case g.exclusive && theirs&(w.rt|w.rest) != 0:
			return nil, fmt.Errorf("exclusive use: the group %s has the ways %x of %s for itself; remove it, or choose other ways with --cat-rt-mask and --cat-rest-mask", g.name, theirs, where)
		case theirs&w.rt != 0:
			out = append(out, fmt.Sprintf("the ways %x of %s are also filled by the group %s", theirs&w.rt, where, g.name))
		}
	}
	return out, nil
}

// say is a group in one line: "opcycle-rt: CPUs 3, L3:0=f0".
func (g groupState) say() string {
	return fmt.Sprintf("%s: CPUs %s, %s", g.name, g.cpus, strings.ReplaceAll(strings.TrimSpace(g.schemata.String()), "\n", " "))
}
