package plc

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata from what the code does now")

const goldenFile = "testdata/programs.golden"

// TestGolden holds the checksums of every program for several counts. The same file is
// checked on amd64 and, by TestGoldenOnARM64, on arm64.
func TestGolden(t *testing.T) {
	var b strings.Builder
	for _, name := range Programs() {
		p := program(t, name)
		for _, n := range []int64{0, 1, 2, 7, 100, 10001, 50000} {
			fmt.Fprintf(&b, "%s %d %d\n", name, n, p.Run(n))
		}
	}
	if *update {
		if err := os.WriteFile(goldenFile, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	if got := b.String(); got != string(want) {
		t.Errorf("checksums differ from %s\ngot\n%s\nwant\n%s", goldenFile, got, want)
	}
}

func TestProgramIsAFunctionOfItsCount(t *testing.T) {
	for _, name := range Programs() {
		p, seen := program(t, name), map[int64]int64{}
		for n := int64(1); n <= 50; n++ {
			sum := p.Run(n)
			if m, twice := seen[sum]; twice {
				t.Errorf("%s: %d and %d iterations give the same checksum: an iteration does nothing", name, m, n)
			}
			seen[sum] = n
			if again := p.Run(n); again != sum {
				t.Errorf("%s: %d iterations give %d, then %d", name, n, sum, again)
			}
		}
		if fresh := program(t, name).Run(50); seen[fresh] != 50 {
			t.Errorf("%s: a fresh program gives another checksum", name)
		}
	}
}

func TestProgramAllocatesNothing(t *testing.T) {
	for _, name := range Programs() {
		p := program(t, name)
		if n := testing.AllocsPerRun(10, func() { p.Run(100) }); n != 0 {
			t.Errorf("%s: %v allocations a run", name, n)
		}
	}
}

// TestFloatStaysNormal walks FLOAT scan by scan and holds the bounds of its comment.
func TestFloatStaysNormal(t *testing.T) {
	p := newFloat()
	for n := int64(1); n <= 400; n++ {
		p.Run(n)
		all := append(append(append([]float64{p.total}, p.pv[:]...), p.acc[:]...), p.y[:]...)
		if lo, hi := slices.Min(all), slices.Max(all); !(lo >= 0.5 && hi <= 200) {
			t.Fatalf("after %d iterations the values lie in [%v, %v]; want [0.5, 200]", n, lo, hi)
		}
	}
}

// TestMemoryVisitsEveryCell: one cycle through all of them, so the walk is as large as
// the array.
func TestMemoryVisitsEveryCell(t *testing.T) {
	p := newMemory()
	at, n := p.cells[0].next, 1
	for ; at != 0 && n <= cells; n++ {
		at = p.cells[at].next
	}
	if n != cells {
		t.Errorf("the cycle through cell 0 has %d cells; want %d", n, cells)
	}
}

func TestNewProgramNamesWhatItKnows(t *testing.T) {
	_, err := NewProgram("FLOTA")
	if err == nil {
		t.Fatal("no error")
	}
	for _, name := range append(Programs(), "FLOTA") {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
}

func BenchmarkProgram(b *testing.B) {
	for _, name := range Programs() {
		p := program(b, name)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p.Run(10001)
			}
		})
	}
}

func program(t testing.TB, name string) Program {
	t.Helper()
	p, err := NewProgram(name)
	if err != nil {
		t.Fatal(err)
	}
	return p
}
