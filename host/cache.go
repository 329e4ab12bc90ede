package host

import (
	"strconv"
	"strings"

	"opcycle/bench"
)

// caches reads one CPU's caches in the kernel's order. A cache whose level or size is not
// readable is left out: some hypervisors show none.
//
// https://docs.kernel.org/admin-guide/abi-testing.html (sys/devices/system/cpu/cpuN/cache)
func (t *tree) caches(dir string) []bench.Cache {
	var out []bench.Cache
	for _, e := range t.entries(dir) {
		if !strings.HasPrefix(e, "index") {
			continue
		}
		at := dir + "/" + e
		level := t.number(at + "/level")
		text, _ := t.option(at + "/size")
		bytes, ok := cacheBytes(text)
		if level == nil || !ok {
			continue
		}
		c := bench.Cache{Level: int(*level), Bytes: bytes, ID: -1, Shared: t.list(at, t.text(at+"/shared_cpu_list"))}
		c.Type, _ = t.option(at + "/type")
		c.Line, c.Ways = t.small(at+"/coherency_line_size"), int(t.small(at+"/ways_of_associativity"))
		if id, ok := t.option(at + "/id"); ok {
			if n, err := strconv.Atoi(id); err == nil {
				c.ID = n
			}
		}
		out = append(out, c)
	}
	return out
}

// small is an optional number; 0: not there.
func (t *tree) small(name string) int64 {
	s, _ := t.option(name)
	n, err := strconv.ParseInt(s, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// cacheBytes reads "48K", "1280K" or "48M".
func cacheBytes(s string) (int64, bool) {
	unit := int64(1)
	switch {
	case strings.HasSuffix(s, "K"):
		unit, s = 1<<10, s[:len(s)-1]
	case strings.HasSuffix(s, "M"):
		unit, s = 1<<20, s[:len(s)-1]
	}
	n, err := strconv.ParseInt(s, 10, 64)
	return n * unit, err == nil && n > 0
}
