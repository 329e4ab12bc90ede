package rt

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// kernelTree is a folder that behaves as resctrl's files do: a line of schemata changes the
// domains that it names and no others, a made group has its files, CPUs belong to one
// group, a removed group takes its files along and its CPUs go back.
type kernelTree struct {
	t       *testing.T
	root    string
	classes int
	refuse  error // of the next write
	written []string
}

func (k *kernelTree) dir() string { return filepath.Join(k.root, "sys/fs/resctrl") }

func newTree(t *testing.T, schemata string, files map[string]string) *kernelTree {
	t.Helper()
	k := &kernelTree{t: t, root: t.TempDir(), classes: 16}
	all := map[string]string{"proc/cpuinfo": "flags : fpu rdt_a cat_l3 cat_l2\n", "proc/filesystems": "nodev\tresctrl\n",
		"sys/fs/resctrl/schemata": schemata, "sys/fs/resctrl/cpus_list": "0-7\n", "sys/fs/resctrl/info/last_cmd_status": "ok\n"}
	for name, text := range files {
		all[name] = text
	}
	for name, text := range all {
		if text == "" {
			continue
		}
		k.file(filepath.Join(k.root, name), text)
	}
	return k
}

func (k *kernelTree) file(path, text string) {
	k.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		k.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

func (k *kernelTree) read(name string) string {
	data, err := os.ReadFile(filepath.Join(k.dir(), name))
	if err != nil {
		return "absent"
	}
	return string(data)
}

func (k *kernelTree) open() (*Resctrl, error) {
	r, err := OpenResctrl(k.root)
	if err != nil {
		return nil, err
	}
	r.write, r.mkdir, r.remove = k.write, k.mkdir, os.RemoveAll
	return r, nil
}

func (k *kernelTree) mkdir(path string) error {
	entries, _ := os.ReadDir(k.dir())
	groups := 1
	for _, e := range entries {
		if e.IsDir() && e.Name() != "info" {
			groups++
		}
	}
	if groups >= k.classes {
		k.file(filepath.Join(k.dir(), "info/last_cmd_status"), "Out of CLOSIDs\n")
		return &os.PathError{Op: "mkdir", Path: path, Err: syscall.ENOSPC}
	}
	k.file(filepath.Join(path, "schemata"), k.read("schemata"))
	k.file(filepath.Join(path, "cpus_list"), "\n")
	k.file(filepath.Join(path, "mode"), "shareable\n")
	return nil
}

func (k *kernelTree) write(path, text string) error {
	if k.refuse != nil {
		k.file(filepath.Join(k.dir(), "info/last_cmd_status"), "Mask f0 overlaps\n")
		return &os.PathError{Op: "write", Path: path, Err: k.refuse}
	}
	k.written = append(k.written, filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path)+" "+strings.TrimSpace(text))
	if !strings.HasSuffix(path, "schemata") {
		k.file(path, text)
		return nil
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	change, err := parseSchemata(text)
	if err != nil {
		return err
	}
	var out strings.Builder
	for line := range strings.Lines(string(old)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		masks, ok := change[name]
		if !ok {
			out.WriteString(line)
			continue
		}
		var parts []string
		for _, part := range strings.Split(rest, ";") {
			id, _, _ := strings.Cut(part, "=")
			for n, m := range masks {
				if strings.TrimSpace(id) == itoa(n) {
					part = id + "=" + hexOf(m)
				}
			}
			parts = append(parts, part)
		}
		out.WriteString("    " + name + ":" + strings.Join(parts, ";") + "\n")
	}
	k.file(path, out.String())
	return nil
}

func itoa(n int) string { return cpuText([]int{n}) }
func hexOf(m uint64) string {
	return strings.TrimSpace(strings.TrimPrefix(lines(CacheLevel{Level: 3}, []int{0}, m), "L3:0="))
}

func l3(mask, least, classes string) map[string]string {
	const at = "sys/fs/resctrl/info/L3/"
	return map[string]string{at + "cbm_mask": mask + "\n", at + "min_cbm_bits": least + "\n", at + "num_closids": classes + "\n", at + "shareable_bits": "0\n"}
}

func TestCATOnTrees(t *testing.T) {
	l2 := map[string]string{"sys/fs/resctrl/info/L2/cbm_mask": "ff\n", "sys/fs/resctrl/info/L2/min_cbm_bits": "1\n", "sys/fs/resctrl/info/L2/num_closids": "8\n"}
	cdp := map[string]string{}
	for _, n := range []string{"L3CODE", "L3DATA"} {
		cdp["sys/fs/resctrl/info/"+n+"/cbm_mask"] = "fff\n"
		cdp["sys/fs/resctrl/info/"+n+"/min_cbm_bits"] = "1\n"
	}
	for name, c := range map[string]struct {
		schemata      string
		files         map[string]string
		ids           []int
		group, others string
		level         int
	}{
		"one socket":           {"    MB:0=100\n    L3:0=ff\n", l3("ff", "1", "16"), []int{0}, "L3:0=f0", "L3:0=f", 3},
		"two sockets":          {"    L3:0=7ff;1=7ff\n    MB:0=100;1=100\n", l3("7ff", "2", "16"), []int{1}, "L3:0=7ff;1=7c0", "L3:0=7ff;1=3f", 3},
		"a gap in the ids":     {"    L3:0=ff;8=ff;16=ff\n", l3("ff", "1", "16"), []int{8, 16}, "L3:0=ff;8=f0;16=f0", "L3:0=ff;8=f;16=f", 3},
		"second level":         {"    L2:0=ff;1=ff;2=ff;3=ff\n", l2, []int{3}, "L2:0=ff;1=ff;2=ff;3=f0", "L2:0=ff;1=ff;2=ff;3=f", 2},
		"code and data (CDP)":  {"    L3DATA:0=fff\n    L3CODE:0=fff\n", cdp, []int{0}, "L3DATA:0=fc0\n    L3CODE:0=fc0", "L3DATA:0=3f\n    L3CODE:0=3f", 3},
		"no bandwidth is lost": {"    MB:0= 50;1=100\n    L3:0=ff;1=ff\n", l3("ff", "1", "16"), []int{0}, "MB:0= 50;1=100\n    L3:0=f0;1=ff", "MB:0= 50;1=100\n    L3:0=f;1=ff", 3},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTree(t, c.schemata, c.files)
			r, err := k.open()
			if err != nil {
				t.Fatal(err)
			}
			levels, err := r.Levels()
			if err != nil || levels[0].Level != c.level {
				t.Fatalf("%+v, %v", levels, err)
			}
			measured, rest, err := levels[0].Halves()
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Apply(levels[0], CacheSplit{Level: c.level, IDs: c.ids, CPUs: []int{3, 5}, RT: measured, Rest: rest}); err != nil {
				t.Fatal(err)
			}
			if got := k.read(ResctrlGroup + "/schemata"); !strings.Contains(got, c.group) {
				t.Errorf("our group: %q, want %q", got, c.group)
			}
			if got := k.read("schemata"); !strings.Contains(got, c.others) {
				t.Errorf("the rest: %q, want %q", got, c.others)
			}
			if got := k.read(ResctrlGroup + "/cpus_list"); got != "3,5\n" {
				t.Errorf("CPUs %q", got)
			}
			if err := r.Restore(); err != nil {
				t.Fatal(err)
			}
			if got := k.read("schemata"); got != c.schemata || k.read(ResctrlGroup+"/mode") != "absent" {
				t.Errorf("left behind: %q, group %q", got, k.read(ResctrlGroup+"/mode"))
			}
			if err := r.Restore(); err != nil {
				t.Errorf("a second time: %v", err)
			}
		})
	}
}

func TestWhatIsMissingForCAT(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  string
	}{
		"processor": {map[string]string{"proc/cpuinfo": "flags : fpu\n"}, "no flag cat_l3 or cat_l2"},
		"kernel":    {map[string]string{"proc/filesystems": "ext4\n"}, "CONFIG_X86_CPU_RESCTRL"},
		"mount":     {map[string]string{"sys/fs/resctrl/schemata": ""}, "mount -t resctrl"},
		"proc":      {map[string]string{"proc/cpuinfo": ""}, "not known"},
	} {
		t.Run(name, func(t *testing.T) {
			k := newTree(t, "    L3:0=ff\n", c.files)
			if _, err := k.open(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, not %q", err, c.want)
			}
		})
	}
	k := newTree(t, "    MB:0=100\n", nil)
	r, err := k.open()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Levels(); err == nil || !strings.Contains(err.Error(), "no cache level") {
		t.Errorf("without levels: %v", err)
	}
}

func TestCATIsRefusedWhole(t *testing.T) {
	split := CacheSplit{Level: 3, IDs: []int{0}, CPUs: []int{3}, RT: 0xf0, Rest: 0x0f}
	for name, c := range map[string]struct {
		prepare func(k *kernelTree)
		split   CacheSplit
		want    string
		errno   error
	}{
		"no free class": {func(k *kernelTree) { k.classes = 1 }, split, "Out of CLOSIDs", syscall.ENOSPC},
		"read-only":     {func(k *kernelTree) { k.refuse = syscall.EROFS }, split, "read-only", syscall.EROFS},
		"permission":    {func(k *kernelTree) { k.refuse = syscall.EACCES }, split, "overlaps", syscall.EACCES},
		"exclusive": {func(k *kernelTree) {
			k.file(filepath.Join(k.dir(), "theirs/mode"), "exclusive\n")
			k.file(filepath.Join(k.dir(), "theirs/schemata"), "    L3:0=c0\n")
		}, split, "theirs", nil},
		"a gap in a mask": {nil, CacheSplit{Level: 3, IDs: []int{0}, CPUs: []int{3}, RT: 0xa0, Rest: 0x0f}, "contiguous", nil},
		"ways beyond":     {nil, CacheSplit{Level: 3, IDs: []int{0}, CPUs: []int{3}, RT: 0xf00, Rest: 0x0f}, "does not have", nil},
		"too few ways":    {nil, CacheSplit{Level: 3, IDs: []int{0}, CPUs: []int{3}, RT: 0x80, Rest: 0x0f}, "needs 2", nil},
	} {
		t.Run(name, func(t *testing.T) {
			const found = "    L3:0=ff\n"
			k := newTree(t, found, l3("ff", "2", "4"))
			if c.prepare != nil {
				c.prepare(k)
			}
			r, err := k.open()
			if err != nil {
				t.Fatal(err)
			}
			levels, err := r.Levels()
			if err != nil {
				t.Fatal(err)
			}
			err = r.Apply(levels[0], c.split)
			if err == nil || !strings.Contains(err.Error(), c.want) || c.errno != nil && !errors.Is(err, c.errno) {
				t.Errorf("%v, not about %q (%v)", err, c.want, c.errno)
			}
			if k.read("schemata") != found || k.read(ResctrlGroup+"/mode") != "absent" {
				t.Errorf("a half is left: %q, %q", k.read("schemata"), k.read(ResctrlGroup+"/mode"))
			}
		})
	}
}

// A killed run leaves its group and narrowed masks: the next one takes them away first.
func TestStaleGroupsGo(t *testing.T) {
	k := newTree(t, "    L3:0=ff;1=ff\n", l3("ff", "1", "16"))
	r, err := k.open()
	if err != nil {
		t.Fatal(err)
	}
	levels, err := r.Levels()
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Apply(levels[0], CacheSplit{Level: 3, IDs: []int{1}, CPUs: []int{3}, RT: 0xf0, Rest: 0x0f}); err != nil {
		t.Fatal(err)
	}
	next, err := k.open() // the first was killed: no Restore
	if err != nil {
		t.Fatal(err)
	}
	gone, err := next.RemoveStale(levels)
	if err != nil || len(gone) != 1 || gone[0] != ResctrlGroup {
		t.Errorf("%v, %v", gone, err)
	}
	if got := k.read("schemata"); got != "    L3:0=ff;1=ff\n" {
		t.Errorf("the rest keeps %q", got)
	}
	if gone, err := next.RemoveStale(levels); err != nil || len(gone) != 0 {
		t.Errorf("a second time: %v, %v", gone, err)
	}
}

func TestAChangeBySomebodyElseIsSeen(t *testing.T) {
	k := newTree(t, "    L3:0=ff\n", l3("ff", "1", "16"))
	r, err := k.open()
	if err != nil {
		t.Fatal(err)
	}
	levels, _ := r.Levels()
	if err := r.Apply(levels[0], CacheSplit{Level: 3, IDs: []int{0}, CPUs: []int{3}, RT: 0xf0, Rest: 0x0f}); err != nil {
		t.Fatal(err)
	}
	k.file(filepath.Join(k.dir(), ResctrlGroup, "schemata"), "    L3:0=ff\n")
	if err := r.Verify(); err == nil || !strings.Contains(err.Error(), "not f0") {
		t.Errorf("%v", err)
	}
}
