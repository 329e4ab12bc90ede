package lmbench

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"opcycle/rt"
)

func testChain(t *testing.T, size int64) *chain {
	t.Helper()
	c, err := newChain(size, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.free)
	return c
}

// A list goes through every one of its links once before it comes back: as many loads as
// it has links, and not one less, end where they began.
func TestChains(t *testing.T) {
	c := testChain(t, 1<<20)
	for _, links := range []int64{8, 100, 300, 4096} {
		for name, build := range map[string]func(){
			"stride":  func() { c.stride(links*lmbenchStride, lmbenchStride) },
			"shuffle": func() { c.shuffle(links*64, 64) },
		} {
			build()
			first := c.at
			base := rt.MemoryPointer(c.mem)
			at, seen := first, map[uintptr]bool{}
			for range links {
				if seen[at] {
					t.Fatalf("%s of %d: comes back after %d", name, links, len(seen))
				}
				seen[at] = true
				at = uintptr(binary.NativeEndian.Uint64(c.mem[at-base:]))
			}
			if at != first {
				t.Errorf("%s of %d: does not come back", name, links)
			}
			if links%100 == 0 && rt.HasStreams {
				if got := rt.Chase(first, links/100); got != first {
					t.Errorf("%s of %d: the loads end elsewhere", name, links)
				}
				if got := rt.Chase(first, links/100+1); got == first && links > 100 {
					t.Errorf("%s of %d: the loads end where they began, too late", name, links)
				}
			}
		}
	}
}

// Few neighbours of a shuffled list are neighbours in memory.
func TestShuffleIsNoStride(t *testing.T) {
	c := testChain(t, 1<<20)
	const links = 1 << 14
	c.shuffle(links*64, 64)
	base := uint64(rt.MemoryPointer(c.mem))
	near := 0
	for i := range links {
		to := (binary.NativeEndian.Uint64(c.mem[i*64:]) - base) / 64
		if d := int64(to) - int64(i); d > -8 && d < 8 {
			near++
		}
	}
	if near > links/100 {
		t.Errorf("%d of %d links go to one of the next lines", near, links)
	}
}

func TestLoadsGoOn(t *testing.T) {
	b := alone(t)
	c := testChain(t, 1<<20)
	c.shuffle(1<<20, 64)
	first := c.at
	s, err := b.loads(c)
	if err != nil {
		t.Fatal(err)
	}
	if s.least() <= 0 || s.batch%100 != 0 || s.batch == 0 || c.at == first {
		t.Errorf("%+v", s)
	}
}

func TestHugeBytes(t *testing.T) {
	const smaps = `00400000-00500000 r-xp 00000000 00:00 1 /bin/x
AnonHugePages:     2048 kB
7f0000000000-7f0000800000 rw-p 00000000 00:00 0
Size:               8192 kB
AnonHugePages:     4096 kB
VmFlags: rd wr mr mw me ac sd hg
7f0000800000-7f0000c00000 rw-p 00000000 00:00 0
AnonHugePages:     2048 kB
7f0001000000-7f0001800000 rw-p 00000000 00:00 0
AnonHugePages:     8192 kB
`
	for name, c := range map[string]struct {
		at   uintptr
		size int
		want int64
	}{
		"one mapping":  {0x7f0000000000, 8 * mib, 4 * mib},
		"two mappings": {0x7f0000000000, 12 * mib, 6 * mib},
		"none":         {0x7f0000c00000, 4 * mib, 0},
	} {
		if got := hugeBytes(smaps, c.at, c.size); got != c.want {
			t.Errorf("%s: %d, not %d", name, got, c.want)
		}
	}
}

func TestCurveSizes(t *testing.T) {
	got := curveSizes(8 * kib)
	if want := []int64{512, 1024, 2048, 3072, 4096, 6144, 8192}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if n := len(curveSizes(mostMain)); n > 50 {
		t.Errorf("%d sizes take long", n)
	}
}

// The latencies of a small working set: every row has a number or a reason, and says its
// size.
func TestLatencies(t *testing.T) {
	b := alone(t)
	rows, err := b.latencies(64*kib, 2, true)
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 {
		t.Fatalf("%d rows", len(rows))
	}
	for i, r := range rows {
		if (r.Value == nil) != (r.NA != "") || !strings.Contains(r.Mechanism, "64 KiB") || r.Value != nil && (*r.Value <= 0 || r.N != 4) {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	if b.Tries != 3 {
		t.Errorf("%d repetitions from now on", b.Tries)
	}
}

func TestCurveSamples(t *testing.T) {
	if curveSamples(1, nil, nil) != nil {
		t.Error("no curve has samples")
	}
	so := curveSamples(1, []point{{512, 1, 2}}, nil)
	so = curveSamples(2, []point{{512, 3, 4}, {1024, 5, 6}}, so)
	var text []string
	for _, row := range so.Rows {
		if len(row) != len(so.Columns) || len(row) != len(so.Units) {
			t.Errorf("a row of %d", len(row))
		}
		text = append(text, fmt.Sprint(*row[0], *row[1], *row[2], *row[3]))
	}
	if want := []string{"1 512 1 2", "2 512 3 4", "2 1024 5 6"}; !slices.Equal(text, want) {
		t.Errorf("%q", text)
	}
}
