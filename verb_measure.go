package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"opcycle/client"
	"opcycle/rt"
	"opcycle/run"

	"github.com/spf13/cobra"
)

func measureVerb() *cobra.Command {
	given := map[string]*string{}
	cmd := &cobra.Command{
		Use:   "measure opc.tcp://HOST:PORT",
		Short: "run only the measuring client, against a server started by hand",
		Long: `measure runs the pinned client against a server that "opcycle serve" runs, takes the task
(cycle, host, items) from that server, and reports what the client's side can tell. What
needs the server's own log is n/a.`,
		Example: `  opcycle serve                                    in one terminal
  opcycle measure opc.tcp://127.0.0.1:4840         in another`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return runMeasure(cmd.Context(), args[0], changed(cmd, given), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	overrides(cmd, given)
	for _, name := range []string{"interval", "items", "workload", "plc", "server-cpus", "priority"} {
		_ = cmd.Flags().MarkHidden(name) // the server's to say; the flag exists, see overrides
	}
	return cmd
}

func runMeasure(ctx context.Context, endpoint string, given map[string]string, stdout, stderr io.Writer) error {
	for _, name := range []string{"interval", "items", "workload", "plc", "server-cpus", "priority"} {
		if _, ok := given[name]; ok {
			return fmt.Errorf("--%s is the server's to say; give it to opcycle serve", name)
		}
	}
	hello, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	server, err := client.Announced(hello, endpoint)
	if err != nil {
		return err
	}
	task := server.Plan.Task
	given["interval"], given["plc"], given["workload"] = task.Interval.String(), string(task.Host), task.Workload
	given["items"] = fmt.Sprint(server.Plan.OPCUA.Items)
	_, plan, h, err := planOf("single-node", given)
	if err != nil {
		return err
	}
	if plan.Out == "" {
		plan.Out = filepath.Join("results", time.Now().UTC().Format("20060102T150405Z"))
	}
	plan.Task.Publish, plan.Task.Deadline = task.Publish, task.Deadline
	plan.OPCUA.Endpoint, plan.Floor, plan.Server = endpoint, 0, server.Plan.Server
	folder, err := run.Create(plan.Out, int64(plan.Duration) <= run.RecordsLimit)
	if err != nil {
		return err
	}
	start, err := starter()
	if err != nil {
		return err
	}
	if err := rt.SetAffinity(0, plan.Housekeeping.CPUs); err != nil {
		plan.Notes = append(plan.Notes, "the conductor could not leave the measured CPUs: "+err.Error())
	}
	bar := newProgress(stderr, plan.Duration)
	file, err := run.OPCUA{Starter: start, Plan: plan, Host: h, Root: "/", Progress: bar.show, Records: folder.Records(),
		Remote: &run.Remote{Endpoint: endpoint, Announcement: server}}.Run(ctx)
	bar.end()
	if err != nil {
		folder.Discard()
		return err
	}
	file.Tool = tool()
	return finish(folder, file, stdout)
}
