package lmbench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"opcycle/bench"
)

// cachesOf are a CPU's caches of so many bytes, 0: not there.
func cachesOf(l1, l2, l3 int64) []bench.Cache {
	out := []bench.Cache{{Level: 1, Type: "Instruction", Bytes: 32 * kib, Line: 64}}
	for i, bytes := range []int64{l1, l2, l3} {
		if bytes > 0 {
			out = append(out, bench.Cache{Level: i + 1, Type: map[bool]string{true: "Data", false: "Unified"}[i == 0], Bytes: bytes, Line: 64})
		}
	}
	return out
}

func TestCacheRange(t *testing.T) {
	for name, c := range map[string]struct {
		caches []bench.Cache
		want   [3]int64
		why    string // of the first level without a range
	}{
		"a server's":             {cachesOf(48*kib, 2*mib, 260*mib), [3]int64{24 * kib, mib, 23908352}, ""},
		"a desktop's":            {cachesOf(32*kib, 512*kib, 32*mib), [3]int64{16 * kib, 256 * kib, 4 * mib}, ""},
		"an L3 of eight L2":      {cachesOf(32*kib, 512*kib, 4*mib), [3]int64{16 * kib, 256 * kib, 1482752}, ""},
		"an L3 of four L2":       {cachesOf(32*kib, mib, 4*mib), [3]int64{16 * kib, 512 * kib, 2 * mib}, ""},
		"an L3 hardly larger":    {cachesOf(32*kib, mib, 1408*kib), [3]int64{16 * kib, 512 * kib, 0}, "no working set"},
		"no L3, as a small ARM":  {cachesOf(32*kib, mib, 0), [3]int64{16 * kib, 512 * kib, 0}, "no data cache of level 3"},
		"nothing that is known":  {nil, [3]int64{}, "no data cache of level 1"},
		"an instruction cache":   {cachesOf(0, mib, 0), [3]int64{}, "no data cache of level 1"},
		"an L2 as large as no 1": {cachesOf(32*kib, 64*kib, 0), [3]int64{16 * kib, 0, 0}, "no working set"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBed(3)
			b.Caches = c.caches
			why := ""
			for i, want := range c.want {
				got, err := b.cacheRange(i + 1)
				if got != want || (err == nil) != (want > 0) {
					t.Errorf("level %d: %d, not %d: %v", i+1, got, want, err)
				}
				if err != nil && why == "" {
					why = err.Error()
				}
			}
			if c.why != "" && !strings.Contains(why, c.why) {
				t.Errorf("the reason is %q, not %q", why, c.why)
			}
		})
	}
}

func TestLine(t *testing.T) {
	for name, c := range map[string]struct{ line, want int64 }{"usual": {64, 64}, "wide": {128, 128}, "unknown": {0, 64}, "nonsense": {100, 64}} {
		b := newBed(3)
		b.Caches = []bench.Cache{{Level: 1, Type: "Data", Bytes: 32 * kib, Line: c.line}}
		if got := b.line(); got != int(c.want) {
			t.Errorf("%s: %d", name, got)
		}
	}
}

// root makes a tree of files to read instead of the machine's.
func root(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const gigabytes = "MemTotal:  32000000 kB\nMemAvailable: 16777216 kB\n" // 16 GiB

func TestAvailable(t *testing.T) {
	for name, c := range map[string]struct {
		files map[string]string
		want  int64
	}{
		"no control groups": {map[string]string{"proc/meminfo": gigabytes}, 16 << 30},
		"no limit": {map[string]string{"proc/meminfo": gigabytes, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/b/memory.current": "1000\n"}, 16 << 30},
		"a limit": {map[string]string{"proc/meminfo": gigabytes, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/b/memory.current": "1000\n"}, 999_000},
		"a limit above": {map[string]string{"proc/meminfo": gigabytes, "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/memory.max": "5000\n", "sys/fs/cgroup/a/memory.current": "2000\n",
			"sys/fs/cgroup/a/b/memory.max": "1000000\n", "sys/fs/cgroup/a/b/memory.current": "1000\n"}, 3000},
		"in a container": {map[string]string{"proc/meminfo": gigabytes, "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "70000\n", "sys/fs/cgroup/memory.current": "80000\n"}, 0},
		"the first version": {map[string]string{"proc/meminfo": gigabytes, "proc/self/cgroup": "3:cpu:/x\n4:memory,hugetlb:/a\n0::/\n",
			"sys/fs/cgroup/memory/a/memory.limit_in_bytes": "9000\n", "sys/fs/cgroup/memory/a/memory.usage_in_bytes": "2000\n"}, 7000},
	} {
		if got, err := available(root(t, c.files)); got != c.want || err != nil {
			t.Errorf("%s: %d, not %d: %v", name, got, c.want, err)
		}
	}
	if _, err := available(root(t, map[string]string{"proc/meminfo": "MemTotal: 1 kB\n"})); err == nil || !strings.Contains(err.Error(), "MemAvailable") {
		t.Errorf("the error is %v", err)
	}
}

func TestMainRange(t *testing.T) {
	for name, c := range map[string]struct {
		caches []bench.Cache
		free   string
		quick  bool
		want   int64
		short  string
	}{
		"small caches":    {cachesOf(32*kib, mib, 8*mib), "16777216", false, 64 * mib, ""},
		"large caches":    {cachesOf(32*kib, mib, 40*mib), "16777216", false, 160 * mib, ""},
		"huge caches":     {cachesOf(32*kib, mib, 260*mib), "16777216", false, 512 * mib, "512 MiB are less than four times"},
		"in a hurry":      {cachesOf(32*kib, mib, 40*mib), "16777216", true, 64 * mib, "64 MiB are less than four times"},
		"little memory":   {cachesOf(32*kib, mib, 8*mib), "102400", false, 24 * mib, "24 MiB are less than four times"},
		"caches not know": {nil, "16777216", false, 64 * mib, "names no caches"},
	} {
		b := newBed(3)
		b.Quick, b.Caches, b.Root = c.quick, c.caches, root(t, map[string]string{"proc/meminfo": "MemAvailable: " + c.free + " kB\n"})
		got, short, err := b.mainRange()
		if got != c.want || err != nil || (short == "") != (c.short == "") || !strings.Contains(short, c.short) {
			t.Errorf("%s: %d (%q), not %d (%q): %v", name, got, short, c.want, c.short, err)
		}
	}
	b := newBed(3)
	b.Root = root(t, map[string]string{"proc/meminfo": "MemAvailable: 4000 kB\n"})
	if _, _, err := b.mainRange(); err == nil || !strings.Contains(err.Error(), "too little") {
		t.Errorf("the error is %v", err)
	}
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{512: "512 bytes", 1024: "1 KiB", 1536: "1536 bytes", 24 * kib: "24 KiB", 64 * mib: "64 MiB",
		23908352: "22.8 MiB", 260 * mib: "260 MiB", 2 << 30: "2 GiB", 1482752: "1.414 MiB", 768: "768 bytes"} {
		if got := sizeText(n); got != want {
			t.Errorf("%d is %q, not %q", n, got, want)
		}
	}
}
