package judge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

// withClients gives f further clients that fared as client 1 did, as the conductor writes
// them: packets and causes under "client 2", "client 3", …, and two series.
func withClients(f bench.File, further int) bench.File {
	first := f.Figures
	f.Plan.OPCUA.Clients = further + 1
	for _, object := range append([]string{"item"}, names(further)...) {
		low, high, avg := int64(100_000), int64(150_000), 120_000.0
		f.Series = append(f.Series, bench.Series{Suite: "opcua", Object: object, Name: "server_transmit_time", Unit: "ns",
			Count: 6000, Min: &low, Max: &high, Avg: &avg})
		if object == "item" {
			continue
		}
		for _, g := range first {
			g.Object = object
			f.Figures = append(f.Figures, g)
		}
	}
	return f
}

func names(further int) []string {
	var out []string
	for i := range further {
		out = append(out, fmt.Sprintf("client %d", i+2))
	}
	return out
}

// setOf replaces a figure of one object; a negative v makes it n/a.
func setOf(f *bench.File, object, series, statistic string, v float64) {
	for i := range f.Figures {
		if g := &f.Figures[i]; g.Object == object && g.Series == series && g.Statistic == statistic {
			g.Value, g.NA = &v, ""
			if v < 0 {
				g.Value, g.NA = nil, "another clock"
			}
			return
		}
	}
	f.Figures = append(f.Figures, bench.Figure{Suite: "opcua", Object: object, Series: series, Statistic: statistic, Unit: "1", Value: &v})
}

// lose lets a client miss n of 6000 cycles by a cause.
func lose(f *bench.File, object string, n float64, cause bench.Cause) {
	setOf(f, object, "packets", "on_time", 6000-n)
	setOf(f, object, "packets", "missed", n)
	setOf(f, object, "missed", string(cause), n)
}

// The bug: only the first object was judged, and a run whose client 2 missed everything passed.
func TestEveryClientIsJudged(t *testing.T) {
	tests := []struct {
		name   string
		change func(f *bench.File)
		exit   int
		text   string // the beginning of the verdict
		object string // whose figure decided the failed budget, or the inconclusive one
	}{
		{"all on time", func(*bench.File) {}, 0,
			"0 late or missed of 6,000 x 3 clients in 60 s: at most 1 in 2,000 cycles of any client (95 %, if cycles fail independently); for 1 in a million run 8.3 h", ""},
		{"client 2 missed everything", func(f *bench.File) { lose(f, "client 2", 6000, bench.ClientLost) }, 1,
			"6,000 late or missed of 6,000 x 3 clients in 60 s (6,000 missed by client; most at client 2: 6,000): at most 1 in 1 cycles of any client", "client 2"},
		{"the worst is named", func(f *bench.File) {
			lose(f, "item", 1, bench.Unknown)
			lose(f, "client 2", 2, bench.Unknown)
			lose(f, "client 3", 2, bench.Unknown)
		}, 1, "5 late or missed of 6,000 x 3 clients in 60 s (5 missed by unknown; most at client 2: 2): at most 1 in 953 cycles of any client", "client 2"},
		{"the first is the worst", func(f *bench.File) { lose(f, "item", 3, bench.Unknown); lose(f, "client 2", 1, bench.Unknown) }, 1,
			"4 late or missed of 6,000 x 3 clients in 60 s (4 missed by unknown; most at client 1: 3)", ""},
		{"a client whose late ones nobody knows", func(f *bench.File) { setOf(f, "client 3", "packets", "late", -1) }, 2,
			"nothing is shown: the counts of late and missed packets are n/a", "client 3"},
		{"a failure before n/a", func(f *bench.File) {
			setOf(f, "item", "packets", "late", -1)
			setOf(f, "client 3", "packets", "late", 1)
			setOf(f, "client 3", "packets", "on_time", 5999)
			setOf(f, "client 3", "late", "task", 1)
		}, 1, "nothing is shown", "client 3"},
		{"invalid", func(f *bench.File) {
			f.Invalid = []string{"suspended"}
			lose(f, "client 3", 10, bench.Unknown)
		}, 2, "invalid: suspended; 17,990 of 6,000 x 3 clients on time, no claim beyond these", "client 3"},
	}
	for _, tt := range tests {
		f := withClients(testFile(6000), 2)
		tt.change(&f)
		v := Judge(f)
		if v.ExitCode() != tt.exit || !strings.HasPrefix(v.Text, tt.text) {
			t.Errorf("%s: exit %d\n got %s\nwant %s", tt.name, v.ExitCode(), v.Text, tt.text)
		}
		object := ""
		for _, b := range v.Budgets {
			if b.Object != "" {
				object = b.Object
			}
		}
		if object != tt.object {
			t.Errorf("%s: decided by %q, want %q", tt.name, object, tt.object)
		}
	}
}

func TestBudgetHoldsForEveryObject(t *testing.T) {
	slow := func(f *bench.File, object string, v int64) {
		FindSeries(f, object, "server_transmit_time").Max = &v
	}
	tests := []struct {
		name, budget string
		outcome      Outcome
		object       string
		margin       float64
	}{
		{"every object", "server_transmit_time.max <= 500us", Fail, "client 3", -400_000},
		{"the worst of those that pass", "server_transmit_time.max <= 1ms", Pass, "client 3", 100_000},
		{"the object that is named", "client 2/server_transmit_time.max <= 500us", Pass, "", 300_000},
		{"the first alone", "item/server_transmit_time.max <= 160us", Pass, "", 10_000},
	}
	for _, tt := range tests {
		f := withClients(testFile(6000), 2)
		slow(&f, "client 2", 200_000)
		slow(&f, "client 3", 900_000)
		f.Plan.Budgets = []string{tt.budget}
		v := Judge(f)
		b := v.Budgets[len(v.Budgets)-1]
		if b.Outcome != tt.outcome || b.Object != tt.object || b.Margin != tt.margin {
			t.Errorf("%s: %s of %q, margin %v", tt.name, b.Outcome, b.Object, b.Margin)
		}
		if tt.outcome == Fail && !strings.Contains(v.Text, "over budget: server_transmit_time.max of client 3 is 900 µs") {
			t.Errorf("%s: %s", tt.name, v.Text)
		}
	}
}

// A plan that tolerates losses of one client has said nothing of the others.
func TestDefaultBudgetsStayForTheOthers(t *testing.T) {
	for _, tt := range []struct {
		budget, losing string
		want           Outcome
	}{
		{"item/packets.missed <= 5", "item", Pass}, {"item/packets.missed <= 5", "client 2", Fail},
		{"client 2/packets.missed <= 5", "item", Fail}, {"client 2/packets.missed <= 5", "client 2", Pass},
		{"packets.missed <= 5", "client 2", Pass},
	} {
		f := withClients(testFile(6000), 1)
		f.Plan.Budgets = []string{tt.budget}
		lose(&f, tt.losing, 3, bench.Unknown)
		if v := Judge(f); v.Outcome != tt.want {
			t.Errorf("%s, 3 lost by %s: %s, want %s", tt.budget, tt.losing, v.Outcome, tt.want)
		}
	}
}

func TestReasonsOfEveryClient(t *testing.T) {
	tests := []struct {
		name   string
		change func(f *bench.File)
		want   string
	}{
		{"counts", func(f *bench.File) { setOf(f, "client 2", "packets", "on_time", 5998) }, "client 2: the counts do not add up: on time 5998"},
		{"causes", func(f *bench.File) { setOf(f, "client 3", "missed", "unknown", 1) }, "client 3: the causes do not add up: 1 of 0 missed"},
		{"the first", func(f *bench.File) { setOf(f, "item", "missed", "unknown", 1) }, "client 1: the causes do not add up"},
		{"fewer cycles", func(f *bench.File) { setOf(f, "client 2", "packets", "expected", 5000) }, "client 2: expected 5000 cycles, client 1 6000"},
		{"cycles n/a", func(f *bench.File) { setOf(f, "client 2", "packets", "expected", -1) }, "client 2: expected 0 cycles, client 1 6000"},
		{"a client without figures", func(f *bench.File) { f.Plan.OPCUA.Clients = 4 }, "only 3 of 4 clients have figures"},
	}
	if r := Reasons(withClients(testFile(6000), 2)); len(r) != 0 {
		t.Fatalf("a clean run is invalid: %q", r)
	}
	for _, tt := range tests {
		f := withClients(testFile(6000), 2)
		tt.change(&f)
		if r := Reasons(f); len(r) != 1 || !strings.Contains(r[0], tt.want) {
			t.Errorf("%s: %q, want one with %q", tt.name, r, tt.want)
		}
	}
}

// A skipped release is missed by all clients at one index; when anything else was lost is
// in the result for client 1 only.
func TestBurstsOverAllClients(t *testing.T) {
	tests := []struct {
		name   string
		change func(f *bench.File)
		bursts int64
		known  bool
	}{
		{"skipped for all", func(*bench.File) {}, 2, true},
		{"client 2 lost others", func(f *bench.File) { lose(f, "client 2", 9, bench.ClientLost) }, 0, false},
		{"client 2 lost as many by something else", func(f *bench.File) {
			setOf(f, "client 2", "missed", "skipped_release", 0)
			setOf(f, "client 2", "missed", "client", 3)
		}, 0, false},
		{"all of both are there", func(f *bench.File) {
			f.Abnormal = append(f.Abnormal, f.Abnormal...)
			f.Abnormal[5].K = 2000
		}, 3, true},
	}
	for _, tt := range tests {
		f := withClients(testFile(6000, 100, 101, 4000), 1)
		tt.change(&f)
		if n, ok := Bursts(f); n != tt.bursts || ok != tt.known {
			t.Errorf("%s: %d bursts, %v; want %d, %v", tt.name, n, ok, tt.bursts, tt.known)
		}
	}
	f := withClients(testFile(6000, 100, 101, 4000), 19)
	want := "60 late or missed of 6,000 x 20 clients in 60 s (60 skipped in 2 bursts; 3 at each client): at most 1 in 953 cycles begins a burst (95 %, if bursts are independent)"
	if got := Judge(f).Text; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
}

// Where nobody knows what was late, nobody knows why: a file may hold 0 for it all the same.
func TestCausesOfUnknownLate(t *testing.T) {
	f := withClients(testFile(6000), 1)
	for _, o := range []string{"item", "client 2"} {
		setOf(&f, o, "late", "task", 0)
	}
	setOf(&f, "client 2", "packets", "late", -1)
	if _, _, na, ok := Lookup(f, "client 2", "late", "task"); ok || na != "another clock" {
		t.Errorf("late.task of client 2: known %v, n/a %q", ok, na)
	}
	if v, _, _, ok := Lookup(f, "item", "late", "task"); !ok || v != 0 {
		t.Error("late.task of client 1 is known")
	}
}

// What a duration would decide is asked of the object that lacks samples.
func TestNeedsOfTheObjectThatLacksThem(t *testing.T) {
	f := withClients(testFile(6000), 1)
	known := int64(1)
	FindSeries(&f, "item", "server_transmit_time").Quantiles = []bench.Quantile{{Q: 0.999, Value: &known}}
	FindSeries(&f, "client 2", "server_transmit_time").Quantiles = []bench.Quantile{{Q: 0.999, NA: "needs 10000 samples"}}
	f.Plan.Budgets = []string{"server_transmit_time.p99.9 <= 1ms"}
	v := Judge(f)
	if b := v.Budgets[len(v.Budgets)-1]; b.Outcome != Inconclusive || b.Needs != 100*time.Second || b.Object != "client 2" {
		t.Errorf("%+v", b)
	}
}
