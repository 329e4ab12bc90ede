package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// campaignFile is a campaign of which every phase became something else. Its suites have no
// tables of their own here: this is of the head.
func campaignFile() bench.File {
	begin := time.Date(2026, 3, 1, 6, 0, 0, 0, time.UTC)
	value := func(v float64) *float64 { return &v }
	phase := func(i int, label string, d time.Duration) bench.SuiteResult {
		at := begin.Add(time.Duration(i) * 30 * time.Hour)
		return bench.SuiteResult{Suite: "ticks", Label: label, Role: bench.RoleMeasured, Started: at, Ended: at.Add(d), Complete: true}
	}
	whole := phase(0, "Without CAT", 3*time.Hour)
	whole.Noise = []string{"stress-ng --memcpy 1 on CPU 0 for 3h0m0s"}
	with := phase(1, "With CAT", 3*time.Hour)
	with.CAT = &bench.CAT{Applied: true, Groups: []string{"opcycle: CPUs 3, L3:0=f0", "default group: all other CPUs, L3:0=0f"}}
	with.Noise = whole.Noise
	resumed := phase(2, "resumed (CAT not applied)", 26*time.Hour)
	resumed.CAT = &bench.CAT{Why: "resctrl is not mounted; mount -t resctrl none /sys/fs/resctrl"}
	resumed.Resumed = 2
	resumed.Pauses = []bench.Pause{
		{Checkpoint: resumed.Started.Add(time.Hour), Again: resumed.Started.Add(2 * time.Hour), Lost: int64(30 * time.Second)},
		{Checkpoint: resumed.Started.Add(3 * time.Hour), Again: resumed.Started.Add(4 * time.Hour), Lost: 0},
	}
	failed := bench.SuiteResult{Suite: "ticks", Label: "failed", Role: bench.RoleMeasured, Ended: begin, Invalid: []string{"suite ticks: no such device"}}
	early := phase(3, "early", time.Minute)
	early.Complete = false
	return bench.File{Schema: bench.Schema, Tool: bench.Tool{Name: "opcycle", Version: "v0"}, Suite: "campaign", Started: begin, Ended: early.Ended,
		Host:   bench.Host{Name: "there", Kernel: "6.18"},
		Suites: []bench.SuiteResult{whole, with, resumed, failed, early},
		Figures: []bench.Figure{
			{Suite: "campaign", Series: "campaign", Statistic: "name", Unit: "text", Text: "mine"},
			{Suite: "campaign", Series: "campaign", Statistic: "phases", Unit: "1", Value: value(6)},
			{Suite: "campaign", Series: "campaign", Statistic: "checkpoint_interval", Unit: "ns", Value: value(30e9)},
		}}
}

func TestCampaignGolden(t *testing.T) { golden(t, "campaign.txt", []byte(text(t, campaignFile()))) }

// A report names so many pauses and counts the rest.
func TestManyPauses(t *testing.T) {
	f := campaignFile()
	r := &f.Suites[2]
	for range 20 {
		r.Pauses = append(r.Pauses, r.Pauses[0])
	}
	r.Resumed = len(r.Pauses)
	got := text(t, f)
	if n := strings.Count(got, ": pause: not measured from"); n != 10 || !strings.Contains(got, "pause: and 12 more, in the result") {
		t.Errorf("%d pauses named\n%s", n, got)
	}
}

// A result of another program says so, and claims no machine.
func TestImported(t *testing.T) {
	f := campaignFile()
	f.Suite, f.Figures = "import", nil
	f.Suites, f.Host, f.Complete = f.Suites[:1], bench.Host{}, true
	f.Suites[0].Imported = "ticker 3"
	got := text(t, f)
	for _, want := range []string{"1 result(s) of other programs, imported", "was measured by ticker 3, not by opcycle", "n/a: every figure is another program's"} {
		if !strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

// Of a campaign every form tells the phases, and JUnit has a case for each.
func TestCampaignInEveryForm(t *testing.T) {
	f := campaignFile()
	v := judge.Judge(f)
	for format, ending := range map[string]string{"markdown": "md", "html": "html", "junit": "xml"} {
		form, err := FindFormat(format)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := form.Write(&b, f, v, shipped(t)); err != nil {
			t.Fatal(err)
		}
		golden(t, "campaign."+ending, b.Bytes())
	}
}

// A check of a suite's own that fails is a failure in JUnit too: the exit code is 1.
func TestFailedSuiteInJUnit(t *testing.T) {
	f := campaignFile()
	f.Suites, f.Complete = f.Suites[:1], true
	f.Suites[0].Failed = []string{"2 of 3 ticks are missing"}
	v := judge.Judge(f)
	var b bytes.Buffer
	if err := JUnit(&b, f, v, nil); err != nil {
		t.Fatal(err)
	}
	if got := b.String(); v.ExitCode() != 1 || !strings.Contains(got, `failures="1" errors="0"`) || !strings.Contains(got, `<failure message="2 of 3 ticks are missing">`) {
		t.Errorf("exit code %d\n%s", v.ExitCode(), got)
	}
}
