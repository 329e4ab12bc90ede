package deploy

import (
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"
)

// Cluster is what Kubernetes needs to know beyond a request.
type Cluster struct {
	Selector string // KEY=VALUE of the nodes to run on
	Claim    string // PersistentVolumeClaim of the results; empty: the folder of each node
	Account  string // ServiceAccount of the pods; empty: the namespace's default
	Fleet    *Fleet // nil: once, on whichever node matches
	// Nodes are the names of the server's and the client's, of a run between two; empty:
	// whichever match.
	Nodes []string
}

// DefaultSelector marks the nodes that may be measured.
const DefaultSelector = "opcycle=measure"

// memory is the limit of a container. Of 60 s with 1,000 items, 8 clients and all records the
// three processes lock below 400 MiB.
const memory = "1Gi"

// Kube is the request as Kubernetes objects: without a fleet a Pod and a Service for the
// server and a Job for the client, or one Job for all.
func Kube(r Request, c Cluster) (File, error) {
	r, err := r.filled()
	if err := errors.Join(err, c.check(&r)); err != nil {
		return File{}, err
	}
	head := r.kubeHead(&c)
	var objects []*yaml.Node
	if o := r.configMap(); o != nil {
		objects = append(objects, o)
	}
	switch {
	case c.Fleet != nil:
		objects = append(objects, c.fleet(&r)...)
	case r.Split:
		objects = append(objects, service(), r.serverPod(&c), c.job(&r, client))
	default:
		objects = append(objects, c.job(&r, whole))
	}
	text, err := stream(head, objects...)
	return File{"opcycle.yaml", text}, err
}

func (r *Request) kubeHead(c *Cluster) []string {
	key, value := c.selector()
	cpus := 0
	for _, who := range r.roles() {
		cpus = max(cpus, r.count(who))
	}
	title := "opcycle, the plan " + r.Plan.Name + ", for Kubernetes, OpenShift and podman kube play (4.3; Job: 5.3)."
	if c.Fleet != nil {
		title = "opcycle, the plan " + r.Plan.Name + ", for a fleet of Kubernetes or OpenShift."
	}
	head := []string{
		title,
		"",
		"Nodes: those with a label, kubectl label node NAME " + key + "=" + value,
		"CPUs: whole ones, requests = limits, which is the class Guaranteed. Where the kubelet runs with",
		"  cpuManagerPolicy: static, they are this pod's alone, and opcycle places its threads on them; without it",
		"  the pod runs on all CPUs among everything else. No CPU has a number here: the kubelet chooses them.",
		fmt.Sprintf("  With the option full-pcpus-only and hyper-threading the count (%d) has to be even.", cpus),
		"  A quota stays on such CPUs, but SCHED_FIFO threads are not throttled by it; CRI-O's annotation",
		"  cpu-quota.crio.io: disable (OpenShift's performance profile) takes it away.",
		"C-states: /dev/cpu_dma_latency can't be given to a pod without a device plugin; the result says that it was",
		"  not held. Set them on the node (tuned: force_latency; CRI-O: cpu-c-states.crio.io: disable).",
	}
	if r.realtime() {
		head = append(head, "Rights: a namespace that takes pods of the level privileged (two capabilities, hostPath). OpenShift:",
			"  oc apply -f containers/openshift-scc.yaml, and --service-account opcycle.")
	}
	if c.Claim == "" {
		head = append(head, "SELinux: label the folder once on each node; Kubernetes labels no hostPath:",
			"  semanage fcontext -a -t container_file_t '"+r.Results+"(/.*)?' && restorecon -R "+shellWord(r.Results))
	}
	return append(head, c.fleetHead()...)
}

// selector is the label of the nodes.
func (c *Cluster) selector() (key, value string) {
	s := c.Selector
	if s == "" {
		s = DefaultSelector
	}
	key, value, _ = cut(s)
	return key, value
}

// count is how many whole CPUs a container asks for: its measured ones and one for the rest,
// unless the plan has none to spare.
func (r *Request) count(who role) int {
	n := len(r.cpuset(who))
	measured := len(r.Plan.Server.CPUs) + len(r.Plan.Client.CPUs)
	switch who {
	case server:
		measured = len(r.Plan.Server.CPUs)
	case client:
		measured = len(r.Plan.Client.CPUs)
	}
	return min(n, measured+1)
}

// configMap carries a profile that the image does not have.
func (r *Request) configMap() *yaml.Node {
	if r.Profile.Path == "" {
		return nil
	}
	return object(field{"apiVersion", "v1", ""}, field{"kind", "ConfigMap", ""},
		field{"metadata", object(field{"name", "opcycle-profile", ""}), ""},
		field{"data", object(field{"profile.yaml", r.Profile.Text, "the profile " + r.Profile.Name}), ""})
}

// service gives the server its name in a cluster; podman kube play, which passes over it,
// gives it the pod's.
func service() *yaml.Node {
	p, _ := strconv.Atoi(port)
	return object(field{"apiVersion", "v1", ""}, field{"kind", "Service", ""},
		field{"metadata", object(field{"name", server.name(), ""}), ""},
		field{"spec", object(
			field{"clusterIP", "None", "headless: the client connects to the pod itself, through no proxy"},
			field{"selector", object(field{"app", server.name(), ""}), ""},
			field{"ports", list(object(field{"port", p, ""})), ""}), ""})
}

func (r *Request) serverPod(c *Cluster) *yaml.Node {
	return object(field{"apiVersion", "v1", ""}, field{"kind", "Pod", ""},
		field{"metadata", object(field{"name", server.name(), ""}, field{"labels", object(field{"app", server.name(), ""}), ""}), ""},
		field{"spec", c.pod(r, server), ""})
}

// job runs a container once.
func (c *Cluster) job(r *Request, who role) *yaml.Node {
	return object(field{"apiVersion", "batch/v1", ""}, field{"kind", "Job", ""},
		field{"metadata", object(field{"name", who.name(), ""}), ""},
		field{"spec", object(
			field{"backoffLimit", 0, "a result is a result: 1 is a failed budget, 2 is not measured, and neither is tried again"},
			field{"template", object(
				field{"metadata", object(field{"labels", object(field{"app", who.name(), ""}), ""}), ""},
				field{"spec", c.pod(r, who), ""}), ""}), ""})
}

// pod is the specification of a pod with one container.
func (c *Cluster) pod(r *Request, who role) *yaml.Node {
	key, value := c.selector()
	nodes := []field{{key, value, ""}}
	if len(c.Nodes) == 2 {
		nodes = append(nodes, field{"kubernetes.io/hostname", c.Nodes[int(who-server)], ""})
	}
	var wait *yaml.Node
	if who == client {
		wait = list(c.container(r, who, "wait", []string{"health", endpoint(), "--wait=120s"}, nil))
	}
	spec := []field{
		{"restartPolicy", "Never", ""},
		{"automountServiceAccountToken", false, "nothing here talks to Kubernetes"},
		{"nodeSelector", object(nodes...), ""},
	}
	if c.Account != "" {
		spec = append(spec, field{"serviceAccountName", c.Account, "by it OpenShift grants the rights below"})
	}
	if wait != nil {
		spec = append(spec, field{"initContainers", wait, "until the server answers: then there is something to measure"})
	}
	mounts, volumes := c.mounts(r, who)
	spec = append(spec, field{"containers", list(c.container(r, who, "opcycle", c.args(r, who), mounts)), ""})
	if len(volumes) > 0 {
		spec = append(spec, field{"volumes", list(volumes...), ""})
	}
	return object(spec...)
}

// nodeVariable is the name of the node, where Kubernetes puts it in; podman kube play does
// not, and runs no fleet.
const nodeVariable = "$(NODE_NAME)"

// args are the container's; the CPUs are resolved inside, among those that the kubelet gave.
func (c *Cluster) args(r *Request, who role) []string {
	if c.Fleet == nil {
		return r.command(who, false)
	}
	of := *r
	if of.Upload != "" {
		of.Upload += nodeVariable + "/"
	}
	return append(of.command(who, false), "--node="+nodeVariable)
}

// container is the one of a pod, or the one before it.
func (c *Cluster) container(r *Request, who role, name string, args []string, mounts []*yaml.Node) *yaml.Node {
	cpus := strconv.Itoa(r.count(who))
	amounts := func() *yaml.Node {
		return object(field{"cpu", cpus, ""}, field{"memory", memory, ""})
	}
	fields := []field{{"name", name, ""}, {"image", r.Image, ""}, {"imagePullPolicy", "IfNotPresent", ""}, {"args", args, ""}}
	if who != server && name == "opcycle" {
		fields = append(fields, field{"env", c.env(r), ""})
	}
	fields = append(fields,
		field{"resources", object(field{"requests", amounts(), ""}, field{"limits", amounts(), ""}), "whole CPUs, requests = limits: Guaranteed"},
		field{"securityContext", r.security(who, name == "opcycle"), ""})
	if len(mounts) > 0 {
		fields = append(fields, field{"volumeMounts", list(mounts...), ""})
	}
	return object(fields...)
}

func (c *Cluster) env(r *Request) *yaml.Node {
	from := func(kind string, fields ...field) *yaml.Node { return object(field{kind, object(fields...), ""}) }
	vars := list()
	if c.Fleet != nil {
		vars.Content = append(vars.Content, object(field{"name", "NODE_NAME", ""},
			field{"valueFrom", from("fieldRef", field{"fieldPath", "spec.nodeName", ""}), "the result carries the node's name, not the pod's"}))
	}
	if r.Upload != "" {
		vars.Content = append(vars.Content, object(field{"name", headerVariable, ""},
			field{"valueFrom", from("secretKeyRef", field{"name", "opcycle-upload", ""}, field{"key", "header", ""}, field{"optional", true, ""}),
				"kubectl create secret generic opcycle-upload --from-literal=header='Authorization: Bearer ...'"}))
	}
	if len(vars.Content) == 0 {
		return nil
	}
	return vars
}

// security is what a container may. Only a measured one has capabilities.
func (r *Request) security(who role, measured bool) *yaml.Node {
	caps := []field{{"drop", list(word("ALL", whyDrop)), ""}}
	user, why := 65532, "nobody's"
	if measured {
		user, why = 0, "root inside: the results' folder is root's"
	}
	if measured && r.realtime() {
		why = "root inside: Kubernetes gives added capabilities to root's processes only"
		caps = append(caps, field{"add", list(word("SYS_NICE", r.whyFIFO(who)), word("IPC_LOCK", whyLock)), ""})
	}
	return object(field{"runAsUser", user, why}, field{"readOnlyRootFilesystem", true, whyReadOnly},
		field{"allowPrivilegeEscalation", false, whyNoNew}, field{"capabilities", object(caps...), ""})
}

// mounts are the container's mounts and the pod's volumes.
func (c *Cluster) mounts(r *Request, who role) (mounts, volumes []*yaml.Node) {
	add := func(name, at, why string, more field, volume field) {
		fields := []field{{"name", name, ""}, {"mountPath", at, why}}
		if more.key != "" {
			fields = append(fields, more)
		}
		mounts = append(mounts, object(fields...))
		volumes = append(volumes, object(field{"name", name, ""}, volume))
	}
	if r.Profile.Path != "" && who != client {
		add("profile", "/profile", "the profile, from the ConfigMap", field{"readOnly", true, ""}, field{"configMap", object(field{"name", "opcycle-profile", ""}), ""})
	}
	if who != server {
		var sub field
		volume := field{"hostPath", object(field{"path", r.Results, ""}, field{"type", "DirectoryOrCreate", ""}), "each node's own"}
		if c.Fleet != nil {
			sub = field{"subPathExpr", nodeVariable, "a folder a node"}
		}
		if c.Claim != "" {
			volume = field{"persistentVolumeClaim", object(field{"claimName", c.Claim, ""}), ""}
		}
		add("results", resultsInside, "the results outlive the pod", sub, volume)
	}
	if len(r.Plan.Beside) > 0 && who != server {
		add("tmp", "/tmp", "programs that run beside keep temporary files", field{}, field{"emptyDir", object(field{"medium", "Memory", ""}), ""})
	}
	return mounts, volumes
}
