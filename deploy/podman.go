package deploy

import (
	"fmt"
	"strings"

	"opcycle/bench"
)

// Podman is the request as a shell script: one podman run, or a network, two of them and
// the question between whether the server is there. Every line can be pasted.
func Podman(r Request) (File, error) {
	r, err := r.filled()
	if err != nil {
		return File{}, err
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# opcycle, the plan %s with Podman, %s.\n", r.Plan.Name, r.variant())
	for _, note := range r.notes() {
		fmt.Fprintf(&b, "# %s\n", note)
	}
	if r.Side != SideServer {
		fmt.Fprintf(&b, "mkdir -p %s\n", shellWord(r.Results))
	}
	if r.Split {
		b.WriteString("podman network exists opcycle || podman network create opcycle\n")
	}
	for _, who := range r.roles() {
		b.WriteByte('\n')
		r.podmanRun(&b, who)
		if who == server {
			fmt.Fprintf(&b, "podman exec %s /opcycle health --wait 30s\n", who.name())
		}
	}
	if r.Split || r.Side == SideServer {
		fmt.Fprintf(&b, "\n# The server runs until it is told to end:\n#   podman stop %s\n", server.name())
	}
	return File{"opcycle.sh", b.String()}, nil
}

// podmanRun writes one podman run behind the reasons of its options.
func (r *Request) podmanRun(b *strings.Builder, who role) {
	needs := r.needs(who)
	lines := []string{"podman run"}
	if who == server {
		lines[0] += " --detach"
	}
	for _, n := range needs {
		if n.option == "" {
			continue
		}
		fmt.Fprintf(b, "# %s\n#     %s\n", n.option, n.why)
		lines = append(lines, n.option)
	}
	lines = append(lines, shellWord(r.Image), shellWords(r.command(who, true)))
	b.WriteString(strings.Join(lines, " \\\n  ") + "\n")
}

// variant says what kind of deployment this is.
func (r *Request) variant() string {
	switch {
	case r.Rootless:
		return "rootless: everything works, nothing is real-time, and the result says so"
	case !r.realtime():
		return "as root, without real-time policy (rt: off)"
	}
	return "as root, real-time"
}

// notes are what a reader has to know of the whole.
func (r *Request) notes() []string {
	if r.Side != "" {
		return r.sideNotes()
	}
	out := []string{"The plan is of the machine that printed it: server " + r.Plan.Server.TaskFirst().String() + ", client " +
		r.Plan.Client.TaskFirst().String() + ", housekeeping " + bench.CPUList(r.Plan.Housekeeping.CPUs).String() + "."}
	if r.programs() {
		out = append(out, "The plan has noise by stress-ng: the image has to be one with tools (containers/README.md).")
	}
	return out
}
