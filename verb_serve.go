package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"opcycle/bench"
	"opcycle/run"

	"github.com/spf13/cobra"
)

func serveVerb() *cobra.Command {
	given := map[string]*string{}
	var listen string
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
			return runServe(cmd.Context(), profile, changed(cmd, given), listen, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	overrides(cmd, given)
	cmd.Flags().StringVar(&listen, "listen", "opc.tcp://127.0.0.1:4840", "where to listen; opc.tcp://0.0.0.0:4840 for other hosts")
	return cmd
}

func runServe(ctx context.Context, profile string, given map[string]string, listen string, stdout, stderr io.Writer) error {
	_, plan, h, err := planOf(profile, given)
	if err != nil {
		return err
	}
	plan.OPCUA.Endpoint = listen
	start, err := starter()
	if err != nil {
		return err
	}
	for _, n := range plan.Notes {
		fmt.Fprintln(stderr, "note:", n)
	}
	served, err := run.Serving{Starter: start, Plan: plan, Host: h, Ready: func(endpoint string, info bench.ProcessInfo) {
		fmt.Fprintf(stdout, "%s: cycle %s, %s %d iterations, %d item(s); CPUs %s, %s; Ctrl-C ends it\n", endpoint,
			plan.Task.Interval, plan.Task.Workload, plan.Task.Iterations, plan.OPCUA.Items, bench.CPUList(plan.Server.CPUs), policies(info))
	}}.Run(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(stdout, "executed %d releases, skipped %d, sent %d notification messages\n", served.Executed, served.Skipped, served.Messages)
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
