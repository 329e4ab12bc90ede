package imports

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"opcycle/bench"
)

// Kind is a program whose results are read.
type Kind struct {
	Name string
	What string // which of its outputs
	Read func(name string, data []byte) (bench.SuiteResult, error)
	is   func(data []byte) bool
}

// Kinds are all of them.
func Kinds() []Kind {
	return []Kind{
		{"cyclictest", "what it prints with -q or -h, or its --json file", Cyclictest, isCyclictest},
		{"lmbench", "the summary of 1.9, 2 or 3 (make summary)", Lmbench, isLmbench},
		{"oslat", "its --json file", Oslat, isOslat},
		{"stress-ng", "its --yaml file, with --metrics", StressNG, isStressNG},
	}
}

// KindOf finds the program by what is in the file, never by its name. It refuses when none
// fits, and when more than one does.
func KindOf(data []byte) (Kind, error) {
	var found []Kind
	var names []string
	for _, k := range Kinds() {
		names = append(names, k.Name)
		if k.is(data) {
			found = append(found, k)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Kind{}, fmt.Errorf("it is no result of %s; name its program with --kind if it is one", strings.Join(names, ", "))
	}
	return Kind{}, fmt.Errorf("it looks like a result of %s and of %s; name its program with --kind", found[0].Name, found[1].Name)
}

// FindKind finds a program by its name.
func FindKind(name string) (Kind, error) {
	var names []string
	for _, k := range Kinds() {
		if k.Name == name {
			return k, nil
		}
		names = append(names, k.Name)
	}
	return Kind{}, fmt.Errorf("no program is called %q; %s", name, bench.Suggest(name, names))
}

var (
	cyclictestWords = regexp.MustCompile(`(?m)^(T: *\d+ \( *\d+\) P:|# Histogram\r?$|# /dev/cpu_dma_latency set to )`)
	commandKey      = regexp.MustCompile(`"cmdline:?"\s*:\s*"([^"\s]*)`)
	stressWords     = regexp.MustCompile(`(?m)^ *stress-ng-version:|^ *- stressor:`)
	lmbenchText     = regexp.MustCompile(`(?m)L M B E N C H +\d \. \d|^Host +OS .*\b(2p/0K|Mhz|Pipe)\b`)
)

func isCyclictest(data []byte) bool {
	if cmd, ok := command(data); ok {
		return cmd == "cyclictest"
	}
	return cyclictestWords.Match(data)
}

func isOslat(data []byte) bool {
	cmd, ok := command(data)
	return ok && cmd == "oslat"
}

func isStressNG(data []byte) bool { return stressWords.Match(data) }

func isLmbench(data []byte) bool { return lmbenchText.Match(data) }

// command is the program that a JSON file of rt-tests names, also one that was cut off; the
// key ends in a colon up to rt-tests 2.8. ok is false for what is not JSON.
func command(data []byte) (name string, ok bool) {
	if data = bytes.TrimSpace(data); len(data) == 0 || data[0] != '{' {
		return "", false
	}
	if m := commandKey.FindSubmatch(data); m != nil {
		name = string(m[1])
	}
	return name[strings.LastIndexByte(name, '/')+1:], true
}
