package bench

import (
	"slices"
	"testing"
)

func TestFitnessIsThatOfTheWorstFinding(t *testing.T) {
	of := func(s ...Severity) []Finding {
		var out []Finding
		for _, x := range s {
			out = append(out, Finding{Title: string(x), Severity: x})
		}
		return out
	}
	for name, c := range map[string]struct {
		findings []Finding
		fitness  Fitness
		why      []string
		verdict  string
	}{
		"nothing":            {nil, FitnessFit, nil, "fit for p: 0 warning(s), 0 note(s)"},
		"warnings":           {of(SeverityWarning, SeverityNote, SeverityFit), FitnessFit, nil, "fit for p: 1 warning(s), 1 note(s)"},
		"unknown":            {of(SeverityUnknown, SeverityWarning), FitnessUnknown, []string{"unknown"}, "could not tell for p: unknown; 1 warning(s), 0 note(s)"},
		"unfit over unknown": {of(SeverityUnknown, SeverityUnfit), FitnessUnfit, []string{"unfit"}, "unfit for p: unfit; 0 warning(s), 0 note(s)"},
	} {
		t.Run(name, func(t *testing.T) {
			got, why := FitnessOf(c.findings)
			if got != c.fitness || !slices.Equal(why, c.why) {
				t.Errorf("%s %q, want %s %q", got, why, c.fitness, c.why)
			}
			if v := Verdict("p", c.findings); v != c.verdict {
				t.Errorf("%q, want %q", v, c.verdict)
			}
		})
	}
	list := of(SeverityFit, SeverityNote, SeverityUnfit, SeverityWarning, SeverityUnknown)
	SortFindings(list)
	for i, s := range Severities() {
		if list[i].Severity != s {
			t.Errorf("place %d: %s, want %s", i, list[i].Severity, s)
		}
	}
}

// A plan needs its own processes only: of a server elsewhere it asks nothing here.
func TestNeedOfAPlan(t *testing.T) {
	h := Host{CPUs: []CPU{{ID: 0, Siblings: []int{0}}, {ID: 1, Siblings: []int{1}}, {ID: 2, Siblings: []int{2}}, {ID: 3, Siblings: []int{3}}}, Allowed: []int{0, 1, 2, 3}}
	p, err := Resolve(Defaults(), h)
	if err != nil {
		t.Fatal(err)
	}
	all := p.Need("")
	if all.FIFO() != p.Task.Priority || len(all.Threads) != 3 || all.Remote || len(all.Measured) != len(p.Server.CPUs)+len(p.Client.CPUs) {
		t.Errorf("%+v", all)
	}
	own := p.Need(ProcessServer)
	if own.FIFO() != p.Client.FIFO || len(own.Threads) != 1 || !own.Remote || !slices.Equal(own.Measured, p.Client.CPUs) {
		t.Errorf("%+v", own)
	}
	theirs := p.Need(ProcessClient)
	if theirs.FIFO() != p.Task.Priority || len(theirs.Threads) != 2 || !slices.Equal(theirs.Measured, p.Server.CPUs) {
		t.Errorf("%+v", theirs)
	}
}
