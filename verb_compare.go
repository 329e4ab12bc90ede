package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"opcycle/judge"
	"opcycle/report"
	"opcycle/run"

	"github.com/spf13/cobra"
)

func compareVerb() *cobra.Command {
	var ignore, history []string
	var failOn string
	var same float64
	cmd := &cobra.Command{
		Use:   "compare BASE OTHER...",
		Short: "say what two results, or two series of runs, differ by",
		Long: `compare holds each OTHER against BASE. A side is a result (run.json), a folder of results
(every run.json in it and one level below is one run), several of both joined by commas,
or, of a campaign, FILE#LABEL. A campaign's FILE alone compares its labels with each other.

Runs of one plan only; --ignore KEY lets the plans differ in a key. Every difference of plan
and machine is printed first.

The unit is the run. From five runs a side on, medians and p99 of the runs are tested
(Mann-Whitney, exact up to 16 runs; Holm over what the outcome rests on) and the effect is
the Hodges-Lehmann shift with its 95 % interval. With fewer, the interval is that of what
runs on this host differ by: from sides with several runs and from --history; without it
the outcome is "can't tell".

Outcomes: better, worse, same (the whole interval within --same of the base), can't tell.
Exit codes: 0 compared, 1 with --fail-on and such an outcome, 2 not comparable.`,
		Example: `  opcycle compare results/before results/after            folders of several runs
  opcycle compare a/run.json b/run.json --history results/earlier
  opcycle compare results/48-hour/run.json                a campaign without and with CAT`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rules := judge.Rules{Ignore: ignore, Same: same / 100}
			return compare(args, history, failOn, rules, cmd.OutOrStdout())
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&ignore, "ignore", nil, "key of the plan that may differ, as the refusal names it; repeatable")
	f.StringSliceVar(&history, "history", nil, "earlier results of this plan on this host: what runs differ by; repeatable")
	f.StringVar(&failOn, "fail-on", "", "exit 1 when an outcome is this: worse, better or \"can't tell\"")
	f.Float64Var(&same, "same", judge.DefaultSame*100, "an effect within this many per cent of the base is no effect")
	return cmd
}

func compare(args, history []string, failOn string, rules judge.Rules, stdout io.Writer) error {
	words := []string{string(judge.Worse), string(judge.Better), string(judge.CantTell)}
	if failOn != "" && !slices.Contains(words, failOn) {
		return fmt.Errorf("--fail-on %q is not known; write worse, better or \"can't tell\"", failOn)
	}
	if rules.Same < 0 || rules.Same > 1 {
		return fmt.Errorf("--same %g is out of range; write per cents from 0 to 100", rules.Same*100)
	}
	sides, err := sidesOf(args, &rules)
	if err != nil {
		return err
	}
	for _, h := range history {
		runs, err := runsAt(h)
		if err != nil {
			return err
		}
		rules.History = append(rules.History, runs...)
	}
	var failed, refused bool
	for i, other := range sides[1:] {
		if i > 0 {
			fmt.Fprintln(stdout)
		}
		c := judge.Compare(sides[0], other, rules)
		refused = refused || len(c.Refused) > 0
		failed = failed || string(c.Outcome) == failOn
		if err := report.Compare(stdout, c, [2]int{len(sides[0].Runs), len(other.Runs)}); err != nil {
			return err
		}
	}
	switch {
	case refused:
		return verdict{exitNotMeasured}
	case failed:
		return verdict{exitFailed}
	}
	return nil
}

// sidesOf reads every side; a single file is taken apart by its labels.
func sidesOf(args []string, rules *judge.Rules) ([]judge.Side, error) {
	if len(args) == 1 {
		runs, err := runsAt(args[0])
		if err != nil {
			return nil, err
		}
		sides := byLabel(runs)
		if len(sides) < 2 {
			return nil, fmt.Errorf("%s has one side only; name a second result, or a campaign whose phases of one suite have different labels", args[0])
		}
		rules.Ignore = append(rules.Ignore, "cat", "cat applied")
		return sides, nil
	}
	var sides []judge.Side
	for _, a := range args {
		runs, err := runsAt(a)
		if err != nil {
			return nil, err
		}
		for _, r := range runs[1:] {
			if r.Suite != runs[0].Suite || r.Label != runs[0].Label {
				return nil, fmt.Errorf("%s holds several kinds of runs; name one by its label, %s#%s", a, a, runs[0].Label)
			}
		}
		sides = append(sides, judge.Side{Name: a, Runs: runs})
	}
	return sides, nil
}

// byLabel makes one side of each label of the first suite that has series and several.
func byLabel(runs []judge.Run) []judge.Side {
	for _, first := range runs {
		var sides []judge.Side
		for _, r := range runs {
			if r.Suite != first.Suite || len(r.Series) == 0 {
				continue
			}
			i := slices.IndexFunc(sides, func(s judge.Side) bool { return s.Name == r.Suite+" "+r.Label })
			if i < 0 {
				i, sides = len(sides), append(sides, judge.Side{Name: r.Suite + " " + r.Label})
			}
			sides[i].Runs = append(sides[i].Runs, r)
		}
		if len(sides) > 1 {
			return sides
		}
	}
	return nil
}

// runsAt reads the runs that one argument names.
func runsAt(arg string) ([]judge.Run, error) {
	var out []judge.Run
	for _, part := range strings.Split(arg, ",") {
		path, label, labelled := strings.Cut(part, "#")
		files, err := resultsAt(path)
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			runs, err := runsIn(f)
			if err != nil {
				return nil, err
			}
			if labelled {
				runs = slices.DeleteFunc(runs, func(r judge.Run) bool { return r.Label != label })
			}
			out = append(out, runs...)
		}
		if labelled && len(out) == 0 {
			return nil, fmt.Errorf("%s has nothing with the label %q", path, label)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s holds no run", arg)
	}
	return out, nil
}

// resultsAt are the result files at path.
func resultsAt(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open the result: %w", err)
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	var found []string
	for _, pattern := range []string{run.ResultName, filepath.Join("*", run.ResultName)} {
		names, err := filepath.Glob(filepath.Join(path, pattern))
		if err != nil {
			return nil, err
		}
		found = append(found, names...)
	}
	if len(found) == 0 {
		return nil, errors.New(path + " holds no " + run.ResultName + ", nor does a folder in it")
	}
	return found, nil
}

func runsIn(path string) ([]judge.Run, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the result: %w", err)
	}
	defer f.Close()
	file, err := report.Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return judge.RunsOf(path, file)
}
