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
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/configs"
	"opcycle/host"
	"opcycle/judge"
	"opcycle/report"
	"opcycle/rt"
	"opcycle/run"

	"github.com/spf13/cobra"
)

func runVerb() *cobra.Command {
	given := map[string]*string{}
	var dry bool
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
it may say.`,
		Example: `  opcycle run                                     the vendor's benchmark, one minute
  opcycle run --duration 10s                      a quick look
  opcycle run --plc client                        the vendor's topology: the PLC in the client
  opcycle run --iterations auto --items 100       calculation time of the vendor, 100 items
  opcycle run --dry-run > mine.yaml               the effective plan, to edit and run`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			profile := "single-node"
			if len(args) > 0 {
				profile = args[0]
			}
			return runRun(cmd.Context(), profile, changed(cmd, given), dry, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	overrides(cmd, given)
	cmd.Flags().BoolVar(&dry, "dry-run", false, "print the effective plan as YAML and stop")
	return cmd
}

// overrides declares the flags that override a profile.
func overrides(cmd *cobra.Command, given map[string]*string) {
	for _, f := range bench.Flags() {
		given[f.Name] = cmd.Flags().String(f.Name, "", f.Usage)
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

func runRun(ctx context.Context, profile string, given map[string]string, dry bool, stdout, stderr io.Writer) error {
	cfg, plan, h, err := planOf(profile, given)
	if err != nil {
		return err
	}
	if dry {
		text, err := bench.PlanYAML(cfg, plan)
		if err == nil {
			_, err = stdout.Write(text)
		}
		return err
	}
	return conduct(ctx, run.OPCUA{Plan: plan, Host: h}, stdout, stderr)
}

// conduct runs o to its end, shows where it is, saves the result and reports it.
func conduct(ctx context.Context, o run.OPCUA, stdout, stderr io.Writer) error {
	if o.Plan.Out == "" {
		o.Plan.Out = filepath.Join("results", time.Now().UTC().Format("20060102T150405Z"))
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
	bar := newProgress(stderr)
	o.Root, o.Progress, o.Records = "/", bar.show, folder.Records()
	file, err := o.Run(ctx)
	bar.end()
	if err != nil {
		folder.Discard()
		return err
	}
	file.Tool = tool()
	return finish(folder, file, stdout)
}

// finish saves the result and does what report does.
func finish(folder *run.Folder, file bench.File, stdout io.Writer) error {
	if folder.Records() != nil {
		file.Cycles = run.RecordsName
	}
	if err := folder.Save(file); err != nil {
		return err
	}
	path := filepath.Join(folder.Dir, run.ResultName)
	return reportFile(path, "text", stdout)
}

// planOf reads profile and flags and resolves them on this machine.
func planOf(profile string, given map[string]string) (bench.Config, bench.Plan, bench.Host, error) {
	return planWith(profile, given, func(*bench.Config, *bench.Origins) {})
}

// planWith is planOf with what a verb says beyond the flags of the profile.
func planWith(profile string, given map[string]string, say func(*bench.Config, *bench.Origins)) (bench.Config, bench.Plan, bench.Host, error) {
	name, data, err := readProfile(profile)
	if err != nil {
		return bench.Config{}, bench.Plan{}, bench.Host{}, err
	}
	cfg, origins, err := bench.Decode(name, data)
	errs := []error{err, bench.ApplyFlags(&cfg, &origins, given)}
	say(&cfg, &origins)
	if err := errors.Join(append(errs, bench.Validate(cfg, origins))...); err != nil {
		return cfg, bench.Plan{}, bench.Host{}, err
	}
	h, err := host.Read("/")
	if err != nil {
		return cfg, bench.Plan{}, h, err
	}
	plan, err := bench.Resolve(cfg, h)
	return cfg, plan, h, err
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

// reportFile prints the result at path in format and returns its verdict as an error.
func reportFile(path, format string, stdout io.Writer) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the result: %w", err)
	}
	defer f.Close()
	file, err := report.Read(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	v := judge.Judge(file)
	switch format {
	case "csv":
		err = report.CSV(stdout, file)
	default:
		var refs []bench.Reference
		if refs, err = report.ReadReferences(configs.References()); err == nil {
			err = report.Text(stdout, file, v, refs)
		}
	}
	if err != nil {
		return err
	}
	if code := v.ExitCode(); code != exitPass {
		return verdict{code}
	}
	return nil
}
