//go:build amd64 || arm64

package rt

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// noise is memory of n bytes whose content is the same every time.
func noise(n int) []byte {
	p := make([]byte, n)
	src := rand.New(rand.NewPCG(1, 2))
	for i := range p {
		p[i] = byte(src.Uint32())
	}
	return p
}

// sum adds up every int of size bytes at a distance of step bytes.
func sum(p []byte, size, step int) (total uint64) {
	for i := 0; i+size <= len(p); i += step {
		if size == 8 {
			total += binary.NativeEndian.Uint64(p[i:])
		} else {
			total += uint64(binary.NativeEndian.Uint32(p[i:]))
		}
	}
	return total
}

func TestSums(t *testing.T) {
	for _, n := range []int{0, 511, 512, 1023, 1024, 5000, 64 << 10} {
		p := noise(n)
		of := p[:n/512*512]
		if got, want := SumInts(p), uint32(sum(of, 4, 4)); got != want {
			t.Errorf("%d bytes: SumInts is %d, not %d", n, got, want)
		}
		if got, want := SumFourths(p), uint32(sum(of, 4, 16)); got != want {
			t.Errorf("%d bytes: SumFourths is %d, not %d", n, got, want)
		}
		if got, want := SumWords(p), sum(p[:n/1024*1024], 8, 8); got != want {
			t.Errorf("%d bytes: SumWords is %d, not %d", n, got, want)
		}
		if WideSum() == "" {
			continue
		}
		if got, want := SumWide(p), SumInts(p); got != want {
			t.Errorf("%d bytes: SumWide is %d, not %d", n, got, want)
		}
	}
}

func TestStoreInts(t *testing.T) {
	for _, n := range []int{0, 511, 512, 5000, 64 << 10} {
		p := noise(n + 512)
		want := bytes.Clone(p)
		for i := 0; i < n/512*512; i += 4 {
			binary.NativeEndian.PutUint32(want[i:], 0x01020304)
		}
		StoreInts(p[:n], 0x01020304)
		if !bytes.Equal(p, want) {
			t.Errorf("%d bytes are not as they should be", n)
		}
	}
}

func TestCopies(t *testing.T) {
	for name, c := range map[string]struct {
		copy  func(to, from []byte)
		block int
		have  bool
	}{
		"ints":     {CopyInts, 512, true},
		StringCopy: {CopyString, 1, StringCopy != ""},
	} {
		if !c.have {
			continue
		}
		for _, n := range []int{0, 511, 512, 5000, 64 << 10} {
			from, to := noise(n+512), make([]byte, n+512)
			want := slices.Concat(from[:n/c.block*c.block], make([]byte, n+512-n/c.block*c.block))
			c.copy(to[:n], from)
			if !bytes.Equal(to, want) {
				t.Errorf("%s: %d bytes are not as they should be", name, n)
			}
		}
	}
}

// kernels are the loops in assembly over some memory, n times.
func kernels(t testing.TB) map[string]func(n int) {
	t.Helper()
	from, err := RawMemory(16<<10, false)
	if err != nil {
		t.Skip(err)
	}
	to, err := RawMemory(16<<10, false)
	if err != nil {
		t.Fatal(err)
	}
	at := MemoryPointer(to)
	for i := 0; i < len(to); i += 64 {
		binary.NativeEndian.PutUint64(to[i:], uint64(at)+uint64(i+64)%uint64(len(to)))
	}
	t.Cleanup(func() { _, _ = FreeMemory(from), FreeMemory(to) })
	offsets := make([]uint64, 1000)
	for i := range offsets {
		offsets[i] = uint64(i * 16)
	}
	each := func(one func()) func(int) {
		return func(n int) {
			for range n {
				one()
			}
		}
	}
	out := map[string]func(n int){
		"SumInts":    each(func() { SumInts(from) }),
		"SumFourths": each(func() { SumFourths(from) }),
		"SumWords":   each(func() { SumWords(from) }),
		"StoreInts":  each(func() { StoreInts(from, 1) }),
		"CopyInts":   each(func() { CopyInts(from, to) }),
		"Chase":      func(n int) { Chase(at, int64(n)) },
		"LoadBytes":  each(func() { LoadBytes(at, offsets) }),
		"StoreBytes": each(func() { StoreBytes(MemoryPointer(from), 16<<10, 16, 1) }),
	}
	if WideSum() != "" {
		out["SumWide"] = each(func() { SumWide(from) })
	}
	if StringCopy != "" {
		out["CopyString"] = each(func() { CopyString(from, to) })
	}
	return out
}

// Twice the work takes twice the time: the kernels do it all. Minima of several, since a
// neighbour can only make a stretch longer.
func TestKernelsDoTheirWork(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector's runs are short")
	}
	for name, loop := range kernels(t) {
		least := func(n int) time.Duration {
			best := time.Hour
			for range 20 {
				t := Now()
				loop(n)
				best = min(best, time.Duration(Now()-t))
			}
			return best
		}
		ok := false
		var by float64
		for range 5 {
			by = float64(least(400)) / float64(least(200))
			ok = ok || by > 1.6 && by < 2.5
		}
		if !ok {
			t.Errorf("%s: twice the work took %.2f times as long", name, by)
		}
	}
}

func TestKernelsDoNotAllocate(t *testing.T) {
	for name, loop := range kernels(t) {
		if n := testing.AllocsPerRun(10, func() { loop(1) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkKernels(b *testing.B) {
	for name, loop := range kernels(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(16 << 10)
			loop(b.N)
		})
	}
}
