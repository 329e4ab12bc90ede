package deploy

import (
	"errors"
	"fmt"
	"strings"
)

// Quadlet is the request as units for Podman's systemd generator.
func Quadlet(r Request) ([]File, error) {
	r, err := r.filled()
	if err := errors.Join(err, unitPath("--results", r.Results), unitPath("the profile", r.Profile.Path)); err != nil {
		return nil, err
	}
	var out []File
	if r.Split {
		out = append(out, File{"opcycle.network", `# The network of opcycle-server and opcycle-client. No port of it is open on the host.
# (Podman calls it systemd-opcycle; a name of our own, NetworkName=, is not known before 4.6.)
[Network]
`})
	}
	for _, who := range r.roles() {
		out = append(out, File{who.name() + ".container", r.unit(who)})
	}
	return out, nil
}

// quadletFolder is where Podman's generator looks.
func (r *Request) quadletFolder() (folder, systemctl string) {
	if r.Rootless {
		return "~/.config/containers/systemd/", "systemctl --user"
	}
	return "/etc/containers/systemd/", "systemctl"
}

// unit is one .container file.
func (r *Request) unit(who role) string {
	var b strings.Builder
	folder, systemctl := r.quadletFolder()
	first, wait := whole, " --wait"
	switch {
	case r.Split, r.Side == SideClient:
		first = client
	case r.Side == SideServer:
		first, wait = server, ""
	}
	fmt.Fprintf(&b, "# opcycle, the plan %s by Quadlet, %s.\n# Podman 4.4 or later (RHEL 9.2), cgroup v2. Put it into %s, then:\n#   %s daemon-reload\n#   %s start%s %s; journalctl -u %s\n",
		r.Plan.Name, r.variant(), folder, systemctl, systemctl, wait, first.name(), first.name())
	for _, note := range r.notes() {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	fmt.Fprintf(&b, "\n[Unit]\nDescription=opcycle %s\n", [...]string{"benchmark", "server", "client"}[who])
	if r.Split && who == client {
		fmt.Fprintf(&b, "Requires=%s.service\nAfter=%s.service\n", server.name(), server.name())
	}
	fmt.Fprintf(&b, "\n[Container]\nImage=%s\nExec=%s\n", r.Image, unitWords(r.command(who, true)))
	for _, n := range r.needs(who) {
		if n.unit == "" {
			continue
		}
		fmt.Fprintf(&b, "# %s\n", n.why)
		if n.old != "" {
			fmt.Fprintf(&b, "# (%s)\n", n.old)
		}
		b.WriteString(n.unit + "\n")
	}
	b.WriteString("\n[Service]\n")
	r.service(&b, who)
	return b.String()
}

// service writes what systemd itself has to do.
func (r *Request) service(b *strings.Builder, who role) {
	if r.Split && who == client {
		b.WriteString("# the server has to answer before there is anything to measure\n")
		fmt.Fprintf(b, "ExecStartPre=/usr/bin/podman exec %s /opcycle health --wait 30s\n", server.name())
	}
	if who != server {
		b.WriteString("# Podman mounts no folder that is not there\n")
		fmt.Fprintf(b, "ExecStartPre=/usr/bin/mkdir -p %s\n", unitWord(r.Results))
	}
	if r.Upload != "" && who != server {
		b.WriteString("# NAME=VALUE lines, readable by root only; may be missing\nEnvironmentFile=-%E/opcycle/upload.env\n")
	}
	if !r.Rootless {
		fmt.Fprintf(b, "# %s\n# (the container's cgroup is below this unit's: no --cpuset-cpus beside it)\nAllowedCPUs=%s\n", r.whyCPUs(who), r.cpuset(who))
	}
	b.WriteString("# a result is a result: 1 is a failed budget, 2 is not measured, and neither is tried again\nRestart=no\n")
}
