package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"opcycle/bench"
)

// ticks is a suite that counts: a sample is a byte in a file that survives any death of
// the process, so that a test knows what was measured whether or not it was kept. The
// time between two checkpoints is counted in samples: nothing here depends on a clock.
type ticks struct {
	samples int
	produce string // file that takes a byte a sample
	fail    string // its error, before anything is measured; empty: none
	halt    int    // samples after which it fails; 0: none
	keeps   bool   // it has checkpoints
}

// asCampaign makes this test binary the conductor of the campaign in a folder.
const asCampaign = "campaign"

// tickEvery is the time that a sample stands for: checkpoints of 200 ms are 200 samples.
const (
	tickEvery   = time.Millisecond
	checkpoints = 200 * time.Millisecond
	perKeep     = int(checkpoints / tickEvery)
)

type ticksState struct{ Count int }

func (t *ticks) Options() []bench.Option {
	return []bench.Option{
		bench.IntOption("samples", &t.samples, 1, 1_000_000, "samples"),
		bench.TextOption("produce", &t.produce, "file"),
		bench.TextOption("fail", &t.fail, "error"),
		bench.IntOption("halt", &t.halt, 0, 1_000_000, "samples"),
		bench.SwitchOption("keeps", &t.keeps, "checkpoints"),
	}
}

func (t *ticks) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	if t.fail != "" {
		return bench.SuiteResult{}, errors.New(t.fail)
	}
	var s ticksState
	if job.Resume != nil {
		if err := json.Unmarshal(job.Resume, &s); err != nil {
			return bench.SuiteResult{}, err
		}
	}
	f, err := os.OpenFile(t.produce, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return bench.SuiteResult{}, err
	}
	defer f.Close()
	started := time.Now()
	so := func() bench.SuiteResult {
		v := float64(s.Count)
		return bench.SuiteResult{Started: started, Ended: time.Now(), Complete: s.Count == t.samples,
			Figures: []bench.Figure{{Suite: "ticks", Statistic: "count", Value: &v, Unit: "1"}}}
	}
	keep := func() error {
		if !t.keeps {
			return nil
		}
		data, err := json.Marshal(s)
		if err != nil {
			return err
		}
		return job.Checkpoint(so(), data)
	}
	for n := 1; s.Count < t.samples && ctx.Err() == nil; n++ {
		if _, err := f.Write([]byte{'.'}); err != nil {
			return bench.SuiteResult{}, err
		}
		s.Count++
		if s.Count == t.halt {
			return bench.SuiteResult{}, errors.New("the probe died")
		}
		if n%int(job.CheckpointEvery/tickEvery) == 0 {
			if err := keep(); err != nil {
				return bench.SuiteResult{}, err
			}
		}
		job.Progress(bench.Progress{Phase: "count", Share: float64(s.Count) / float64(t.samples)})
	}
	return so(), keep()
}

func tickSuites() []bench.Suite {
	return []bench.Suite{
		{Name: "ticks", New: func() bench.Runner { return &ticks{samples: 1000, keeps: true} }},
		{Name: "tocks", New: func() bench.Runner { return &ticks{samples: 1000} }},
	}
}

// elsewhere is a machine whose CPUs no other test claims.
func elsewhere() bench.Host {
	h := bench.Host{Name: "elsewhere", CPUModel: "none", Allowed: []int{900, 901, 902, 903}}
	for _, id := range h.Allowed {
		h.CPUs = append(h.CPUs, bench.CPU{ID: id, Core: id, Siblings: []int{id}})
	}
	return h
}

// begin makes the folder of a campaign with the text as its file.
func begin(t *testing.T, text string) (dir string, c Conduct) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "out")
	campaign, err := DecodeCampaign("c.yaml", []byte(text), tickSuites())
	if err != nil {
		t.Fatal(err)
	}
	if err := campaign.Resolve(elsewhere()); err != nil {
		t.Fatal(err)
	}
	folder, err := CreateCampaign(dir, []byte(text), CampaignPlan{Host: elsewhere()}, campaign)
	if err != nil {
		t.Fatal(err)
	}
	return dir, Conduct{Campaign: campaign, Folder: folder, Host: elsewhere(), Progress: func(bench.Progress) {}}
}

// resume opens the campaign in dir again.
func resume(dir string) (Conduct, error) {
	folder, data, err := OpenCampaign(dir)
	if err != nil {
		return Conduct{}, err
	}
	campaign, err := DecodeCampaign(CampaignName, data, tickSuites())
	return Conduct{Campaign: campaign, Folder: folder, Host: elsewhere(), Progress: func(bench.Progress) {}}, err
}

// leadTicks goes on with the campaign in dir to its end: the process that is killed.
func leadTicks(dir string) error {
	c, err := resume(dir)
	if err != nil {
		return err
	}
	file, ended, err := c.Run(context.Background())
	if err != nil || !ended {
		return fmt.Errorf("ended %v: %w", ended, err)
	}
	return c.Folder.Finish(file)
}

func ticked(t *testing.T, r bench.SuiteResult) int {
	t.Helper()
	if len(r.Figures) != 1 {
		t.Fatalf("%s has %d figures: %+v", r.Label, len(r.Figures), r)
	}
	return int(*r.Figures[0].Value)
}

// A process that is killed at any moment loses at most what it measured since the last
// checkpoint, and whoever goes on ends with every sample counted once.
func TestACampaignSurvivesBeingKilled(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 5
	}
	produced := filepath.Join(t.TempDir(), "produced")
	dir, c := begin(t, "checkpoint: 200ms\nphases:\n- {suite: ticks, label: a, samples: 300000, produce: "+produced+"}\n- {suite: ticks, label: b, samples: 300000, produce: "+produced+"}\n")
	c.Folder.Close()
	random := rand.New(rand.NewSource(1))
	kept, made := 0, 0 // samples that the folder holds, and that were ever measured
	for i := range kills {
		before := kept
		cmd := exec.Command(os.Args[0], asCampaign, dir)
		var stderr strings.Builder
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// At a random number of samples after those that were there: no clock decides.
		for aim := made + random.Intn(8000); size(produced) < aim && cmd.ProcessState == nil; {
			if _, err := os.Stat(filepath.Join(dir, ResultName)); err == nil {
				t.Fatal("the campaign ended before it was killed often enough")
			}
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Wait(); stderr.Len() > 0 {
			t.Fatalf("kill %d: %v: %s", i+1, err, stderr.String())
		}
		measured := size(produced) - made
		made += measured
		if kept = holds(t, dir); kept < before {
			t.Fatalf("kill %d: %d samples are kept, %d were before", i+1, kept, before)
		}
		if lost := measured - (kept - before); lost < 0 || lost > 2*perKeep {
			t.Fatalf("kill %d: of %d samples %d are lost, a checkpoint is due every %d", i+1, measured, lost, perKeep)
		}
	}
	c, err := resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	file, ended, err := c.Run(context.Background())
	if err != nil || !ended || !file.Complete || len(file.Suites) != 2 {
		t.Fatalf("ended %v, complete %v, %d suites, %v", ended, file.Complete, len(file.Suites), err)
	}
	resumed := 0
	for _, r := range file.Suites {
		if n := ticked(t, r); n != 300000 {
			t.Errorf("%s: %d samples of 300000", r.Label, n)
		}
		if resumed += r.Resumed; r.Resumed != len(r.Pauses) {
			t.Errorf("%s: resumed %d times with %d pauses", r.Label, r.Resumed, len(r.Pauses))
		}
		for _, p := range r.Pauses {
			if p.Lost != int64(checkpoints) || p.Again.Before(p.Checkpoint) {
				t.Errorf("%s: pause %+v", r.Label, p)
			}
		}
	}
	if resumed == 0 {
		t.Error("no phase was resumed: the kills hit nothing")
	}
	if err := c.Folder.Finish(file); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 2 {
		t.Errorf("%v, %v beside result and campaign file", left, err)
	}
}

func size(path string) int {
	s, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return int(s.Size())
}

// holds is how many samples a folder holds: of finished phases, and by the checkpoint of
// the running one.
func holds(t *testing.T, dir string) int {
	t.Helper()
	s := states{filepath.Join(dir, stateName)}
	var plan CampaignPlan
	if err := s.read(planName, &plan); err != nil {
		t.Fatal(err)
	}
	n := 0
	for i := range plan.Phases {
		var r bench.SuiteResult
		if s.read(fmt.Sprintf("phase-%d", i+1), &r) == nil {
			n += ticked(t, r)
			continue
		}
		c, _, warning, err := s.latest(plan.Digest, i)
		if err != nil || warning != "" {
			t.Fatal(err, warning)
		}
		var state ticksState
		if len(c.State) > 0 {
			if err := json.Unmarshal(c.State, &state); err != nil {
				t.Fatal(err)
			}
		}
		return n + state.Count
	}
	return n
}

// An interrupt keeps everything: the next process goes on where this one was.
func TestAnInterruptedCampaignLosesNothing(t *testing.T) {
	produced := filepath.Join(t.TempDir(), "produced")
	dir, c := begin(t, "phases:\n- {suite: ticks, label: a, samples: 1000, produce: "+produced+"}\n- {suite: ticks, label: b, samples: 1000, produce: "+produced+"}\n")
	ctx, cancel := context.WithCancel(context.Background())
	c.Progress = func(bench.Progress) {
		if size(produced) == 1234 {
			cancel()
		}
	}
	file, ended, err := c.Run(ctx)
	if err != nil || ended || file.Complete || len(file.Suites) != 2 || file.Suites[1].Complete || ticked(t, file.Suites[1]) != 234 {
		t.Fatalf("ended %v, %v: %+v", ended, err, file)
	}
	c.Folder.Close()
	var two [2]checkpoint
	for i := range two {
		if err := c.Folder.state.read(c.Folder.state.slot(int64(i)), &two[i]); err != nil {
			t.Fatal(err)
		}
	}
	if d := two[0].Seq - two[1].Seq; d != 1 && d != -1 {
		t.Errorf("the two checkpoints have the numbers %d and %d", two[0].Seq, two[1].Seq)
	}
	if c, err = resume(dir); err != nil {
		t.Fatal(err)
	}
	defer c.Folder.Close()
	if file, ended, err = c.Run(context.Background()); err != nil || !ended || !file.Complete {
		t.Fatalf("ended %v, complete %v, %v", ended, file.Complete, err)
	}
	if size(produced) != 2000 {
		t.Errorf("%d samples were measured of 2000", size(produced))
	}
	second := file.Suites[1]
	if second.Resumed != 1 || ticked(t, second) != 1000 || second.Pauses[0].Lost >= int64(time.Second) {
		t.Errorf("%+v", second)
	}
	if first := file.Suites[0]; first.Resumed != 0 {
		t.Errorf("the phase that had ended was resumed: %+v", first)
	}
}

// A phase that fails is invalid, keeps what its last checkpoint held, and costs no other.
func TestAFailingPhaseCostsNoOther(t *testing.T) {
	produced := filepath.Join(t.TempDir(), "produced")
	_, c := begin(t, "checkpoint: 200ms\ndefaults: {samples: 1000, produce: "+produced+"}\nphases:\n"+
		"- {suite: ticks, label: a, fail: no such device}\n- {suite: ticks, label: b, halt: 450}\n- {suite: tocks, label: c}\n")
	defer c.Folder.Close()
	file, ended, err := c.Run(context.Background())
	if err != nil || !ended || file.Complete {
		t.Fatalf("ended %v, complete %v, %v", ended, file.Complete, err)
	}
	for i, want := range []struct {
		invalid string
		count   int
	}{{"suite ticks: no such device", -1}, {"suite ticks: the probe died", 400}, {"", 1000}} {
		r := file.Suites[i]
		if got := strings.Join(r.Invalid, "; "); got != want.invalid || len(r.Settings) == 0 {
			t.Errorf("%s: invalid %q, %d settings", r.Label, got, len(r.Settings))
		}
		if want.count >= 0 && ticked(t, r) != want.count {
			t.Errorf("%s: %d samples of %d", r.Label, ticked(t, r), want.count)
		}
	}
}

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
			cat := &CAT{result: bench.CAT{Applied: tt.now}}
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

// A suite without checkpoints begins its phase again, and the result says so.
func TestASuiteWithoutCheckpointsBeginsAgain(t *testing.T) {
	produced := filepath.Join(t.TempDir(), "produced")
	dir, c := begin(t, "phases: [{suite: tocks, produce: "+produced+"}]")
	ctx, cancel := context.WithCancel(context.Background())
	c.Progress = func(bench.Progress) { cancel() }
	if _, ended, err := c.Run(ctx); ended || err != nil {
		t.Fatal(ended, err)
	}
	c.Folder.Close()
	c, err := resume(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Folder.Close()
	file, _, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	r := file.Suites[0]
	if ticked(t, r) != 1000 || r.Resumed != 0 || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "measured again from its start") {
		t.Errorf("%+v", r)
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
	if err := c.Folder.Plan.restore(c.Campaign); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(bench.Settings(want), bench.Settings(c.Campaign.Phases[0].Table())); diff != "" {
		t.Error(diff)
	}
}
