package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"slices"

	"opcycle/bench"
	"opcycle/run"

	"go.yaml.in/yaml/v3"
)

// ofTheTask are the overriding flags that give serve a task; without them and without a
// profile it waits for a client that brings one.
func ofTheTask() []string { return []string{"interval", "items", "workload", "iterations", "plc"} }

// waits tells whether serve was given no task.
func waits(args []string, given map[string]string) bool {
	return len(args) == 0 && !slices.ContainsFunc(ofTheTask(), func(name string) bool { _, ok := given[name]; return ok })
}

// runDesk waits for plans of clients; what is given of this host goes before theirs.
func runDesk(ctx context.Context, given map[string]string, stdout, stderr io.Writer) error {
	listen, ok := given["listen"]
	say := served(listen, ok)
	_, plan, h, err := planWith("single-node", given, say)
	if err != nil {
		return err
	}
	u, err := url.Parse(plan.OPCUA.Endpoint)
	if err != nil {
		return err
	}
	start, err := starter()
	if err != nil {
		return err
	}
	warn := func(text string) { fmt.Fprintln(stderr, "warning:", text) }
	return run.Desk{Starter: start, Tool: tool(), Listen: u.Host, Host: h,
		Resolve: func(text, from string) (bench.Plan, error) {
			cfg, err := configureText("plan of "+from, []byte(text), given, say)
			if err != nil {
				return bench.Plan{}, err
			}
			return bench.Resolve(cfg, h)
		},
		Ready: func(endpoint string) {
			fmt.Fprintf(stdout, "%s: waits for a plan: opcycle measure opc.tcp://THIS-HOST:%s [PROFILE] brings one; Ctrl-C ends it\n", endpoint, u.Port())
		},
		Event: func(text string) { fmt.Fprintln(stdout, text) },
		Warn:  warn, Look: lookAsServer(ctx, warn),
	}.Run(ctx)
}

// brought is a client's configuration as the server's host gets it: without what is of the
// client's host alone. cpus are the server's.
func brought(c bench.Config, cpus bench.CPUList) ([]byte, error) {
	d := bench.Defaults()
	c.Placement.ServerCPUs, c.Placement.ClientCPUs, c.Placement.HousekeepingCPUs = cpus, nil, nil
	c.StressNG, c.Cyclic, c.Tracing, c.Beside = d.StressNG, d.Cyclic, d.Tracing, d.Beside
	c.CAT = d.CAT
	c.OPCUA.Endpoint, c.Run.Out, c.Budgets, c.Run.AbortOnFail = d.OPCUA.Endpoint, "", []string{}, false
	text, err := yaml.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("the plan as YAML: %w", err)
	}
	return text, nil
}
