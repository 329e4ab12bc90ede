package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/url"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/client"
	"opcycle/run"

	"github.com/spf13/cobra"
)

func measureVerb() *cobra.Command {
	given := map[string]*string{}
	var formats *[]string
	var budgets budgetFlags
	var metrics *string
	var delivered *delivery
	cmd := &cobra.Command{
		Use:   "measure opc.tcp://HOST:PORT [PROFILE | FILE.yaml]",
		Short: "run only the measuring client, against opcycle serve on this or another host",
		Long: `measure runs the pinned client against the server that "opcycle serve" runs on this or
another host, and reports both sides: the server hands its books of the phase over. What
needs every record of the server is n/a; what needs one clock for both ends too, where the
two hosts have none. The loop time needs one only, and is the main figure of two nodes.

A server that waits is brought the plan: PROFILE (dual-node by default) with the flags
below. Each host resolves its own half: server_cpus, server_priority and priority are of the
server's host, client_cpus, client_priority and what runs beside of this one. The server
refuses while another client's run is on, and ends the run when this client is gone.

A server that was given its task when it was started keeps it: no PROFILE then, and no flags
of the task. With its task in the client ("opcycle serve --plc client") --iterations says
what it calculates.`,
		Example: `  opcycle serve --listen opc.tcp://0.0.0.0:4840               on the server's host
  opcycle measure opc.tcp://server:4840                       on the client's: dual-node, one minute
  opcycle measure opc.tcp://server:4840 --interval 1ms --duration 10m
  opcycle measure opc.tcp://server:4840 mine.yaml --server-cpus 2-3 --client-cpus 2`,
		Args: func(_ *cobra.Command, args []string) error {
			switch len(args) {
			case 0:
				return errors.New("measure: no server; write opcycle measure opc.tcp://HOST:4840 [PROFILE], as opcycle serve prints it")
			case 1, 2:
				return nil
			}
			return fmt.Errorf("measure: %q: one server and at most one profile", args[2])
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			out, err := readOutputs(cmd.OutOrStdout(), *formats)
			if err == nil {
				out, err = delivered.into(cmd.Context(), out, cmd.ErrOrStderr())
			}
			if err != nil {
				return err
			}
			limits, err := budgets.read()
			if err != nil {
				return err
			}
			m := measuring{endpoint: args[0], given: changed(cmd, given), budgets: limits}
			if len(args) > 1 {
				m.profile = args[1]
			}
			return m.run(cmd.Context(), *metrics, out, cmd.ErrOrStderr())
		},
	}
	overrides(cmd, given)
	formats, budgets, metrics = formatFlag(cmd), budgetFlagsOf(cmd), metricsFlag(cmd)
	delivered = deliveryFlags(cmd)
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

// measuring is one run of measure.
type measuring struct {
	endpoint, profile string
	given             map[string]string
	budgets           said
}

// ofTheServer are the flags that a server with a task of its own leaves no choice of.
func ofTheServer() []string {
	return []string{"interval", "items", "workload", "plc", "server-cpus", "priority"}
}

func (m measuring) run(ctx context.Context, metrics string, out outputs, stderr io.Writer) error {
	if err := checkEndpoint("measure", m.endpoint); err != nil {
		return err
	}
	if m.profile != "" { // before anybody is asked
		if _, err := configure(m.profile, m.given, sayBudgets(m.budgets.texts())); err != nil {
			return err
		}
	}
	hello, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	desk, server, err := client.OpenDesk(hello, m.endpoint)
	if err != nil {
		return err
	}
	defer desk.Close()
	var plan bench.Plan
	var h bench.Host
	if server.Busy != "" {
		return fmt.Errorf("%s: %s", m.endpoint, server.Busy)
	}
	if server.Waiting {
		plan, h, server, err = m.bring(ctx, desk, server)
	} else {
		plan, h, err = m.take(server)
	}
	other := otherVersion(server.Tool)
	if err != nil && other != "" {
		return fmt.Errorf("%w (%s)", err, other)
	}
	if err != nil {
		return err
	}
	if other != "" {
		plan.Notes = append(plan.Notes, other+": what only one of them knows is missing")
	}
	plan.OPCUA.Endpoint, plan.Floor, plan.Server = m.endpoint, 0, server.Plan.Server
	if err := m.budgets.fit(plan.Task.Interval); err != nil {
		return err
	}
	serving, err := listenMetrics(metrics, plan, stderr)
	if err != nil {
		return err
	}
	defer serving.close()
	remote := &run.Remote{Endpoint: m.endpoint, Announcement: server, Clock: desk.Clock}
	return conduct(ctx, run.OPCUA{Plan: plan, Host: h, Watch: serving.watch(plan), Remote: remote}, out, stderr)
}

// otherVersion says which versions the two ends are of; empty: of the same.
func otherVersion(server bench.Tool) string {
	own := tool()
	if server.Version == own.Version && server.Commit == own.Commit {
		return ""
	}
	name := func(t bench.Tool) string {
		if strings.Contains(t.Version, t.Commit) {
			return strings.TrimSpace(t.Version)
		}
		return t.Version + " " + t.Commit
	}
	if server.Version == "" {
		return fmt.Sprintf("the server is an opcycle that does not say its version, this one is %s", name(own))
	}
	return fmt.Sprintf("the server is opcycle %s, this one is %s", name(server), name(own))
}

// take resolves this end's half of a run of the server's own task.
func (m measuring) take(server bench.Announcement) (bench.Plan, bench.Host, error) {
	const way = "give it to opcycle serve, or start opcycle serve without a task"
	if m.profile != "" {
		return bench.Plan{}, bench.Host{}, fmt.Errorf("%s: the server at %s has a task of its own; leave the profile away, or start opcycle serve without a task", m.profile, m.endpoint)
	}
	for _, name := range ofTheServer() {
		if _, ok := m.given[name]; ok {
			return bench.Plan{}, bench.Host{}, fmt.Errorf("--%s is the server's to say; %s", name, way)
		}
	}
	task := server.Plan.Task
	if _, ok := m.given["iterations"]; ok && task.Host == bench.HostServer {
		return bench.Plan{}, bench.Host{}, errors.New("--iterations is the server's to say; " + way)
	}
	given := maps.Clone(m.given)
	given["interval"], given["plc"], given["workload"] = task.Interval.String(), string(task.Host), task.Workload
	given["items"] = fmt.Sprint(server.Plan.OPCUA.Items)
	_, plan, h, err := planWith("single-node", given, sayBudgets(m.budgets.texts()))
	plan.Task = taskOf(task, plan.Task, m.given)
	return plan, h, err
}

// bring resolves this end's half of a plan, has the server resolve its own, and starts it.
func (m measuring) bring(ctx context.Context, desk *client.Desk, waiting bench.Announcement) (plan bench.Plan, h bench.Host, server bench.Announcement, err error) {
	server = waiting
	profile := m.profile
	if profile == "" {
		profile = "dual-node"
	}
	var servers bench.CPUList // of another host: nothing to resolve here
	cfg, plan, h, err := planWith(profile, m.given, func(c *bench.Config, o *bench.Origins) {
		sayBudgets(m.budgets.texts())(c, o)
		servers, c.Placement.ServerCPUs = c.Placement.ServerCPUs, nil
		c.OPCUA.Endpoint = m.endpoint
	})
	if err != nil {
		return plan, h, server, err
	}
	text, err := brought(cfg, servers)
	if err != nil {
		return plan, h, server, err
	}
	if _, err = desk.Prepare(ctx, text); err != nil {
		return plan, h, server, err
	}
	started, err := desk.Start(ctx)
	if err != nil {
		return plan, h, server, err
	}
	server = started
	plan.Task = taskOf(server.Plan.Task, plan.Task, m.given)
	return plan, h, server, nil
}
