package rt

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Resctrl is the kernel's file system of cache and bandwidth classes, where it is mounted:
// sys/fs/resctrl below a root. A group is a class: tasks of the default group (written "")
// that run on one of its CPUs fill only the cache ways of its masks.
//
// Every error wraps the kernel's, for errors.Is, and has info/last_cmd_status, in which the
// kernel says in words what the number hides.
//
// https://docs.kernel.org/filesystems/resctrl.html
type Resctrl struct{ dir string }

// NewResctrl is the file system below root, "/" outside tests. Mounted says if it is there.
func NewResctrl(root string) Resctrl { return Resctrl{filepath.Join(root, "sys/fs/resctrl")} }

// Dir is where it is mounted.
func (r Resctrl) Dir() string { return r.dir }

// Mounted reports whether the file system is there: the bare folder has no info. Cold.
func (r Resctrl) Mounted() bool {
	_, err := os.Stat(filepath.Join(r.dir, "info"))
	return err == nil
}

// CacheControl is what info says of the caches of one level.
type CacheControl struct {
	Level     int
	Resources []string // "L3", or with code and data apart (CDP) "L3CODE" and "L3DATA"
	Mask      uint64   // every way
	MinBits   int      // the fewest ways of a mask, next to each other
	Shareable uint64   // ways that hardware (I/O, graphics) fills too
	Sparse    bool     // masks may have gaps
	Classes   int      // that the hardware has, the default one included
}

// Cache reads what can be set of the caches of a level. It is fs.ErrNotExist where the
// machine can't allocate at that level. Cold.
func (r Resctrl) Cache(level int) (CacheControl, error) {
	c := CacheControl{Level: level}
	name := "L" + strconv.Itoa(level)
	for _, resource := range []string{name, name + "CODE", name + "DATA"} {
		if _, err := os.Stat(filepath.Join(r.dir, "info", resource)); err == nil {
			c.Resources = append(c.Resources, resource)
		}
	}
	if len(c.Resources) == 0 {
		return c, fmt.Errorf("no allocation in %s caches: %w", name, &fs.PathError{Op: "stat", Path: filepath.Join(r.dir, "info", name), Err: fs.ErrNotExist})
	}
	info := c.Resources[0]
	var closids, low, sparse uint64
	for _, f := range []struct {
		name string
		base int
		to   *uint64
		old  bool // kernels before some version have none: 0
	}{{"cbm_mask", 16, &c.Mask, false}, {"min_cbm_bits", 10, &low, false}, {"shareable_bits", 16, &c.Shareable, true},
		{"sparse_masks", 10, &sparse, true}, {"num_closids", 10, &closids, false}} {
		text, err := r.read("info", info, f.name)
		if f.old && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			*f.to, err = strconv.ParseUint(text, f.base, 64)
		}
		if err != nil {
			return c, fmt.Errorf("what %s caches can do: info/%s/%s: %w", name, info, f.name, err)
		}
	}
	c.MinBits, c.Sparse, c.Classes = int(low), sparse != 0, int(closids)
	if c.Mask == 0 {
		return c, fmt.Errorf("what %s caches can do: info/%s/cbm_mask has no way", name, info)
	}
	return c, nil
}

// Groups are the groups but the default one, by name, ascending. Cold.
func (r Resctrl) Groups() ([]string, error) {
	entries, err := os.ReadDir(r.dir)
	if err != nil {
		return nil, fmt.Errorf("list the groups: %w", err)
	}
	var out []string
	for _, e := range entries {
		if _, err := os.Stat(filepath.Join(r.dir, e.Name(), "schemata")); e.IsDir() && err == nil {
			out = append(out, e.Name())
		}
	}
	slices.Sort(out)
	return out, nil
}

// Make makes a group. ENOSPC: the hardware has no class left, or no way that is not
// somebody's own; EBUSY: a monitoring number is still in use by what is in the cache. Cold.
func (r Resctrl) Make(group string) error {
	return r.said("make the group "+group, os.Mkdir(filepath.Join(r.dir, group), 0o755))
}

// Remove removes a group; its CPUs and tasks go to the default one. Cold.
func (r Resctrl) Remove(group string) error {
	return r.said("remove the group "+group, os.Remove(filepath.Join(r.dir, group)))
}

// Schemata reads the masks of a group. Cold.
func (r Resctrl) Schemata(group string) (Schemata, error) {
	text, err := r.read(group, "schemata")
	if err != nil {
		return nil, fmt.Errorf("the masks of %s: %w", groupName(group), err)
	}
	s, err := ParseSchemata(text)
	if err != nil {
		return nil, fmt.Errorf("the masks of %s: %w", groupName(group), err)
	}
	return s, nil
}

// SetSchemata writes what s names of a group and leaves the rest as it is, all at once:
// the kernel takes every line or none. Cold.
func (r Resctrl) SetSchemata(group string, s Schemata) error {
	return r.write("set "+strings.ReplaceAll(strings.TrimSpace(s.String()), "\n", " ")+" of "+groupName(group), s.String(), group, "schemata")
}

// CPUs are the CPUs of a group in the kernel's list format. Cold.
func (r Resctrl) CPUs(group string) (string, error) {
	text, err := r.read(group, "cpus_list")
	if err != nil {
		return "", fmt.Errorf("the CPUs of %s: %w", groupName(group), err)
	}
	return text, nil
}

// SetCPUs gives CPUs, in the kernel's list format, to a group; the groups that had them
// lose them. Cold.
func (r Resctrl) SetCPUs(group, list string) error {
	return r.write("give CPUs "+list+" to "+groupName(group), list+"\n", group, "cpus_list")
}

// Exclusive reports whether no other group may have a way of this one's: its mode is
// exclusive, or it is locked into the cache. Cold.
func (r Resctrl) Exclusive(group string) (bool, error) {
	text, err := r.read(group, "mode")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil // before Linux 4.19
	}
	if err != nil {
		return false, fmt.Errorf("the mode of %s: %w", groupName(group), err)
	}
	return text != "shareable", nil
}

// resctrlWait bounds the wait for the lock, which others hold for moments.
const resctrlWait = 2 * time.Second

// Lock waits for the lock of the whole file system, which programs hold while they look at
// it and change it, at most 2 s. Closing gives it back. Cold.
//
// https://docs.kernel.org/filesystems/resctrl.html#locking
func (r Resctrl) Lock() (io.Closer, error) {
	f, err := flock(r.dir, resctrlWait)
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w; another program is changing it", r.dir, err)
	}
	return f, nil
}

// Hold marks a group as one of a living process: until the closer is closed, or the process
// has ended, however, a second Hold is refused with EWOULDBLOCK. Cold.
func (r Resctrl) Hold(group string) (io.Closer, error) {
	f, err := flock(filepath.Join(r.dir, group), 0)
	if err != nil {
		return nil, fmt.Errorf("hold the group %s: %w", group, err)
	}
	return f, nil
}

func groupName(group string) string {
	if group == "" {
		return "the default group"
	}
	return "the group " + group
}

func (r Resctrl) read(path ...string) (string, error) {
	data, err := os.ReadFile(filepath.Join(append([]string{r.dir}, path...)...))
	return strings.TrimSpace(string(data)), err
}

// write writes text in one call, as the kernel wants it, to a file that is there.
func (r Resctrl) write(what, text string, path ...string) error {
	f, err := os.OpenFile(filepath.Join(append([]string{r.dir}, path...)...), os.O_WRONLY, 0)
	if err != nil {
		return r.said(what, err)
	}
	_, err = f.WriteString(text)
	if e := f.Close(); err == nil {
		err = e
	}
	return r.said(what, err)
}

// said adds to an error what was tried and what the kernel says of it.
func (r Resctrl) said(what string, err error) error {
	if err == nil {
		return nil
	}
	status, _ := r.read("info", "last_cmd_status")
	if status == "" || status == "ok" {
		return fmt.Errorf("%s: %w", what, err)
	}
	return fmt.Errorf("%s: %w; last_cmd_status: %s", what, err, status)
}
