package plc

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// programFiles are the files whose code is in the calculation time.
var programFiles = []string{"program.go", "float.go", "arithmetic.go", "bitwise.go", "memory.go"}

// control is compiled beside the programs: what they must not contain, and proof that the
// test would see it.
const control = `package plc

//go:noinline
func fused(x, y, z float64) float64 { return x*y + z }
`

var fusedInstruction = regexp.MustCompile(`\b(FN?M(ADD|SUB)[SD]?|V?FML[AS]\w*|VFN?M(ADD|SUB)\w*)\b`)

// TestNothingIsFused reads the assembly of the builds in which the compiler may turn
// x*y + z into one instruction with one rounding: goldens would differ from plain amd64.
func TestNothingIsFused(t *testing.T) {
	for _, build := range [][]string{{"GOARCH=arm64"}, {"GOARCH=amd64", "GOAMD64=v3"}} {
		t.Run(strings.Join(build, ","), func(t *testing.T) {
			listing := assembly(t, build)
			if !fusedInstruction.MatchString(listing["fused"]) {
				t.Errorf("the control x*y + z has no fused multiply-add: this test proves nothing\n%s", listing["fused"])
			}
			delete(listing, "fused")
			for _, f := range []string{"(*float).Run", "(*arithmetic).Run", "(*bitwise).Run", "(*memory).Run"} {
				if listing[f] == "" {
					t.Errorf("%s is not in the build", f)
				}
			}
			for f, text := range listing {
				if found := fusedInstruction.FindAllString(text, -1); found != nil {
					t.Errorf("%s has fused %v: write the product float64(x*y)", f, found)
				}
			}
		})
	}
}

// assembly compiles the programs and the control by themselves and returns the compiler's
// listing by function name. Not go tool objdump: it decodes no VEX instruction, so that
// for GOAMD64=v3 it shows a MOVL where VFMADD231SD stands.
func assembly(t *testing.T, env []string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	files := map[string][]byte{"go.mod": []byte("module fused\n\ngo 1.26\n"), "fused.go": []byte(control)}
	for _, f := range programFiles {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		files[f] = text
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	listing, function := map[string]string{}, ""
	for line := range strings.Lines(goTool(t, dir, env, "build", "-gcflags=-S", "-o", os.DevNull, ".")) {
		if symbol, _, ok := strings.Cut(line, " STEXT"); ok {
			function = strings.TrimPrefix(symbol, "fused.")
		}
		listing[function] += line
	}
	return listing
}

// TestGoldenOnARM64 runs TestGolden of an arm64 build under qemu-user.
func TestGoldenOnARM64(t *testing.T) {
	qemu, err := exec.LookPath("qemu-aarch64-static")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("%v: install the package qemu-user-static", err)
		}
		t.Skipf("%v: needs the package qemu-user-static", err)
	}
	bin := filepath.Join(t.TempDir(), "plc.test")
	goTool(t, ".", []string{"GOARCH=arm64"}, "test", "-c", "-o", bin, ".")
	out, err := exec.Command(qemu, bin, "-test.run=^TestGolden$", "-test.v").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: TestGolden ") {
		t.Errorf("goldens on arm64: %v\n%s", err, out)
	}
}

func goTool(t *testing.T, dir string, env []string, args ...string) string {
	t.Helper()
	cmd := exec.Command("go", args...)
	cmd.Dir = dir
	cmd.Env = append(append(os.Environ(), "GOOS=linux", "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false"), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v go %v: %v\n%s", env, args, err, out)
	}
	return string(out)
}
