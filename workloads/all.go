// Package workloads is the list of suites, and the measured side's end of the pipe between
// a conductor and its probe. What a suite measures is in its own folder.
//
// It refuses to know any suite's method, and to let a probe touch the Go runtime's poller:
// a measuring thread may have left the shared descriptor table (suites.md, R7).
package workloads

import (
	"fmt"

	"opcycle/bench"
	"opcycle/workloads/caterpillar"
	"opcycle/workloads/cyclictest"
	"opcycle/workloads/lmbench"
	"opcycle/workloads/oslat"
	"opcycle/workloads/sel4bench"
	"opcycle/workloads/stress"
)

// All returns every suite, in the order of the list that a user sees.
func All() []bench.Suite {
	return []bench.Suite{
		cyclictest.Suite(),
		caterpillar.Suite(),
		oslat.Suite(),
		oslat.HWLat(),
		lmbench.Suite(),
		sel4bench.Suite(),
		stress.Suite(),
	}
}

// Find returns a suite by its name.
func Find(name string) (bench.Suite, error) {
	var names []string
	for _, s := range All() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return bench.Suite{}, unknown(name, names)
}

// FindBeside is Find for a suite that is to run beside another one. Its error says why it
// can't.
func FindBeside(name string) (bench.Suite, error) {
	s, err := Find(name)
	if err == nil && s.Alone != "" {
		err = fmt.Errorf("the suite %s can't run beside another: %s; run it alone (opcycle suite %s)", name, s.Alone, name)
	}
	return s, err
}
