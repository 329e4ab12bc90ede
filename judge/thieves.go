package judge

import "opcycle/bench"

// Thief is one taker of lost time, ns; nil is unknown.
type Thief struct {
	Name string
	Lost *int64
}

// ThiefNames are the thieves in the order of metrics.md.
func ThiefNames() []string { return []string{"run_queue", "fault", "gc", "throttle", "rest"} }

// Biggest is the thief that took most of the time that the run lost, with that time and
// the whole lost time in ns; ok is false when nothing was lost or nothing is known.
func Biggest(f bench.File) (name string, took, whole float64, ok bool) {
	for _, t := range ThiefNames() {
		r := find(&f, "", "thieves", t)
		if !r.OK {
			continue
		}
		whole += r.Value
		if r.Value > took {
			name, took = t, r.Value
		}
	}
	return name, took, whole, took > 0
}

// ThievesOf lists what a release lost to whom.
func ThievesOf(t bench.Thieves) []Thief {
	return []Thief{{"run_queue", t.RunQueue}, {"fault", t.Fault}, {"gc", &t.GC}, {"throttle", &t.Throttle}, {"rest", &t.Rest}}
}
