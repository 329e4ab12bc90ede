package run

import (
	"context"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

// A child that fails, babbles or hangs is an error that says so; none waits for long.
func TestTriesOfABadChild(t *testing.T) {
	for name, c := range map[string]struct {
		argv []string
		says string
	}{
		"fails":   {[]string{"/bin/sh", "-c", "echo no reason >&2; exit 3"}, "exit status 3: no reason"},
		"babbles": {[]string{"/bin/echo", "hello"}, "the child's answer"},
		"hangs":   {[]string{"/bin/sleep", "60"}, "hung"},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
			defer cancel()
			got, err := Tries(ctx, c.argv[0], c.argv[1:], bench.Need{})
			if err == nil || got != nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, %v; want %q", got, err, c.says)
			}
		})
	}
}

// Where another process measures nothing is tried: it would be disturbed.
func TestTriesLeavesAMeasurementAlone(t *testing.T) {
	const cpu = 4093 // nobody's
	release, err := claim([]int{cpu})
	if err != nil {
		t.Fatal(err)
	}
	defer release()
	_, err = Tries(context.Background(), "/bin/false", nil, bench.Need{Measured: []int{cpu}})
	if err == nil || !strings.Contains(err.Error(), "CPU 4093 is being measured by another opcycle process") {
		t.Errorf("error %v", err)
	}
}
