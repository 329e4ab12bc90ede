package deploy

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"opcycle/bench"
)

// wait is the server's command on a host of its own: the plan comes with the client, and what
// was said of this host goes before it.
func (r *Request) wait() []string {
	args := []string{"serve", "--listen=opc.tcp://0.0.0.0:" + port}
	for _, f := range r.Flags {
		if f.Name == "priority" || f.Name == "rt" {
			args = append(args, "--"+f.Name+"="+f.Value)
		}
	}
	return append(args, r.cpus("server-cpus", &r.Plan.Server))
}

// bring is the client's command on a host of its own: it has the whole plan.
func (r *Request) bring() []string {
	profile := r.profile()
	if profile == nil {
		profile = []string{bench.Defaults().Name}
	}
	args := append([]string{"measure", r.Server}, profile...)
	for _, f := range r.Flags {
		if !slices.Contains([]string{"server-cpus", "client-cpus", "out", "with"}, f.Name) {
			args = append(args, "--"+f.Name+"="+f.Value)
		}
	}
	return append(append(args, r.cpus("client-cpus", &r.Plan.Client)), r.results()...)
}

// checkSide refuses half of a run between two hosts that the other half can't meet.
func (r *Request) checkSide() error {
	var errs []error
	switch {
	case r.Side == "" && r.Server != "":
		errs = append(errs, errors.New("--server is of a client on a host of its own: add --side client"))
	case r.Side == "":
	case r.Side != SideServer && r.Side != SideClient:
		errs = append(errs, fmt.Errorf("--side %q is no end; write server or client", r.Side))
	case r.Side == SideClient && !strings.HasPrefix(r.Server, "opc.tcp://"):
		errs = append(errs, errors.New("--side client: where is the server? add --server opc.tcp://HOST:"+port))
	case r.Side == SideServer && r.Server != "":
		errs = append(errs, errors.New("--server is the client's to say; leave it out with --side server"))
	}
	for _, f := range r.Flags {
		if r.Side != "" && f.Name == "with" {
			errs = append(errs, fmt.Errorf("--with %s can't run beside a client on a host of its own (opcycle measure has no such flag)", f.Value))
		}
		if r.Side == SideClient && f.Name == "server-cpus" {
			errs = append(errs, errors.New("--server-cpus are of the other host: say them there, with --side server"))
		}
	}
	return errors.Join(errs...)
}

// sideNotes are the same for one end of a run between two hosts.
func (r *Request) sideNotes() []string {
	if r.Side == SideServer {
		return []string{"One of two hosts: the server waits on port " + port + " of all addresses of this host for the plan that the client brings.",
			"It knows no users: open the port to the client's host only.",
			"The CPUs are of the machine that printed it: " + r.Plan.Server.TaskFirst().String() + ", housekeeping " + bench.CPUList(r.Plan.Housekeeping.CPUs).String() + "."}
	}
	out := []string{"One of two hosts: the client brings the plan to the server that waits at " + r.Server + ".",
		"The CPUs are of the machine that printed it: " + r.Plan.Client.TaskFirst().String() + ", housekeeping " + bench.CPUList(r.Plan.Housekeeping.CPUs).String() + "."}
	if r.programs() {
		out = append(out, "The plan has noise by stress-ng: the image has to be one with tools (containers/README.md).")
	}
	return out
}
