package lmbench

import (
	"errors"
	"fmt"

	"opcycle/bench"
	"opcycle/rt"
)

// probeFigure is the name of the only probe.
const probeFigure = "figure"

// answer is what a probe hands over. NA: why the figure has no readings.
type answer struct {
	Readings []bench.Reading `json:"readings"`
	Curve    []point         `json:"curve,omitempty"` // bed.curve
	NA       string          `json:"na,omitempty"`
	Stopped  bool            `json:"stopped,omitempty"` // ended from outside before it had them
}

// measure is the measured side: one figure on the main thread of this process.
func measure(p *bench.ProbeSide) error {
	b := bed{stop: p.Stop}
	if err := p.Decode(&b.order); err != nil {
		return fmt.Errorf("the order: %w", err)
	}
	b.enough = int64(b.Enough)
	f, err := findFigure(b.Figure)
	if err != nil {
		return err
	}
	if b.CPU != noCPU {
		if err := rt.SetAffinity(0, []int{b.CPU}); err != nil {
			return err
		}
	}
	if err := rt.UnshareFiles(); err != nil {
		return err
	}
	// Go has a handler for it, which would run at the end of every child.
	if errno := rt.RawSigaction(rt.SignalChild, &rt.SignalAction{}, nil); errno != 0 {
		return fmt.Errorf("no handler for the end of children: %w", errno)
	}
	if err := p.Ready(); err != nil {
		return err
	}
	readings, err := f.run(&b)
	switch {
	case errors.Is(err, errStopped):
		return p.Answer(answer{Stopped: true})
	case err != nil:
		return p.Answer(answer{NA: err.Error()})
	}
	return p.Answer(answer{Readings: f.complete(readings, b.placement()), Curve: b.curve})
}

// complete fills in what all readings of a figure share.
func (f figure) complete(readings []bench.Reading, placement string) []bench.Reading {
	for i := range readings {
		r := &readings[i]
		r.Table, r.Name, r.Headline, r.Policy = f.table, f.name, i == 0, rt.Other.String()
		if r.Placement == "" {
			r.Placement = placement
		}
	}
	return readings
}
