package cyclictest

import (
	"bufio"
	"bytes"
	"math"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"opcycle/record"
	"opcycle/rt"
)

func TestSkipCountsInstantsOfTheRunOnly(t *testing.T) {
	for _, c := range []struct {
		name             string
		next, now, until int64
		missed, to       int64
	}{
		{"one ns late", 1000, 1001, math.MaxInt64, 1, 1100},
		{"to the instant itself", 1000, 1100, math.MaxInt64, 1, 1100},
		{"just over an instant", 1000, 1101, math.MaxInt64, 2, 1200},
		{"seven", 1000, 1650, math.MaxInt64, 7, 1700},
		{"beyond the end", 1000, 1650, 1300, 3, 1700},
		{"the end is the instant", 1000, 1650, 1000, 0, 1700},
		{"the end was before", 1000, 1650, 500, 0, 1700},
		{"the end between two", 1000, 1650, 1201, 3, 1700},
	} {
		p := page{until: c.until}
		next, index := p.skip(c.next, 10, 100, c.now)
		if p.missed != c.missed || next != c.to || index != 10+(c.to-c.next)/100 {
			t.Errorf("%s: %d missed, on to %d with index %d; want %d, %d", c.name, p.missed, next, index, c.missed, c.to)
		}
	}
}

// looped runs the loop as it is, without a real-time policy.
func looped(instants, cycles, interval int64, stop uint32) (*page, []record.Moments) {
	p, seconds := &page{limit: 400}, make([]record.Moments, 4)
	p.first = rt.Now() + 100_000
	p.until = p.first + instants*interval
	loop(p, seconds, &stop, interval, cycles)
	return p, seconds
}

func TestTheLoopCountsEveryInstant(t *testing.T) {
	for _, c := range []struct{ instants, interval int64 }{{1, 1_000_000}, {200, 100_000}, {500, 20_000}} {
		p, seconds := looped(c.instants, 0, c.interval, 0)
		if n := p.latency.Count + p.missed + p.early; n != c.instants || p.latency.Count == 0 || p.early != 0 || p.errno != 0 {
			t.Errorf("%d instants: %d cycles, %d missed, %d early, errno %d", c.instants, p.latency.Count, p.missed, p.early, p.errno)
		}
		if p.sequence%2 != 0 || seconds[0].Count == 0 || p.latency.Min < 0 || p.latency.Min > p.latency.Max {
			t.Errorf("%+v", p.latency)
		}
		for _, w := range p.worst {
			if w.Value > 0 && (w.Due != p.first+w.Index*c.interval || w.Index >= c.instants) {
				t.Errorf("%+v is not on the grid from %d", w, p.first)
			}
		}
	}
}

func TestTheLoopEndsWhereItIsTold(t *testing.T) {
	if p, _ := looped(1<<40, 25, 50_000, 0); p.latency.Count != 25 {
		t.Errorf("25 cycles: %d", p.latency.Count)
	}
	if p, _ := looped(1<<40, 0, 50_000, 1); p.latency.Count != 0 {
		t.Errorf("stopped: %d cycles", p.latency.Count)
	}
	if p, _ := looped(0, 0, 50_000, 0); p.latency.Count+p.missed != 0 {
		t.Errorf("no instant: %+v", p.latency)
	}
}

// An end that is moved to before an instant while the thread sleeps to it counts: nothing
// that was due after it is in the result.
func TestAnEndThatComesEarlierCounts(t *testing.T) {
	p, seconds := &page{limit: 400}, make([]record.Moments, 4)
	p.first = rt.Now() + 50_000_000
	p.until = math.MaxInt64
	var stop uint32
	ended := make(chan struct{})
	go func() {
		loop(p, seconds, &stop, 50_000_000, 0)
		close(ended)
	}()
	atomic.StoreInt64(&p.until, p.first)
	<-ended
	if p.latency.Count+p.missed+p.early != 0 {
		t.Errorf("%+v", p.counts.latency)
	}
}

func TestTheLoopDoesNotAllocate(t *testing.T) {
	p, seconds := &page{limit: 1}, make([]record.Moments, 4) // every latency is an outlier
	var stop uint32
	if n := testing.AllocsPerRun(20, func() {
		p.first = rt.Now()
		p.until = p.first + 20*20_000
		loop(p, seconds, &stop, 20_000, 0)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if p.latency.Count == 0 || p.missed == 0 {
		t.Errorf("%d cycles and %d missed: the loop did not do all of its work", p.latency.Count, p.missed)
	}
}

// BenchmarkLoop is the whole loop at an interval that it can't keep: what a wake-up costs
// with the sleep, the clock and the book-keeping.
func BenchmarkLoop(b *testing.B) {
	b.ReportAllocs()
	p, seconds := &page{limit: 400, first: rt.Now(), until: math.MaxInt64}, make([]record.Moments, 4)
	var stop uint32
	b.ResetTimer()
	loop(p, seconds, &stop, 1000, int64(b.N))
}

// BenchmarkAdd is the book-keeping alone, which happens after the clock was read.
func BenchmarkAdd(b *testing.B) {
	b.ReportAllocs()
	p, second := &page{limit: 400}, record.Moments{}
	values := latencies(9, 1<<12)
	b.ResetTimer()
	for i := range b.N {
		p.add(&second, int64(i), int64(i), values[i&(1<<12-1)])
	}
}

func BenchmarkSnapshot(b *testing.B) {
	p, seconds := filled(latencies(9, 10_000), 400, 0, 250_000)
	var out page
	for range b.N {
		p.snapshot(&out, seconds)
	}
}

// Nothing that the loop runs may ask for a larger stack: that is where the Go runtime parks
// a thread for another goroutine (suites.md, R4 and R5). The machine code is looked at.
func TestTheLoopNeverSplits(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's code is not what ships")
	}
	exe := filepath.Join(t.TempDir(), "symbols") // the program of "go test" has none
	if out, err := exec.Command("go", "test", "-c", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "tool", "objdump", "-s",
		`^(opcycle/(workloads/cyclictest|rt|record)\.|syscall\.|internal/runtime/syscall|runtime\.(nanotime|nosplit))`, exe).Output()
	if err != nil {
		t.Fatalf("go tool objdump: %v", err)
	}
	calls, name := map[string][]string{}, ""
	call := regexp.MustCompile(`\t(?:CALL|BL|JMP|B) ([^\t\n]+)\(SB\)`)
	indirect := regexp.MustCompile(`\t(?:CALL|BL) ([^\t\n]+)`)
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		line := s.Text()
		if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
			name, _, _ = strings.Cut(rest, "(SB)")
			calls[name] = []string{}
		} else if m := call.FindStringSubmatch(line); m != nil {
			calls[name] = append(calls[name], m[1])
		} else if m := indirect.FindStringSubmatch(line); m != nil {
			calls[name] = append(calls[name], "indirect "+m[1])
		}
	}
	const from = "opcycle/workloads/cyclictest.loop"
	seen := map[string]bool{}
	var look func(name, from string)
	look = func(name, from string) {
		if seen[name] {
			return
		}
		seen[name] = true
		own, known := calls[name]
		switch {
		case strings.Contains(name, "morestack"):
			t.Errorf("the loop reaches morestack from %s", from)
		case strings.HasPrefix(name, "runtime.panic"): // of an index that is never out of range
		case strings.HasPrefix(from, "runtime.nanotime1"): // the vDSO, on the system's stack
		case !known:
			t.Errorf("the loop calls %s from %s, which was not looked at", name, from)
		}
		for _, c := range own {
			look(c, name)
		}
	}
	look(from, "")
	if len(calls[from]) < 3 || len(seen) < 5 {
		t.Errorf("the loop calls only %q: it was not found", calls[from])
	}
	t.Logf("looked at %d functions", len(seen))
}
