package report

import (
	"bytes"
	"testing"

	"opcycle/bench"
)

func TestRepeatGoldens(t *testing.T) {
	of := func(series, statistic, unit string, runs int, v ...float64) bench.Spread {
		s := bench.Spread{Object: "task", Series: series, Statistic: statistic, Unit: unit, Runs: runs, Min: v[0], Median: v[1], Max: v[2]}
		if len(v) > 3 {
			s.Between = &v[3]
		}
		if len(v) > 4 {
			s.Within = &v[4]
		}
		return s
	}
	whole := bench.Repeat{Schema: 1, Asked: 5, Runs: []bench.RepeatedRun{
		{File: "1/run.json", Valid: true}, {File: "2/run.json", Exit: 1, Valid: true}, {File: "3/run.json", Exit: 2, Why: "a ring overran"},
		{File: "4/run.json", Exit: 2, Why: "incomplete"},
	}, Spread: []bench.Spread{
		of("execution_time", "avg", "ns", 2, 3.301e6, 3.352e6, 3.404e6, 72832, 1210),
		of("execution_time", "p99", "ns", 1, 3.9e6, 3.9e6, 3.9e6),
		of("packets", "missed", "1", 2, 0, 0.5, 1, 0.7071),
		of("packets", "keep_alives", "1", 2, 0, 0, 0, 0), // in the file only
	}}
	for name, r := range map[string]bench.Repeat{
		"repeat.txt":      whole,
		"repeat-none.txt": {Schema: 1, Asked: 2, Runs: []bench.RepeatedRun{{File: "1/run.json", Exit: 2, Why: "incomplete"}}},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := Repeat(&b, r); err != nil {
				t.Fatal(err)
			}
			golden(t, name, b.Bytes())
		})
	}
}
