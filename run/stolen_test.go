package run

import (
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/host"
)

func TestStolen(t *testing.T) {
	counters := func(steal time.Duration, throttled int64) host.CPUCounters {
		none := time.Duration(0)
		return host.CPUCounters{CPUs: []host.CPUCount{{CPU: 0, Steal: &none}, {CPU: 1, Steal: &steal}}, Throttled: &throttled}
	}
	start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		from, to host.CPUCounters
		cpus     []int
		want     string
	}{
		"nothing":               {counters(0, 0), counters(0, 0), []int{1}, ""},
		"less than 1 %":         {counters(time.Second, 0), counters(time.Second+90*time.Millisecond, 0), []int{1}, ""},
		"more":                  {counters(time.Second, 0), counters(time.Second+250*time.Millisecond, 0), []int{1}, "CPU 1 away for 2.5 % of the time (250ms of 10s)"},
		"from a CPU not ours":   {counters(0, 0), counters(time.Second, 0), []int{0}, ""},
		"a quota":               {counters(0, 3), counters(0, 5), []int{0}, "hit 2 times"},
		"counters not readable": {host.CPUCounters{}, host.CPUCounters{}, []int{0}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := bench.SuiteResult{Started: start, Ended: start.Add(10 * time.Second)}
			stolen(&r, c.from, c.to, c.cpus)
			got := strings.Join(r.Warnings, "; ")
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("the warnings are %q", got)
			}
		})
	}
}
