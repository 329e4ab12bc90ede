package deploy

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Fleet is one measurement on each of several nodes. Kubernetes schedules them.
//
// Over a selector it is one Indexed Job whose pods repel each other, all at once. One after
// the other that can't be: a pod that has ended repels nobody, so that the next could come to
// the same node. Nodes with names have a Job each, and a quota on pods lets Parallel of them
// live at a time.
type Fleet struct {
	Nodes    []string // by name; empty: Count nodes that the selector finds
	Count    int      // how many match; 0 with names
	Parallel int      // nodes at a time; 0: all
}

// fleetName begins the names of a fleet's objects.
const fleetName = "opcycle-fleet"

// nodeName is a Kubernetes node's: a DNS subdomain.
var nodeName = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)

// label is a key or a value of one; dnsName the name of an object.
var (
	labelKey   = regexp.MustCompile(`^([a-z0-9]([a-z0-9.-]*[a-z0-9])?/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$`)
	labelValue = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?$`)
	dnsName    = regexp.MustCompile(`^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$`)
)

func cut(s string) (key, value string, ok bool) { return strings.Cut(s, "=") }

// check refuses what Kubernetes would, and what would not be the plan there.
func (c *Cluster) check(r *Request) error {
	var errs []error
	if key, value := c.selector(); !labelKey.MatchString(key) || !labelValue.MatchString(value) ||
		c.Selector != "" && !strings.Contains(c.Selector, "=") {
		errs = append(errs, fmt.Errorf("--node-selector %q is no label; write KEY=VALUE as kubectl label does", c.Selector))
	}
	if c.Account != "" && !dnsName.MatchString(c.Account) {
		errs = append(errs, fmt.Errorf("--service-account %q is no name of a ServiceAccount", c.Account))
	}
	if c.Claim != "" && !dnsName.MatchString(c.Claim) {
		errs = append(errs, fmt.Errorf("--claim %q is no name of a PersistentVolumeClaim", c.Claim))
	}
	if r.Side != "" {
		errs = append(errs, errors.New("--side is for Podman; in a cluster name both nodes, --nodes SERVER,CLIENT"))
	}
	if len(c.Nodes) > 0 && (len(c.Nodes) != 2 || !r.Split || c.Nodes[0] == c.Nodes[1] || !labelValue.MatchString(c.Nodes[0]) || !labelValue.MatchString(c.Nodes[1])) {
		errs = append(errs, fmt.Errorf("--nodes %s: without --fleet these are two names, the server's node and the client's, with --containers 2", strings.Join(c.Nodes, ",")))
	}
	if r.Rootless {
		errs = append(errs, errors.New("--rootless is for Podman; in a cluster leave real-time policy out by --rt off"))
	}
	for _, f := range r.Flags {
		if f.Name == "server-cpus" || f.Name == "client-cpus" {
			errs = append(errs, fmt.Errorf("--%s: the kubelet chooses a pod's CPUs, no number is known before; leave it out", f.Name))
		}
	}
	if r.Plan.CAT != nil {
		errs = append(errs, errors.New("cat: a pod without privileges has no resctrl, and the kubelet chooses its CPUs; allocate with opcycle deploy podman on the node"))
	}
	if r.Plan.Trace != nil {
		errs = append(errs, errors.New("tracing: a pod without privileges has no tracefs; trace with opcycle deploy podman on the node"))
	}
	for _, text := range append(r.texts(), r.Results) {
		if strings.Contains(text, "$(") {
			errs = append(errs, fmt.Errorf("%q has \"$(\", which Kubernetes takes for a variable; write it otherwise", text))
		}
	}
	if strings.HasPrefix(r.Upload, "env:") {
		errs = append(errs, fmt.Errorf("--upload %s: a pod has no such variable; name the URL, headers come from the Secret opcycle-upload", r.Upload))
	}
	if f := c.Fleet; f != nil {
		errs = append(errs, f.check(r))
	}
	return errors.Join(errs...)
}

func (f *Fleet) check(r *Request) error {
	var errs []error
	for _, n := range f.Nodes {
		if !nodeName.MatchString(n) {
			errs = append(errs, fmt.Errorf("--nodes %q is no name of a node; kubectl get nodes lists them", n))
		}
	}
	all := f.nodes()
	if r.Upload != "" && !strings.HasSuffix(r.Upload, "/") {
		errs = append(errs, errors.New("--upload names one object, which every node of the fleet would overwrite; end it with /: the folder <node>/<UTC time> is made below it"))
	}
	switch {
	case r.Split:
		errs = append(errs, errors.New("--fleet measures each node by itself, in one container: leave --containers out"))
	case all < 1:
		errs = append(errs, errors.New("--fleet needs --nodes: how many match the selector, or their names joined by commas"))
	case f.Parallel < 0 || f.Parallel > all:
		errs = append(errs, fmt.Errorf("--parallel %d of %d nodes; write 1 to %d, or leave it out for all at once", f.Parallel, all, all))
	case len(f.Nodes) == 0 && f.Parallel != 0 && f.Parallel != all:
		errs = append(errs, fmt.Errorf("--parallel %d needs the nodes' names, --nodes a,b,c: of pods one after the other Kubernetes does not know that each wants a node of its own", f.Parallel))
	}
	return errors.Join(errs...)
}

func (f *Fleet) nodes() int { return max(len(f.Nodes), f.Count) }

// fleetHead says how the fleet runs and where its results are.
func (c *Cluster) fleetHead() []string {
	f := c.Fleet
	if f == nil {
		return nil
	}
	out := []string{"", fmt.Sprintf("A fleet of %d: one measurement on each node, all at once.", f.nodes())}
	switch {
	case f.serial():
		out[1] = fmt.Sprintf("A fleet of %d: one measurement on each node, %d at a time (ResourceQuota). It counts every pod of the", f.nodes(), f.Parallel)
		out = append(out, "  namespace: make one for it, kubectl create namespace "+fleetName+", and apply with -n "+fleetName+".")
	case len(f.Nodes) == 0:
		out = append(out, "  Each has to have room at once: a pod that waits until another has ended may come to its node. Nodes that",
			"  are named (--nodes a,b) are measured once each whatever happens.")
	}
	return append(out, "Results: <node>/<UTC time>/run.json below a claim or an upload; with hostPath collect them from the nodes.",
		"  opcycle compare DIR ranks them.")
}

// serial tells whether fewer than all run at a time.
func (f *Fleet) serial() bool { return f.Parallel > 0 && f.Parallel < f.nodes() }

// fleet are the fleet's objects.
func (c *Cluster) fleet(r *Request) []*yaml.Node {
	if len(c.Fleet.Nodes) == 0 {
		return []*yaml.Node{c.indexed(r)}
	}
	var out []*yaml.Node
	if c.Fleet.serial() {
		out = append(out, object(field{"apiVersion", "v1", ""}, field{"kind", "ResourceQuota", ""},
			field{"metadata", object(field{"name", fleetName, ""}), ""},
			field{"spec", object(field{"hard", object(field{"pods", strconv.Itoa(c.Fleet.Parallel), "pods that have not ended; a Job that finds no room tries again by itself"}), ""}), ""}))
	}
	for i, n := range c.Fleet.Nodes {
		job := c.job(r, whole)
		set(job, node(fmt.Sprintf("%s-%d", fleetName, i)), "metadata", "name")
		choose(job, field{"nodeAffinity", named(n), "this node, by its name: it needs no label"})
		pod := at(job, "spec", "template", "spec")
		pod.Content = drop(pod, "nodeSelector")
		out = append(out, job)
	}
	return out
}

// indexed is one Job with a pod on every node.
func (c *Cluster) indexed(r *Request) *yaml.Node {
	n := c.Fleet.nodes()
	job := c.job(r, whole)
	set(job, node(fleetName), "metadata", "name")
	spec := at(job, "spec")
	spec.Content = append(object(field{"completionMode", "Indexed", ""}, field{"completions", n, "one a node"},
		field{"parallelism", n, "all at once"}, field{"backoffLimitPerIndex", 0, "a node that fails leaves the others alone (Kubernetes 1.29)"}).Content, drop(spec, "backoffLimit")...)
	same := object(field{"matchLabels", object(field{"app", whole.name(), ""}), ""})
	choose(job, field{"podAntiAffinity", object(field{"requiredDuringSchedulingIgnoredDuringExecution", list(object(
		field{"labelSelector", same, ""}, field{"topologyKey", "kubernetes.io/hostname", ""})), ""}), "never two on a node"})
	return job
}

// named is the affinity to a node by its name.
func named(n string) *yaml.Node {
	term := object(field{"matchFields", list(object(field{"key", "metadata.name", ""}, field{"operator", "In", ""}, field{"values", []string{n}, ""})), ""})
	return object(field{"requiredDuringSchedulingIgnoredDuringExecution", object(field{"nodeSelectorTerms", list(term), ""}), ""})
}

// choose gives a job's pods an affinity.
func choose(job *yaml.Node, affinity field) {
	pod := at(job, "spec", "template", "spec")
	pod.Content = append(object(field{"affinity", object(affinity), ""}).Content, pod.Content...)
}

// at is the value below a path of keys, which is there.
func at(n *yaml.Node, keys ...string) *yaml.Node {
	for _, k := range keys {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == k {
				n = n.Content[i+1]
				break
			}
		}
	}
	return n
}

// set replaces the value below a path of keys.
func set(n *yaml.Node, value *yaml.Node, keys ...string) { *at(n, keys...) = *value }

// drop is the content of a mapping without a key.
func drop(n *yaml.Node, key string) []*yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return append(append([]*yaml.Node{}, n.Content[:i]...), n.Content[i+2:]...)
		}
	}
	return n.Content
}
