package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/configs"
	"opcycle/host"
	"opcycle/rt"
	"opcycle/run"
	"opcycle/workloads"

	"github.com/spf13/cobra"
)

func runVerb() *cobra.Command {
	given := map[string]*string{}
	var dry bool
	var times int
	var with []string
	var formats *[]string
	var budgets budgetFlags
	var metrics, against *string
	var delivered *delivery
	cmd := &cobra.Command{
		Use:   "run [PROFILE | FILE.yaml]",
		Short: "measure an OPC UA control cycle and print the vendor's table",
		Long: `run starts the embedded OPC UA server and the measuring client as two processes, each
pinned and at SCHED_FIFO where the kernel allows it, leads them through

  start, connect, warm up, align, floor, measure, drain, floor, collect, report

and prints the vendor's table with this machine's figures, then every cause of a missed
or late packet and what stole the time. The result stays in a folder (--out), and
"opcycle report FOLDER/run.json" prints it again.

PROFILE is one of: ` + strings.Join(configs.Profiles(), ", ") + `; the default is single-node.
A FILE.yaml holds only what differs from the defaults; --dry-run prints everything that
it may say.

--repeat 5 measures five times and says what runs of one plan differ by on this machine,
beside the noise within a run: what a comparison has to exceed (opcycle compare). A report
of --format FORMAT=PATH gets the run's number before its ending. The exit code is the
highest of the runs; Ctrl-C keeps the runs that were made, and is 2.`,
		Example: `  opcycle run                                     the vendor's benchmark, one minute
  opcycle run --duration 10s                      a quick look
  opcycle run --plc client                        the vendor's topology: the PLC in the client
  opcycle run --iterations auto --items 100       calculation time of the vendor, 100 items
  opcycle run --repeat 5 --out results/before     five runs, to compare others with
  opcycle run --dry-run > mine.yaml               the effective plan, to edit and run`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			profile := "single-node"
			if len(args) > 0 {
				profile = args[0]
			}
			out, err := readOutputs(cmd.OutOrStdout(), *formats)
			if out.against = *against; err == nil {
				_, err = references(out.against)
			}
			if err == nil {
				out, err = delivered.into(cmd.Context(), out, cmd.ErrOrStderr())
			}
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("repeat") {
				if err := checkRepeat(times, out); err != nil {
					return err
				}
			}
			limits, err := budgets.read()
			if err != nil {
				return err
			}
			return runRun(cmd.Context(), profile, changed(cmd, given), limits, with, *metrics, dry, times, out, cmd.ErrOrStderr())
		},
	}
	overrides(cmd, given)
	formats, budgets, metrics, against = formatFlag(cmd), budgetFlagsOf(cmd), metricsFlag(cmd), againstFlag(cmd)
	delivered = deliveryFlags(cmd)
	cmd.Flags().StringSliceVar(&with, "with", nil, "a suite that runs beside and is noise to the run; repeatable (opcycle suite lists them)")
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the effective plan as YAML and stop")
	cmd.Flags().IntVar(&times, "repeat", 1, "runs, one after the other, into 1, 2, ... of the folder, and what they differ by")
	return cmd
}

// overrides declares the flags that override a profile.
func overrides(cmd *cobra.Command, given map[string]*string) {
	for _, f := range bench.Flags() {
		given[f.Name] = cmd.Flags().String(f.Name, "", f.Usage)
		cmd.Flags().Lookup(f.Name).NoOptDefVal = f.Alone
	}
}

// sayBudgets adds the budgets of the command line to a profile's.
func sayBudgets(budgets []string) func(*bench.Config, *bench.Origins) {
	return func(c *bench.Config, o *bench.Origins) {
		for _, b := range budgets {
			if slices.Contains(c.Budgets, b) {
				continue // the profile says so already
			}
			o.Flag(fmt.Sprintf("budgets[%d]", len(c.Budgets)), "--budget")
			c.Budgets = append(c.Budgets, b)
		}
	}
}

// sayBeside adds the budgets and suites of the command line to a profile's.
func sayBeside(budgets, with []string) func(*bench.Config, *bench.Origins) {
	return func(c *bench.Config, o *bench.Origins) {
		sayBudgets(budgets)(c, o)
		for _, name := range with {
			o.Flag(fmt.Sprintf("beside.with[%d]", len(c.Beside.With)), "--with")
			c.Beside.With = append(c.Beside.With, name)
		}
	}
}

// changed are the overrides that the user gave.
func changed(cmd *cobra.Command, given map[string]*string) map[string]string {
	out := map[string]string{}
	for name, v := range given {
		if cmd.Flags().Changed(name) {
			out[name] = *v
		}
	}
	return out
}

func runRun(ctx context.Context, profile string, given map[string]string, budgets said, with []string, metrics string, dry bool, times int, out outputs, stderr io.Writer) error {
	cfg, plan, h, err := planWith(profile, given, sayBeside(budgets.texts(), with))
	if err == nil {
		err = budgets.fit(plan.Task.Interval)
	}
	if err != nil {
		return err
	}
	for _, name := range cfg.Beside.With {
		if _, err := workloads.FindBeside(name); err != nil {
			return fmt.Errorf("beside.with (--with): %w", err)
		}
	}
	if dry {
		text, err := bench.PlanYAML(cfg, plan)
		if err == nil {
			_, err = out.stdout.Write(text)
		}
		return err
	}
	serving, err := listenMetrics(metrics, plan, stderr)
	if err != nil {
		return err
	}
	defer serving.close()
	o := run.OPCUA{Plan: plan, Host: h, Watch: serving.watch(plan)}
	if times > 1 {
		return repeat(ctx, times, o, out, stderr)
	}
	return conduct(ctx, o, out, stderr)
}

// conduct runs o to its end, shows where it is, saves the result and reports it.
func conduct(ctx context.Context, o run.OPCUA, out outputs, stderr io.Writer) error {
	if o.Plan.Out == "" {
		o.Plan.Out = defaultOut()
	}
	folder, err := run.Create(o.Plan.Out, run.Kept(o.Plan))
	if err != nil {
		return err
	}
	if o.Starter, err = starter(); err != nil {
		folder.Discard()
		return err
	}
	if err := rt.SetProcessAffinity(o.Plan.Housekeeping.CPUs); err != nil {
		o.Plan.Notes = append(o.Plan.Notes, "the conductor could not leave the measured CPUs: "+err.Error())
	}
	if o.Prober, err = prober(); err != nil {
		folder.Discard()
		return err
	}
	o.Folder = folder
	elsewhere := ""
	if o.Remote != nil {
		elsewhere = bench.ProcessServer
	}
	machine := lookAround(ctx, o.Plan.Need(elsewhere))
	bar := newProgress(stderr)
	o.Root, o.Progress, o.Records = "/", bar.show, folder.Records()
	file, err := o.Run(ctx)
	bar.end()
	if err != nil {
		folder.Discard()
		return err
	}
	file.Tool = tool()
	machine.into(&file, folder)
	return finish(folder, file, out)
}

// defaultOut is the folder of a result that was given none: of this second, with a number
// when there is one already.
func defaultOut() string {
	base := filepath.Join("results", time.Now().UTC().Format("20060102T150405Z"))
	out := base
	for i := 2; ; i++ {
		if _, err := os.Stat(out); err != nil {
			return out
		}
		out = fmt.Sprintf("%s-%d", base, i)
	}
}

// finish saves the result and does what report does.
func finish(folder *run.Folder, file bench.File, out outputs) error {
	if folder.Records() != nil {
		file.Cycles = run.RecordsName
	}
	if out.name != nil {
		out.name(&file.Host)
	}
	if err := folder.Save(file); err != nil {
		return err
	}
	err := out.report(filepath.Join(folder.Dir, run.ResultName))
	if out.after != nil {
		err = out.after(folder.Dir, out.below, err)
	}
	return err
}

// planWith reads profile, flags and what a verb says beyond them, and resolves all on this
// machine.
func planWith(profile string, given map[string]string, say func(*bench.Config, *bench.Origins)) (bench.Config, bench.Plan, bench.Host, error) {
	cfg, err := configure(profile, given, say)
	if err != nil {
		return cfg, bench.Plan{}, bench.Host{}, err
	}
	h, err := host.Read("/")
	if err != nil {
		return cfg, bench.Plan{}, h, err
	}
	plan, err := bench.Resolve(cfg, h)
	return cfg, plan, h, err
}

// configure reads profile, flags and what a verb says beyond them, and validates all.
func configure(profile string, given map[string]string, say func(*bench.Config, *bench.Origins)) (bench.Config, error) {
	name, data, err := readProfile(profile)
	if err != nil {
		return bench.Config{}, err
	}
	return configureText(name, data, given, say)
}

// configureText is configure for the text of a profile; name is what complaints call it.
func configureText(name string, data []byte, given map[string]string, say func(*bench.Config, *bench.Origins)) (bench.Config, error) {
	cfg, origins, err := bench.Decode(name, data)
	errs := []error{err, bench.ApplyFlags(&cfg, &origins, given)}
	say(&cfg, &origins)
	return cfg, errors.Join(append(errs, bench.Validate(cfg, origins))...)
}

// readProfile finds a shipped profile by name, or a file by its ending or path.
func readProfile(profile string) (name string, data []byte, err error) {
	if strings.HasSuffix(profile, ".yaml") || strings.HasSuffix(profile, ".yml") || strings.ContainsRune(profile, os.PathSeparator) {
		data, err = os.ReadFile(profile)
		if err != nil {
			err = fmt.Errorf("read the profile: %w", err)
		}
		return profile, data, err
	}
	data, err = configs.Profile(profile)
	return profile + ".yaml", data, err
}

// tool names the program in a result.
func tool() bench.Tool {
	t := bench.Tool{Name: "opcycle", Version: version(), Go: runtime.Version()}
	if b, ok := debug.ReadBuildInfo(); ok {
		t.Commit = setting(b, "vcs.revision")
	}
	return t
}
