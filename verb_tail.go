package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	"opcycle/judge"
	"opcycle/report"

	"github.com/spf13/cobra"
)

func tailVerb() *cobra.Command {
	var series string
	var over time.Duration
	cmd := &cobra.Command{
		Use:   "tail FILE | FOLDER",
		Short: "estimate what a longer run would exceed only once",
		Long: `tail fits the maxima of the seconds of a run (block maxima, generalized extreme value
distribution) and prints the level that a longer run of the same kind would exceed once,
with its 95 % interval: an estimate under assumptions that it prints, never a worst case.

It is refused, with the reason, when the data do not support it: too few maxima, maxima
that depend on each other, a fit that does not converge, is too heavy or does not fit, or
more than ten times the observed duration.

Exit codes: 0 estimated, 2 refused.`,
		Example: `  opcycle tail results/long/run.json
  opcycle tail results/long/run.json --series start_latency --over 8h`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return tail(args[0], series, over, cmd.OutOrStdout())
		},
	}
	cmd.Flags().StringVar(&series, "series", "execution_time", "the series, by its machine name")
	cmd.Flags().DurationVar(&over, "over", 0, "return period, at most ten times the run (ten times)")
	return cmd
}

func tail(path, series string, over time.Duration, stdout io.Writer) error {
	if over < 0 {
		return fmt.Errorf("--over %s is in the past; write a duration such as 8h", over)
	}
	path, err := oneResult(path)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("open the result: %w", err)
	}
	f, err := report.Read(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	runs, err := judge.RunsOf(path, f)
	if err != nil {
		return err
	}
	found := false
	refused := false
	for _, r := range runs {
		for i := range r.Series {
			if s := &r.Series[i]; s.Name == series {
				found = true
				t := judge.EstimateTail(s, over)
				refused = refused || !t.OK
				if _, err := io.WriteString(stdout, report.Tail(s.Object+" "+s.Name, t)); err != nil {
					return err
				}
			}
		}
	}
	switch {
	case !found:
		return fmt.Errorf("%s has no series %q; opcycle report --format csv lists what it has", path, series)
	case refused:
		return verdict{exitNotMeasured}
	}
	return nil
}
