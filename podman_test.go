package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opcycle/bench"

	"go.yaml.in/yaml/v3"
)

// A queue that holds a second of cycles: what a stall of this machine delays is late, not lost.
// The floor is short: what it says is not what these tests are about.
const (
	patient = "opcua: {queue_size: 100}"
	shallow = "run: {floor: 10}"
)

// TestPodman builds the images without a network and runs, with real Podman, what deploy
// prints: one container, two on a network, a kube play; then what the image does by itself.
func TestPodman(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a minute")
	}
	p := newPodman(t)
	p.image("opcycle", "localhost/opcycle:latest")
	t.Run("image", func(t *testing.T) { p.of(t).checkImage() })
	alone(t)
	t.Run("one container", func(t *testing.T) { p.of(t).oneContainer() })
	t.Run("two containers", func(t *testing.T) { p.of(t).twoContainers() })
	t.Run("kube play", func(t *testing.T) { p.of(t).kubePlay() })
	t.Run("a user's container", func(t *testing.T) { p.of(t).nobody() })
	t.Run("own cgroup", func(t *testing.T) { p.of(t).ownCgroup() })
	t.Run("tools", func(t *testing.T) { p.of(t).tools() })
}

// of is p in a subtest.
func (p *podman) of(t *testing.T) *podman {
	q := *p
	q.t = t
	return &q
}

// checkImage: what the image says of itself, and what it holds.
func (p *podman) checkImage() {
	t := p.t
	var images []struct {
		Config struct {
			User, WorkingDir string
			Entrypoint       []string
			Labels           map[string]string
			ExposedPorts     map[string]any
			Volumes          map[string]any
		}
		Healthcheck struct{ Test []string }
	}
	if err := json.Unmarshal([]byte(p.run("image", "inspect", "localhost/opcycle:latest")), &images); err != nil || len(images) != 1 {
		t.Fatal(err)
	}
	c := images[0].Config
	if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/opcycle"}) || c.Labels["org.opencontainers.image.version"] != "test" {
		t.Errorf("user %q, entry point %q, labels %v", c.User, c.Entrypoint, c.Labels)
	}
	if _, ok := c.ExposedPorts["4840/tcp"]; !ok {
		t.Errorf("ports %v", c.ExposedPorts)
	}
	if _, ok := c.Volumes["/results"]; !ok {
		t.Errorf("volumes %v", c.Volumes)
	}
	if got := images[0].Healthcheck.Test; !slices.Equal(got, []string{"CMD", "/opcycle", "health"}) {
		t.Errorf("health check %q", got)
	}
	p.run("create", "-q", "--no-healthcheck", "--name", "files", "localhost/opcycle:latest")
	defer p.run("rm", "files")
	out, err := p.command("export", "files").Output()
	if err != nil {
		t.Fatal(err)
	}
	list := exec.Command("tar", "-t")
	list.Stdin = bytes.NewReader(out)
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"opcycle\n", "etc/ssl/certs/ca-certificates.crt\n", "usr/share/zoneinfo.zip\n", "results/\n"} {
		if !strings.Contains(string(names), want) {
			t.Errorf("no %q in %q", want, names)
		}
	}
}

// oneContainer: 10 s by the podman line of deploy. Nothing is missed but skipped releases,
// the container has the plan's CPUs and policies, and its result is on the host.
func (p *podman) oneContainer() {
	t := p.t
	results := filepath.Join(t.TempDir(), "it's here")
	out, code := p.ends(p.shell(p.deployed("podman", profile(t, patient, shallow), "--duration", "10s", "--rt", "require", "--results", results)))
	if code != exitPass && code != exitFailed {
		t.Fatalf("exit %d\n%s", code, out)
	}
	f := p.result(results)
	p.valid(f, 1000)
	t.Log(verdictLine(out))
	_, plan, _, err := planWith("single-node", nil, func(*bench.Config, *bench.Origins) {})
	if err != nil {
		t.Fatal(err)
	}
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	if f.Host.Name != name {
		t.Errorf("the result is of %q, not of %q", f.Host.Name, name)
	}
	if !slices.Equal(f.Plan.Server.CPUs, plan.Server.CPUs) || !slices.Equal(f.Plan.Client.CPUs, plan.Client.CPUs) || !slices.Equal(f.Plan.Housekeeping.CPUs, plan.Housekeeping.CPUs) {
		t.Errorf("the container's plan: server %v, client %v, housekeeping %v; outside %v, %v, %v", f.Plan.Server.CPUs, f.Plan.Client.CPUs,
			f.Plan.Housekeeping.CPUs, plan.Server.CPUs, plan.Client.CPUs, plan.Housekeeping.CPUs)
	}
	for _, info := range f.Processes {
		if !info.Locked || info.CState != "held at 0 us" || info.Error != "" {
			t.Errorf("%s: locked %v (%s), C-states %s, %s", info.Name, info.Locked, info.LockError, info.CState, info.Error)
		}
	}
}

// result is the only result below results.
func (p *podman) result(results string) bench.File {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(results, "*", "run.json"))
	if err != nil || len(found) != 1 {
		p.t.Fatalf("results in %s: %q, %v", results, found, err)
	}
	return result(p.t, filepath.Dir(found[0]))
}

// valid: measured to the end, and missed by no cause but a skipped release.
func (p *podman) valid(f bench.File, cycles int64) {
	p.t.Helper()
	n := counts{p.t, f}
	if !f.Complete || len(f.Invalid) > 0 || f.Phase.N != cycles {
		p.t.Errorf("complete %v, invalid %q, %d cycles", f.Complete, f.Invalid, f.Phase.N)
	}
	if lost := n.lost(); lost != 0 {
		p.t.Errorf("%d cycles missed by other causes than a skipped release", lost)
	}
}

// twoContainers: server and client on a network of Podman, measured against each other.
func (p *podman) twoContainers() {
	t := p.t
	results := filepath.Join(t.TempDir(), "results")
	script := p.deployed("podman", "--containers", "2", "--interval", "50ms", "--iterations", "200", "--duration", "3s", "--warm-up", "500ms", "--results", results)
	out, code := p.ends(p.shell(script))
	if code != exitPass && code != exitFailed {
		t.Fatalf("exit %d\n%s", code, out)
	}
	if !strings.Contains(out, "opc.tcp://127.0.0.1:4840: Running") {
		t.Errorf("the server was not asked whether it is there: %q", head(out))
	}
	f := p.result(results)
	p.valid(f, 60)
	if f.Plan.Task.Interval != 50*time.Millisecond {
		t.Errorf("the task is %v", f.Plan.Task.Interval)
	}
	if n := f.Nodes; n == nil || n.Server == nil || n.Server.Card == nil || n.Server.Card.Driver != "veth" || n.Client == nil || n.Client.Card == nil || n.Client.Connections[0].RTO <= 0 {
		t.Errorf("what both ends' kernels tell, from inside a container: %+v", n)
	}
	p.run("stop", "opcycle-server")
	if left := p.run("ps", "-a", "-q"); left != "" {
		t.Errorf("left behind: %q", left)
	}
}

// kubePlay: the objects of deploy kube by podman kube play. A Job is not known before 5.3:
// then its pod is played.
func (p *podman) kubePlay() {
	t := p.t
	results := filepath.Join(t.TempDir(), "results")
	text := p.deployed("kube", profile(t, "plc: {interval: 50ms, iterations: 200}", "run: {duration: 3s, warm_up: 500ms}"), "--results", results)
	p.file("server.yaml", 0o644, text)
	p.run("kube", "play", filepath.Join(p.dir, "server.yaml"))
	client := "opcycle-client-opcycle"
	if job := podOfJob(t, text); !strings.Contains(p.run("ps", "-a", "--format", "{{.Names}}"), client) {
		p.file("client.yaml", 0o644, job)
		p.run("kube", "play", filepath.Join(p.dir, "client.yaml"))
	}
	if code := strings.TrimSpace(p.run("wait", client)); code != "0" && code != "1" {
		t.Fatalf("exit %s\n%s", code, p.run("logs", client))
	}
	f := p.result(results)
	p.valid(f, 60)
	if f.Plan.Task.Interval != 50*time.Millisecond {
		t.Errorf("the server's profile was not read: %v", f.Plan.Task.Interval)
	}
	p.run("kube", "down", filepath.Join(p.dir, "server.yaml"))
}

// podOfJob is the Job's pod as an object of its own.
func podOfJob(t *testing.T, text string) string {
	t.Helper()
	d := yaml.NewDecoder(strings.NewReader(text))
	for {
		var o struct {
			Kind     string
			Metadata map[string]any
			Spec     struct{ Template struct{ Spec map[string]any } }
		}
		if err := d.Decode(&o); err != nil {
			t.Fatalf("no Job: %v", err)
		}
		if o.Kind == "Job" {
			out, err := yaml.Marshal(map[string]any{"apiVersion": "v1", "kind": "Pod", "metadata": o.Metadata, "spec": o.Spec.Template.Spec})
			if err != nil {
				t.Fatal(err)
			}
			return string(out)
		}
	}
}

// nobody: the image as it is, with a read-only root, is no root's and writes to its volume.
func (p *podman) nobody() {
	own := profile(p.t, "run: {floor: 10, duration: 1s, warm_up: 200ms}", "plc: {"+relaxedPLC+"}")
	args := []string{"run", "--rm", "--read-only", "--network", "none", "--cap-drop", "all", "--no-healthcheck", "-v", "kept:/results", "-v", own + ":/own.yaml:ro",
		"localhost/opcycle:latest", "run", "/own.yaml"}
	if out, code := p.ends(p.command(args...)); code != exitPass && code != exitFailed {
		p.t.Fatalf("exit %d\n%s", code, out)
	}
	f := p.result(strings.TrimSpace(p.run("volume", "inspect", "--format", "{{.Mountpoint}}", "kept")))
	p.valid(f, 20)
	for _, info := range f.Processes {
		if info.Locked || !strings.Contains(info.Error, "CAP_SYS_NICE") || !strings.Contains(info.CState, "not held") {
			p.t.Errorf("%s of nobody: locked %v, C-states %s, %q", info.Name, info.Locked, info.CState, info.Error)
		}
	}
	if said := p.run("run", "--rm", "--no-healthcheck", "localhost/opcycle:latest", "deploy", "podman"); !strings.Contains(said, "podman run") {
		p.t.Errorf("the image prints no deployment of itself:\n%s", said)
	}
}

// ownCgroup: in a cgroup of its own this kernel (CONFIG_RT_GROUP_SCHED) grants no real-time
// policy. check says so, and a run that requires it is refused.
func (p *podman) ownCgroup() {
	t := p.t
	needs(t, kernelHas("CONFIG_RT_GROUP_SCHED=y"), "a kernel with CONFIG_RT_GROUP_SCHED")
	p.cgroup = true
	args := []string{"run", "--rm", "--no-healthcheck", "--user", "0:0", "--cap-add", "SYS_NICE", "--cap-add", "IPC_LOCK", "localhost/opcycle:latest"}
	out, code := p.ends(p.command(append(args, "check", "--rt", "require")...))
	if code != exitFailed || !strings.Contains(out, "RT_GROUP_SCHED") {
		t.Errorf("check: exit %d\n%s", code, out)
	}
	if out, code := p.ends(p.command(append(args, "run", "--rt", "require", "--duration", "1s")...)); code != exitNotMeasured {
		t.Errorf("run: exit %d\n%s", code, out)
	}
}

// kernelHas tells whether a line is in the kernel's configuration.
func kernelHas(line string) bool {
	return exec.Command("sh", "-c", "{ zcat /proc/config.gz || cat /boot/config-$(uname -r); } 2>/dev/null | grep -qx "+line).Run() == nil
}

// tools: the second image on a base without a network, from this machine; the noise of a
// plan is stress-ng's, and the kernel is traced without a capability for it.
func (p *podman) tools() {
	t := p.t
	for _, tool := range []string{"stress-ng", "cyclictest"} {
		_, err := exec.LookPath(tool)
		needs(t, err == nil, tool)
	}
	p.base("localhost/base:latest", "stress-ng", "cyclictest")
	p.image("opcycle-tools", "localhost/opcycle-tools:latest", "--build-arg", "TOOLS_BASE=localhost/base:latest")
	results := filepath.Join(t.TempDir(), "results")
	out, code := p.ends(p.shell(p.deployed("podman", profile(t, relaxedRun, "plc: {"+relaxedPLC+"}"), "--stress-ng", "--trace", "--results", results)))
	if code != exitPass && code != exitFailed {
		t.Fatalf("exit %d\n%s", code, out)
	}
	f := p.result(results)
	for _, want := range []string{bench.SuiteStress, "trace"} {
		i := slices.IndexFunc(f.Suites, func(s bench.SuiteResult) bool { return s.Suite == want })
		if i < 0 || len(f.Suites[i].Absent) > 0 || !f.Suites[i].Complete {
			t.Errorf("%s is not whole in %s", want, head(fmt.Sprintf("%+v", f.Suites)))
		}
	}
	if traces, err := filepath.Glob(filepath.Join(results, "*", "trace.txt")); err != nil || len(traces) != 1 {
		t.Errorf("traces: %q, %v", traces, err)
	}
}
