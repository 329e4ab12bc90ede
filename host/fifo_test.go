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
	return &tree{root: root}
}

func TestWhatLimitsFIFO(t *testing.T) {
	const server = "sys/kernel/debug/sched/fair_server/cpu"
	half := map[string]string{server + "0/runtime": "50000000", server + "0/period": "1000000000"}
	off := map[string]string{server + "0/runtime": "0", server + "0/period": "1000000000"}
	odd := map[string]string{server + "0/runtime": "50000000", server + "0/period": "1000000000",
		server + "1/runtime": "200000000", server + "1/period": "1000000000"}
	for name, c := range map[string]struct {
		kernel  string
		runtime int64
		group   bool
		files   map[string]string
		by, why string
		ran     int64
	}{
		"6.1":                      {"6.1.0-18-amd64 #1 SMP", 950000, false, nil, bench.FIFOBandwidth, "950000 of each 1000000", 950e6},
		"6.1 unlimited":            {"6.1.0", -1, false, nil, bench.FIFONone, "neither", 0},
		"5.14 of RHEL 9":           {"5.14.0-427.el9.x86_64 #1", 950000, false, nil, bench.FIFOBandwidth, "950000", 950e6},
		"6.12":                     {"6.12.1 #1", 950000, false, half, bench.FIFOServer, "50000 of each 1000000", 950e6},
		"6.12, server off":         {"6.12.1 #1", 950000, false, off, bench.FIFONone, "neither", 0},
		"6.12 without debugfs":     {"6.12.1 #1", 950000, false, nil, bench.FIFOUnknown, "debugfs not readable", 0},
		"6.18 with groups":         {"6.18.44-fc #1", 950000, true, half, bench.FIFOBoth, "fair server", 950e6},
		"6.18 with groups, no fs":  {"6.18.44-fc #1", 950000, true, nil, bench.FIFOBandwidth, "debugfs not readable", 950e6},
		"one CPU's server is more": {"6.13-rc1", 950000, true, odd, bench.FIFOBoth, "200000 of each", 800e6},
		"no release":               {"", 950000, false, nil, bench.FIFOUnknown, "not understood", 0},
	} {
		t.Run(name, func(t *testing.T) {
			period := int64(1000000)
			h := bench.Host{Kernel: c.kernel, RTRuntimeUS: &c.runtime, RTPeriodUS: &period, RTGroupSched: &c.group}
			got := below(t, c.files).fifoLimit(&h)
			if got.By != c.by || !strings.Contains(got.Why, c.why) || got.RuntimeNS != c.ran {
				t.Errorf("%+v, want %s, %q, %d", got, c.by, c.why, c.ran)
			}
		})
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
