package deploy

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"opcycle/bench"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

// eight is a host with eight CPUs, of which the last four are isolated.
func eight() bench.Host {
	h := bench.Host{Name: "plc-7", Isolated: []int{4, 5, 6, 7}, Allowed: []int{0, 1, 2, 3}}
	for id := range 8 {
		h.CPUs = append(h.CPUs, bench.CPU{ID: id, Core: id, Siblings: []int{id}})
		h.Cpuset = append(h.Cpuset, id)
	}
	return h
}

// request is of a profile with more than the defaults, resolved on eight.
func request(t *testing.T, profile string) Request {
	t.Helper()
	cfg, origins, err := bench.Decode("test.yaml", []byte(profile))
	if err == nil {
		err = bench.Validate(cfg, origins)
	}
	if err != nil {
		t.Fatal(err)
	}
	plan, err := bench.Resolve(cfg, eight())
	if err != nil {
		t.Fatal(err)
	}
	r := Request{Plan: plan, Profile: Profile{Name: "single-node"}}
	if profile != "" {
		r.Profile = Profile{Name: "test.yaml", Path: "/home/plc/it's mine.yaml", Text: profile}
	}
	return r
}

const (
	cached = "cat: {mode: require, rt_mask: f0}\n"
	noisy  = "stress-ng: on\ncyclictest: on\ntracing: on\nbeside: {trace_stop_above: 200us}\n"
	budget = "execution_time.p99 < 60%"
)

// variant is a golden file.
type variant struct {
	name  string
	print func(*testing.T) (string, error)
}

func variants() []variant {
	podman := func(change func(*Request), profile string) func(*testing.T) (string, error) {
		return func(t *testing.T) (string, error) {
			r := request(t, profile)
			change(&r)
			f, err := Podman(r)
			return f.Text, err
		}
	}
	quadlet := func(change func(*Request), profile string) func(*testing.T) (string, error) {
		return func(t *testing.T) (string, error) {
			r := request(t, profile)
			if r.Profile.Path != "" {
				r.Profile.Path = "/home/plc/mine.yaml"
			}
			change(&r)
			files, err := Quadlet(r)
			return joined(files), err
		}
	}
	kube := func(change func(*Request), profile string, c Cluster) func(*testing.T) (string, error) {
		return func(t *testing.T) (string, error) {
			r := request(t, profile)
			change(&r)
			f, err := Kube(r, c)
			return f.Text, err
		}
	}
	same := func(*Request) {}
	split := func(r *Request) { r.Split = true }
	rootless := func(r *Request) { r.Rootless, r.Results = true, "/home/plc/opcycle" }
	flags := func(r *Request) {
		r.Flags, r.Plan.Budgets = []Flag{{"budget", budget}}, append(r.Plan.Budgets, budget)
	}
	upload := func(r *Request) { r.Upload = "https://store.example/results/" }
	return []variant{
		{"podman.sh", podman(flags, "")},
		{"podman-two.sh", podman(split, "")},
		{"podman-rootless.sh", podman(rootless, "")},
		{"podman-rt-off.sh", podman(same, "placement: {rt: off}\n")},
		{"podman-noise.sh", podman(same, noisy)},
		{"podman-cat.sh", podman(same, cached)},
		{"quadlet-cat.txt", quadlet(same, "cat: {mode: auto}\n")},
		{"podman-upload.sh", podman(upload, "")},
		{"podman-server.sh", podman(func(r *Request) { r.Side, r.Flags = SideServer, []Flag{{"rt", "require"}, {"duration", "10m"}} }, "")},
		{"quadlet-client.txt", quadlet(func(r *Request) { r.Side, r.Server = SideClient, "opc.tcp://plc-a:4840"; flags(r) }, "plc: {interval: 20ms}\n")},
		{"kube-nodes.yaml", kube(split, "", Cluster{Nodes: []string{"plc-a", "plc-b.plant"}})},
		{"quadlet.txt", quadlet(func(r *Request) { split(r); flags(r) }, "")},
		{"quadlet-one.txt", quadlet(same, noisy)},
		{"quadlet-upload.txt", quadlet(func(r *Request) { r.Upload = "env:PLACE" }, "")},
		{"quadlet-rootless.txt", quadlet(rootless, "")},
		{"kube.yaml", kube(func(r *Request) { split(r); flags(r) }, "", Cluster{})},
		{"kube-profile.yaml", kube(split, "plc: {interval: 20ms}\n", Cluster{Account: "opcycle", Selector: "plant/line=7"})},
		{"kube-one.yaml", kube(upload, "stress-ng: on\n", Cluster{Claim: "results"})},
		{"kube-fleet.yaml", kube(upload, "", Cluster{Fleet: &Fleet{Count: 12}})},
		{"kube-fleet-named.yaml", kube(same, "", Cluster{Claim: "results", Fleet: &Fleet{Nodes: []string{"plc-a", "plc-b.plant"}}})},
		{"kube-fleet-serial.yaml", kube(same, "placement: {rt: off}\n", Cluster{Fleet: &Fleet{Nodes: []string{"plc-a", "plc-b", "plc-c"}, Parallel: 2}})},
	}
}

func joined(files []File) string {
	var b strings.Builder
	for _, f := range files {
		b.WriteString("==== " + f.Name + "\n" + f.Text)
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for _, v := range variants() {
		t.Run(v.name, func(t *testing.T) {
			got, err := v.print(t)
			if err != nil {
				t.Fatal(err)
			}
			path := filepath.Join("testdata", v.name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got); d != "" {
				t.Errorf("-golden +now:\n%s", d)
			}
		})
	}
}

// Whatever the plan: never all privileges, never a label on what is the host's, CPUs in one
// place, tracefs only with tracing, resctrl only with a cache allocation.
func TestLeastPrivilege(t *testing.T) {
	for _, v := range variants() {
		got, err := v.print(t)
		if err != nil {
			t.Fatal(err)
		}
		code := code(got)
		for _, never := range []string{"privileged: true", "--privileged", "SYS_ADMIN", "hostNetwork", ":/sys/kernel/tracing:", "cpu-rt-runtime"} {
			if strings.Contains(code, never) {
				t.Errorf("%s has %s", v.name, never)
			}
		}
		traced := strings.Contains(v.name, "noise") || v.name == "quadlet-one.txt"
		cached := strings.Contains(v.name, "-cat.")
		for only, may := range map[string]bool{"/sys/kernel/tracing": traced, "/sys/fs/resctrl": cached, "label=disable": traced || cached} {
			if strings.Contains(code, only) && !may {
				t.Errorf("%s has %s and does not need it", v.name, only)
			}
		}
		plain := strings.Contains(v.name, "rootless") || strings.Contains(v.name, "rt-off") || strings.Contains(v.name, "serial")
		for _, rt := range []string{"SYS_NICE", "IPC_LOCK", "rtprio", "cpu_dma_latency"} {
			if strings.Contains(code, rt) && plain {
				t.Errorf("%s has %s and is not real-time", v.name, rt)
			}
		}
		if strings.Contains(code, "AllowedCPUs") && strings.Contains(code, "--cpuset-cpus") {
			t.Errorf("%s says the CPUs twice", v.name)
		}
	}
}

// code is a text without its comments.
func code(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimSpace(line), "#") {
			b.WriteString(line)
		}
	}
	return b.String()
}

// Every option and key that grants something stands below its reason.
func TestEveryGrantHasItsReason(t *testing.T) {
	for _, v := range variants() {
		got, err := v.print(t)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(got, "\n")
		for i, line := range lines {
			text := strings.TrimSpace(line)
			switch {
			case strings.HasSuffix(v.name, ".sh"):
				if strings.HasPrefix(line, "  --") && !strings.Contains(got, "# "+strings.TrimSuffix(text, ` \`)+"\n#     ") {
					t.Errorf("%s: no reason for %s", v.name, text)
				}
			case strings.HasPrefix(text, "AddCapability"), strings.HasPrefix(text, "AddDevice"), strings.HasPrefix(text, "Volume="), strings.HasPrefix(text, "PodmanArgs"),
				text == "- SYS_NICE", text == "- IPC_LOCK", strings.HasPrefix(text, "mountPath"), strings.HasPrefix(text, "AllowedCPUs"):
				if !strings.HasPrefix(strings.TrimSpace(lines[i-1]), "#") {
					t.Errorf("%s: no reason above %s", v.name, text)
				}
			}
		}
	}
}

// The keys of [Container] are those that Podman 4.4's generator knows, which passes over a
// whole unit for one that it does not: NetworkName=, SecurityLabelDisable= and Ulimit= came
// later.
func TestUnitsAreOfTheFirstQuadlet(t *testing.T) {
	known := []string{"Image", "Exec", "ContainerName", "PodmanArgs", "Network", "ReadOnly", "NoNewPrivileges", "DropCapability", "AddCapability", "User", "AddDevice", "Volume"}
	for _, v := range variants() {
		if !strings.HasPrefix(v.name, "quadlet") {
			continue
		}
		got, err := v.print(t)
		if err != nil {
			t.Fatal(err)
		}
		group := ""
		for line := range strings.Lines(code(got)) {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "[") {
				group = line
			}
			if key, _, ok := strings.Cut(line, "="); ok && key != "" && (group == "[Container]" && !slices.Contains(known, key) || group == "[Network]") {
				t.Errorf("%s: %s is no key of %s in Podman 4.4", v.name, key, group)
			}
		}
	}
}

func TestRefused(t *testing.T) {
	serial := func(f Fleet) func(Request) error {
		return func(r Request) error { _, err := Kube(r, Cluster{Fleet: &f}); return err }
	}
	podman := func(r Request) error { _, err := Podman(r); return err }
	quadlet := func(r Request) error { _, err := Quadlet(r); return err }
	kube := func(r Request) error { _, err := Kube(r, Cluster{}); return err }
	split := func(r *Request) { r.Split = true }
	for _, c := range []struct {
		name, profile string
		change        func(*Request)
		print         func(Request) error
		says          string
	}{
		{"a blank in the image", "", func(r *Request) { r.Image = "my image" }, podman, `--image "my image"`},
		{"a quote in the image", "", func(r *Request) { r.Image = "a'b" }, kube, `--image "a'b"`},
		{"a newline in the image", "", func(r *Request) { r.Image = "a\nb" }, quadlet, `--image "a\nb"`},
		{"an option for an image", "", func(r *Request) { r.Image = "--privileged" }, podman, "--privileged"},
		{"a newline in the path", "", func(r *Request) { r.Results = "/a\nb" }, podman, "control character"},
		{"a relative path", "", func(r *Request) { r.Results = "results" }, podman, "not absolute"},
		{"the whole file system", "", func(r *Request) { r.Results = "/../" }, podman, "whole file system"},
		{"a colon", "", func(r *Request) { r.Results = "/a:b" }, podman, "colon"},
		{"no UTF-8", "", func(r *Request) { r.Results = "/\xff" }, kube, "UTF-8"},
		{"a blank in a unit", "", func(r *Request) { r.Results = "/a b" }, quadlet, "letters, digits"},
		{"a specifier in a unit", "", func(r *Request) { r.Results = "/a%h" }, quadlet, "letters, digits"},
		{"a newline in a budget", "", func(r *Request) { r.Flags = []Flag{{"budget", "a\nb"}} }, podman, "control character"},
		{"rootless, real-time required", "placement: {rt: require}", func(r *Request) { r.Rootless = true }, podman, "rt: require"},
		{"rootless tracing", "tracing: on", func(r *Request) { r.Rootless = true }, podman, "tracing"},
		{"rootless cache ways", "cat: {mode: auto}", func(r *Request) { r.Rootless = true }, podman, "resctrl is root's"},
		{"cache ways in a cluster", "cat: {mode: auto}", func(*Request) {}, kube, "no resctrl"},
		{"cache ways of one container in two", "cat: {mode: auto}", split, podman, "--containers 1"},
		{"rootless in a cluster", "", func(r *Request) { r.Rootless = true }, kube, "--rootless"},
		{"tracing in a cluster", "tracing: on", func(*Request) {}, kube, "tracefs"},
		{"numbers of CPUs in a cluster", "", func(r *Request) { r.Flags = []Flag{{"server-cpus", "4"}} }, kube, "--server-cpus"},
		{"a variable of Kubernetes", "", func(r *Request) { r.Results = "/$(HOME)" }, kube, "variable"},
		{"a client's key in two containers", "opcua: {queue_size: 20}", split, podman, "opcua.queue_size"},
		{"a suite beside in two containers", "beside: {with: [lmbench]}", split, podman, "lmbench"},
		{"fewer budgets in two containers", "budgets: [packets.missed <= 0]", split, podman, "leave out"},
		{"a client without its server", "", func(r *Request) { r.Side = SideClient }, podman, "--server opc.tcp://HOST:4840"},
		{"a server's server", "", func(r *Request) { r.Side, r.Server = SideServer, "opc.tcp://a:1" }, quadlet, "leave it out"},
		{"a server without a side", "", func(r *Request) { r.Server = "opc.tcp://a:1" }, podman, "--side client"},
		{"a third side", "", func(r *Request) { r.Side = "both" }, podman, `--side "both"`},
		{"the other host's CPUs", "", func(r *Request) {
			r.Side, r.Server, r.Flags = SideClient, "opc.tcp://a:1", []Flag{{"server-cpus", "4"}}
		}, podman, "--server-cpus"},
		{"a side in a cluster", "", func(r *Request) { r.Side = SideServer }, kube, "--nodes SERVER,CLIENT"},
		{"one node for both", "", split, func(r Request) error { _, err := Kube(r, Cluster{Nodes: []string{"a", "a"}}); return err }, "two names"},
		{"two containers in a fleet", "", split, serial(Fleet{Count: 2}), "--containers"},
		{"a fleet of none", "", func(*Request) {}, serial(Fleet{}), "--nodes"},
		{"more at a time than there are", "", func(*Request) {}, serial(Fleet{Count: 2, Parallel: 3}), "--parallel 3"},
		{"one at a time without names", "", func(*Request) {}, serial(Fleet{Count: 2, Parallel: 1}), "names"},
		{"a bad node", "", func(*Request) {}, serial(Fleet{Nodes: []string{"a", "B_c"}}), "B_c"},
		{"a variable in a cluster", "", func(r *Request) { r.Upload = "env:PLACE" }, kube, "no such variable"},
		{"one object for a fleet", "", func(r *Request) { r.Upload = "https://store.example/run.json" }, serial(Fleet{Count: 2}), "overwrite"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := request(t, c.profile)
			r.Profile = Profile{}
			c.change(&r)
			if err := c.print(r); err == nil || !strings.Contains(err.Error(), c.says) {
				t.Errorf("got %v, want something of %q", err, c.says)
			}
		})
	}
}

// The flags that a client of its own gets say the whole plan.
func TestTheClientMeasuresThePlan(t *testing.T) {
	r := request(t, "plc: {host: client, iterations: 200}\nrun: {duration: 5s, warm_up: 1s}\nopcua: {clients: 3}\nplacement: {rt: require}\nstress-ng: on\ntracing: on\nbeside: {trace_stop_above: 1ms}\n")
	r.Split, r.Plan.Out = true, "results/monday"
	got := strings.Join(r.command(client, true), " ")
	want := "measure opc.tcp://opcycle-server:4840 --duration=5s --warm-up=1s --clients=3 --rt=require --iterations=200 --stress-ng=on --trace=on --trace-stop-above=1ms --client-cpus=" +
		r.Plan.Client.TaskFirst().String() + " --out=/results/monday"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if r.Plan.Duration != 5*time.Second {
		t.Error("the profile was not read")
	}
}
