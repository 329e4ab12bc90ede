package plc

import (
	"fmt"
	"strings"
)

// Program is the body of a task. Run is a pure function of iterations: the same count
// gives the same checksum on every release and on every architecture. It allocates
// nothing and leaves nothing behind that a later Run can see. hot.
//
// NB: a Program has scratch memory of its own; one thread at a time.
type Program interface {
	Run(iterations int64) int64
}

// Programs returns the names that NewProgram knows, the default first.
func Programs() []string { return []string{"FLOAT", "ARITHMETIC", "BITWISE", "MEMORY"} }

// NewProgram returns the program of that name with all its memory made and touched. cold.
func NewProgram(name string) (Program, error) {
	switch name {
	case "FLOAT":
		return newFloat(), nil
	case "ARITHMETIC":
		return newArithmetic(), nil
	case "BITWISE":
		return newBitwise(), nil
	case "MEMORY":
		return newMemory(), nil
	}
	return nil, fmt.Errorf("workload %q is not known; choose one of %s", name, strings.Join(Programs(), ", "))
}

// idle is the program of an I/O simulator.
type idle struct{}

func (idle) Run(int64) int64 { return 0 }

// signal is the deterministic stand-in for a field device: a 32-bit linear congruential
// generator (Numerical Recipes), whose low bits repeat and whose high bits are used.
func signal(s uint32) uint32 { return s*1664525 + 1013904223 }
