package sel4bench

import (
	"bufio"
	"bytes"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unsafe"

	"opcycle/rt"
)

const here = "opcycle/workloads/sel4bench."

// hotFunctions run in a timed loop, or in a raw clone.
func hotFunctions() []string {
	return []string{"client", "server", "sender", "waiter", "spinner", "ticker", "isStale", "nulls", "reads", "split", "(*link).send", "(*link).receive"}
}

// listing is what the linker made: each function's calls, and those of all that it calls.
func listing(t *testing.T) map[string][]string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "symbols") // the program of "go test" has none
	if out, err := exec.Command("go", "test", "-c", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "tool", "objdump", "-s", `^(opcycle/(workloads/sel4bench|rt)\.|syscall\.|golang\.org/x/sys/unix\.|internal/runtime/syscall|runtime\.nanotime)`, exe).Output()
	if err != nil {
		t.Fatalf("go tool objdump: %v", err)
	}
	calls := map[string][]string{}
	name := ""
	call := regexp.MustCompile(`\t(CALL|BL|JMP|B) ([^\t\n]+)`)
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		if rest, ok := strings.CutPrefix(s.Text(), "TEXT "); ok {
			name, _, _ = strings.Cut(rest, "(SB)")
			calls[name] = []string{}
			continue
		}
		m := call.FindStringSubmatch(s.Text())
		if m == nil {
			continue
		}
		to := strings.TrimSpace(m[2])
		if target, ok := strings.CutSuffix(to, "(SB)"); ok {
			calls[name] = append(calls[name], target)
		} else if m[1] == "CALL" || m[1] == "BL" {
			calls[name] = append(calls[name], "indirect: "+to)
		}
	}
	return calls
}

// A loop that may ask for a larger stack is where the runtime parks a real-time thread
// beside its real-time peer for ever (suites.md, R4): none does, to its leaves.
func TestLoopsNeverSplit(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's code is not what ships")
	}
	calls := listing(t)
	found := 0
	for _, hot := range hotFunctions() {
		if _, ok := calls[here+hot]; !ok {
			continue // inlined everywhere: it is in the listing of its callers
		}
		found++
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
				t.Errorf("%s reaches morestack from %s", hot, from)
			case strings.HasPrefix(name, "runtime.panic"):
			case strings.HasPrefix(name, "indirect: ") && strings.HasPrefix(from, "runtime.nanotime1"): // the vDSO's clock, not Go
			case !known:
				t.Errorf("%s calls %s from %s, which was not looked at", hot, name, from)
			}
			for _, c := range own {
				look(c, name)
			}
		}
		look(here+hot, "")
	}
	if found < 8 {
		t.Errorf("only %d of the loops were found in the program", found)
	}
	if reach := calls[here+"probe"]; !strings.Contains(strings.Join(reach, " "), "morestack") {
		t.Error("the listing shows no morestack in the probe, which has one: it would show none in a loop")
	}
}

func sharedBoard(t testing.TB) *board {
	t.Helper()
	s, err := rt.NewShared("sel4bench test", boardBytes)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return (*board)(unsafe.Pointer(&s.Mem[0]))
}

func closed(t testing.TB, via string, b *board) (request, reply *link) {
	t.Helper()
	request, reply, err := links(via, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, l := range []*link{request, reply} {
			if l.word == nil {
				rt.RawClose(l.in)
				if l.out != l.in {
					rt.RawClose(l.out)
				}
			}
		}
	})
	return request, reply
}

func TestLoopsDoNotAllocate(t *testing.T) {
	b := sharedBoard(t)
	var stop uint32
	loops := map[string]func(){
		"nulls":  func() { nulls(b, 10) },
		"reads":  func() { reads(b, 10) },
		"ticker": func() { ticker(b, &stop, 2, 2, 1e5, 1e9) },
	}
	for _, via := range mechanisms() {
		l, _ := closed(t, via, b)
		loops["send and receive, "+via] = func() {
			if e := l.send(); e != 0 {
				t.Fatal(e)
			}
			if e := l.receive(); e != 0 {
				t.Fatal(e)
			}
		}
	}
	for name, loop := range loops {
		if n := testing.AllocsPerRun(20, loop); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// BenchmarkLoops times each loop at the ordinary policy; with two peers an operation is a
// round trip.
func BenchmarkLoops(b *testing.B) {
	mem := sharedBoard(b)
	var stop uint32
	runs := func(name string, loop func(n int)) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for n := b.N; n > 0; n -= mostSamples {
				loop(min(n, mostSamples))
			}
		})
	}
	runs("reads", func(n int) { reads(mem, n) })
	runs("nulls", func(n int) { nulls(mem, n) })
	runs("ticker of 100 µs", func(n int) { ticker(mem, &stop, n, n, 1e5, 1e9) })
	for _, via := range mechanisms() {
		request, reply := closed(b, via, mem)
		other, err := spawn(mem, request, reply, kindIPC, mostSamples)
		if err != nil {
			b.Fatal(err)
		}
		runs("round trip, "+via, func(n int) {
			if _, e := client(mem, request, reply, &stop, n); e != 0 {
				b.Fatal(e)
			}
		})
		if _, err := other.end(); err != nil {
			b.Fatal(err)
		}
		runs("send and receive alone, "+via, func(n int) {
			for range n {
				request.send()
				request.receive()
			}
		})
	}
}
