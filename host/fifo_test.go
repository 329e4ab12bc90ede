package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opcycle/bench"
)

func below(t *testing.T, files map[string]string) *tree {
	t.Helper()
	return &tree{files: disk(rootOf(t, files))}
}

// rootOf makes a root of files.
func rootOf(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestWhatLimitsFIFO(t *testing.T) {
	const server = "sys/kernel/debug/sched/fair_server/cpu"
	files := func(kv ...string) map[string]string {
		out := map[string]string{}
		for i := 0; i < len(kv); i += 2 {
			out[kv[i]] = kv[i+1]
		}
		return out
	}
	on, off := new(bool), new(bool)
	*on = true
	half := files(server+"0/runtime", "50000000", server+"0/period", "1000000000")
	none := files(server+"0/runtime", "0", server+"0/period", "1000000000")
	for name, c := range map[string]struct {
		kernel  string
		runtime int64 // µs; 0: not readable
		built   *bool
		files   map[string]string
		by, why string
		ran     int64
	}{
		"6.1":                         {"6.1.0-18-amd64 #1 SMP", 950000, off, nil, bench.FIFOBandwidth, "950000 of each 1000000", 950e6},
		"6.1, configuration unknown":  {"6.1.0", 950000, nil, nil, bench.FIFOBandwidth, "950000 of each 1000000", 950e6},
		"6.1 unlimited":               {"6.1.0", -1, off, nil, bench.FIFONone, "neither", 0},
		"6.1, all of the period":      {"6.1.0", 1000000, off, nil, bench.FIFONone, "neither", 0},
		"6.1, no sysctl":              {"6.1.0", 0, off, nil, bench.FIFOUnknown, "RT bandwidth: unknown: sched_rt_runtime_us is not readable", 0},
		"6.1 with a server patched":   {"6.1.0", -1, off, half, bench.FIFOServer, "50000 of each 1000000", 950e6},
		"5.14 of RHEL 9":              {"5.14.0-427.el9.x86_64 #1", 950000, off, nil, bench.FIFOBandwidth, "950000", 950e6},
		"6.12":                        {"6.12.1 #1", 950000, off, half, bench.FIFOServer, "50000 of each 1000000", 950e6},
		"6.12, server off":            {"6.12.1 #1", 950000, off, none, bench.FIFONone, "neither", 0},
		"6.12 without debugfs":        {"6.12.1 #1", 950000, off, nil, bench.FIFOUnknown, "fair server: unknown: debugfs not readable; mount -t debugfs", 0},
		"6.12, no server in debugfs":  {"6.12.1 #1", 950000, off, files("sys/kernel/debug/sched/verbose", "N"), bench.FIFOUnknown, "debugfs shows none of CPU 0", 0},
		"6.12, half a server":         {"6.12.1 #1", 950000, off, files(server+"0/runtime", "50000000"), bench.FIFOUnknown, "debugfs not readable: runtime and period of CPU 0", 0},
		"6.12, configuration unknown": {"6.12.1 #1", 950000, nil, half, bench.FIFOServer, "RT bandwidth: unknown: the kernel's configuration", 950e6},
		"6.12, server off, unknown":   {"6.12.1 #1", 950000, nil, none, bench.FIFOUnknown, "CONFIG_RT_GROUP_SCHED", 0},
		"6.12, -1, no configuration":  {"6.12.1 #1", -1, nil, none, bench.FIFONone, "neither", 0},
		"6.18 with groups":            {"6.18.44-fc #1", 950000, on, half, bench.FIFOBoth, "fair server: starved", 950e6},
		"6.18 with groups, no fs":     {"6.18.44-fc #1", 950000, on, nil, bench.FIFOBandwidth, "fair server: unknown: debugfs not readable", 950e6},
		"6.18 with groups, -1":        {"6.18.44-fc #1", -1, on, none, bench.FIFONone, "neither", 0},
		"the server takes more": {"6.13-rc1", 950000, on, files(server+"0/runtime", "200000000", server+"0/period", "1000000000"),
			bench.FIFOBoth, "200000 of each", 800e6},
		"a cgroup has less": {"6.1.0", 950000, on, files("proc/self/cgroup", "4:cpu,cpuacct:/docker/7", "sys/fs/cgroup/cpu,cpuacct/docker/7/cpu.rt_runtime_us", "400000",
			"sys/fs/cgroup/cpu,cpuacct/docker/7/cpu.rt_period_us", "500000", "sys/fs/cgroup/cpu,cpuacct/cpu.rt_runtime_us", "950000", "sys/fs/cgroup/cpu,cpuacct/cpu.rt_period_us", "1000000"),
			bench.FIFOBandwidth, "400000 of each 500000 us (/sys/fs/cgroup/cpu,cpuacct/docker/7", 400e6},
		"no release": {"", 950000, off, nil, bench.FIFOUnknown, "not understood", 0},
	} {
		t.Run(name, func(t *testing.T) {
			period := int64(1000000)
			h := bench.Host{Kernel: c.kernel, RTRuntimeUS: &c.runtime, RTPeriodUS: &period, CPUs: []bench.CPU{{ID: 0}}}
			if c.runtime == 0 {
				h.RTRuntimeUS = nil
			}
			root := below(t, c.files)
			root.groupsBuilt = c.built
			root.fifoLimits(&h)
			got := h.FIFOLimitOf(0)
			if got.By != c.by || !strings.Contains(got.Why, c.why) || got.RuntimeNS != c.ran {
				t.Errorf("%+v, want %s, %q, %d", got, c.by, c.why, c.ran)
			}
		})
	}
}

// A machine whose isolated CPU was left without a server has two limits.
func TestEachCPUHasItsOwnFairServer(t *testing.T) {
	const server = "sys/kernel/debug/sched/fair_server/cpu"
	root := below(t, map[string]string{server + "0/runtime": "50000000", server + "0/period": "1000000000",
		server + "1/runtime": "50000000", server + "1/period": "1000000000", server + "3/runtime": "0", server + "3/period": "1000000000"})
	root.groupsBuilt = new(bool)
	runtime, period := int64(950000), int64(1000000)
	h := bench.Host{Kernel: "6.12.0", RTRuntimeUS: &runtime, RTPeriodUS: &period, CPUs: []bench.CPU{{ID: 0}, {ID: 1}, {ID: 3}}}
	root.fifoLimits(&h)
	for cpu, want := range map[int]string{0: bench.FIFOServer, 1: bench.FIFOServer, 3: bench.FIFONone} {
		if got := h.FIFOLimitOf(cpu); got.By != want {
			t.Errorf("CPU %d: %+v, want %s", cpu, got, want)
		}
	}
	if h.CPUs[1].FIFOLimit != nil {
		t.Error("CPU 1, which is as CPU 0, has a limit of its own")
	}
}

func TestCaches(t *testing.T) {
	index := func(i, level, kind, size, id string) map[string]string {
		at := "cache/index" + i + "/"
		out := map[string]string{at + "level": level, at + "type": kind, at + "size": size, at + "shared_cpu_list": "0-1",
			at + "coherency_line_size": "64", at + "ways_of_associativity": "12"}
		if id != "" {
			out[at+"id"] = id
		}
		return out
	}
	files := map[string]string{}
	for _, m := range []map[string]string{index("0", "1", "Data", "48K", ""), index("1", "1", "Instruction", "32K", ""), index("2", "2", "Unified", "1280K", "4"), index("3", "3", "Unified", "48M", "0"), index("4", "4", "Unified", "", "")} {
		for k, v := range m {
			files[k] = v
		}
	}
	c := bench.CPU{Caches: below(t, files).caches("cache")}
	if len(c.Caches) != 4 {
		t.Fatalf("%d caches: %+v", len(c.Caches), c.Caches)
	}
	for level, want := range map[int]int64{1: 48 << 10, 2: 1280 << 10, 3: 48 << 20} {
		if k, ok := c.DataCache(level); !ok || k.Bytes != want || k.Ways != 12 || k.Line != 64 {
			t.Errorf("L%d: %+v", level, k)
		}
	}
	if k, _ := c.DataCache(2); k.ID != 4 || len(k.Shared) != 2 {
		t.Errorf("L2: %+v", k)
	}
	if _, ok := c.DataCache(5); ok {
		t.Error("there is no L5")
	}
	if got := below(t, nil).caches("cache"); got != nil {
		t.Errorf("without a cache folder: %+v", got)
	}
}
