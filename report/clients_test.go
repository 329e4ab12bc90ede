package report

import (
	"slices"
	"strings"
	"testing"

	"opcycle/bench"
)

// severalClients is a clean run with two clients, of which the second lost and was late.
func severalClients(t *testing.T) bench.File {
	t.Helper()
	f := scenarioFile(t, "clean")
	f.Plan.OPCUA.Clients = 2
	for _, g := range slices.Clone(f.Figures) {
		if g.Object == "item" && g.Series != "run" {
			g.Object = "client 2"
			f.Figures = append(f.Figures, g)
		}
	}
	change(&f, "client 2", "packets", "on_time", 5993)
	change(&f, "client 2", "packets", "missed", 5)
	change(&f, "client 2", "packets", "late", 2)
	change(&f, "client 2", "missed", "unknown", 5)
	change(&f, "client 2", "late", "unknown", 2)
	return f
}

// change replaces a figure; a negative v makes it n/a.
func change(f *bench.File, object, series, statistic string, v float64) {
	for i := range f.Figures {
		if g := &f.Figures[i]; g.Object == object && g.Series == series && g.Statistic == statistic {
			g.Value = &v
			if v < 0 {
				g.Value, g.NA = nil, "no common clock"
			}
		}
	}
}

// section is a part of a rendered report, from its heading to the empty line.
func section(t *testing.T, report, heading string) string {
	t.Helper()
	_, rest, ok := strings.Cut(report, "\n"+heading)
	if !ok {
		t.Fatalf("no %q in:\n%s", heading, report)
	}
	part, _, _ := strings.Cut(rest, "\n\n")
	return part
}

func TestSeveralClients(t *testing.T) {
	f := severalClients(t)
	golden(t, "clients.txt", []byte(text(t, f)))
	report := text(t, f)
	for heading, want := range map[string]string{
		"Budgets":                "packets.missed <= 0 (client 2)",
		"Packets, client 1 of":   " 2\n",
		"Every client by itself": "unknown 5; late: unknown 2",
	} {
		if part := section(t, report, heading); !strings.Contains(part, want) {
			t.Errorf("%s lacks %q:%s", heading, want, part)
		}
	}
	if !strings.HasPrefix(report, "fail: 7 late or missed of 6,000 x 2 clients") {
		t.Error(strings.SplitN(report, "\n", 2)[0])
	}
}

// Every cause that occurred is named, also the unknown one.
func TestEveryCauseIsNamed(t *testing.T) {
	for series, causes := range map[string][]bench.Cause{"late": bench.LateCauses(), "missed": bench.MissedCauses()} {
		f := scenarioFile(t, "clean")
		for _, c := range causes {
			change(&f, "item", series, string(c), 1)
		}
		line := causesOf(&f, "", series, causes)
		for _, c := range causes {
			if !strings.Contains(line, string(c)+" 1") {
				t.Errorf("%s by %s is not in %q", series, c, line)
			}
		}
	}
}

// Causes of a count that is n/a are n/a, whatever the file holds, and no zeros; a cause
// that is n/a by itself hides no other.
func TestCausesThatAreNotKnown(t *testing.T) {
	f := scenarioFile(t, "clean")
	change(&f, "item", "packets", "late", -1)
	change(&f, "item", "packets", "on_time", -1)
	if got := causesOf(&f, "", "late", bench.LateCauses()); got != "n/a" {
		t.Errorf("causes of late packets: %q, want n/a", got)
	}
	for _, r := range rowsOf(t, f) {
		if r[2] == "late" && r[4] != "" {
			t.Errorf("CSV: %q", r)
		}
	}
	f = scenarioFile(t, "clean")
	for i, c := range bench.LateCauses() {
		change(&f, "item", "late", string(c), float64(2*i-1))
	}
	if got := causesOf(&f, "", "late", bench.LateCauses()); !strings.Contains(got, "task n/a: no common clock, retransmission 1") {
		t.Errorf("one cause is n/a: %q", got)
	}
}
