package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"opcycle/bench"
	"opcycle/judge"
	"opcycle/run"
)

// measure runs two profiles in turns, and compares what they came to.
func (c *comparing) measure(ctx context.Context, n int, dir string, profiles []string, stderr io.Writer) error {
	if len(profiles) != 2 {
		return fmt.Errorf("--repeat compares two profiles, %d are named; write opcycle compare --repeat %d A.yaml B.yaml", len(profiles), n)
	}
	if err := checkRepeat(n, outputs{}); err != nil {
		return err
	}
	var sides [2]*repeats
	for i, profile := range profiles {
		_, plan, h, err := planWith(profile, nil, func(*bench.Config, *bench.Origins) {})
		if err != nil {
			return err
		}
		sides[i] = &repeats{name: []string{"a", "b"}[i], opcua: run.OPCUA{Plan: plan, Host: h}, said: bench.Repeat{Asked: n}}
	}
	dir, err := begin(dir)
	if err != nil {
		return err
	}
	for _, s := range sides {
		s.dir = filepath.Join(dir, s.name)
	}
	fmt.Fprintf(stderr, "runs go into %s: a is %s, b is %s\n", dir, profiles[0], profiles[1])
	failed := turns(n, sides, func(s *repeats) error {
		if err := s.one(ctx, outputs{stdout: c.stdout}, stderr); err != nil {
			return err
		}
		return ctx.Err()
	})
	var compared []judge.Side
	for i, s := range sides {
		if _, err := s.end(); err != nil {
			return errors.Join(failed, err)
		}
		if len(s.said.Runs) == 0 {
			continue
		}
		side, err := sideAt(s.dir)
		if err != nil {
			return errors.Join(failed, err)
		}
		side.Name = s.name + " (" + profiles[i] + ")"
		compared = append(compared, side)
	}
	if failed != nil {
		if errors.Is(failed, context.Canceled) {
			failed = errors.New("interrupted")
		}
		return fmt.Errorf("%w: %d of %d and %d of %d runs were made; compare what is whole by: opcycle compare %s %s",
			failed, len(sides[0].said.Runs), n, len(sides[1].said.Runs), n, sides[0].dir, sides[1].dir)
	}
	fmt.Fprintln(c.stdout)
	c.rules.AnyPlan = true
	return c.hold(compared)
}

// turns calls one for either side n times: a b, b a, a b.
func turns(n int, sides [2]*repeats, one func(*repeats) error) error {
	for i := range n {
		for j := range sides {
			if err := one(sides[(i+j)%2]); err != nil {
				return err
			}
		}
	}
	return nil
}
