package deploy

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strconv"
	"time"

	"opcycle/bench"
)

// The role of a container.
type role int

const (
	whole  role = iota // server, client and conductor: run
	server             // serve
	client             // measure
)

// name is the container's, and the unit's, and the object's.
func (r role) name() string { return [...]string{"opcycle", "opcycle-server", "opcycle-client"}[r] }

// roles are the containers of a request.
func (r *Request) roles() []role {
	switch {
	case r.Side == SideServer:
		return []role{server}
	case r.Side == SideClient:
		return []role{client}
	case r.Split:
		return []role{server, client}
	}
	return []role{whole}
}

// command is what a container runs, behind the image's entry point. pinned: the CPUs are
// the plan's; else the container's own are resolved inside.
func (r *Request) command(who role, pinned bool) []string {
	switch {
	case r.Side == SideServer:
		return r.wait()
	case r.Side == SideClient:
		return r.bring()
	}
	switch who {
	case server:
		return r.serve(pinned)
	case client:
		return r.measure(pinned)
	}
	args := append([]string{"run"}, r.profile()...)
	for _, f := range r.Flags {
		if !slices.Contains([]string{"server-cpus", "client-cpus", "out"}, f.Name) {
			args = append(args, "--"+f.Name+"="+f.Value)
		}
	}
	if pinned {
		args = append(args, r.cpus("server-cpus", &r.Plan.Server), r.cpus("client-cpus", &r.Plan.Client))
	}
	return append(args, r.results()...)
}

// profile is the argument that names the plan's profile.
func (r *Request) profile() []string {
	switch {
	case r.Profile.Path != "":
		return []string{profileInside}
	case r.Profile.Name == "" || r.Profile.Name == bench.Defaults().Name:
		return nil
	}
	return []string{r.Profile.Name}
}

func (r *Request) cpus(flag string, p *bench.Process) string {
	return "--" + flag + "=" + p.TaskFirst().String()
}

// results says where the result goes beside the default, /results/<UTC time>.
func (r *Request) results() []string {
	var args []string
	if r.Plan.Out != "" {
		args = append(args, "--out="+path.Join(resultsInside, path.Base(r.Plan.Out)))
	}
	if r.Upload != "" {
		args = append(args, "--upload="+r.Upload)
	}
	return args
}

// serve is the server's command: it takes the whole profile, and every flag but those of
// the client.
func (r *Request) serve(pinned bool) []string {
	args := append([]string{"serve"}, r.profile()...)
	args = append(args, "--listen=opc.tcp://0.0.0.0:"+port)
	for _, f := range r.Flags {
		if slices.Contains(serverFlags(), f.Name) {
			args = append(args, "--"+f.Name+"="+f.Value)
		}
	}
	if pinned {
		args = append(args, r.cpus("server-cpus", &r.Plan.Server))
	}
	return args
}

// serverFlags are the flags of run that say something to a server.
func serverFlags() []string {
	return []string{"interval", "items", "workload", "iterations", "plc", "priority", "rt"}
}

// endpoint is where the client finds the server: by the name of its container or service.
func endpoint() string { return "opc.tcp://" + server.name() + ":" + port }

// measure is the client's command. It takes no profile, the task is the server's to say:
// what the plan has beyond the defaults is said by flags.
func (r *Request) measure(pinned bool) []string {
	p, usual := &r.Plan, bench.Defaults()
	args := []string{"measure", endpoint()}
	add := func(name, value string, unusual bool) {
		if unusual {
			args = append(args, "--"+name+"="+value)
		}
	}
	add("duration", p.Duration.String(), p.Duration != time.Duration(usual.Run.Duration))
	add("warm-up", p.WarmUp.String(), p.WarmUp != time.Duration(usual.Run.WarmUp))
	add("clients", strconv.Itoa(p.OPCUA.Clients), p.OPCUA.Clients != usual.OPCUA.Clients)
	add("rt", string(p.RT), p.RT != bench.RTAuto)
	if p.Task.Host == bench.HostClient {
		add("iterations", iterations(p.Task), p.Task.Auto || p.Task.Iterations != usual.PLC.Iterations.N)
	}
	for _, b := range p.Beside {
		add(map[string]string{bench.SuiteStress: "stress-ng", bench.SuiteCyclictest: "cyclictest"}[b.Suite], "on", true)
	}
	if p.Trace != nil {
		add("trace", "on", true)
		add("trace-stop-above", p.Trace.StopAbove.String(), p.Trace.StopAbove > 0)
	}
	for _, b := range p.Budgets {
		add("budget", b, !slices.Contains(usual.Budgets, b))
	}
	if pinned {
		args = append(args, r.cpus("client-cpus", &p.Client))
	}
	return append(args, r.results()...)
}

func iterations(t bench.Task) string {
	if t.Auto {
		return "auto"
	}
	return strconv.FormatInt(t.Iterations, 10)
}

// checkSplit refuses what the flags of measure can't say: the client would measure another
// plan than run does.
func (r *Request) checkSplit() error {
	if !r.Split {
		return nil
	}
	p, usual := &r.Plan, bench.Defaults()
	var errs []error
	same := func(key string, has, default_ any) {
		if has != default_ {
			errs = append(errs, fmt.Errorf("%s is %v: a client in a container of its own can't be told so (opcycle measure has no such flag); leave it at %v, or deploy one container, --containers 1", key, has, default_))
		}
	}
	same("opcua.queue_size", p.OPCUA.QueueSize, usual.OPCUA.QueueSize)
	same("opcua.publish_requests", p.OPCUA.PublishRequests, usual.OPCUA.PublishRequests)
	same("opcua.reconnect", p.OPCUA.Reconnect, time.Duration(usual.OPCUA.Reconnect))
	same("opcua.publishing_interval", p.OPCUA.PublishingInterval, p.Task.Interval)
	same("plc.publish", string(p.Task.Publish), usual.PLC.Publish)
	same("plc.guard", p.Task.Guard, time.Duration(usual.PLC.Guard))
	if p.RT != bench.RTOff {
		same("placement.client_priority", p.Client.FIFO, usual.Placement.ClientPriority)
	}
	if p.CAT != nil {
		errs = append(errs, errors.New("cat: the client would have cache ways of its own, and the server, in another container, none; deploy one container, --containers 1"))
	}
	for _, b := range p.Beside {
		settings := map[string]string{}
		for _, s := range b.Settings {
			settings[s.Name] = s.Value
		}
		switch b.Suite {
		case bench.SuiteStress:
			same("beside.stress_engine", settings["engine"], usual.Beside.StressEngine)
			same("beside.stress_args", settings["args"], usual.Beside.StressArgs)
			same("beside.stress_cpus", settings["on"], bench.CPUList(p.Housekeeping.CPUs).String())
		case bench.SuiteCyclictest:
			same("beside.cyclictest_interval", settings["interval"], time.Duration(usual.Beside.CyclictestEvery).String())
			same("beside.cyclictest_priority", settings["priority"], strconv.Itoa(usual.Beside.CyclictestPrio))
		default:
			errs = append(errs, fmt.Errorf("beside.with %s can't run beside a client in a container of its own; deploy one container, --containers 1", b.Suite))
		}
	}
	for _, b := range usual.Budgets {
		if !slices.Contains(p.Budgets, b) {
			errs = append(errs, fmt.Errorf("budgets leave out %q, which opcycle measure always holds; add it, or deploy one container, --containers 1", b))
		}
	}
	return errors.Join(errs...)
}
