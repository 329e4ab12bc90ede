package run

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"opcycle/bench"
)

// Conduct leads a campaign through its phases.
type Conduct struct {
	Campaign Campaign // resolved
	Folder   *CampaignFolder
	Host     bench.Host
	Root     string
	Prober   Prober
	Progress func(bench.Progress) // never nil
}

// errInterrupted is a phase's: the context ended, and a later process goes on with it.
var errInterrupted = errors.New("interrupted")

// Run conducts every phase that the folder has no result of. ended is false when the
// context ended first: the file then holds what was measured until then, and the folder
// what is needed to go on. A phase that fails is in the file, invalid, and costs no other.
// An error means that the campaign itself could not be led on; the folder can be resumed.
func (c Conduct) Run(ctx context.Context) (file bench.File, ended bool, err error) {
	measured, err := c.measured()
	if err != nil {
		return bench.File{}, false, err
	}
	release, err := claim(measured)
	if err != nil {
		return bench.File{}, false, err
	}
	defer release()
	var results []bench.SuiteResult
	ended = true
	for i := range c.Campaign.Phases {
		r, err := c.phase(ctx, i)
		if err != nil && !errors.Is(err, errInterrupted) {
			return bench.File{}, false, fmt.Errorf("phase %d of %d, %s: %w", i+1, len(c.Campaign.Phases), c.Campaign.Phases[i].Suite.Name, err)
		}
		if r.Suite != "" {
			results = append(results, r)
		}
		if err != nil {
			ended = false
			break
		}
	}
	return c.file(results, ended), ended, nil
}

// measured are the CPUs of all phases. It refuses one that is not to be had now rather
// than hours later.
func (c Conduct) measured() ([]int, error) {
	var out []int
	for i, p := range c.Campaign.Phases {
		for _, cpu := range append(slices.Clone(p.Options.CPUs), p.Options.Housekeeping...) {
			if !bench.MayUse(c.Host, cpu) {
				return nil, fmt.Errorf("phase %d: CPU %d is not online or not allowed for this process (allowed: %s); give it back, or begin anew with other cores",
					i+1, cpu, bench.CPUList(c.Host.Allowed))
			}
		}
		out = append(out, p.Options.CPUs...)
	}
	return out, nil
}

// file is the result so far.
func (c Conduct) file(results []bench.SuiteResult, ended bool) bench.File {
	f := SuiteFile("campaign", c.Host, results)
	f.Complete = f.Complete && ended
	f.Warnings, f.Tool = c.Folder.Plan.Warnings, c.Folder.Plan.Tool
	f.Figures = []bench.Figure{
		{Suite: "campaign", Series: "campaign", Statistic: "name", Unit: "text", Text: c.Campaign.Name},
		{Suite: "campaign", Series: "campaign", Statistic: "phases", Unit: "1", Value: number(len(c.Campaign.Phases))},
		{Suite: "campaign", Series: "campaign", Statistic: "checkpoint_interval", Unit: "ns", Value: number(c.Campaign.Every)},
	}
	return f
}

func number[T int | time.Duration](n T) *float64 {
	v := float64(n)
	return &v
}

// phase is the result of phase i: the one that its folder has, or a new one.
func (c Conduct) phase(ctx context.Context, i int) (bench.SuiteResult, error) {
	name := fmt.Sprintf("phase-%d", i+1)
	var r bench.SuiteResult
	switch err := c.Folder.state.read(name, &r); {
	case err == nil:
		return r, nil
	case !errors.Is(err, fs.ErrNotExist):
		return r, fmt.Errorf("its result cannot be read: %w; remove %s to measure it again", err, filepath.Join(c.Folder.state.dir, name))
	}
	if ctx.Err() != nil {
		return r, errInterrupted
	}
	l, err := c.open(i)
	if err != nil {
		return r, err
	}
	folder, err := c.Folder.phaseFolder(i, c.Campaign.Phases[i].Suite.Name)
	if err != nil {
		return r, err
	}
	r, err = c.measure(ctx, i, l, folder)
	folder.Discard() // when it holds nothing
	if err != nil {
		return r, err
	}
	return r, c.Folder.state.write(name, r)
}

// measure runs the suite of phase i, from l on.
func (c Conduct) measure(ctx context.Context, i int, l *leg, folder *Folder) (bench.SuiteResult, error) {
	p := c.Campaign.Phases[i]
	s := Suite{Suite: p.Suite, Runner: p.Runner, Options: *p.Options, Host: c.Host, Root: c.Root, Label: p.Label, Prober: c.Prober,
		Folder: folder, Progress: c.progress(i), Claimed: true, Checkpoint: l.keep, Every: c.Campaign.Every, Resume: l.from.State}
	s.Around = Arounds(p.Options)
	s.Around = append(s.Around, allocation{l, s.Around})
	r, err := s.Run(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return bench.SuiteResult{}, errInterrupted
	case err != nil && l.from.State != nil && !l.kept:
		return r, fmt.Errorf("it cannot go on from its checkpoint: %w; resume when that is mended, or remove %s and %s to measure it from its start",
			err, filepath.Join(c.Folder.state.dir, c.Folder.state.slot(0)), c.Folder.state.slot(1))
	case err != nil:
		r = l.failed(p, r, err)
	}
	for j := range r.Files {
		r.Files[j] = filepath.Join(filepath.Base(folder.Dir), r.Files[j])
	}
	l.finish(&r)
	if ctx.Err() != nil && !r.Complete {
		return r, errors.Join(errInterrupted, l.leave(&r))
	}
	return r, nil
}

// progress tells where the campaign is by what a suite tells.
func (c Conduct) progress(i int) func(bench.Progress) {
	p := c.Campaign.Phases[i]
	name := p.Suite.Name
	if p.Label != "" {
		name += ", " + p.Label
	}
	name = fmt.Sprintf("%d/%d %s:", i+1, len(c.Campaign.Phases), name)
	began := time.Now()
	var first float64 // share that was measured before, in an earlier leg
	return func(now bench.Progress) {
		elapsed := time.Since(began)
		if first == 0 && now.Share > 0 {
			first = now.Share
		}
		text := elapsed.Round(time.Second).String() + " elapsed"
		if done := now.Share - first; done > 0.001 {
			rest := time.Duration(float64(elapsed) * (1 - now.Share) / done)
			text += ", " + rest.Round(time.Second).String() + " remaining"
		}
		for _, more := range []string{now.Phase, now.Text} {
			if more != "" && more != p.Suite.Name && more != bench.PhaseMeasure {
				text += ", " + more
			}
		}
		c.Progress(bench.Progress{Phase: name, Share: now.Share, Text: text})
	}
}
