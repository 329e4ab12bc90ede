package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"opcycle/bench"
	"opcycle/configs"
	"opcycle/host"
	"opcycle/report"
	"opcycle/rt"
	"opcycle/run"

	"github.com/spf13/cobra"
)

// attemptName is the hidden verb that tries the calls of a plan, in a process of its own.
const attemptName = "attempt"

func checkVerb() *cobra.Command {
	given := map[string]*string{}
	var c check
	cmd := &cobra.Command{
		Use:   "check [PROFILE | FILE.yaml]",
		Short: "what this machine has or lacks for a plan, what it costs, and what mends it",
		Long: `check reads the machine and tries, in a child process, the calls that the plan needs:
SCHED_FIFO at its priorities, its CPUs, locked memory, /dev/cpu_dma_latency. It prints a
finding for each thing it looked at, the worst first:

  unfit     makes the plan impossible, or its figures meaningless
  unknown   could not be found out, and may make it unfit
  warning   costs cycles, or blurs figures
  note      worth knowing; costs this plan nothing that it asks for
  fit       as the plan wants it

with what was seen and where, what it costs a control cycle, and the one command or boot
parameter that mends it. It changes nothing and measures nothing; it takes well under a
second. A refused call is explained: EPERM of SCHED_FIFO by the capability, the limit or
the control group's budget of real time that is lacking, and so on.

The same findings stand in every result of run, suite, campaign and measure.

PROFILE and the flags are those of run: ` + strings.Join(configs.Profiles(), ", ") + `; the
default is single-node. With --rt require, what run would refuse to start without is unfit.
--root reads another machine, below a folder or in the file of a capture; nothing can be
tried there, and what was tried when the capture was made is judged.

--capture FILE.tar writes every file, folder and link that was read, the errno of every
read that failed, and what was tried: enough for anybody to see the same findings with
--root FILE.tar. The host's name, the user's, addresses, UUIDs and what names a site on the
kernel's command line are replaced; "tar -xOf FILE.tar | less" shows all of it.
run, suite and campaign keep the same beside their result, as ` + host.CaptureName + `.

Exit codes: 0 fit, 1 unfit for the plan, 2 could not tell.`,
		Example: `  opcycle check                          for the vendor's benchmark
  opcycle check --rt require             would a real-time run start?
  opcycle check --server-cpus 3 --client-cpus 2 mine.yaml
  opcycle check --format json | jq -r '.findings[] | select(.severity=="warning") | .remedy // empty'
  opcycle check --capture plc7.tar       for a bug report, or a colleague
  opcycle check --root plc7.tar          the same findings, on any machine
  opcycle check --root results/20260101T000000Z/` + host.CaptureName + ` mine.yaml    that machine for another plan
  podman run --rm --cap-add SYS_NICE --cap-add IPC_LOCK IMAGE check     what a container is allowed`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.profile = "single-node"
			if len(args) > 0 {
				c.profile = args[0]
			}
			return c.run(cmd.Context(), changed(cmd, given), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	overrides(cmd, given)
	cmd.Flags().StringVar(&c.root, "root", "/", "folder below which /proc, /sys, /etc, /run, /boot and /dev of the machine lie, or a capture")
	cmd.Flags().StringVar(&c.capture, "capture", "", "file to write what was read and tried to, without names and addresses")
	cmd.Flags().StringVar(&c.format, "format", "text", "form of the answer: text or json")
	return cmd
}

// check is one call of the verb.
type check struct {
	profile, root, format, capture string
}

func (c check) run(ctx context.Context, given map[string]string, stdout, stderr io.Writer) error {
	if c.format != "text" && c.format != "json" {
		return fmt.Errorf("--format: %q is not known; %s", c.format, bench.Suggest(c.format, []string{"text", "json"}))
	}
	cfg, err := configure(c.profile, given, func(*bench.Config, *bench.Origins) {})
	if err != nil {
		return err
	}
	facts, capture, err := host.Record(c.root, tool())
	if err != nil {
		return err
	}
	plan, refused := bench.Resolve(cfg, facts.Host)
	if refused != nil {
		plan = bench.Plan{Name: cfg.Name, RT: bench.RTMode(cfg.Placement.RT)}
	}
	checked := examine(ctx, c.root, facts, plan.Need(""), refused)
	if c.capture != "" {
		capture.Tried(checked.Attempts)
		if err := keep(c.capture, capture, stderr); err != nil {
			return err
		}
	}
	write := report.Check
	if c.format == "json" {
		write = writeJSON
	}
	if err := write(stdout, checked); err != nil {
		return err
	}
	switch checked.Fitness {
	case bench.FitnessUnfit:
		return verdict{exitFailed}
	case bench.FitnessUnknown:
		return verdict{exitNotMeasured}
	}
	return nil
}

// keep writes the capture and says so.
func keep(path string, capture *host.Capture, stderr io.Writer) error {
	var size int64
	err := whole(path, func(w io.Writer) (err error) {
		size, err = capture.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("--capture: %w", err)
	}
	_, err = fmt.Fprintf(stderr, "captured in %s (%d kB); names and addresses are replaced: tar -xOf %s | less, before you send it\n", path, (size+1023)/1024, path)
	return err
}

// examine tries what a plan needs, on the live machine, and judges everything. refused is
// why the plan can't be placed; nil: it can.
func examine(ctx context.Context, root string, facts host.Facts, n bench.Need, refused error) bench.Checked {
	var why error
	if root == "/" {
		facts.Attempts, why = tries(ctx, n)
	}
	findings := host.Check(facts, n)
	if why != nil {
		for i := range findings {
			if findings[i].Key == "attempts" {
				findings[i].Seen, findings[i].Remedy = "n/a: "+why.Error(), ""
			}
		}
	}
	if refused != nil {
		findings = append(findings, bench.Finding{Key: "plan", Title: "the plan can't be placed on this machine", Seen: refused.Error(),
			Severity: bench.SeverityUnfit, Cost: "a run refuses to start"})
		bench.SortFindings(findings)
	}
	fitness, _ := bench.FitnessOf(findings)
	return bench.Checked{Tool: tool(), Root: root, Fitness: fitness, Verdict: bench.Verdict(n.Plan, findings), Need: n,
		Findings: findings, Attempts: facts.Attempts, Host: facts.Host}
}

// looked is what check found for a plan that is about to be measured here.
type looked struct {
	findings []bench.Finding
	warnings []string
	capture  *host.Capture // nil: the machine could not be read
}

// lookAround checks. NB: nothing is measured yet, and the conductor has left the measured
// CPUs.
func lookAround(ctx context.Context, n bench.Need) looked {
	facts, capture, err := host.Record("/", tool())
	if err != nil {
		return looked{warnings: []string{"the machine was not checked: " + err.Error()}}
	}
	c := examine(ctx, "/", facts, n, nil)
	capture.Tried(c.Attempts)
	return looked{findings: c.Findings, capture: capture}
}

// lookAsServer checks for the server's side of a plan.
func lookAsServer(ctx context.Context, warn func(string)) func(bench.Plan) []bench.Finding {
	return func(p bench.Plan) []bench.Finding {
		l := lookAround(ctx, p.Need(bench.ProcessClient))
		for _, w := range l.warnings {
			warn(w)
		}
		return l.findings
	}
}

// into puts what was found into a result and keeps the capture beside it. Without its
// capture a result is whole, with a warning.
func (l looked) into(file *bench.File, folder *run.Folder) {
	file.Findings, file.Warnings = l.findings, append(file.Warnings, l.warnings...)
	if l.capture == nil {
		return
	}
	err := folder.Keep(host.CaptureName, func(w io.Writer) error {
		_, err := l.capture.WriteTo(w)
		return err
	})
	if err != nil {
		file.Warnings = append(file.Warnings, "the capture of the machine was not kept: "+err.Error())
	}
}

// tries has this binary try what a plan needs.
func tries(ctx context.Context, n bench.Need) ([]bench.Attempt, error) {
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the program's own file: %w", err)
	}
	return run.Tries(ctx, exe, []string{attemptName}, n)
}

func writeJSON(w io.Writer, c bench.Checked) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", " ")
	return enc.Encode(c)
}

// attemptVerb is the child of check and of everything that measures: a bench.Need comes
// on standard input, what was tried goes to standard output.
func attemptVerb() *cobra.Command {
	return &cobra.Command{
		Use: attemptName, Hidden: true, Args: cobra.NoArgs,
		Short: "tries the calls of a plan, started by check",
		RunE: func(cmd *cobra.Command, _ []string) error {
			_ = rt.SetParentDeathSignal() // a time limit ends it too
			var n bench.Need
			if err := json.NewDecoder(os.Stdin).Decode(&n); err != nil {
				return fmt.Errorf("no plan's needs on standard input: %w; this verb is started by opcycle check", err)
			}
			return json.NewEncoder(cmd.OutOrStdout()).Encode(host.Try(n, "/"))
		},
	}
}
