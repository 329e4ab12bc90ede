package lmbench

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"opcycle/rt"
)

// hotFunctions are the functions of this package that are marked nosplit, as symbols.
func hotFunctions(t *testing.T) []string {
	t.Helper()
	pkgs, err := parser.ParseDir(token.NewFileSet(), ".", func(f fs.FileInfo) bool { return !strings.HasSuffix(f.Name(), "_test.go") }, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range pkgs["lmbench"].Files {
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil || !strings.Contains(docOf(fn), "//go:nosplit") {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				star := fn.Recv.List[0].Type.(*ast.StarExpr)
				name = "(*" + star.X.(*ast.Ident).Name + ")." + name
			}
			out = append(out, "opcycle/workloads/lmbench."+name)
		}
	}
	return out
}

func docOf(fn *ast.FuncDecl) string {
	var b strings.Builder
	for _, c := range fn.Doc.List {
		b.WriteString(c.Text + "\n")
	}
	return b.String()
}

// listing is what the linker made: each function's calls.
func listing(t *testing.T) map[string][]string {
	t.Helper()
	exe := filepath.Join(t.TempDir(), "symbols") // the program of "go test" has none
	if out, err := exec.Command("go", "test", "-c", "-o", exe, ".").CombinedOutput(); err != nil {
		t.Fatalf("go test -c: %v\n%s", err, out)
	}
	out, err := exec.Command("go", "tool", "objdump", "-s", `^(opcycle/(workloads/lmbench|rt)\.|syscall\.|golang\.org/x/sys/unix\.|internal/runtime/syscall|runtime\.(nanotime|nosplit|memmove))`, exe).Output()
	if err != nil {
		t.Fatalf("go tool objdump: %v", err)
	}
	calls := map[string][]string{}
	name := ""
	call := regexp.MustCompile(`\t(?:CALL|BL|JMP|B) ([^\t\n]+)`)
	for s := bufio.NewScanner(bytes.NewReader(out)); s.Scan(); {
		line := s.Text()
		if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
			name, _, _ = strings.Cut(rest, "(SB)")
			calls[name] = []string{}
			continue
		}
		if m := call.FindStringSubmatch(line); m != nil {
			to := strings.TrimSpace(m[1])
			if target, ok := strings.CutSuffix(to, "(SB)"); ok {
				calls[name] = append(calls[name], target)
			} else if strings.Contains(line, "CALL") || strings.Contains(line, "\tBL ") {
				calls[name] = append(calls[name], "indirect: "+to)
			}
		}
	}
	return calls
}

// Nothing that a timed loop or a raw clone runs may ask for a larger stack: that is where
// the Go runtime parks a thread for another goroutine (suites.md, R4). The loops and all
// that they call are looked at in machine code.
func TestHotFunctionsNeverSplit(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector's code is not what ships")
	}
	calls := listing(t)
	found := 0
	for _, hot := range hotFunctions(t) {
		if _, ok := calls[hot]; !ok {
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
			switch own, ok := calls[name]; {
			case strings.Contains(name, "morestack"):
				t.Errorf("%s reaches morestack from %s", hot, from)
			case strings.HasPrefix(name, "indirect: "):
				if hot != "opcycle/workloads/lmbench.split" { // its body is one of these
					t.Errorf("%s calls what is not known, %s, from %s", hot, name, from)
				}
			case strings.HasPrefix(name, "runtime.panic") || strings.HasPrefix(name, "runtime.gcWriteBarrier"):
			case !ok:
				t.Errorf("%s calls %s from %s, which was not looked at", hot, name, from)
			default:
				for _, c := range own {
					look(c, name)
				}
			}
		}
		look(hot, "")
	}
	if found < 20 {
		t.Errorf("only %d hot functions were found in the program", found)
	}
}

// loops are the timed loops with something to work on, for a test and a benchmark each.
func loops(t testing.TB) map[string]func(n int64) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	zero, err := open("/dev/zero", rt.OpenReadOnly)
	must(err)
	null, err := open("/dev/null", rt.OpenWriteOnly)
	must(err)
	path := cString("/proc/self/exe")
	one := make([]byte, 1)
	ours, theirs, err := tcpPair()
	must(err)
	var set rt.FDSet
	set[ours/64] = 1 << (ours % 64)
	r, w, err := rt.RawPipe()
	must(err)
	datagramsFrom, datagramsTo, err := udpPair()
	must(err)
	rpcFrom, rpcTo, err := udpPair()
	must(err)
	listens, port, err := rt.RawListen(connectBacklog)
	must(err)
	accepted, err := rt.SharedCounter()
	must(err)
	var peers []peer
	for _, p := range []struct {
		body func(*wiring)
		w    wiring
	}{
		{datagramPeer, wiring{in: datagramsTo, buf: make([]byte, 4)}},
		{rpcDatagramPeer, wiring{in: rpcTo, buf: make([]byte, rpcCallBytes)}},
		{acceptPeer, wiring{in: listens, buf: make([]byte, 1), count: accepted}},
	} {
		made, err := spawn(p.body, &p.w, noCPU)
		must(err)
		peers = append(peers, made)
	}
	datagram, sequence := wiring{in: datagramsFrom, buf: make([]byte, 4)}, uint32(0)
	rpc := rpcClient{wiring: wiring{in: rpcFrom, out: rpcFrom, buf: make([]byte, rpcCallBytes)}}
	connect := connector{to: rt.LoopbackAddress(1, port), accepted: accepted}
	tiny, err := tinyProgram()
	must(err)
	path2, err := memoryFile("tiny", tiny)
	must(err)
	program := newProgram(path2, "tiny")
	t.Cleanup(func() {
		for _, p := range peers {
			if err := p.end(); err != nil {
				t.Error(err)
			}
		}
		for _, fd := range []int{datagramsFrom, datagramsTo, rpcFrom, rpcTo, listens, zero, null, ours, theirs, r, w} {
			rt.RawClose(fd)
		}
	})
	pipes := [][2]int{{r, w}}
	self := wiring{in: r, out: w, buf: make([]byte, tokenBytes), mem: make([]byte, 16<<10)}
	token := ring{wiring: self}
	own := rt.RawGetpid()
	call, reply := make([]byte, rpcCallBytes), make([]byte, rpcCallBytes)
	return map[string]func(n int64){
		"null call": func(n int64) { nullCalls(n) },
		"empty":     func(n int64) { emptyLoop(n) },
		"read":      func(n int64) { readBytes(zero, one, n) },
		"write":     func(n int64) { writeBytes(null, one, n) },
		"stat":      func(n int64) { stats(path, n) },
		"open":      func(n int64) { opens(path, n) },
		"select":    func(n int64) { selects(ours+1, 1, &set, n) },
		"kill 0":    func(n int64) { kills(own, 0, n) },
		"fork":      func(n int64) { forks(n) },
		"hop":       func(n int64) { hop(&self, pipes, n) },
		"ring":      func(n int64) { token.rounds(n) }, // of one process: through its own pipe
		"trips":     func(n int64) { trips(&self, n) },
		"sockets":   func(n int64) { sockets(n) },
		"sum":       func(n int64) { sum(self.mem) },
		"udp":       func(n int64) { datagrams(&datagram, &sequence, n) },
		"rpc":       func(n int64) { rpc.calls(n) },
		"connect":   func(n int64) { connect.bursts(n) },
		"exec":      func(n int64) { program.clones(false, n) },
		"vfork":     func(n int64) { program.clones(true, n) },
		"rpc codec": func(n int64) {
			for range n {
				putCall(call, 1)
				copy(reply, call)
				putReply(reply)
				isReply(reply, 1)
			}
		},
	}
}

func TestLoopsDoNotAllocate(t *testing.T) {
	for name, loop := range loops(t) {
		if n := testing.AllocsPerRun(10, func() { loop(5) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkLoops(b *testing.B) {
	for name, loop := range loops(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			loop(int64(b.N))
		})
	}
}
