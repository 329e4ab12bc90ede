package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"opcycle/bench"
	"opcycle/rt"
	"opcycle/run"

	"github.com/spf13/cobra"
)

func serveVerb() *cobra.Command {
	given := map[string]*string{}
	var listen string // empty: not given
	cmd := &cobra.Command{
		Use:   "serve [PROFILE | FILE.yaml]",
		Short: "run only the OPC UA server, until interrupted",
		Long: `serve runs the embedded OPC UA server. Without a profile and without flags of a task it
waits for "opcycle measure", which brings the plan along: it is resolved on this host, a
server process runs it on this port, and when that client has ended, or is gone, serve
waits for the next. One run at a time; --server-cpus, --priority and --rt of this host go
before the client's.

With a PROFILE, or --interval, --items, --workload, --iterations or --plc, serve runs that
task at once as "run" would, for "opcycle measure" without a profile or for any other
OPC UA client. It ends on Ctrl-C and says how many releases it executed and skipped.`,
		Example: `  opcycle serve                                    waits on port 4840 of this host
  opcycle serve --listen opc.tcp://0.0.0.0:4840    for other hosts
  opcycle measure opc.tcp://127.0.0.1:4840 quick   in another terminal, with its plan
  opcycle serve single-node                        a task at once, for any OPC UA client`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			profile := "single-node"
			if len(args) > 0 {
				profile = args[0]
			}
			if cmd.Flags().Changed("listen") {
				given["listen"] = &listen
			}
			if given := changed(cmd, given); waits(args, given) {
				return runDesk(cmd.Context(), given, cmd.OutOrStdout(), cmd.ErrOrStderr())
			}
			return runServe(cmd.Context(), profile, changed(cmd, given), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	for _, f := range bench.Flags() {
		if !slices.Contains(ofTheClient(), f.Name) {
			given[f.Name] = cmd.Flags().String(f.Name, "", f.Usage)
		}
	}
	cmd.Flags().StringVar(&listen, "listen", "", "where to listen; opc.tcp://0.0.0.0:4840 for other hosts (the profile's endpoint, or "+defaultListen+")")
	return cmd
}

const defaultListen = "opc.tcp://127.0.0.1:4840"

// ofTheClient are the overriding flags that say nothing to a server: it has no measuring
// phase, no clients of its own, no result, and nothing beside.
func ofTheClient() []string {
	return []string{"duration", "warm-up", "clients", "client-cpus", "out", "stress-ng", "cyclictest", "trace", "trace-stop-above"}
}

// served says the endpoint, and a phase that fits any cycle: serve has none.
func served(listen string, given bool) func(*bench.Config, *bench.Origins) {
	return func(c *bench.Config, o *bench.Origins) {
		switch {
		case given:
			c.OPCUA.Endpoint = listen
			o.Flag("opcua.endpoint", "--listen")
		case !o.Said("opcua.endpoint"):
			c.OPCUA.Endpoint = defaultListen
		}
		if !o.Said("run.duration") {
			c.Run.Duration = 6000 * c.PLC.Interval
		}
	}
}

func runServe(ctx context.Context, profile string, given map[string]string, stdout, stderr io.Writer) error {
	listen, ok := given["listen"]
	_, plan, h, err := planWith(profile, given, served(listen, ok))
	if err != nil {
		return err
	}
	start, err := starter()
	if err != nil {
		return err
	}
	if err := rt.SetProcessAffinity(plan.Housekeeping.CPUs); err != nil {
		plan.Notes = append(plan.Notes, "the conductor could not leave the measured CPUs: "+err.Error())
	}
	for _, n := range plan.Notes {
		fmt.Fprintln(stderr, "note:", n)
	}
	warn := func(text string) { fmt.Fprintln(stderr, "warning:", text) }
	did, err := run.Serving{Starter: start, Tool: tool(), Plan: plan, Host: h, Warn: warn, Busy: ownTask, Look: lookAsServer(ctx, warn), Ready: func(endpoint string, a bench.Announcement) {
		fmt.Fprintf(stdout, "%s: cycle %s, %s %d iterations, %d item(s); CPUs %s, %s; Ctrl-C ends it\n", endpoint,
			plan.Task.Interval, plan.Task.Workload, a.Plan.Task.Iterations, plan.OPCUA.Items, bench.CPUList(plan.Server.CPUs), policies(a.Server))
	}}.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, did)
	return nil
}

// ownTask is what a client that brings a plan is told by a server that has a task.
const ownTask = "this server was given its task when it was started (opcycle serve PROFILE, or by flags); measure it without a profile, or start opcycle serve without one"

// policies says in a few words how the threads of a process are scheduled.
func policies(info bench.ProcessInfo) string {
	seen := map[string]bool{}
	var words []string
	for _, t := range info.Threads {
		w := fmt.Sprintf("%s %s %d", t.Role, t.Policy, t.Priority)
		if !seen[w] {
			seen[w] = true
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}
