package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"

	"opcycle/bench"
	"opcycle/rt"
)

// CAT puts a cache allocation in place around a suite: it implements Around. It writes
// groups of its own only, reads back what it wrote before and after the run, and removes
// them. Groups of a killed run go first, whatever the mode: "without CAT" must be true too.
//
// NB: what the caches held before stays until it is evicted: the first moments of a run
// are measured with the old contents.
type CAT struct {
	options CATOptions
	fs      rt.Resctrl
	want    []groupState
	base    rt.Schemata // of the default group, which is never written
	made    []string    // groups of ours, in the order of their making
	holds   []io.Closer
	result  bench.CAT
	notes   []string // for the result's warnings
}

// Arounds are what the options put around a suite. CAT is among them when it is off too: it
// looks whether that is true.
func Arounds(o *SuiteOptions) []Around {
	out := []Around{NewCAT(o.CAT)}
	if o.Stress != stressOff {
		out = append(out, &Noise{options: o})
	}
	return out
}

// NewCAT is a CAT for one run.
func NewCAT(o CATOptions) *CAT { return &CAT{options: o} }

// Begin applies the allocation. An error means that it is required and can't be had.
func (c *CAT) Begin(_ context.Context, job *bench.Job) error {
	c.fs = rt.NewResctrl(job.Root)
	if !c.fs.Mounted() {
		c.result.Why = catMissing(job, c.fs)
	} else if err := c.locked(func() error { return c.apply(job) }); err != nil {
		c.result.Why = catWhy(err)
		c.remove()
	}
	if c.options.Mode == catRequire && !c.result.Applied {
		return fmt.Errorf("--cat require: CAT not applied: %s", c.result.Why)
	}
	return nil
}

// locked runs f while no other program changes the groups.
func (c *CAT) locked(f func() error) error {
	lock, err := c.fs.Lock()
	if err != nil {
		return err
	}
	defer lock.Close()
	return f()
}

func (c *CAT) apply(job *bench.Job) error {
	base, others, err := c.survey()
	if err != nil {
		return err
	}
	err = owned(job.Measured, base, others)
	if group := proc(job, "self/cpu_resctrl_groups", `(?m)^res:/?([^/\s].*)$`); group != "" {
		err = fmt.Errorf("exclusive use: this process is a task of the group %s, for which the group of its CPU does not count; start it from a task of the default group", group)
	}
	if err != nil && !c.options.asked() {
		c.notes = append(c.notes, "measured with an allocation that is not ours: "+err.Error())
		return nil
	}
	if err != nil || !c.options.asked() {
		return err
	}
	p, err := planCAT(c.options, &job.Host, job.Measured, c.fs.Cache, base, others)
	if err != nil {
		return err
	}
	for _, g := range p.groups {
		if err := c.make(g, base.schemata); err != nil {
			return err
		}
	}
	c.want, c.base = p.groups, base.schemata
	if err := c.verify(); err != nil {
		return err
	}
	c.result.Applied = true
	for _, g := range p.groups {
		c.result.Groups = append(c.result.Groups, g.say())
	}
	for _, s := range p.shares {
		c.notes = append(c.notes, "CAT: "+s)
	}
	return nil
}

// survey removes what a killed run left, and reads all other groups.
func (c *CAT) survey() (base groupState, others []groupState, err error) {
	names, err := c.fs.Groups()
	if err != nil {
		return base, nil, err
	}
	for _, name := range names {
		if strings.HasPrefix(name, ownPrefix) {
			if err := c.stale(name); err != nil {
				return base, nil, err
			}
			continue
		}
		g, err := readGroup(c.fs, name)
		if err != nil {
			return base, nil, err
		}
		others = append(others, g)
	}
	base, err = readGroup(c.fs, "")
	return base, others, err
}

// stale removes a group of ours unless its process lives.
func (c *CAT) stale(name string) error {
	hold, err := c.fs.Hold(name)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return fmt.Errorf("exclusive use: the group %s belongs to another opcycle process that measures now; wait for its end", name)
	}
	if err != nil {
		return err
	}
	defer hold.Close()
	if err := c.fs.Remove(name); err != nil {
		return err
	}
	c.notes = append(c.notes, "the resctrl group "+name+" of a killed run was removed before this one")
	return nil
}

// make makes a group that is like the default one but for g's masks, and gives it its CPUs.
func (c *CAT) make(g groupState, base rt.Schemata) error {
	if err := c.fs.Make(g.name); err != nil {
		return err
	}
	c.made = append(c.made, g.name)
	hold, err := c.fs.Hold(g.name)
	if err != nil {
		return err
	}
	c.holds = append(c.holds, hold)
	fresh, err := c.fs.Schemata(g.name)
	if err != nil {
		return err
	}
	set := slices.Clone(g.schemata)
	for _, l := range base { // a fresh group has all bandwidth and every shareable way, whatever the default one has
		for _, d := range l.Domains {
			now, _ := fresh.Value(l.Resource, d.ID)
			if _, ours := g.schemata.Value(l.Resource, d.ID); !ours && now != d.Value {
				set = set.Set(l.Resource, d.ID, d.Value)
			}
		}
	}
	if err := c.fs.SetSchemata(g.name, set); err != nil {
		return err
	}
	return c.fs.SetCPUs(g.name, g.cpus.String())
}

// verify reads back what was written.
func (c *CAT) verify() error {
	for _, want := range c.want {
		got, err := readGroup(c.fs, want.name)
		if err != nil {
			return err
		}
		if !slices.Equal(got.cpus, want.cpus) {
			return fmt.Errorf("the group %s has the CPUs %q, not %q", want.name, got.cpus, want.cpus)
		}
		for _, l := range want.schemata {
			for _, d := range l.Domains {
				is, _ := got.schemata.Mask(l.Resource, d.ID)
				asked, _ := want.schemata.Mask(l.Resource, d.ID)
				if is != asked {
					return fmt.Errorf("the group %s has %s:%d=%x, not %s", want.name, l.Resource, d.ID, is, d.Value)
				}
			}
		}
	}
	return nil
}

// End reads back once more, removes the groups and writes what became of it.
func (c *CAT) End(r *bench.SuiteResult) {
	if c.result.Applied && len(c.made) > 0 {
		if err := c.locked(c.verify); err != nil {
			c.result.Applied, c.result.Why = false, "it was changed while it was measured: "+err.Error()
			r.Invalid = append(r.Invalid, "neither with nor without CAT: "+c.result.Why)
		}
		if now, err := c.fs.Schemata(""); err == nil && now.String() != c.base.String() {
			c.notes = append(c.notes, "somebody changed the default group of resctrl during the run")
		}
	}
	c.remove()
	switch {
	case c.options.asked():
		result := c.result
		r.CAT = &result
		if !result.Applied {
			r.Absent = append(r.Absent, bench.Absent{What: "cache allocation (CAT)", Why: result.Why})
		}
	case c.result.Why != "" && c.fs.Mounted():
		c.notes = append(c.notes, "whether a cache allocation is in effect is not known: "+c.result.Why)
	}
	r.Warnings = append(r.Warnings, c.notes...)
	c.notes = nil
}

// remove removes the groups, the last first; any number of calls.
func (c *CAT) remove() {
	for _, name := range slices.Backward(c.made) {
		if err := c.fs.Remove(name); err != nil {
			c.notes = append(c.notes, fmt.Sprintf("%v; remove it with rmdir %s/%s", err, c.fs.Dir(), name))
		}
	}
	for _, h := range c.holds {
		_ = h.Close() // the group is gone, and its lock with it
	}
	c.made, c.holds = nil, nil
}

// catWhy puts before an error of the kernel which of the conditions is missing.
func catWhy(err error) string {
	switch {
	case errors.Is(err, syscall.EROFS):
		return "permission: " + err.Error() + "; mount it writable: mount -o remount,rw /sys/fs/resctrl, in a container -v /sys/fs/resctrl:/sys/fs/resctrl"
	case errors.Is(err, fs.ErrPermission):
		return "permission: " + err.Error() + fmt.Sprintf("; run as root (this is user %d)", os.Getuid())
	case errors.Is(err, syscall.ENOSPC):
		return "no free class: " + err.Error() + "; remove groups that nobody needs, or mount without cdp, which halves their number"
	case errors.Is(err, syscall.EBUSY):
		return "no free monitoring number: " + err.Error() + "; wait until the caches have forgotten the last groups"
	}
	return err.Error()
}
