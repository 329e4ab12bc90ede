package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

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
	folder, campaign, err := OpenCampaign(dir, tickSuites())
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
