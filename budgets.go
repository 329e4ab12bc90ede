package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/configs"
	"opcycle/report"

	"github.com/spf13/cobra"
)

// budgetFlags are --budget and --budgets, as run, measure and deploy take them.
type budgetFlags struct {
	single *[]string
	sets   *[]string
}

func budgetFlagsOf(cmd *cobra.Command) budgetFlags {
	return budgetFlags{
		single: cmd.Flags().StringArray("budget", nil, "a budget beside those of the profile, as 'execution_time.p99 < 6ms' or 'packets.late <= 0'; repeatable"),
		sets:   cmd.Flags().StringArray("budgets", nil, "a set of budgets for this cycle, shipped (opcycle budgets lists them) or FILE.yaml; repeatable"),
	}
}

// readBudgetSet finds a shipped set by name, or a file by its ending or path.
func readBudgetSet(name string) (bench.BudgetSet, error) {
	if strings.HasSuffix(name, ".yaml") || strings.HasSuffix(name, ".yml") || strings.ContainsRune(name, filepath.Separator) {
		data, err := os.ReadFile(name)
		if err != nil {
			return bench.BudgetSet{}, fmt.Errorf("read the budgets: %w", err)
		}
		return bench.DecodeBudgetSet(name, data)
	}
	data, err := configs.Budgets(name)
	if err != nil {
		return bench.BudgetSet{}, err
	}
	return bench.DecodeBudgetSet(name, data)
}

// read is every budget that the flags name: those of the sets first.
func (f budgetFlags) read() (said, error) {
	var out said
	for _, name := range *f.sets {
		set, err := readBudgetSet(name)
		if err != nil {
			return out, fmt.Errorf("--budgets: %w", err)
		}
		out.sets = append(out.sets, set)
	}
	out.single = *f.single
	return out, nil
}

// said are budgets as a command line names them.
type said struct {
	sets   []bench.BudgetSet
	single []string
}

// texts are all of them as written, those of the sets first.
func (s said) texts() []string {
	var out []string
	for _, set := range s.sets {
		for _, b := range set.Budgets {
			out = append(out, b.Budget.Text)
		}
	}
	return append(out, s.single...)
}

// fit refuses sets for another cycle than the plan's.
func (s said) fit(interval time.Duration) error {
	var errs []error
	for i := range s.sets {
		errs = append(errs, s.sets[i].For(interval))
	}
	return errors.Join(errs...)
}

func budgetsVerb() *cobra.Command {
	return &cobra.Command{
		Use:   "budgets [NAME | FILE.yaml]",
		Short: "list the shipped sets of budgets, or one set with the source of each limit",
		Long: `budgets lists the sets of budgets for common control cycles; run, measure and deploy take one
by --budgets NAME, beside those of the profile. With a name it prints each limit and where
it comes from. A FILE.yaml of your own looks like a shipped one: interval:, and under
budgets: each with budget: and source:.

A budget is "[object/]series.statistic op limit": a time with its unit, a count, or a share
of the cycle (60%). "opcycle report FILE --format csv" lists every figure by its name.`,
		Example: `  opcycle budgets process-10ms
  opcycle run --budgets process-10ms
  opcycle run --interval 1ms --iterations 1000 --budgets motion-1ms --abort-on-fail`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			names := configs.BudgetSets()
			if len(args) > 0 {
				names = args
			}
			var sets []bench.BudgetSet
			for _, name := range names {
				set, err := readBudgetSet(name)
				if err != nil {
					return err
				}
				sets = append(sets, set)
			}
			return report.BudgetSets(cmd.OutOrStdout(), sets, len(args) > 0)
		},
	}
}
