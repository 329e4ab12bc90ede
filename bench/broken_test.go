package bench

import (
	"strings"
	"testing"
	"time"
)

func TestBudgetsThatCanBeBrokenForGood(t *testing.T) {
	for text, c := range map[string]struct {
		final         bool
		holds, breaks float64
	}{
		"packets.missed <= 2":               {true, 2, 3},
		"packets.late == 0":                 {true, 0, 1},
		"packets.missed >= 1":               {},
		"packets.on_time >= 100":            {},
		"packets.keep_alives <= 1":          {},
		"missed.skipped_release < 1":        {true, 0, 1},
		"execution_time.max < 60%":          {true, 5.9e6, 6e6},
		"client 2/arrival_offset.max < 5ms": {true, 4e6, 5e6},
		"dead_time.min >= 1ms":              {true, 1e6, 0.9e6},
		"execution_time.max > 1ms":          {},
		"execution_time.min < 1ms":          {},
		"execution_time.p99 < 6ms":          {},
		"execution_time.avg < 6ms":          {},
		"execution_time.count >= 10":        {},
		"server_transmit_jitter.max < 1ms":  {},
		"server/gc_pause.max < 1ms":         {},
	} {
		b, err := ParseBudget(text)
		if err != nil {
			t.Fatal(err)
		}
		if b.Final() != c.final {
			t.Errorf("%s: final %v", text, b.Final())
		}
		if c.final && (b.Broken(c.holds, 10e6) || !b.Broken(c.breaks, 10e6)) {
			t.Errorf("%s: broken by %g %v, by %g %v", text, c.holds, b.Broken(c.holds, 10e6), c.breaks, b.Broken(c.breaks, 10e6))
		}
	}
}

func TestDefaultBudgetsOfAPlan(t *testing.T) {
	p := Plan{Budgets: []string{"packets.late <= 5", "execution_time.p99 < 6ms"}, AbortOnFail: true}
	all, err := p.AllBudgets()
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, b := range all {
		texts = append(texts, b.Text)
	}
	if got := strings.Join(texts, ", "); got != "packets.missed <= 0, dead_time.min >= 0, packets.late <= 5, execution_time.p99 < 6ms" {
		t.Error(got)
	}
	if notes := abortNotes(&p); len(notes) != 1 || !strings.Contains(notes[0], "execution_time.p99 < 6ms is decided at the end only") {
		t.Errorf("%q", notes)
	}
	if _, err := (&Plan{Budgets: []string{"nonsense"}}).AllBudgets(); err == nil {
		t.Error("nonsense is a budget")
	}
}

func TestDecodeBudgetSet(t *testing.T) {
	whole := "interval: 1ms\nbudgets:\n  - {budget: packets.late <= 0, source: here}\n"
	set, err := DecodeBudgetSet("x.yaml", []byte(whole))
	if err != nil || set.Interval != time.Millisecond || len(set.Budgets) != 1 || set.Budgets[0].Source != "here" {
		t.Fatalf("%+v, %v", set, err)
	}
	if err := set.For(10 * time.Millisecond); err == nil || !strings.Contains(err.Error(), "--interval 1ms") {
		t.Errorf("%v", err)
	}
	if err := set.For(time.Millisecond); err != nil {
		t.Error(err)
	}
	for text, says := range map[string]string{
		"":                             "needs an interval",
		"interval: 1ms":                "at least one budget",
		"interval: 0s\nbudgets: []":    "interval",
		"interval: soon":               "soon",
		"intervall: 1ms":               "intervall",
		"interval: 1ms\nbudgets: late": "x.yaml",
		"interval: 1ms\nbudgets:\n  - {budget: execution.p99 < 1ms, source: x}\n": "x.yaml:3: no series is called \"execution\"",
		"interval: 1ms\nbudgets:\n  - {budget: packets.late <= 0}\n":              "x.yaml:3: packets.late <= 0 has no source",
		"\x00": "x.yaml",
	} {
		if _, err := DecodeBudgetSet("x.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
