package run

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"opcycle/bench"
)

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
