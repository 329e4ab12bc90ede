package rt

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// ResctrlGroup is the name of our group; whatever begins with ResctrlPrefix is ours, and
// stale if we did not just make it.
const (
	ResctrlPrefix = "opcycle-"
	ResctrlGroup  = ResctrlPrefix + "rt"
)

// Resctrl is the kernel's cache allocation, files below root's sys/fs/resctrl. It keeps what
// it changed and takes it back by Restore. Nothing here is hot.
//
// https://docs.kernel.org/filesystems/resctrl.html
type Resctrl struct {
	dir string
	// What the kernel does with these files that plain files do not: schemata keeps the
	// domains that a line does not name, a made group has its files, a removed one takes
	// them along. A test's tree brings its own.
	write  func(path, text string) error
	mkdir  func(path string) error
	remove func(path string) error

	before string            // the default group's schemata, as found
	made   bool              // our group exists
	asked  map[string]string // schemata of our group and of the rest that were written, by file
}

// CacheSplit is who gets which ways: on the domains (cache ids) of one level, a mask for
// the CPUs that are measured and one for everybody else.
type CacheSplit struct {
	Level    int // 2 or 3
	IDs      []int
	CPUs     []int
	RT, Rest uint64 // way masks
}

// OpenResctrl finds the kernel's cache allocation below root. Its error names the first
// thing that is missing: the processor's flag, the kernel's option, the mount, its
// permission; and the way out.
func OpenResctrl(root string) (*Resctrl, error) {
	if why := noCAT(root); why != "" {
		return nil, errors.New(why)
	}
	r := &Resctrl{dir: filepath.Join(root, "sys/fs/resctrl"), remove: syscall.Rmdir,
		mkdir: func(path string) error { return os.Mkdir(path, 0o755) },
		write: func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) }}
	if _, err := os.ReadFile(filepath.Join(r.dir, "schemata")); err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("resctrl is not mounted: mount -t resctrl resctrl /sys/fs/resctrl (in a container: mount the host's with -v /sys/fs/resctrl:/sys/fs/resctrl): %w", err)
		}
		return nil, fmt.Errorf("resctrl: %w; run as root", err)
	}
	return r, nil
}

// noCAT says which of processor and kernel lacks it.
func noCAT(root string) string {
	cpu, err := os.ReadFile(filepath.Join(root, "proc/cpuinfo"))
	if err != nil {
		return "whether the processor has cache allocation is not known: " + err.Error()
	}
	flags := " " + strings.Join(strings.Fields(string(cpu)), " ") + " "
	if !strings.Contains(flags, " cat_l3 ") && !strings.Contains(flags, " cat_l2 ") {
		return "the processor has no cache allocation, or its hypervisor or rdt= on the kernel's command line hides it (no flag cat_l3 or cat_l2 in /proc/cpuinfo)"
	}
	systems, err := os.ReadFile(filepath.Join(root, "proc/filesystems"))
	if err != nil {
		return "whether the kernel has resctrl is not known: " + err.Error()
	}
	if !strings.Contains(string(systems), "resctrl") {
		return "the kernel is built without resctrl: CONFIG_X86_CPU_RESCTRL=y is needed"
	}
	return ""
}

// RemoveStale removes the groups of a run that was killed, and says which. Their CPUs and
// ways fall back to the default group, whose masks are widened to every way again on the
// levels given.
func (r *Resctrl) RemoveStale(levels []CacheLevel) ([]string, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, fmt.Errorf("resctrl: %w", err)
	}
	var gone []string
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ResctrlPrefix) {
			continue
		}
		if err := r.remove(filepath.Join(r.dir, e.Name())); err != nil {
			return gone, fmt.Errorf("remove the stale group %s: %w", e.Name(), err)
		}
		gone = append(gone, e.Name())
	}
	if len(gone) == 0 {
		return nil, nil
	}
	domains, err := r.schemata("schemata")
	if err != nil {
		return gone, err
	}
	for _, l := range levels {
		ids := []int{}
		for id := range domains[resources(l.Level, l.CDP)[0]] {
			ids = append(ids, id)
		}
		slices.Sort(ids)
		if err := r.put("schemata", lines(l, ids, l.Mask)); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// exclusive names a group of somebody else that has ways of the split for itself.
func (r *Resctrl) exclusive(l CacheLevel, ids []int, mask uint64) (string, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return "", fmt.Errorf("resctrl: %w", err)
	}
	for _, e := range entries {
		mode, err := os.ReadFile(filepath.Join(r.dir, e.Name(), "mode"))
		if err != nil || strings.TrimSpace(string(mode)) != "exclusive" {
			continue
		}
		masks, err := r.schemata(filepath.Join(e.Name(), "schemata"))
		if err != nil {
			return "", err
		}
		for _, name := range resources(l.Level, l.CDP) {
			for _, id := range ids {
				if masks[name][id]&mask != 0 {
					return e.Name(), nil
				}
			}
		}
	}
	return "", nil
}

// Apply makes the split: a group for the measured CPUs, and the default group narrowed to
// the rest's ways, on the given domains only. What it could not make it takes back. Errors
// wrap the kernel's: ENOSPC is no free class.
func (r *Resctrl) Apply(l CacheLevel, s CacheSplit) error {
	for _, m := range []uint64{s.RT, s.Rest} {
		if err := l.Check(m); err != nil {
			return err
		}
	}
	owner, err := r.exclusive(l, s.IDs, s.RT|s.Rest)
	if err != nil {
		return err
	}
	if owner != "" {
		return fmt.Errorf("the group %s has some of these ways for itself (mode exclusive): remove it, or give other masks", owner)
	}
	before, err := os.ReadFile(filepath.Join(r.dir, "schemata"))
	if err != nil {
		return fmt.Errorf("resctrl: %w", err)
	}
	r.before, r.asked = string(before), map[string]string{}
	if err := r.split(l, s); err != nil {
		return errors.Join(err, r.Restore())
	}
	return nil
}

func (r *Resctrl) split(l CacheLevel, s CacheSplit) error {
	if err := r.mkdir(filepath.Join(r.dir, ResctrlGroup)); err != nil {
		if errors.Is(err, syscall.ENOSPC) {
			return fmt.Errorf("no free class of service, %d in all: remove a group of /sys/fs/resctrl: %w%s", l.Classes, err, r.lastStatus())
		}
		return fmt.Errorf("make the group %s: %w%s", ResctrlGroup, err, r.lastStatus())
	}
	r.made = true
	for _, step := range []struct{ file, text string }{
		{filepath.Join(ResctrlGroup, "schemata"), lines(l, s.IDs, s.RT)},
		{filepath.Join(ResctrlGroup, "cpus_list"), cpuText(s.CPUs) + "\n"},
		{"schemata", lines(l, s.IDs, s.Rest)},
	} {
		if err := r.put(step.file, step.text); err != nil {
			return err
		}
		r.asked[step.file] = step.text
	}
	return r.Verify()
}

// Verify reads back what Apply wrote; a difference is an error that names both.
func (r *Resctrl) Verify() error {
	for _, file := range slices.Sorted(maps.Keys(r.asked)) {
		text := r.asked[file]
		if strings.HasSuffix(file, "cpus_list") {
			data, err := os.ReadFile(filepath.Join(r.dir, file))
			if err != nil {
				return fmt.Errorf("read back %s: %w", file, err)
			}
			if got, want := cpuSet(string(data)), cpuSet(text); !slices.Equal(got, want) {
				return fmt.Errorf("%s holds CPUs %v, not %v", file, got, want)
			}
			continue
		}
		got, err := r.schemata(file)
		if err != nil {
			return err
		}
		want, err := parseSchemata(text)
		if err != nil {
			return err
		}
		for name, masks := range want {
			for id, m := range masks {
				if g, ok := got[name][id]; !ok || g != m {
					return fmt.Errorf("%s holds %s:%d=%x, not %x", file, name, id, g, m)
				}
			}
		}
	}
	return nil
}

// Restore gives the default group its masks back on the domains that were changed, and
// removes our group. It may be called any number of times.
func (r *Resctrl) Restore() error {
	var errs []error
	if text, ok := r.asked["schemata"]; ok {
		old, err := parseSchemata(r.before)
		changed, err2 := parseSchemata(text)
		errs = append(errs, err, err2)
		for name, masks := range changed {
			var parts []string
			for _, id := range slices.Sorted(maps.Keys(masks)) {
				parts = append(parts, fmt.Sprintf("%d=%x", id, old[name][id]))
			}
			errs = append(errs, r.put("schemata", name+":"+strings.Join(parts, ";")+"\n"))
		}
	}
	if r.made {
		if err := r.remove(filepath.Join(r.dir, ResctrlGroup)); err != nil {
			errs = append(errs, fmt.Errorf("remove the group %s: %w", ResctrlGroup, err))
		}
	}
	r.made, r.asked = false, nil
	return errors.Join(errs...)
}
