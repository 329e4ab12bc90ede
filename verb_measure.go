package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"time"

	"opcycle/bench"
	"opcycle/client"
	"opcycle/run"

	"github.com/spf13/cobra"
)

func measureVerb() *cobra.Command {
	given := map[string]*string{}
	var formats, budgets *[]string
	var metrics *string
	var delivered *delivery
	cmd := &cobra.Command{
		Use:   "measure opc.tcp://HOST:PORT",
		Short: "run only the measuring client, against a server started by hand",
		Long: `measure runs the pinned client against a server that "opcycle serve" runs, takes the task
(cycle, host, program, items) from that server, and reports both sides: the server hands its
books of the phase over. What needs every record of the server is n/a. With the task in the
client ("opcycle serve --plc client") --iterations says what it calculates.`,
		Example: `  opcycle serve                                    in one terminal
  opcycle measure opc.tcp://127.0.0.1:4840         in another`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := readOutputs(cmd.OutOrStdout(), *formats)
			if err == nil {
				out, err = delivered.into(cmd.Context(), out, cmd.ErrOrStderr())
			}
			if err != nil {
				return err
			}
			return runMeasure(cmd.Context(), args[0], changed(cmd, given), *budgets, *metrics, out, cmd.ErrOrStderr())
		},
	}
	overrides(cmd, given)
	formats, budgets, metrics = formatFlag(cmd), budgetFlag(cmd), metricsFlag(cmd)
	delivered = deliveryFlags(cmd)
	for _, name := range []string{"interval", "items", "workload", "plc", "server-cpus", "priority"} {
		_ = cmd.Flags().MarkHidden(name) // the server's to say; the flag exists, see overrides
	}
	return cmd
}

// checkEndpoint holds the argument of a verb to the rule of the profile's key.
func checkEndpoint(verb, endpoint string) error {
	cfg := bench.Defaults()
	cfg.OPCUA.Endpoint = endpoint
	var o bench.Origins
	u, err := url.Parse(endpoint)
	if bench.Validate(cfg, o) != nil || err != nil || u.Port() == "0" {
		return fmt.Errorf("%s: %q is no endpoint to connect to; write opc.tcp://host:port as opcycle serve prints it", verb, endpoint)
	}
	return nil
}

// taskOf is the task that the server announced, with what this end says of it: when it
// hosts the program, its thread's priority, and the iterations if they were given.
func taskOf(announced, own bench.Task, given map[string]string) bench.Task {
	t := announced
	if t.Host != bench.HostClient {
		return t
	}
	t.Priority = own.Priority
	if _, ok := given["iterations"]; ok {
		t.Iterations, t.Auto, t.Target = own.Iterations, own.Auto, own.Target
	}
	return t
}

func runMeasure(ctx context.Context, endpoint string, given map[string]string, budgets []string, metrics string, out outputs, stderr io.Writer) error {
	for _, name := range []string{"interval", "items", "workload", "plc", "server-cpus", "priority"} {
		if _, ok := given[name]; ok {
			return fmt.Errorf("--%s is the server's to say; give it to opcycle serve", name)
		}
	}
	if err := checkEndpoint("measure", endpoint); err != nil {
		return err
	}
	hello, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	server, err := client.Announced(hello, endpoint)
	if err != nil {
		return err
	}
	task := server.Plan.Task
	if _, ok := given["iterations"]; ok && task.Host == bench.HostServer {
		return errors.New("--iterations is the server's to say; give it to opcycle serve")
	}
	given["interval"], given["plc"], given["workload"] = task.Interval.String(), string(task.Host), task.Workload
	given["items"] = fmt.Sprint(server.Plan.OPCUA.Items)
	_, plan, h, err := planWith("single-node", given, sayBudgets(budgets))
	if err != nil {
		return err
	}
	plan.Task = taskOf(task, plan.Task, given)
	plan.OPCUA.Endpoint, plan.Floor, plan.Server = endpoint, 0, server.Plan.Server
	serving, err := listenMetrics(metrics, plan, stderr)
	if err != nil {
		return err
	}
	defer serving.close()
	remote := &run.Remote{Endpoint: endpoint, Announcement: server}
	return conduct(ctx, run.OPCUA{Plan: plan, Host: h, Watch: serving.watch(plan), Remote: remote}, out, stderr)
}
