package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"opcycle/bench"
	"opcycle/deploy"

	"github.com/spf13/cobra"
)

// deployment is what the user said of a deployment.
type deployment struct {
	request    deploy.Request
	cluster    deploy.Cluster
	containers int
	fleet      bool
	nodes      string
	parallel   int
	write      string // folder of the files; empty: standard output

	given   map[string]*string
	budgets budgetFlags
	with    []string
}

func deployVerb() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "deploy podman|quadlet|kube [PROFILE | FILE.yaml]",
		Short: "print what runs the plan in containers",
		Long: `deploy prints what runs in containers the plan that "run" would run here with the same
profile and flags: "podman run" as a shell script, Quadlet units for systemd, or Kubernetes
objects. It starts nothing. Every capability, device and mount stands with its reason, and
nothing is there that the plan does not need. How the image is built: containers/README.md.`,
		Example: `  opcycle deploy podman --duration 10s | sh                 one container, as root
  opcycle deploy podman --containers 2                      server and client, on a network
  opcycle deploy quadlet --write /etc/containers/systemd    units of server and client
  opcycle deploy quadlet --side server                      of two hosts, the server's
  opcycle deploy kube mine.yaml | kubectl apply -f -        Pod, Service and Job
  opcycle deploy kube --fleet --nodes 12 | kubectl apply -f -
  opcycle deploy kube --help                                what one form takes beyond the rest`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("deploy: name what to print: podman, quadlet or kube")
		},
	}
	cmd.AddCommand(deployPodmanVerb(), deployQuadletVerb(), deployKubeVerb())
	return cmd
}

func deployPodmanVerb() *cobra.Command {
	return deployForm("podman", "podman run as a shell script", `The script is one "podman run" below the reasons of its options; with --containers 2 a
network, the server, the question whether it is there, and the client. It ends as opcycle
does: 0 every budget passed, 1 a budget failed, 2 not measured. Podman 4.3 or later.`,
		`  opcycle deploy podman --duration 10s | sh
  opcycle deploy podman --rootless --results "$HOME/opcycle" | sh`, 1, func(cmd *cobra.Command, d *deployment) func() ([]deploy.File, error) {
			rootlessFlag(cmd, d)
			return func() ([]deploy.File, error) {
				f, err := deploy.Podman(d.request)
				return []deploy.File{f}, err
			}
		})
}

func deployQuadletVerb() *cobra.Command {
	return deployForm("quadlet", "units for Podman's systemd generator", `The units are opcycle-server.container, opcycle-client.container and opcycle.network, or with
--containers 1 opcycle.container. Podman 4.4 or later (RHEL 9.2), cgroup v2.`,
		`  opcycle deploy quadlet --write /etc/containers/systemd
  systemctl daemon-reload && systemctl start --wait opcycle-client
  opcycle deploy quadlet --rootless --results "$HOME/opcycle" --write ~/.config/containers/systemd`, 2, func(cmd *cobra.Command, d *deployment) func() ([]deploy.File, error) {
			rootlessFlag(cmd, d)
			return func() ([]deploy.File, error) { return deploy.Quadlet(d.request) }
		})
}

func deployKubeVerb() *cobra.Command {
	return deployForm("kube", "objects for Kubernetes, OpenShift and podman kube play", `The objects are a Pod and a Service of the server and a Job of the client, or with
--containers 1 one Job; a profile of your own is a ConfigMap. "podman kube play" takes them
too (Podman 4.3; a Job since 5.3).

--fleet measures every node once, each by itself: one Indexed Job over the nodes that
--node-selector finds (--nodes says how many these are) or that --nodes names. --parallel
lets fewer run at a time; then there is a Job a node, by name, and a quota on pods.`,
		`  opcycle deploy kube | kubectl apply -f -
  opcycle deploy kube | podman kube play -
  opcycle deploy kube --fleet --nodes 12 --upload https://store/bucket/ | kubectl apply -f -
  opcycle deploy kube --fleet --nodes plc-a,plc-b --parallel 1 --claim results | kubectl apply -f -`, 2, func(cmd *cobra.Command, d *deployment) func() ([]deploy.File, error) {
			f := cmd.Flags()
			f.StringVar(&d.cluster.Selector, "node-selector", deploy.DefaultSelector, "label of the nodes to run on, KEY=VALUE")
			f.StringVar(&d.cluster.Claim, "claim", "", "PersistentVolumeClaim of the results (a folder of each node, --results)")
			f.StringVar(&d.cluster.Account, "service-account", "", "ServiceAccount of the pods (the namespace's default)")
			f.BoolVar(&d.fleet, "fleet", false, "measure each of several nodes once")
			f.StringVar(&d.nodes, "nodes", "", "of a fleet: how many nodes match the selector, or their names joined by commas; else SERVER,CLIENT, the nodes of both ends")
			f.IntVar(&d.parallel, "parallel", 0, "of a fleet with names: nodes at a time (all)")
			return func() ([]deploy.File, error) {
				f, err := deploy.Kube(d.request, d.cluster)
				return []deploy.File{f}, err
			}
		})
}

func rootlessFlag(cmd *cobra.Command, d *deployment) {
	cmd.Flags().BoolVar(&d.request.Rootless, "rootless", false, "for Podman of a user: everything works, nothing is real-time")
	cmd.Flags().StringVar(&d.request.Side, "side", "", "of a run between two hosts, the end that runs on this one: server or client")
	cmd.Flags().StringVar(&d.request.Server, "server", "", "with --side client: the server that waits on the other host, opc.tcp://HOST:4840")
}

// deployForm is the verb of one form. more declares its own flags and returns its writer.
func deployForm(name, short, long, example string, containers int, more func(*cobra.Command, *deployment) func() ([]deploy.File, error)) *cobra.Command {
	d := &deployment{given: map[string]*string{}}
	cmd := &cobra.Command{
		Use: name + " [PROFILE | FILE.yaml]", Short: short, Example: example,
		Long: long + "\n\nProfile and flags are those of \"opcycle run\"; --out names the result's folder below --results.",
		Args: cobra.MaximumNArgs(1),
	}
	overrides(cmd, d.given)
	d.budgets = budgetFlagsOf(cmd)
	f := cmd.Flags()
	f.StringSliceVar(&d.with, "with", nil, "a suite that runs beside; repeatable")
	f.StringVar(&d.request.Image, "image", "", "image ("+deploy.DefaultImage+", with noise "+deploy.DefaultTools+")")
	f.StringVar(&d.request.Results, "results", "", "folder of the host for the results ("+deploy.DefaultResults+")")
	f.StringVar(&d.request.Upload, "upload", "", "where the result is sent to as well (opcycle run --help)")
	f.IntVar(&d.containers, "containers", containers, "1: server and client in one; 2: in a container each")
	f.StringVar(&d.write, "write", "", "folder to write the files into (standard output)")
	text := more(cmd, d)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		profile := "single-node"
		if d.request.Side != "" {
			profile = "dual-node"
		}
		if len(args) > 0 {
			profile = args[0]
		}
		if err := d.fill(cmd, profile); err != nil {
			return err
		}
		files, err := text()
		if err != nil {
			return err
		}
		return d.put(files, cmd.OutOrStdout())
	}
	return cmd
}

// fill makes the request of what the user said.
func (d *deployment) fill(cmd *cobra.Command, profile string) error {
	if d.fleet && !cmd.Flags().Changed("containers") {
		d.containers = 1
	}
	if d.containers != 1 && d.containers != 2 {
		return fmt.Errorf("--containers %d: write 1 (server and client in one) or 2 (in a container each)", d.containers)
	}
	if !d.fleet && d.parallel != 0 {
		return errors.New("--parallel is of a fleet: add --fleet")
	}
	if d.request.Server != "" {
		if err := checkEndpoint("deploy --server", d.request.Server); err != nil {
			return err
		}
	}
	if _, err := readUpload(d.request.Upload, anyUpload, io.Discard); err != nil {
		return err
	}
	limits, err := d.budgets.read()
	if err != nil {
		return err
	}
	given := changed(cmd, d.given)
	_, plan, _, err := planWith(profile, given, sayBeside(limits.texts(), d.with))
	if err == nil {
		err = limits.fit(plan.Task.Interval)
	}
	if err != nil {
		return err
	}
	r := &d.request
	r.Plan, r.Split = plan, d.containers == 2 && r.Side == ""
	if r.Profile, err = profileOf(profile); err != nil {
		return err
	}
	for _, f := range bench.Flags() {
		if v, ok := given[f.Name]; ok {
			r.Flags = append(r.Flags, deploy.Flag{Name: f.Name, Value: v})
		}
	}
	for _, b := range limits.texts() { // a set may be a file of this machine
		r.Flags = append(r.Flags, deploy.Flag{Name: "budget", Value: b})
	}
	for _, w := range d.with {
		r.Flags = append(r.Flags, deploy.Flag{Name: "with", Value: w})
	}
	if r.Rootless && r.Results == "" {
		return fmt.Errorf("--rootless: %s is root's; name a folder of your own, --results \"$HOME/opcycle\"", deploy.DefaultResults)
	}
	switch {
	case d.fleet:
		d.cluster.Fleet = fleetOf(d.nodes, d.parallel)
	case d.nodes != "":
		d.cluster.Nodes = strings.Split(d.nodes, ",")
	}
	return nil
}

// anyUpload is an environment in which every variable but the headers is a URL: the one of the
// container is not known here.
func anyUpload(name string) string {
	if name == uploadHeader {
		return ""
	}
	return "https://host/"
}

// fleetOf reads --nodes: a number, or names.
func fleetOf(nodes string, parallel int) *deploy.Fleet {
	f := &deploy.Fleet{Parallel: parallel}
	if n, err := strconv.Atoi(nodes); err == nil {
		f.Count = n
	} else if nodes != "" {
		f.Nodes = strings.Split(nodes, ",")
	}
	return f
}

// profileOf is the profile with its text, where the image does not have it.
func profileOf(profile string) (deploy.Profile, error) {
	name, data, err := readProfile(profile)
	if err != nil || !strings.ContainsAny(profile, "./") {
		return deploy.Profile{Name: profile}, err
	}
	path, err := filepath.Abs(profile)
	if err != nil {
		return deploy.Profile{}, fmt.Errorf("find the profile: %w", err)
	}
	return deploy.Profile{Name: name, Path: path, Text: string(data)}, nil
}

// put prints the files, or writes them into a folder.
func (d *deployment) put(files []deploy.File, stdout io.Writer) error {
	for i, f := range files {
		if d.write == "" {
			if len(files) > 1 {
				fmt.Fprintf(stdout, "%s# ---- %s ----\n", strings.Repeat("\n", min(i, 1)), f.Name)
			}
			if _, err := io.WriteString(stdout, f.Text); err != nil {
				return err
			}
			continue
		}
		if s, err := os.Stat(d.write); err != nil || !s.IsDir() {
			return fmt.Errorf("--write %s: there is no such folder; make it first", d.write)
		}
		path := filepath.Join(d.write, f.Name)
		if err := whole(path, func(w io.Writer) error { _, err := io.WriteString(w, f.Text); return err }); err != nil {
			return err
		}
		fmt.Fprintln(stdout, path)
	}
	return nil
}
