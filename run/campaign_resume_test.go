package run

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"opcycle/bench"
)

// A phase that cannot go on from its checkpoint keeps it: nothing is lost until somebody
// decides so.
func TestAPhaseThatCannotGoOnKeepsItsCheckpoint(t *testing.T) {
	produced := filepath.Join(t.TempDir(), "produced")
	dir, c := begin(t, "checkpoint: 200ms\nphases:\n- {suite: ticks, samples: 1000, produce: "+produced+"}\n")
	ctx, cancel := context.WithCancel(context.Background())
	c.Progress = func(bench.Progress) {
		if size(produced) == 500 {
			cancel()
		}
	}
	if _, ended, err := c.Run(ctx); ended || err != nil {
		t.Fatal(ended, err)
	}
	c.Folder.Close()
	for _, fault := range []string{"busy", ""} {
		c, err := resume(dir)
		if err != nil {
			t.Fatal(err)
		}
		if fault != "" {
			c.Campaign.Phases[0].Runner = &faulty{c.Campaign.Phases[0].Runner, fault}
		}
		file, _, err := c.Run(context.Background())
		c.Folder.Close()
		switch {
		case fault != "" && (err == nil || !strings.Contains(err.Error(), "it cannot go on from its checkpoint: suite ticks: busy; resume when that is mended")):
			t.Error(err)
		case fault == "" && (err != nil || ticked(t, file.Suites[0]) != 1000 || size(produced) != 1000):
			t.Errorf("%v: %d samples were measured", err, size(produced))
		}
	}
}

// faulty is a suite that fails at once.
type faulty struct {
	bench.Runner
	why string
}

func (f *faulty) Run(context.Context, bench.Job) (bench.SuiteResult, error) {
	return bench.SuiteResult{}, errors.New(f.why)
}

// Parts of a phase with and without cache allocation are not put together.
func TestAllocationOfResumedPhases(t *testing.T) {
	yes, no := true, false
	for _, tt := range []struct {
		name   string
		before *bool
		now    bool
		want   string
	}{
		{"begin with", nil, true, ""},
		{"begin without", nil, false, ""},
		{"with again", &yes, true, ""},
		{"without again", &no, false, ""},
		{"lost", &yes, false, "its parts before the checkpoint had CAT applied, and now it is not applied: no mount"},
		{"found", &no, true, "its parts before the checkpoint had CAT not applied, and now it is applied"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cat := &CAT{options: requireCAT(), result: bench.CAT{Applied: tt.now}}
			if !tt.now {
				cat.result.Why = "no mount"
			}
			l := &leg{from: checkpoint{CAT: tt.before}}
			got := ""
			if err := (allocation{l, []Around{cat}}).Begin(context.Background(), nil); err != nil {
				got = err.Error()
			}
			if got != tt.want || got == "" && *l.from.CAT != tt.now {
				t.Errorf("%q, noted %v", got, l.from.CAT)
			}
		})
	}
}

// What a campaign refuses to go on with, and says why.
func TestResumeRefuses(t *testing.T) {
	for _, tt := range []struct {
		name string
		do   func(t *testing.T, dir string)
		want string
	}{
		{"another file", func(t *testing.T, dir string) { spoil(t, filepath.Join(dir, CampaignName)) }, "was changed after the campaign began"},
		{"no campaign", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, stateName)) }, "no campaign to resume in"},
		{"a damaged plan", func(t *testing.T, dir string) { spoil(t, filepath.Join(dir, stateName, planName)) }, "plan is damaged or was cut off"},
		{"a result", func(t *testing.T, dir string) {
			if err := os.WriteFile(filepath.Join(dir, ResultName), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}, "has ended"},
		{"somebody else's", func(t *testing.T, dir string) {
			unlock, err := lockFolder(dir)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(unlock)
		}, "another opcycle process runs the campaign"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir, c := begin(t, "phases: [{suite: ticks}]")
			c.Folder.Close()
			tt.do(t, dir)
			if _, err := resume(dir); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want %q", err, tt.want)
			}
		})
	}
}

func spoil(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = os.WriteFile(path, data[:len(data)-1], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// Another machine is refused; another kernel or build is in the result, once.
func TestResumeOnWhatChanged(t *testing.T) {
	dir, c := begin(t, "phases: [{suite: ticks}]")
	c.Folder.Close()
	c, err := resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Folder.Close()
	other := elsewhere()
	other.CPUModel = "some"
	if err := c.Folder.Resume(other, bench.Tool{}); err == nil || !strings.Contains(err.Error(), "began on another machine") {
		t.Error(err)
	}
	other = elsewhere()
	other.Kernel = "7.0"
	for range 2 {
		if err := c.Folder.Resume(other, bench.Tool{}); err != nil {
			t.Fatal(err)
		}
	}
	if w := c.Folder.Plan.Warnings; len(w) != 1 || !strings.Contains(w[0], `another kernel: "7.0"`) {
		t.Errorf("%q", w)
	}
}

// A kill between the last phase and the result costs nothing: the result is made of what
// the phases left.
func TestACampaignWithoutItsResultIsNotMeasuredAgain(t *testing.T) {
	produced := filepath.Join(t.TempDir(), "produced")
	dir, c := begin(t, "phases: [{suite: ticks, produce: "+produced+"}, {suite: tocks, produce: "+produced+"}]")
	first, ended, err := c.Run(context.Background())
	c.Folder.Close()
	if err != nil || !ended {
		t.Fatal(ended, err)
	}
	if c, err = resume(dir); err != nil {
		t.Fatal(err)
	}
	defer c.Folder.Close()
	again, ended, err := c.Run(context.Background())
	if err != nil || !ended || size(produced) != 2000 {
		t.Errorf("ended %v, %v, %d samples", ended, err, size(produced))
	}
	if diff := cmp.Diff(first, again, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Error(diff)
	}
}

// The conductor keeps off whatever any phase measures.
func TestQuiet(t *testing.T) {
	c, err := DecodeCampaign("c.yaml", []byte("phases: [{suite: ticks, cpus: 900}, {suite: tocks, cpus: 902-903}]"), tickSuites())
	if err == nil {
		err = c.Resolve(elsewhere())
	}
	if got := c.Quiet(); err != nil || len(got) != 1 || got[0] != 901 {
		t.Errorf("%v, %v", got, err)
	}
}

// A campaign goes on with the CPUs and options that it began with, whatever auto is now.
func TestResumeKeepsThePlan(t *testing.T) {
	dir, c := begin(t, "cores: {measured: 901}\nphases: [{suite: ticks, samples: 7}]")
	want := c.Campaign.Phases[0].Table()
	c.Folder.Close()
	c, err := resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Folder.Close()
	if c.Campaign.Name != "c" {
		t.Errorf("its name is %q now", c.Campaign.Name)
	}
	if diff := cmp.Diff(bench.Settings(want), bench.Settings(c.Campaign.Phases[0].Table())); diff != "" {
		t.Error(diff)
	}
}
