package lmbench

import (
	"bytes"
	"debug/elf"
	"fmt"

	"opcycle/rt"
)

// program is something to execute, as the kernel wants it.
type program struct {
	path       *byte
	argv, envp []*byte
}

func newProgram(path string, args ...string) *program {
	p := &program{path: cString(path), envp: []*byte{cString("PATH=/usr/bin:/bin"), nil}}
	for _, a := range args {
		p.argv = append(p.argv, cString(a))
	}
	p.argv = append(p.argv, nil)
	return p
}

// memoryFile is a file in memory to execute, without a folder's cost.
func memoryFile(name string, content []byte) (string, error) {
	w, err := rt.RawMemfd(name, content)
	if err != nil {
		return "", err
	}
	// A file that is open for writing may not be executed.
	r, errno := rt.RawOpen(cString(fmt.Sprintf("/proc/self/fd/%d", w)), rt.OpenReadOnly, 0)
	if errno != 0 {
		return "", fmt.Errorf("open the program in memory again: %w; /proc must be mounted", errno)
	}
	rt.RawClose(w)
	return fmt.Sprintf("/proc/self/fd/%d", r), nil
}

// dynamicProgram is a program that needs the dynamic loader, as the original's does;
// empty: there is none.
func (b *bed) dynamicProgram() string {
	paths := []string{"/bin/true", "/usr/bin/true"}
	if b.Dynamic != "" {
		paths = []string{b.Dynamic}
	}
	for _, path := range paths {
		content, err := slurp(path)
		if err != nil {
			continue
		}
		f, err := elf.NewFile(bytes.NewReader([]byte(content)))
		if err != nil {
			continue
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_INTERP {
				return path
			}
		}
	}
	return ""
}
