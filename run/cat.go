package run

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"opcycle/bench"
	"opcycle/rt"
)

// The words of the option cat.
const (
	catOff     = "off"
	catAuto    = "auto"
	catRequire = "require"
)

// CAT gives the measured CPUs ways of the cache of their own while a suite measures.
type CAT struct {
	options *SuiteOptions
	root    string
	host    bench.Host

	resctrl *rt.Resctrl
	result  bench.CAT
	level   rt.CacheLevel
	warn    []string
}

// Begin applies the allocation. What is missing is an error only when it is required.
func (c *CAT) Begin(_ context.Context, job *bench.Job) error {
	c.root, c.host = job.Root, job.Host
	if err := c.apply(job.Measured); err != nil {
		c.result.Why = err.Error()
		if c.options.CAT == catRequire {
			return fmt.Errorf("cat: require: %w", err)
		}
	}
	return nil
}

func (c *CAT) apply(cpus []int) error {
	r, err := rt.OpenResctrl(c.root)
	if err != nil {
		return err
	}
	levels, err := r.Levels()
	if err != nil {
		return err
	}
	gone, err := r.RemoveStale(levels)
	if len(gone) > 0 {
		c.warn = append(c.warn, "removed what a run that was killed had left in resctrl: "+strings.Join(gone, ", "))
	}
	if err != nil {
		return err
	}
	split, err := c.split(levels, cpus)
	if err != nil {
		return err
	}
	if err := r.Apply(c.level, split); err != nil {
		return err
	}
	c.resctrl, c.result.Applied = r, true
	for _, g := range []struct {
		name string
		mask uint64
	}{{rt.ResctrlGroup + ": CPUs " + bench.CPUList(cpus).String(), split.RT}, {"default group: all other CPUs", split.Rest}} {
		var parts []string
		for _, id := range split.IDs {
			parts = append(parts, fmt.Sprintf("%d=%x", id, g.mask))
		}
		c.result.Groups = append(c.result.Groups, fmt.Sprintf("%s, L%d:%s", g.name, split.Level, strings.Join(parts, ";")))
	}
	return nil
}

// split chooses level, domains and masks.
func (c *CAT) split(levels []rt.CacheLevel, cpus []int) (rt.CacheSplit, error) {
	i := 0
	if c.options.CATLevel != catAuto {
		i = slices.IndexFunc(levels, func(l rt.CacheLevel) bool { return strconv.Itoa(l.Level) == c.options.CATLevel })
	}
	if i < 0 {
		return rt.CacheSplit{}, fmt.Errorf("the second or third level that was asked for (L%s) can't be allocated here", c.options.CATLevel)
	}
	c.level = levels[i]
	s := rt.CacheSplit{Level: c.level.Level, CPUs: cpus}
	for _, id := range cpus {
		cpu, _ := c.host.CPUByID(id)
		k, ok := cpu.DataCache(c.level.Level)
		if !ok || k.ID < 0 {
			return s, fmt.Errorf("which L%d cache CPU %d has is not known (no id in /sys/devices/system/cpu/cpu%d/cache)", c.level.Level, id, id)
		}
		if !slices.Contains(s.IDs, k.ID) {
			s.IDs = append(s.IDs, k.ID)
		}
	}
	slices.Sort(s.IDs)
	var err error
	if s.RT, s.Rest, err = c.level.Halves(); err != nil && (c.options.CATMask == catAuto || c.options.CATRestMask == catAuto) {
		return s, err
	}
	for _, m := range []struct {
		text string
		to   *uint64
	}{{c.options.CATMask, &s.RT}, {c.options.CATRestMask, &s.Rest}} {
		if m.text != catAuto {
			if *m.to, err = wayMask(m.text); err != nil {
				return s, err
			}
		}
	}
	if s.RT&s.Rest != 0 {
		c.warn = append(c.warn, fmt.Sprintf("the masks %x and %x share ways: others use the measured CPUs' cache too", s.RT, s.Rest))
	}
	if both := c.level.Shareable & s.RT; both != 0 {
		c.warn = append(c.warn, fmt.Sprintf("the ways %x of the measured CPUs are used by devices too (shareable_bits)", both))
	}
	return s, nil
}

// wayMask reads bits in hexadecimal, with or without 0x.
func wayMask(s string) (uint64, error) {
	v, err := strconv.ParseUint(strings.TrimPrefix(s, "0x"), 16, 64)
	if err != nil || v == 0 {
		return 0, fmt.Errorf("%q is no mask of ways; write hexadecimal bits such as f0, or auto", s)
	}
	return v, nil
}

// End verifies what was applied once more, takes it away, and writes what became of it.
func (c *CAT) End(r *bench.SuiteResult) {
	if c.resctrl != nil {
		if err := c.resctrl.Verify(); err != nil {
			r.Invalid = append(r.Invalid, "the cache allocation was changed by somebody else during the run: "+err.Error())
			c.result.Applied, c.result.Why = false, err.Error()
		}
		if err := c.resctrl.Restore(); err != nil {
			c.warn = append(c.warn, "the cache allocation could not be taken back: "+err.Error())
		}
		c.resctrl = nil
	}
	if !c.result.Applied && c.result.Why != "" {
		r.Absent = append(r.Absent, bench.Absent{What: "cache allocation (CAT)", Why: c.result.Why})
	}
	r.Warnings = append(r.Warnings, c.warn...)
	result := c.result
	r.CAT = &result
}

// Arounds are what the options put around a suite.
func Arounds(o *SuiteOptions) []Around {
	var out []Around
	if o.CAT != catOff {
		out = append(out, &CAT{options: o})
	}
	if o.Stress != stressOff {
		out = append(out, &Noise{options: o})
	}
	return out
}

// catOptions are the options of the cache allocation.
func (o *SuiteOptions) catOptions() []bench.Option {
	mask := func(name string, v *string, usage string) bench.Option {
		return bench.Option{Name: name, Usage: usage, Get: func() string { return *v }, Set: func(s string) error {
			if s != catAuto {
				if _, err := wayMask(s); err != nil {
					return err
				}
			}
			*v = s
			return nil
		}}
	}
	return []bench.Option{
		bench.WordOption("cat", &o.CAT, []string{catOff, catAuto, catRequire}, "cache allocation: off, auto (measure without where it is not to be had) or require"),
		bench.WordOption("cat-level", &o.CATLevel, []string{catAuto, "3", "2"}, "cache level to split"),
		mask("cat-mask", &o.CATMask, "ways of the measured CPUs, hexadecimal, or auto: the upper half"),
		mask("cat-rest-mask", &o.CATRestMask, "ways of everybody else, or auto: the lower half"),
	}
}
