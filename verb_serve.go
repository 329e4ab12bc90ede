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
		Short: "run only the OPC UA server with its PLC task, until interrupted",
		Long: `serve runs the embedded OPC UA server and its cyclic task as "run" would, and waits for
clients: "opcycle measure", or any other OPC UA client. It ends on Ctrl-C and says how
many releases it executed and skipped.`,
		Example: `  opcycle serve                                    on port 4840 of this host
  opcycle serve --listen opc.tcp://0.0.0.0:4840    for other hosts
  opcycle measure opc.tcp://127.0.0.1:4840         in another terminal`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			profile := "single-node"
			if len(args) > 0 {
				profile = args[0]
			}
			if cmd.Flags().Changed("listen") {
				given["listen"] = &listen
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
// phase, no clients of its own and no result.
func ofTheClient() []string { return []string{"duration", "warm-up", "clients", "client-cpus", "out"} }

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
	did, err := run.Serving{Starter: start, Plan: plan, Host: h, Warn: warn, Ready: func(endpoint string, iterations int64, info bench.ProcessInfo) {
		fmt.Fprintf(stdout, "%s: cycle %s, %s %d iterations, %d item(s); CPUs %s, %s; Ctrl-C ends it\n", endpoint,
			plan.Task.Interval, plan.Task.Workload, iterations, plan.OPCUA.Items, bench.CPUList(plan.Server.CPUs), policies(info))
	}}.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "executed %d releases, skipped %d, sent %d notification messages\n", did.Executed, did.Skipped, did.Messages)
	return nil
}

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
