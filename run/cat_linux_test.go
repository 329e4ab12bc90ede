package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"opcycle/bench"
)

// machine is a fixture: CPUs with their caches, and what resctrl has of them.
type machine struct {
	host   bench.Host
	kernel *kernel
	root   string
}

// newMachine has the CPUs 0 to n-1, the i-th with an L2 of id l2(i) and an L3 of id l3(i).
func newMachine(t *testing.T, n int, l2, l3 func(cpu int) int, k *kernel) *machine {
	t.Helper()
	m := &machine{kernel: k, root: t.TempDir()}
	for i := range n {
		c := bench.CPU{ID: i, Caches: []bench.Cache{{Level: 1, Type: "Instruction", ID: i}, {Level: 2, Type: "Unified", ID: l2(i)}}}
		if l3 != nil {
			c.Caches = append(c.Caches, bench.Cache{Level: 3, Type: "Unified", ID: l3(i)})
		}
		m.host.CPUs = append(m.host.CPUs, c)
	}
	m.file(t, "proc/cpuinfo", "processor: 0\nflags\t\t: fpu rdt_a cat_l3 cdp_l3\n")
	m.file(t, "proc/filesystems", "nodev\tproc\nnodev\tresctrl\n")
	m.file(t, "proc/self/cpu_resctrl_groups", "res:/\nmon:/\n")
	if err := os.MkdirAll(filepath.Join(m.root, "sys/fs/resctrl"), 0o755); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m *machine) file(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(m.root, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (m *machine) mount(t *testing.T, flags uintptr) {
	t.Helper()
	mount(t, m.kernel, filepath.Join(m.root, "sys/fs/resctrl"), flags)
}

func (m *machine) job(measured ...int) *bench.Job {
	return &bench.Job{Host: m.host, Root: m.root, Measured: measured}
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func each(cpu int) int   { return cpu }
func one(int) int        { return 0 }
func socket(cpu int) int { return cpu / 4 }

// seed is the vendor's machine: four CPUs, one L3 of eight ways, four classes.
func seed(t *testing.T) *machine {
	return newMachine(t, 4, each, one, newKernel(upTo(4), 4, []int{0}, cacheOf{name: "L3", ids: []int{0}, mask: 0xff, minBits: 1}))
}

func TestCATIsAppliedAndTakenAway(t *testing.T) {
	sockets := func(t *testing.T) *machine {
		return newMachine(t, 8, each, socket, newKernel(upTo(8), 16, []int{0, 1}, cacheOf{name: "L3", ids: []int{0, 1}, mask: 0x7ff, minBits: 1, shareable: 0x600}))
	}
	gaps := func(t *testing.T) *machine { // four sockets' worth of ids, 1 and 2 of them missing
		return newMachine(t, 8, each, func(cpu int) int { return 3 * socket(cpu) }, newKernel(upTo(8), 8, []int{0, 3}, cacheOf{name: "L3", ids: []int{0, 3}, mask: 0xfffff, minBits: 2}))
	}
	atom := func(t *testing.T) *machine { // no L3; pairs of CPUs share an L2
		return newMachine(t, 4, func(cpu int) int { return cpu / 2 * 2 }, nil, newKernel(upTo(4), 8, nil, cacheOf{name: "L2", ids: []int{0, 2}, mask: 0xff, minBits: 1}))
	}
	cdp := func(t *testing.T) *machine {
		return newMachine(t, 4, each, one, newKernel(upTo(4), 4, []int{0}, cacheOf{name: "L3DATA", ids: []int{0}, mask: 0xff, minBits: 1}, cacheOf{name: "L3CODE", ids: []int{0}, mask: 0xff, minBits: 1}))
	}
	cdpL2 := func(t *testing.T) *machine {
		return newMachine(t, 4, one, nil, newKernel(upTo(4), 4, nil, cacheOf{name: "L2CODE", ids: []int{0}, mask: 0xff, minBits: 1}, cacheOf{name: "L2DATA", ids: []int{0}, mask: 0xff, minBits: 1}))
	}
	for name, c := range map[string]struct {
		machine  func(t *testing.T) *machine
		measured []int
		change   func(o *CATOptions)
		before   func(k *kernel)
		rt, rest string // the groups' files while it is applied
		say      []string
		warn     string
	}{
		"the vendor's split": {machine: seed, measured: []int{3}, rt: "CPUs 3\nL3:0=f0\nMB:0= 100\n", rest: "CPUs 0-2\nL3:0=0f\nMB:0= 100\n",
			say: []string{"opcycle-rt: CPUs 3, L3:0=f0", "opcycle-rest: CPUs 0-2, L3:0=f"}},
		"one socket of two, without the ways of I/O": {machine: sockets, measured: []int{5}, rt: "CPUs 5\nL3:0=7ff;1=1e0\nMB:0= 100;1= 100\n", rest: "CPUs 4,6-7\nL3:0=7ff;1=01f\nMB:0= 100;1= 100\n"},
		"both sockets":              {machine: sockets, measured: []int{3, 7}, rt: "CPUs 3,7\nL3:0=1e0;1=1e0\nMB:0= 100;1= 100\n", rest: "CPUs 0-2,4-6\nL3:0=01f;1=01f\nMB:0= 100;1= 100\n"},
		"gaps in the ids":           {machine: gaps, measured: []int{6, 7}, rt: "CPUs 6-7\nL3:0=fffff;3=ffc00\nMB:0= 100;3= 100\n", rest: "CPUs 4-5\nL3:0=fffff;3=003ff\nMB:0= 100;3= 100\n"},
		"L2, where there is no L3":  {machine: atom, measured: []int{3}, rt: "CPUs 3\nL2:0=ff;2=f0\n", rest: "CPUs 2\nL2:0=ff;2=0f\n"},
		"code and data apart":       {machine: cdp, measured: []int{3}, rt: "CPUs 3\nL3DATA:0=f0\nL3CODE:0=f0\nMB:0= 100\n", rest: "CPUs 0-2\nL3DATA:0=0f\nL3CODE:0=0f\nMB:0= 100\n"},
		"code and data apart in L2": {machine: cdpL2, measured: []int{1}, rt: "CPUs 1\nL2CODE:0=f0\nL2DATA:0=f0\n", rest: "CPUs 0,2-3\nL2CODE:0=0f\nL2DATA:0=0f\n"},
		"masks as given": {machine: seed, measured: []int{2}, change: func(o *CATOptions) { o.RTMask, o.RestMask = "0xc0", "3f" },
			rt: "CPUs 2\nL3:0=c0\nMB:0= 100\n", rest: "CPUs 0-1,3\nL3:0=3f\nMB:0= 100\n"},
		"one mask as given": {machine: seed, measured: []int{2}, change: func(o *CATOptions) { o.RTMask = "3" },
			rt: "CPUs 2\nL3:0=03\nMB:0= 100\n", rest: "CPUs 0-1,3\nL3:0=fc\nMB:0= 100\n"},
		"masks that overlap": {machine: seed, measured: []int{2}, change: func(o *CATOptions) { o.RTMask, o.RestMask = "f0", "7f" },
			rt: "CPUs 2\nL3:0=f0\nMB:0= 100\n", rest: "CPUs 0-1,3\nL3:0=7f\nMB:0= 100\n", warn: "the ways 70 of L3:0 are in both masks"},
		"bandwidth as the default group's": {machine: sockets, measured: []int{5}, before: func(k *kernel) { k.groups[""].mb[1], k.groups[""].masks["L3"][0] = 40, 0x0f },
			rt: "CPUs 5\nL3:0=00f;1=1e0\nMB:0= 100;1=  40\n", rest: "CPUs 4,6-7\nL3:0=00f;1=01f\nMB:0= 100;1=  40\n"},
		"a group for itself beside it": {machine: seed, measured: []int{3}, before: func(k *kernel) {
			k.groups[""].masks["L3"][0] = 0x3f
			g := k.add("vm")
			g.masks["L3"][0], g.mode = 0xc0, "exclusive"
		}, rt: "CPUs 3\nL3:0=38\nMB:0= 100\n", rest: "CPUs 0-2\nL3:0=07\nMB:0= 100\n"},
		"a group that shares": {machine: seed, measured: []int{3}, before: func(k *kernel) { k.setCPUs(k.add("vm"), "0") },
			rt: "CPUs 3\nL3:0=f0\nMB:0= 100\n", rest: "CPUs 1-2\nL3:0=0f\nMB:0= 100\n", warn: "the ways f0 of L3:0 are also filled by the group vm"},
	} {
		t.Run(name, func(t *testing.T) {
			m := c.machine(t)
			if c.before != nil {
				c.before(m.kernel)
			}
			m.mount(t, 0)
			before := m.kernel.state()
			o := requireCAT()
			if c.change != nil {
				c.change(&o)
			}
			cat := NewCAT(o)
			if err := cat.Begin(t.Context(), m.job(c.measured...)); err != nil {
				t.Fatal(err)
			}
			for group, want := range map[string]string{groupRT: c.rt, groupRest: c.rest} {
				g := m.kernel.group(group)
				if g == nil {
					t.Fatalf("no group %s", group)
				}
				got := "CPUs " + bench.CPUList(g.cpus).String() + "\n" + strings.ReplaceAll(strings.ReplaceAll(m.kernel.schemata(g), "  ", ""), "\n ", "\n")
				if flat(got) != flat(want) {
					t.Errorf("%s is\n%snot\n%s", group, got, want)
				}
			}
			for _, w := range m.kernel.writes {
				if !strings.HasPrefix(w, ownPrefix) {
					t.Errorf("wrote to what is not ours: %q", w)
				}
				if strings.Contains(w, "MB") && name != "bandwidth as the default group's" {
					t.Errorf("wrote bandwidth: %q", w)
				}
			}
			var r bench.SuiteResult
			cat.End(&r)
			if r.CAT == nil || !r.CAT.Applied || r.CAT.Why != "" || len(r.Invalid) > 0 {
				t.Errorf("the result is %+v, invalid %q", r.CAT, r.Invalid)
			}
			if c.say != nil && !slices.Equal(r.CAT.Groups, c.say) {
				t.Errorf("the groups are %q", r.CAT.Groups)
			}
			if got := strings.Join(r.Warnings, "\n"); (got != "" || c.warn != "") && (c.warn == "" || !strings.Contains(got, c.warn)) {
				t.Errorf("the warnings are %q", got)
			}
			if after := m.kernel.state(); after != before {
				t.Errorf("left\n%snot\n%s", after, before)
			}
		})
	}
}

// flat is text without the spaces that line things up.
func flat(s string) string { return strings.ReplaceAll(s, " ", "") }

func TestCATSaysWhatIsMissing(t *testing.T) {
	for name, c := range map[string]struct {
		before func(t *testing.T, m *machine)
		change func(o *CATOptions)
		flags  uintptr
		bare   bool // resctrl is not mounted
		want   []string
	}{
		"the processor": {bare: true, before: func(t *testing.T, m *machine) {
			m.file(t, "proc/cpuinfo", "flags\t\t: fpu tsc\n")
			m.file(t, "proc/filesystems", "nodev\tproc\n")
			m.host.Hypervisor = "KVM"
		}, want: []string{"CPUID:", "cat_l3", "KVM", "kernel:", "CONFIG_X86_CPU_RESCTRL"}},
		"the kernel's option": {bare: true, before: func(t *testing.T, m *machine) { m.file(t, "proc/filesystems", "nodev\tproc\n") },
			want: []string{"kernel:", "CONFIG_X86_CPU_RESCTRL"}},
		"the boot option": {bare: true, before: func(t *testing.T, m *machine) {
			m.file(t, "proc/filesystems", "nodev\tproc\n")
			m.file(t, "proc/cmdline", "ro rdt=cmt,!l3cat quiet\n")
		}, want: []string{"kernel:", "rdt=cmt,!l3cat turns it off"}},
		"the mount":                {bare: true, want: []string{"mount:", "mount -t resctrl resctrl /sys/fs/resctrl"}},
		"the mount in a container": {bare: true, before: func(_ *testing.T, m *machine) { m.host.Container = "podman" }, want: []string{"mount:", "-v /sys/fs/resctrl:/sys/fs/resctrl"}},
		"a writable mount":         {flags: syscall.MS_RDONLY, want: []string{"permission:", "read-only file system", "remount,rw"}},
		"the permission":           {before: func(_ *testing.T, m *machine) { m.kernel.refuse = syscall.EACCES }, want: []string{"permission:", "run as root"}},
		"a class": {before: func(_ *testing.T, m *machine) { m.kernel.add("a"); m.kernel.add("b"); m.kernel.add("c") },
			want: []string{"no free class:", "no space left on device", "last_cmd_status: Out of CLOSIDs"}},
		"the second class": {before: func(_ *testing.T, m *machine) { m.kernel.add("a"); m.kernel.add("b") },
			want: []string{"make the group opcycle-rest", "Out of CLOSIDs"}},
		"a monitoring number": {before: func(_ *testing.T, m *machine) { m.kernel.refuse = syscall.EBUSY }, want: []string{"monitoring"}},
		"ways that are another's": {before: func(_ *testing.T, m *machine) {
			g := m.kernel.add("vm")
			g.masks["L3"][0], g.mode = 0xc0, "exclusive"
			m.kernel.groups[""].masks["L3"][0] = 0x3f
		}, change: func(o *CATOptions) { o.RTMask, o.RestMask = "f0", "0f" }, want: []string{"exclusive use:", "group vm", "c0"}},
		"a CPU that is another's": {before: func(_ *testing.T, m *machine) { m.kernel.setCPUs(m.kernel.add("vm"), "3") }, want: []string{"exclusive use: CPU 3 belongs to the group vm"}},
		"a task that is another's": {before: func(t *testing.T, m *machine) { m.file(t, "proc/self/cpu_resctrl_groups", "res:vm\nmon:/\n") },
			want: []string{"exclusive use: this process is a task of the group vm"}},
		"a level":           {change: func(o *CATOptions) { o.Level = "2" }, want: []string{"no allocation in L2", "--cat-level"}},
		"the id":            {before: func(_ *testing.T, m *machine) { m.host.CPUs[3].Caches[2].ID = -1 }, want: []string{"CPU 3's L3", "cache/index"}},
		"a neighbour":       {before: func(_ *testing.T, m *machine) { m.kernel.setCPUs(m.kernel.add("vm"), "0-2") }, want: []string{"no other CPU"}},
		"enough ways":       {before: func(_ *testing.T, m *machine) { m.kernel.groups[""].masks["L3"][0] = 1 }, want: []string{"no two classes"}},
		"ways that exist":   {change: func(o *CATOptions) { o.RTMask = "f00" }, want: []string{"--cat-rt-mask f00", "ff only"}},
		"ways side by side": {change: func(o *CATOptions) { o.RestMask = "5" }, want: []string{"--cat-rest-mask 5", "gap"}},
		"ways for the rest": {change: func(o *CATOptions) { o.RTMask = "ff" }, want: []string{"no way at all", "give both masks"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := seed(t)
			if c.before != nil {
				c.before(t, m)
			}
			if !c.bare {
				m.mount(t, c.flags)
			}
			before := m.kernel.state()
			for _, mode := range []string{catAuto, catRequire} {
				o := DefaultCATOptions()
				o.Mode = mode
				if c.change != nil {
					c.change(&o)
				}
				cat := NewCAT(o)
				err := cat.Begin(t.Context(), m.job(3))
				var r bench.SuiteResult
				cat.End(&r)
				if (err != nil) != (mode == catRequire) {
					t.Errorf("%s ends with %v", mode, err)
				}
				if r.CAT == nil || r.CAT.Applied || len(r.Invalid) > 0 {
					t.Fatalf("%s: the result is %+v", mode, r.CAT)
				}
				for _, want := range c.want {
					if !strings.Contains(r.CAT.Why, want) || err != nil && !strings.Contains(err.Error(), want) {
						t.Errorf("%s: the reason is %q, without %q (error %v)", mode, r.CAT.Why, want, err)
					}
				}
				if after := m.kernel.state(); after != before {
					t.Errorf("left\n%snot\n%s", after, before)
				}
			}
		})
	}
}

// What somebody else does to our groups while they are measured with is seen at the end.
func TestCATThatIsChangedIsNoCAT(t *testing.T) {
	for name, change := range map[string]func(k *kernel){
		"the mask":  func(k *kernel) { k.groups[groupRT].masks["L3"][0] = 0xff },
		"the rest":  func(k *kernel) { k.groups[groupRest].masks["L3"][0] = 0xff },
		"the CPUs":  func(k *kernel) { k.setCPUs(k.add("vm"), "3") },
		"the group": func(k *kernel) { delete(k.groups, groupRest) },
	} {
		t.Run(name, func(t *testing.T) {
			m := seed(t)
			m.mount(t, 0)
			cat := NewCAT(requireCAT())
			if err := cat.Begin(t.Context(), m.job(3)); err != nil {
				t.Fatal(err)
			}
			m.kernel.mu.Lock()
			change(m.kernel)
			m.kernel.mu.Unlock()
			var r bench.SuiteResult
			cat.End(&r)
			if r.CAT == nil || r.CAT.Applied || !strings.Contains(r.CAT.Why, "changed") || len(r.Invalid) != 1 {
				t.Errorf("the result is %+v, invalid %q", r.CAT, r.Invalid)
			}
			if m.kernel.group(groupRT) != nil || m.kernel.group(groupRest) != nil {
				t.Error("groups of ours are left")
			}
		})
	}
}

// Without CAT must be true: a measured CPU in somebody's group is said, and what a killed
// run left is removed first.
func TestCATOffLooksAround(t *testing.T) {
	m := seed(t)
	m.kernel.setCPUs(m.kernel.add("vm"), "2")
	m.kernel.setCPUs(m.kernel.add(groupRT), "3")
	m.mount(t, 0)
	for cpu, want := range map[int]string{3: "killed run", 2: "not ours"} {
		cat := NewCAT(CATOptions{})
		if err := cat.Begin(t.Context(), m.job(cpu)); err != nil {
			t.Fatal(err)
		}
		var r bench.SuiteResult
		cat.End(&r)
		if r.CAT != nil || cpu == 2 && !strings.Contains(strings.Join(r.Warnings, "\n"), want) {
			t.Errorf("CPU %d: CAT is %+v, the warnings are %q", cpu, r.CAT, r.Warnings)
		}
	}
	if m.kernel.group(groupRT) != nil {
		t.Error("the group of a killed run is left")
	}
}

// A run that is killed leaves its groups; the next one takes them away and has its own. As
// long as it lives they are its own.
func TestCATOfAKilledRunIsTakenAway(t *testing.T) {
	m := seed(t)
	m.mount(t, 0)
	before := m.kernel.state()
	child := exec.Command(os.Args[0], asCAT, m.root) // in this thread's mounts: the fork is made by it
	child.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	said := make([]byte, 1024)
	n, _ := out.Read(said)
	if got := string(said[:n]); got != "applied\n" {
		t.Fatalf("the run says %q", got)
	}
	cat := NewCAT(requireCAT())
	err = cat.Begin(t.Context(), m.job(3))
	if err == nil || !strings.Contains(err.Error(), "another opcycle process") {
		t.Errorf("beside a living run: %v", err)
	}
	cat.End(&bench.SuiteResult{})
	if m.kernel.group(groupRT) == nil || m.kernel.group(groupRest) == nil {
		t.Fatal("the groups of a living run were removed")
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait() // killed
	if m.kernel.group(groupRT) == nil {
		t.Fatal("a killed run left nothing: this test shows nothing")
	}
	cat = NewCAT(requireCAT())
	if err := cat.Begin(t.Context(), m.job(2)); err != nil {
		t.Fatal(err)
	}
	if got := m.kernel.group(groupRT).cpus; !slices.Equal(got, []int{2}) {
		t.Errorf("the next run's group has the CPUs %v", got)
	}
	var r bench.SuiteResult
	cat.End(&r)
	if !r.CAT.Applied || len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "killed run") {
		t.Errorf("the result is %+v, the warnings are %q", r.CAT, r.Warnings)
	}
	if after := m.kernel.state(); after != before {
		t.Errorf("left\n%snot\n%s", after, before)
	}
}
