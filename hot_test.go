package main

import (
	"bufio"
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// hotFunctions are the functions of a suite's folder that are marked nosplit, as symbols.
func hotFunctions(t *testing.T, suite string) []string {
	t.Helper()
	dir := filepath.Join("workloads", suite)
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			fn, ok := d.(*ast.FuncDecl)
			if !ok || fn.Doc == nil || !marked(fn) {
				continue
			}
			name := fn.Name.Name
			if fn.Recv != nil {
				star := fn.Recv.List[0].Type.(*ast.StarExpr)
				name = "(*" + star.X.(*ast.Ident).Name + ")." + name
			}
			out = append(out, "opcycle/workloads/"+suite+"."+name)
		}
	}
	return out
}

func marked(fn *ast.FuncDecl) bool {
	for _, c := range fn.Doc.List {
		if c.Text == "//go:nosplit" {
			return true
		}
	}
	return false
}

// callsOf is what the linker made of every function that a timed loop may reach.
func callsOf(t *testing.T, exe string) map[string][]string {
	t.Helper()
	out, err := exec.Command("go", "tool", "objdump", "-s", `^(opcycle/(workloads/(caterpillar|cyclictest|lmbench|oslat|sel4bench)|rt|record)\.|syscall\.|golang\.org/x/sys/unix\.|internal/runtime/syscall|runtime\.(memmove|nanotime|nosplit))`, exe).Output()
	if err != nil {
		t.Fatalf("go tool objdump: %v", err)
	}
	calls, name := map[string][]string{}, ""
	call := regexp.MustCompile(`\t(?:CALL|BL|JMP|B) ([^\t\n]+)`)
	scan := bufio.NewScanner(bytes.NewReader(out))
	for scan.Scan() {
		line := scan.Text()
		if rest, ok := strings.CutPrefix(line, "TEXT "); ok {
			name, _, _ = strings.Cut(rest, "(SB)")
			calls[name] = []string{}
			continue
		}
		m := call.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		to := strings.TrimSpace(m[1])
		if target, ok := strings.CutSuffix(to, "(SB)"); ok {
			calls[name] = append(calls[name], target)
		} else if strings.Contains(line, "CALL") || strings.Contains(line, "\tBL ") {
			calls[name] = append(calls[name], "indirect: "+to)
		}
	}
	if err := scan.Err(); err != nil {
		t.Fatal(err)
	}
	return calls
}

// A timed loop, and whatever it reaches, never asks for a larger stack: there the Go runtime
// parks a real-time thread for another goroutine, under a real-time peer for ever
// (suites.md, R4 and R5). In machine code, of the program as it ships.
func TestTimedLoopsNeverSplit(t *testing.T) {
	calls := callsOf(t, executable(t))
	for _, suite := range []string{"caterpillar", "cyclictest", "lmbench", "oslat", "sel4bench"} {
		t.Run(suite, func(t *testing.T) {
			found := 0
			for _, hot := range hotFunctions(t, suite) {
				if _, ok := calls[hot]; ok { // else it is inlined everywhere, in the listing of its callers
					found++
					follow(t, calls, hot)
				}
			}
			if found == 0 {
				t.Error("no hot function is in the program")
			}
		})
	}
}

func follow(t *testing.T, calls map[string][]string, hot string) {
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
			// The chain's own functions, in assembly; the kernel's clock in the vDSO, which
			// the runtime calls on a stack of its own; a peer's body, which is looked at itself.
			if !slices.Contains([]string{"opcycle/rt.caterpillarWalk.abi0", "runtime.nanotime1.abi0", "opcycle/workloads/lmbench.split"}, from) {
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
