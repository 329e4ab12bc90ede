package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"opcycle/bench"
)

// leg is the stretch of a phase that one process measures: from the phase's begin or from
// a checkpoint, to its end or to an interrupt. One goroutine owns it: the suite's, while
// it runs.
type leg struct {
	folder *CampaignFolder
	every  time.Duration
	from   checkpoint        // what it goes on from; State nil: from the phase's begin
	last   checkpoint        // written last
	so     bench.SuiteResult // of last
	kept   bool              // the suite kept something in this leg
}

// open finds where phase i stands and marks that it is being measured.
func (c Conduct) open(i int) (*leg, error) {
	from, ok, warning, err := c.Folder.state.latest(c.Folder.Plan.Digest, i)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC()
	l := &leg{folder: c.Folder, every: c.Campaign.Every, from: from}
	if !ok {
		l.from = checkpoint{Plan: c.Folder.Plan.Digest, Seq: c.Folder.newest(), Phase: i, Started: now}
	}
	if warning != "" {
		l.from.Warnings = append(l.from.Warnings, warning)
	}
	switch {
	case ok && from.State != nil:
		if !from.Clean {
			l.from.Quiet++
		}
		l.from.Clean = false
		l.from.Pauses = append(l.from.Pauses, bench.Pause{Checkpoint: from.At, Again: now, Lost: int64(from.Lost)})
	case ok:
		l.from.Warnings = append(l.from.Warnings, fmt.Sprintf("was interrupted without a checkpoint of its suite after its begin at %s: measured again from its start, and what was measured before is lost",
			from.Started.Format(time.RFC3339)))
		l.from.Started = now
	}
	l.last = l.from
	return l, l.write(l.from.State, now, l.every)
}

// newest is the greatest number of any checkpoint in the folder, of whatever phase.
func (f *CampaignFolder) newest() int64 {
	var newest int64
	for i := range int64(2) {
		var c checkpoint
		if f.state.read(f.state.slot(i), &c) == nil {
			newest = max(newest, c.Seq)
		}
	}
	return newest
}

// keep is bench.Job.Checkpoint.
func (l *leg) keep(so bench.SuiteResult, state []byte) error {
	if state == nil {
		state = []byte{}
	}
	if len(l.from.Pauses) == 0 && !so.Started.IsZero() {
		l.from.Started = so.Started
	}
	if err := l.write(state, time.Now().UTC(), l.every); err != nil {
		return err
	}
	l.so, l.kept = so, true
	return nil
}

// write stores what was measured until at.
func (l *leg) write(state []byte, at time.Time, lost time.Duration) error {
	next := l.from
	next.Seq, next.At, next.State, next.Lost = l.last.Seq+1, at, state, lost
	if err := l.folder.state.write(l.folder.state.slot(next.Seq), next); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	l.last = next
	return nil
}

// leave marks a clean end after which r was measured: what is lost is then known, not only
// bounded, and so is the noise.
func (l *leg) leave(r *bench.SuiteResult) error {
	if l.last.State == nil {
		return nil // the suite keeps none: it will begin again
	}
	l.from.Clean, l.from.Noise = true, r.Noise
	return l.write(l.last.State, l.last.At, max(r.Ended.Sub(l.last.At), 0))
}

// failed is the result of a phase whose suite returned err and, of what surrounded it, r:
// what this leg's last checkpoint holds, invalid.
func (l *leg) failed(p CampaignPhase, r bench.SuiteResult, err error) bench.SuiteResult {
	around := r
	if r = l.so; r.Ended.IsZero() {
		r.Ended = time.Now().UTC()
	}
	r.Suite, r.Label, r.Role, r.Complete = p.Suite.Name, p.Label, bench.RoleMeasured, false
	r.Settings = bench.Settings(p.Table())
	r.Noise, r.CAT, r.Absent = around.Noise, around.CAT, append(r.Absent, around.Absent...)
	r.Invalid = append(r.Invalid, append(around.Invalid, err.Error())...)
	return r
}

// finish writes into r what the suite cannot know: that it had earlier legs, and that what
// its label may claim is not so.
func (l *leg) finish(r *bench.SuiteResult) {
	if r.Started.IsZero() || len(l.from.Pauses) > 0 {
		r.Started = l.from.Started
	}
	r.Resumed, r.Pauses = len(l.from.Pauses), l.from.Pauses
	r.Warnings = append(r.Warnings, l.from.Warnings...)
	if n := l.from.Quiet; n > 0 && len(r.Noise) > 0 {
		r.Warnings = append(r.Warnings, fmt.Sprintf("the noise of %d of %d parts ended with a kill or a power cut, so that it was seen to begin there and not to last", n, len(l.from.Pauses)+1))
	}
	r.Noise = append(slices.Clone(l.from.Noise), r.Noise...)
	if r.CAT != nil && !r.CAT.Applied {
		r.Label = strings.TrimSpace(r.Label + " (CAT not applied)")
	}
}

// allocation stands innermost around a phase: it notes whether the cache allocation that
// was asked for is there, and lets no part of a phase be measured with it and another
// without.
type allocation struct {
	leg    *leg
	around []Around
}

// Begin refuses a leg that is not like those before it.
func (a allocation) Begin(context.Context, *bench.Job) error {
	for _, around := range a.around {
		cat, ok := around.(*CAT)
		if !ok || !cat.options.asked() {
			continue
		}
		applied := cat.result.Applied
		if before := a.leg.from.CAT; before != nil && *before != applied {
			return fmt.Errorf("its parts before the checkpoint had CAT %s, and now it is %s%s", onOff(*before), onOff(applied), prefixed(": ", cat.result.Why))
		}
		a.leg.from.CAT = &applied
	}
	return nil
}

func (allocation) End(*bench.SuiteResult) {}

func onOff(applied bool) string {
	if applied {
		return "applied"
	}
	return "not applied"
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}
