package bench

import (
	"bytes"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// PlanYAML writes the effective plan as a profile: every auto and default is replaced by
// what was resolved, so that Decode and Resolve make the same plan of it on the same
// host. Derived values, which no key sets, and the notes stand in comments.
func PlanYAML(c Config, p Plan) ([]byte, error) {
	c.PLC.Deadline = Duration(p.Task.Deadline)
	c.PLC.ThiefAbove = Duration(p.Task.ThiefAbove)
	c.OPCUA.PublishingInterval = Duration(p.OPCUA.PublishingInterval)
	c.Placement.ServerCPUs = p.Server.TaskFirst()
	c.Placement.ClientCPUs = p.Client.TaskFirst()
	c.Placement.HousekeepingCPUs = p.Housekeeping.CPUs
	if c.Budgets == nil {
		c.Budgets = []string{}
	}

	var doc yaml.Node
	if err := doc.Encode(c); err != nil {
		return nil, fmt.Errorf("write the plan as a profile: %w", err)
	}
	doc.HeadComment = "the plan on this host, as a profile\n" + strings.Join(p.Notes, "\n")
	remarks := map[string]string{
		"plc.interval":                fmt.Sprintf("the last %s before a release are spun", p.Task.Spin),
		"opcua.publishing_interval":   fmt.Sprintf("sampling interval %s: by exception; buffers of %d bytes", p.OPCUA.SamplingInterval, p.OPCUA.Buffer),
		"run.duration":                fmt.Sprintf("%d cycles", p.Cycles),
		"placement.server_cpus":       remark(p.Server),
		"placement.client_cpus":       remark(p.Client),
		"placement.housekeeping_cpus": remark(p.Housekeeping),
	}
	if p.Out == "" {
		remarks["run.out"] = "results/<UTC time>"
	}
	annotate("", &doc, remarks)

	var out bytes.Buffer
	e := yaml.NewEncoder(&out)
	e.SetIndent(2)
	if err := e.Encode(&doc); err != nil {
		return nil, fmt.Errorf("write the plan as a profile: %w", err)
	}
	return out.Bytes(), e.Close()
}

// TaskFirst lists a process's CPUs as a profile means them: the PLC thread's first.
func (p *Process) TaskFirst() CPUList {
	return append(append(CPUList{}, p.TaskCPUs...), except(p.CPUs, p.TaskCPUs)...)
}

// remark says how a process runs on its CPUs.
func remark(p Process) string {
	s := fmt.Sprintf("GOMAXPROCS %d", p.MaxProcs)
	if len(p.TaskCPUs) > 0 {
		s = fmt.Sprintf("PLC thread on CPU %s, ", CPUList(p.TaskCPUs)) + s
	}
	if p.FIFO > 0 {
		return s + fmt.Sprintf(", SCHED_FIFO, RLIMIT_RTTIME %s", p.RTTime)
	}
	return s + ", SCHED_OTHER"
}

// annotate hangs each remark behind the value of its key.
func annotate(path string, n *yaml.Node, remarks map[string]string) {
	for i := 0; i+1 < len(n.Content) && n.Kind == yaml.MappingNode; i += 2 {
		key, v := path+n.Content[i].Value, n.Content[i+1]
		if v.Kind == yaml.ScalarNode {
			v.LineComment = remarks[key]
		}
		annotate(key+".", v, remarks)
	}
}
