package deploy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"opcycle/bench"
)

// need is one thing that a container is given or denied, with its reason, as Podman's
// command line and as a Quadlet unit say it.
type need struct {
	option string // of podman run, ready for a shell; empty: not said there
	unit   string // the line of [Container]; empty: not said there
	why    string
	old    string // what else there is to say of the unit's line
}

// The reasons of what more than one form says.
const (
	whyDrop     = "no capability but those below; not even root's own"
	whyReadOnly = "nothing is written but results"
	whyNoNew    = "no program inside gains a privilege by being executed"
	whyLock     = "memory is locked: a page fault in a cycle costs more than many a cycle has"
)

// whyFIFO says which priorities the container sets.
func (r *Request) whyFIFO(who role) string {
	var of []string
	p := &r.Plan
	if who != client || p.Task.Host == bench.HostClient {
		of = append(of, fmt.Sprintf("PLC thread %d", p.Task.Priority))
	}
	if who != client {
		of = append(of, fmt.Sprintf("server %d", p.Server.FIFO))
	}
	if who != server {
		of = append(of, fmt.Sprintf("client %d", p.Client.FIFO))
	}
	return "SCHED_FIFO: " + strings.Join(of, ", ")
}

// realtime tells whether the container is to have real-time policy and locked memory.
func (r *Request) realtime() bool { return !r.Rootless && r.Plan.RT != bench.RTOff }

// priority is the highest SCHED_FIFO priority of the plan: what the limit has to allow.
func (r *Request) priority() int {
	top := max(r.Plan.Task.Priority, r.Plan.Server.FIFO, r.Plan.Client.FIFO+1) // +1: the client's socket watcher
	for _, b := range r.Plan.Beside {
		for _, s := range b.Settings {
			if n, err := strconv.Atoi(s.Value); err == nil && s.Name == "priority" {
				top = max(top, n)
			}
		}
	}
	return top
}

// say is a need without more to it.
func say(option, unit, why string) need { return need{option: option, unit: unit, why: why} }

// needs are what Podman gives the container, in the order of its printing.
func (r *Request) needs(who role) []need {
	out := []need{
		say("--rm --name "+who.name(), "ContainerName="+who.name(), "the container is removed at its end; the result stays on the host"),
		say(`--hostname "$(uname -n)"`, "PodmanArgs=--hostname=%H", "the result carries the machine's name, not the container's"),
		r.network(who),
		say("--no-healthcheck", "PodmanArgs=--no-healthcheck", "a question every 30 s would take CPU time from what is measured"),
		say("--read-only", "ReadOnly=true", whyReadOnly),
	}
	for _, name := range r.variables() {
		out = append(out, say("--env "+name, "PodmanArgs=--env="+name, "for the upload: its value is taken from the environment of podman, and printed nowhere"))
	}
	if len(r.Plan.Beside) > 0 {
		out = append(out, say("--read-only-tmpfs=true", "PodmanArgs=--read-only-tmpfs=true", "programs that run beside keep temporary files in memory, in /tmp"))
	}
	out = append(out,
		say("--security-opt no-new-privileges", "NoNewPrivileges=true", whyNoNew),
		say("--cap-drop all", "DropCapability=all", whyDrop),
		say("--user 0:0", "User=0:0", r.whyUser()))
	if r.realtime() {
		out = append(out, r.rights(who)...)
	}
	out = append(out, r.pin(who)...)
	return append(out, r.mounts(who)...)
}

// headerVariable is where the upload's headers are (opcycle run --help).
const headerVariable = "OPCYCLE_UPLOAD_HEADER"

// variables are the variables of the environment that the upload reads.
func (r *Request) variables() []string {
	if r.Upload == "" {
		return nil
	}
	if name, ok := strings.CutPrefix(r.Upload, "env:"); ok {
		return []string{headerVariable, shellWord(name)}
	}
	return []string{headerVariable}
}

// whyUser says why the container's user is 0.
func (r *Request) whyUser() string {
	switch {
	case r.Rootless:
		return "root inside is the calling user outside: the results are his"
	case r.realtime():
		return "root inside: /dev/cpu_dma_latency is root's (mode 600), and so is the results' folder"
	}
	return "root inside: the results' folder is root's"
}

// network is what the container is connected to.
func (r *Request) network(who role) need {
	switch {
	case r.Side != "":
		return say("--network host", "Network=host", "the network of the host itself: its card is measured, not a bridge of Podman before it")
	case who != whole:
		return say("--network opcycle", "Network=opcycle.network", "server and client meet here; no port is open on the host")
	case r.Upload != "":
		return say("--network bridge", "Network=bridge", "for the upload; server and client talk over the loopback inside")
	}
	return say("--network none", "Network=none", "server and client talk over the loopback inside")
}

// rights are those of a real-time container. Capabilities and limits say the same thing
// twice: the kernel counts a capability in the first user namespace only, a limit in any.
func (r *Request) rights(who role) []need {
	limits := fmt.Sprintf("--ulimit=rtprio=%d --ulimit=memlock=-1", r.priority())
	return []need{
		say("--cap-add SYS_NICE", "AddCapability=SYS_NICE", r.whyFIFO(who)),
		say("--cap-add IPC_LOCK", "AddCapability=IPC_LOCK", whyLock),
		{limits, "PodmanArgs=" + limits, "the same two where the container has a user namespace (userns=auto): there the kernel asks the limits",
			"as PodmanArgs=, since versions of Podman before 4.9 kept the last of several Ulimit= lines only"},
		say("--device /dev/cpu_dma_latency", "AddDevice=/dev/cpu_dma_latency",
			"C-states stay shallow. SELinux: as root, Podman makes the node anew inside, with the container's label; nothing to set"),
	}
}

// cpuset are all CPUs of the container, ascending.
func (r *Request) cpuset(who role) bench.CPUList {
	all := slices.Clone(r.Plan.Housekeeping.CPUs)
	if who != client {
		all = append(all, r.Plan.Server.CPUs...)
	}
	if who != server {
		all = append(all, r.Plan.Client.CPUs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// pin gives the container its CPUs. A unit has AllowedCPUs= instead, and a user can't say
// it without a delegated controller.
func (r *Request) pin(who role) []need {
	if r.Rootless {
		return nil
	}
	return []need{say("--cpuset-cpus "+r.cpuset(who).String(), "", r.whyCPUs(who))}
}

// whyCPUs says who runs where.
func (r *Request) whyCPUs(who role) string {
	var out []string
	if who != client {
		out = append(out, "server "+bench.CPUList(r.Plan.Server.CPUs).String())
	}
	if who != server {
		out = append(out, "client "+bench.CPUList(r.Plan.Client.CPUs).String())
	}
	out = append(out, "housekeeping "+bench.CPUList(r.Plan.Housekeeping.CPUs).String())
	return "the plan's CPUs, said here and nowhere else: " + strings.Join(out, ", ")
}

// mounts are the folders of the host that the container sees.
func (r *Request) mounts(who role) []need {
	mount := func(from, to, options, why string) need {
		text := from + ":" + to
		if options != "" {
			text += ":" + options
		}
		return say("--volume "+shellWord(text), "Volume="+text, why)
	}
	var out []need
	if r.Profile.Path != "" && (who != client || r.Side != "") && r.Side != SideServer {
		out = append(out, mount(r.Profile.Path, profileInside, "ro,z", "the profile; :z lets both containers read it (SELinux)"))
	}
	if who != server {
		out = append(out, mount(r.Results, resultsInside, "Z", "the results; :Z gives the folder this container's own label (SELinux)"))
	}
	const noLabel, noLabelUnit = "--security-opt label=disable", "PodmanArgs=--security-opt=label=disable"
	if r.Plan.Trace != nil && who != server {
		const tracefs = "/sys/kernel/tracing"
		out = append(out,
			mount(tracefs, tracefs, "", "tracing: opcycle makes a tracer instance of its own in it. Never :z or :Z: that would label the host's"),
			say(noLabel, noLabelUnit, "SELinux: tracefs is tracefs_t, which no container type may touch, and no boolean allows"))
	}
	if r.Plan.CAT != nil && who != server { // the conductor, with the client, allocates for both
		const resctrl = "/sys/fs/resctrl"
		out = append(out, mount(resctrl, resctrl, "", "cache allocation: opcycle makes two groups of its own in it, and removes them; mounted on the host (mount -t resctrl resctrl "+resctrl+"). Never :z or :Z"))
		if r.Plan.Trace == nil {
			out = append(out, say(noLabel, noLabelUnit, "SELinux: resctrl has the label of the kernel's own file systems, which no container type may write to, and no boolean allows"))
		}
	}
	return out
}
