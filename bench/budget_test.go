package bench

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseBudget(t *testing.T) {
	for _, tt := range []struct {
		text string
		want Budget
		err  string
	}{
		{"packets.missed <= 0", Budget{"", "packets", "missed", "<=", 0, "1", ""}, ""},
		{"dead_time.min>=0", Budget{"", "dead_time", "min", ">=", 0, "ns", ""}, ""},
		{" execution_time.p99.9 < 6ms ", Budget{"", "execution_time", "p99.9", "<", 6e6, "ns", ""}, ""},
		{"Counter.2/response_time.max <= 60%", Budget{"Counter.2", "response_time", "max", "<=", 0.6, "share", ""}, ""},
		{"dead_time.min > -1.5ms", Budget{"", "dead_time", "min", ">", -1.5e6, "ns", ""}, ""},
		{"ratio.server_transmit_to_floor <= 3", Budget{"", "ratio", "server_transmit_to_floor", "<=", 3, "ratio", ""}, ""},
		{"run.valid == 1", Budget{"", "run", "valid", "==", 1, "1", ""}, ""},
		{"missed.skipped_release <= 1e2", Budget{"", "missed", "skipped_release", "<=", 100, "1", ""}, ""},
		{"server/gc_pause.max < 1ms", Budget{"server", "gc_pause", "max", "<", 1e6, "ns", ""}, ""},

		{"", Budget{}, `"" is no budget; write it as "packets.late <= 0"`},
		{"packets.missed", Budget{}, `"packets.missed" is no budget; write it as "packets.late <= 0"`},
		{"packets.missed = 0", Budget{}, `"=" is no comparison; use <=, <, >=, > or ==`},
		{"packets <= 0", Budget{}, `"packets" names no statistic; write series.statistic, such as execution_time.p99`},
		{"packet.missed <= 0", Budget{}, `no series is called "packet"; nearest: packets`},
		{"execution.p99 <= 6ms", Budget{}, `no series is called "execution"; nearest: execution_time`},
		{"execution_time.p95 <= 6ms", Budget{}, `execution_time has no statistic "p95"; nearest: p90, p99`},
		{"execution_time.max <= 6", Budget{}, `"6" is no limit for execution_time.max; write a time with its unit, such as 6ms, or a share of the cycle, such as 60%`},
		{"packets.late <= 5%", Budget{}, `"5%" is no limit for packets.late; a share of the cycle is a number and %, and for times only`},
		{"packets.late <= 1ms", Budget{}, `"1ms" is no limit for packets.late; write a plain number`},
		{"packets.late <= NaN", Budget{}, `"NaN" is no limit for packets.late; write a plain number`},
	} {
		t.Run(tt.text, func(t *testing.T) {
			got, err := ParseBudget(tt.text)
			if diff := cmp.Diff(tt.err, message(err)); diff != "" {
				t.Fatal(diff)
			}
			if err != nil {
				return
			}
			got.Text = ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestBudgetHolds(t *testing.T) {
	const period = 10_000_000
	for _, tt := range []struct {
		text  string
		value float64
		want  bool
	}{
		{"packets.late <= 0", 0, true},
		{"packets.late <= 0", 1, false},
		{"packets.late < 1", 1, false},
		{"packets.total >= 6000", 6000, true},
		{"packets.total > 6000", 6000, false},
		{"packets.total == 6000", 5999, false},
		{"execution_time.max <= 60%", 6_000_000, true},
		{"execution_time.max <= 60%", 6_000_001, false},
	} {
		b, err := ParseBudget(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := b.Holds(tt.value, period); got != tt.want {
			t.Errorf("%s with %v: %v", tt.text, tt.value, got)
		}
	}
}

func TestDefaultBudgetsParse(t *testing.T) {
	for _, s := range DefaultBudgets() {
		if _, err := ParseBudget(s); err != nil {
			t.Error(err)
		}
	}
}

// Every name of the table can be budgeted, and none is there twice.
func TestSeriesTable(t *testing.T) {
	names := SeriesNames()
	if s := slices.Clone(names); len(slices.Compact(slices.Sorted(slices.Values(s)))) != len(names) {
		t.Error("a series is listed twice")
	}
	for _, n := range names {
		if len(Statistics(n)) == 0 {
			t.Errorf("%s has no statistics", n)
		}
		for _, st := range Statistics(n) {
			limit := map[string]string{"ns": "1ms", "1": "1", "ratio": "1"}[StatisticUnit(n, st)]
			if _, err := ParseBudget(n + "." + st + " <= " + limit); err != nil {
				t.Error(err)
			}
		}
	}
	if Statistics("nothing") != nil || StatisticUnit("packets", "nothing") != "" {
		t.Error("an unknown name has something")
	}
}

func TestSuggest(t *testing.T) {
	for _, tt := range []struct{ word, want string }{
		{"single", "nearest: single-node"},
		{"Quick", "nearest: quick"},
		{"plc-clinet", "nearest: plc-client"},
		{"nothing", "it is one of plc-client, quick, single-node"},
	} {
		if got := Suggest(tt.word, []string{"plc-client", "quick", "single-node"}); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.word, got, tt.want)
		}
	}
}
