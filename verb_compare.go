package main

import (
	"errors"
	"fmt"
	"io"
	"os"
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
	var times int
	var dir string
	var formats *[]string
	var against *string
	cmd := &cobra.Command{
		Use:   "compare BASE OTHER...",
		Short: "say what two results, or two series of runs, differ by",
		Long: `compare holds each OTHER against BASE. A side is a result (run.json), a folder of results
(every run.json in it and one level below is one run), several of both joined by commas,
or, of a campaign, FILE#LABEL. A campaign's FILE alone compares its labels with each other.

A DIR alone that holds results of several machines (DIR/NODE/run.json, or below
DIR/NODE/TIME/, as a fleet writes them) ranks these nodes. A FILE --against PRODUCT stands
beside a vendor's publication: what was measured differently first, then his table.

Runs of one plan only; --ignore KEY lets the plans differ in a key. Every difference of plan
and machine is printed first.

The unit is the run. From five runs a side on, medians and p99 of the runs are tested
(Mann-Whitney, exact up to 16 runs; Holm over what the outcome rests on) and the effect is
the Hodges-Lehmann shift with its 95 % interval. With fewer, the interval is that of what
runs on this host differ by: from sides with several runs and from --history; without it
the outcome is "can't tell".

--repeat N A.yaml B.yaml measures first: two profiles (shipped, or files), N runs of each in
turns, A B, B A, A B, so that what the machine does meanwhile meets both, into A/1, B/1, ...
of a folder. Naming two plans, you ask what their difference does: every key may differ.
Ctrl-C keeps the runs that were made, and "opcycle compare DIR/a DIR/b" compares them.

In a folder, runs that were ended early are left out, and named; an invalid one is refused.

Outcomes: better, worse, same (the whole interval within --same of the base), can't tell.
Exit codes: 0 compared, 1 with --fail-on and such an outcome, 2 not comparable.`,
		Example: `  opcycle compare results/before results/after            folders of several runs
  opcycle compare a/run.json b/run.json --history results/earlier
  opcycle compare --repeat 5 single-node tuned.yaml       ten runs, then the comparison
  opcycle compare results/48-hour/run.json                a campaign without and with CAT`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			rules := judge.Rules{Ignore: ignore, Same: same / 100}
			c := comparing{rules: rules, failOn: failOn, stdout: cmd.OutOrStdout(), plain: report.CompareFormats()[0]}
			err := readForms(*formats, report.FindCompareFormat, func(f report.CompareFormat) { c.plain = f },
				func(f report.CompareFormat, path string) { c.files = append(c.files, compareFile{f, path}) })
			if err = errors.Join(err, c.check(history)); err != nil {
				return err
			}
			if *against != "" {
				return c.against(args, *against)
			}
			if cmd.Flags().Changed("repeat") {
				return c.measure(cmd.Context(), times, dir, args, cmd.ErrOrStderr())
			}
			if dir != "" {
				return errors.New("--out is the folder of the runs of --repeat; without it nothing is kept")
			}
			switch nodes, err := nodesOf(args); {
			case err != nil:
				return err
			case nodes != nil:
				return c.rank(nodes)
			}
			sides, err := sidesOf(args, &c.rules)
			if err != nil {
				return err
			}
			return c.hold(sides)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&ignore, "ignore", nil, "key of the plan that may differ, as the refusal names it; repeatable")
	f.StringSliceVar(&history, "history", nil, "earlier results of this plan on this host: what runs differ by; repeatable")
	f.StringVar(&failOn, "fail-on", "", "exit 1 when an outcome is this: worse, better or \"can't tell\"")
	f.Float64Var(&same, "same", judge.DefaultSame*100, "an effect within this many per cent of the base is no effect")
	f.IntVar(&times, "repeat", 1, "measure first: the arguments are two profiles, and each is run this many times, in turns")
	formats, against = formatFlagOf(cmd, report.CompareFormatNames()), againstFlag(cmd)
	f.StringVar(&dir, "out", "", "folder of the runs of --repeat (results/<UTC time>)")
	return cmd
}

// comparing is how sides are compared, and what comes of it.
type comparing struct {
	rules  judge.Rules
	failOn string
	stdout io.Writer
	plain  report.CompareFormat // on stdout
	files  []compareFile
}

// compareFile is a form with its file.
type compareFile struct {
	format report.CompareFormat
	path   string
}

// write writes what is compared in every form.
func (c *comparing) write(in func(report.CompareFormat, io.Writer) error) error {
	var errs []error
	for _, f := range c.files {
		errs = append(errs, whole(f.path, func(w io.Writer) error { return in(f.format, w) }))
	}
	return errors.Join(append(errs, in(c.plain, c.stdout))...)
}

// check refuses what is no rule, and reads the history.
func (c *comparing) check(history []string) error {
	words := []string{string(judge.Worse), string(judge.Better), string(judge.CantTell)}
	if c.failOn != "" && !slices.Contains(words, c.failOn) {
		return fmt.Errorf("--fail-on %q is not known; write worse, better or \"can't tell\"", c.failOn)
	}
	if !(c.rules.Same >= 0 && c.rules.Same <= 1) {
		return fmt.Errorf("--same %g is out of range; write per cents from 0 to 100", c.rules.Same*100)
	}
	for _, h := range history {
		side, err := sideAt(h)
		if err != nil {
			return err
		}
		c.rules.History = append(c.rules.History, side.Runs...)
	}
	return nil
}

// hold holds every side against the first and writes what comes of it.
func (c *comparing) hold(sides []judge.Side) error {
	var failed, refused bool
	var pairs []report.Pair
	for _, other := range sides[1:] {
		is := judge.Compare(sides[0], other, c.rules)
		refused = refused || len(is.Refused) > 0
		failed = failed || string(is.Outcome) == c.failOn
		pairs = append(pairs, report.Pair{Is: is, Base: sides[0], Other: other})
	}
	if err := c.write(func(f report.CompareFormat, w io.Writer) error { return f.Write(w, pairs) }); err != nil {
		return err
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
		side, err := sideAt(args[0])
		if err != nil {
			return nil, err
		}
		sides := byLabel(side.Runs)
		if len(sides) < 2 {
			return nil, fmt.Errorf("%s has one side only; name a second result, or a campaign whose phases of one suite have different labels", args[0])
		}
		rules.Ignore = append(rules.Ignore, "cat", "cat applied")
		return sides, nil
	}
	var sides []judge.Side
	for _, a := range args {
		side, err := sideAt(a)
		if err != nil {
			return nil, err
		}
		for _, r := range side.Runs[1:] {
			if r.Suite != side.Runs[0].Suite || r.Label != side.Runs[0].Label {
				return nil, fmt.Errorf("%s holds several kinds of runs; name one by its label, %s#%s", a, a, side.Runs[0].Label)
			}
		}
		sides = append(sides, side)
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

// sideAt reads the runs that one argument names. Of a folder with several, those that were
// ended early are left out: what ended them was no property of what is compared.
func sideAt(arg string) (judge.Side, error) {
	side := judge.Side{Name: arg}
	for _, part := range strings.Split(arg, ",") {
		path, label, labelled := strings.Cut(part, "#")
		files, err := resultsAt(path)
		if err != nil {
			return side, err
		}
		for _, f := range files {
			runs, err := runsIn(f)
			if err != nil {
				return side, err
			}
			for _, r := range runs {
				switch {
				case labelled && r.Label != label:
				case r.Early && len(files) > 1:
					side.LeftOut = append(side.LeftOut, r.Name+": "+r.Why)
				default:
					side.Runs = append(side.Runs, r)
				}
			}
		}
		if labelled && len(side.Runs) == 0 {
			return side, fmt.Errorf("%s has nothing with the label %q", path, label)
		}
	}
	if len(side.Runs) == 0 {
		return side, fmt.Errorf("%s holds no run that is whole", arg)
	}
	return side, nil
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
	for _, below := range []string{".", "*"} {
		names, err := matching(path, below)
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
	file, err := readResult(path)
	if err != nil {
		return nil, err
	}
	return judge.RunsOf(path, file)
}
