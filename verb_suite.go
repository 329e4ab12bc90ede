package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"opcycle/bench"
	"opcycle/host"
	"opcycle/rt"
	"opcycle/run"
	"opcycle/workloads"

	"github.com/spf13/cobra"
)

func suiteVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "suite [NAME]",
		Short: "measure one suite alone; without a name, list them",
		Long:  "suite lists the suites, one line each on what it measures. suite NAME runs one:\n\n" + suiteList(),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			_, err := workloads.Find(args[0])
			return err
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(cmd.OutOrStdout(), suiteList(), "\nopcycle suite NAME --help says how each one measures.\n")
			return err
		},
	}
	for _, s := range workloads.All() {
		cmd.AddCommand(oneSuite(s))
	}
	return cmd
}

func suiteList() string {
	var b strings.Builder
	for _, s := range workloads.All() {
		fmt.Fprintf(&b, "  %-12s %s\n", s.Name, s.Short)
	}
	return b.String()
}

func oneSuite(s bench.Suite) *cobra.Command {
	runner, options := s.New(), run.DefaultSuiteOptions()
	var out string
	var formats *[]string
	cmd := &cobra.Command{
		Use:   s.Name,
		Short: s.Short,
		Long:  s.Method,
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			to, err := readOutputs(cmd.OutOrStdout(), *formats)
			if err != nil {
				return err
			}
			return runSuite(cmd.Context(), run.Suite{Suite: s, Runner: runner, Options: options, Around: run.Arounds(&options)}, out, to, cmd.ErrOrStderr())
		},
	}
	for _, o := range append(runner.Options(), options.Table()...) {
		flagOf(cmd, o)
	}
	formats = formatFlag(cmd)
	cmd.Flags().StringVar(&out, "out", "", "folder of the result (results/<UTC time>)")
	return cmd
}

// option is an Option as a flag.
type option struct{ bench.Option }

func (o option) String() string {
	if o.Get == nil { // the flag library asks a zero value for its default
		return ""
	}
	return o.Get()
}
func (o option) Set(text string) error { return o.Option.Set(text) }
func (option) Type() string            { return "value" }

func flagOf(cmd *cobra.Command, o bench.Option) {
	f := cmd.Flags().VarPF(option{o}, o.Name, "", o.Usage)
	if o.Bool {
		f.NoOptDefVal = "on"
	}
}

// runSuite runs one suite alone, keeps its result and reports it.
func runSuite(ctx context.Context, s run.Suite, out string, to outputs, stderr io.Writer) error {
	var err error
	if s.Host, err = host.Read("/"); err != nil {
		return err
	}
	if s.Prober, err = prober(); err != nil {
		return err
	}
	if out == "" {
		out = defaultOut()
	}
	if s.Folder, err = run.Create(out, 0); err != nil {
		return err
	}
	var notes []string
	home, err := s.Housekeeping()
	if err == nil {
		if moved := rt.SetProcessAffinity(home); moved != nil {
			notes = append(notes, "the conductor could not leave the measured CPUs: "+moved.Error())
		}
	} // else Run says the same
	var machine looked
	if need, err := s.Need(); err == nil { // else Run says the same
		machine = lookAround(ctx, need)
	}
	bar := newProgress(stderr)
	s.Root, s.Progress = "/", bar.show
	r, err := s.Run(ctx)
	bar.end()
	if err != nil {
		s.Folder.Discard()
		return err
	}
	file := run.SuiteFile(s.Suite.Name, s.Host, []bench.SuiteResult{r})
	file.Tool, file.Warnings = tool(), notes
	machine.into(&file, s.Folder)
	return finish(s.Folder, file, to)
}

// prober makes probes of this binary.
func prober() (run.Prober, error) {
	exe, err := os.Executable()
	if err != nil {
		return run.Prober{}, fmt.Errorf("find the program's own file: %w", err)
	}
	return run.Prober{Exe: exe, Args: func(suite, probe string, size int) []string {
		return []string{probeName, suite, probe, fmt.Sprint(size)}
	}}, nil
}

// probeName is the verb that main locks the main thread for.
const probeName = "probe"

// probeVerb is the hidden verb of a suite's measured process: run/probe.go starts it, with
// the control socket on descriptor 3 and the shared memory on 4.
func probeVerb() *cobra.Command {
	return &cobra.Command{
		Use: probeName + " SUITE PROBE BYTES", Hidden: true, Args: cobra.ExactArgs(3),
		Short: "a suite's measured process",
		RunE: func(_ *cobra.Command, args []string) error {
			var size int
			if _, err := fmt.Sscan(args[2], &size); err != nil || size < 0 {
				return fmt.Errorf("probe: %q is no size", args[2])
			}
			if rt.Gettid() != os.Getpid() {
				return errors.New("probe: not on the main thread")
			}
			return workloads.Serve(args[0], args[1], controlFD, controlFD+1, size)
		},
	}
}
