package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"opcycle/bench"
)

// bests are the rows of figures in their order by "table/figure: mechanism, placement",
// the mechanism without the size at its end: what neighbours spoiled least, of times the
// shortest, of bandwidths the largest.
type bests map[string][]float64

func (m bests) add(f bench.File) {
	at := map[string]int{}
	for _, g := range f.Suites[0].Readings {
		way := g.Mechanism
		if i := strings.LastIndex(way, ", "); i >= 0 && strings.HasSuffix(way, "iB") && !strings.Contains(way[i:], "blocks") {
			way = way[:i]
		}
		key := g.Table + "/" + g.Name + ": " + way + ", " + g.Placement
		i := at[g.Run+key]
		at[g.Run+key]++
		if g.Min == nil || g.Max == nil {
			continue
		}
		for len(m[key]) <= i {
			m[key] = append(m[key], 0)
		}
		had := &m[key][i]
		switch {
		case g.Unit == "MB/s":
			*had = max(*had, *g.Max)
		case *had == 0 || *g.Min < *had:
			*had = *g.Min
		}
	}
}

// row is the i-th of the one key that begins so.
func (m bests) row(t *testing.T, key string, i int) float64 {
	t.Helper()
	var found []float64
	n := 0
	for k, v := range m {
		if strings.HasPrefix(k, key) {
			found, n = v, n+1
		}
	}
	if n != 1 || len(found) <= i || found[i] <= 0 {
		t.Fatalf("%d rows are called %q…, with %v", n, key, found)
	}
	return found[i]
}

// memoryRelations are those of suites.md, 1.4 to 1.6, "(d)": what is false. One that noise
// can reverse has 1.15 of room.
func memoryRelations(t *testing.T, m bests) (broken []string) {
	const room = 1 / 1.15
	check := func(low string, i int, by float64, high string, j int) {
		if a, b := m.row(t, low, i), m.row(t, high, j); a*by > b {
			broken = append(broken, fmt.Sprintf("%s [%d] %.4g times %.2f is above %s [%d] %.4g", low, i, a, by, high, j, b))
		}
	}
	const vm, bw, lat = "file_vm/", "local_bandwidth/", "memory_latency/"
	check("processor/open_close", 0, room, vm+"create_0k: 0 bytes, tmpfs", 0)
	check(vm+"create_0k: 0 bytes, tmpfs", 0, 1, vm+"create_10k: 10240 bytes, tmpfs", 0)
	check(vm+"delete_0k: 0 bytes, tmpfs", 0, room, vm+"delete_10k: 10240 bytes, tmpfs", 0)
	check(vm+"page_fault: a page", 0, 1, vm+"page_fault: each fault", 0)
	check(vm+"page_fault: a page", 0, 0.5*64<<20/10/(16<<10), vm+"mmap: 64 MiB, a byte every 16 KiB of a tenth written, tmpfs", 0)
	check("processor/null_call: getppid", 0, 1, vm+"protection_fault: store to a read-only page, caught,", 0)

	const all, fourth = bw + "memory_read: sum of every int of 32 bits, unrolled", bw + "memory_read: sum of every fourth int"
	const move, hand, store = bw + "bcopy_libc: Go runtime memmove", bw + "bcopy_hand: ", bw + "memory_write: "
	for _, key := range []string{all, fourth, move, hand, store} {
		check(key, 0, room, key, 1) // main memory, then the L1 cache
	}
	check(all, 0, room, fourth, 0)
	check(all, 1, room, fourth, 1)
	check(hand, 1, room, move, 1)
	check(bw+"pipe: pipe, blocks of 64 KiB, same", 0, room, move, 1)
	check(bw+"file_reread", 0, room, bw+"mmap_reread", 0)

	random := func(level string) string { return lat + level + ": random order of lines, CPU" }
	check(random("l1"), 0, 1, random("l2"), 0)
	check(random("l2"), 0, 1, random("l3"), 0)
	check(random("l3"), 0, room, random("main"), 0)
	for _, level := range []string{"l1", "l2", "l3", "main"} {
		check(lat+level+": stride 128", 0, 1/1.1, random(level), 0)
	}
	// A line of 64 bytes a load is the least bandwidth that there can be.
	if slow, read := 64e3/m.row(t, random("main"), 0), m.row(t, all, 0); slow > read {
		broken = append(broken, fmt.Sprintf("memory is read at %.0f MB/s, and by single loads at %.0f", read, slow))
	}
	return broken
}

func TestLmbenchMemoryRelations(t *testing.T) {
	if testing.Short() {
		t.Skip("a real run")
	}
	alone(t)
	m := bests{}
	var broken []string
	for range 3 {
		dir := t.TempDir()
		c := start(t, dir, "suite", "lmbench", "--quick", "--only", "null_call,open_close,file_vm,local_bandwidth,memory_latency", "--out", "out")
		if code := c.code(); code != exitPass {
			t.Fatalf("exit %d", code)
		}
		f := result(t, filepath.Join(dir, "out"))
		complete(t, f)
		curve(t, f.Suites[0].Samples)
		m.add(f)
		if broken = memoryRelations(t, m); broken == nil {
			return
		}
	}
	t.Errorf("in three runs, by the best: %s", strings.Join(broken, "; "))
}

// curve asserts the form of the curve: sizes grow, and every point has both latencies.
func curve(t *testing.T, so *bench.Samples) {
	t.Helper()
	if so == nil || len(so.Rows) < 30 {
		t.Fatalf("no curve, or a short one: %+v", so)
	}
	last := 0.0
	for _, row := range so.Rows {
		if len(row) != 4 || row[1] == nil || *row[1] <= last || row[2] == nil || *row[2] <= 0 || row[3] == nil || *row[3] <= 0 {
			t.Fatalf("a row of the curve is %v after %v bytes", row, last)
		}
		last = *row[1]
	}
}
