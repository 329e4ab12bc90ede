package bench

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"time"

	"go.yaml.in/yaml/v3"
)

// BudgetSet is budgets for a class of control cycles, each with where it comes from.
type BudgetSet struct {
	Name     string
	Interval time.Duration // of the plans that it is for
	Budgets  []SourcedBudget
}

// SourcedBudget is one budget of a set.
type SourcedBudget struct {
	Budget Budget
	Source string
}

// DecodeBudgetSet reads a set: its interval and its budgets. name is what complaints call it.
func DecodeBudgetSet(name string, data []byte) (BudgetSet, error) {
	var raw struct {
		Interval Duration `yaml:"interval"`
		Budgets  []struct {
			Budget yaml.Node `yaml:"budget"`
			Source string    `yaml:"source"`
		} `yaml:"budgets"`
	}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&raw); err != nil && !errors.Is(err, io.EOF) {
		return BudgetSet{}, fmt.Errorf("%s: %w; write interval: and budgets:, as opcycle budgets process-10ms shows", name, err)
	}
	set := BudgetSet{Name: name, Interval: time.Duration(raw.Interval)}
	if set.Interval <= 0 || len(raw.Budgets) == 0 {
		return set, fmt.Errorf("%s: a set of budgets needs an interval and at least one budget; opcycle budgets process-10ms shows one", name)
	}
	var errs []error
	for _, r := range raw.Budgets {
		b, err := ParseBudget(r.Budget.Value)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("%s:%d: %w", name, r.Budget.Line, err))
		case r.Source == "":
			errs = append(errs, fmt.Errorf("%s:%d: %s has no source; say where the limit comes from", name, r.Budget.Line, b.Text))
		}
		set.Budgets = append(set.Budgets, SourcedBudget{b, r.Source})
	}
	return set, errors.Join(errs...)
}

// For refuses a plan of another cycle: a limit of 1 ms says nothing of 10 ms.
func (s *BudgetSet) For(interval time.Duration) error {
	if s.Interval == interval {
		return nil
	}
	return fmt.Errorf("the budgets %s are for a cycle of %s, the plan's is %s; run with --interval %s, or take other budgets", s.Name, s.Interval, interval, s.Interval)
}
