package lmbench

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"opcycle/rt"
)

func programFile(t *testing.T, content []byte, err error) string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestTinyProgram(t *testing.T) {
	content, err := tinyProgram()
	path := programFile(t, content, err)
	f, err := elf.NewFile(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if f.Type != elf.ET_EXEC || len(f.Progs) != 1 || f.Progs[0].Filesz != uint64(len(content)) || f.Entry <= f.Progs[0].Vaddr {
		t.Errorf("the program is %+v with %d segments", f.FileHeader, len(f.Progs))
	}
	if len(content) > 200 {
		t.Errorf("%d bytes", len(content))
	}
	out, err := exec.Command(path).Output()
	if err != nil || string(out) != tinyText {
		t.Errorf("it wrote %q: %v", out, err)
	}
}

// The forking program does so many forks as it is told, and says when one went wrong.
func TestForkerProgram(t *testing.T) {
	tiny, err := tinyProgram()
	good := programFile(t, tiny, err)
	forker, err := executable(rt.ForkerCode())
	path := programFile(t, forker, err)
	const wrong = 1<<64 - 1
	for name, c := range map[string]struct {
		argv []string
		want uint64 // of 5
	}{
		"forks":                    {nil, 5},
		"executes":                 {[]string{good}, 5},
		"executes nothing":         {[]string{"/nowhere"}, wrong},
		"executes what fails":      {[]string{"/bin/false"}, wrong},
		"with arguments":           {[]string{"/bin/sh", "-c", "exit 0"}, 5},
		"with arguments that fail": {[]string{"/bin/sh", "-c", "exit 3"}, wrong},
	} {
		t.Run(name, func(t *testing.T) {
			ours, theirs, err := rt.SocketPair()
			if err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(path, c.argv...)
			cmd.Stdin = theirs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			theirs.Close()
			for range 3 {
				if err := binary.Write(ours, binary.NativeEndian, uint64(5)); err != nil {
					t.Fatal(err)
				}
				var got uint64
				if err := binary.Read(ours, binary.NativeEndian, &got); err != nil || got != c.want {
					t.Fatalf("it said %d, not %d: %v", got, c.want, err)
				}
			}
			ours.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("it ended with %v", err)
			}
		})
	}
}
