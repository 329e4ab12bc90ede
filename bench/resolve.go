package bench

import (
	"errors"
	"time"
)

// Fixed choices of the resolution.
const (
	maxSpin    = 300 * time.Microsecond // opcua.md: wake error 12 µs p50 instead of 76 to 130 µs
	minRTTime  = time.Second            // the guard is never tighter: collector and calibration run long at times
	smallChunk = 8192                   // OPC UA's least chunk: what fits leaves in one small write
	largeChunk = 65535
)

// Resolve turns a valid configuration into the plan for this host. It is pure: the same
// two values give the same plan, and the plan written by PlanYAML resolves to itself. It
// refuses CPUs that this process may not use and, with rt: require, a CPU-bound task that
// would starve a network card.
func Resolve(c Config, h Host) (Plan, error) {
	where, err := place(c, h)
	if err != nil {
		return Plan{}, err
	}
	t := time.Duration(c.PLC.Interval)
	p := Plan{
		Name:     c.Name,
		Task:     resolveTask(c, t),
		OPCUA:    resolveOPCUA(c, t),
		WarmUp:   time.Duration(c.Run.WarmUp),
		Duration: time.Duration(c.Run.Duration),
		Cycles:   int64(time.Duration(c.Run.Duration) / t),
		Floor:    c.Run.Floor,
		RT:       RTMode(c.Placement.RT),
		Out:      c.Run.Out,

		Server:       process(ProcessServer, where.server, h),
		Client:       process(ProcessClient, where.client, h),
		Housekeeping: process(ProcessConductor, where.housekeeping, h),
		Budgets:      append([]string{}, c.Budgets...),
		AbortOnFail:  bool(c.Run.AbortOnFail),
		CAT:          c.CAT.plan(),
	}
	if len(p.Server.CPUs) > 1 { // its PLC thread ticks in both topologies
		p.Server.TaskCPUs = where.server[:1:1]
	}
	if p.Task.Host == HostClient && len(p.Client.CPUs) > 1 {
		p.Client.TaskCPUs = where.client[:1:1]
	}
	if p.RT != RTOff {
		p.Server.FIFO, p.Server.RTTime = c.Placement.ServerPriority, rtTime(t)
		p.Client.FIFO, p.Client.RTTime = c.Placement.ClientPriority, rtTime(t)
		p.Task.Priority = c.Placement.Priority
	}
	p.Notes = notes(&p, h)
	beside(c, &p)
	p.Notes = append(p.Notes, abortNotes(&p)...)
	if cpus := networkCPUs(&p, h); len(cpus) > 0 && p.RT == RTRequire {
		return Plan{}, errors.New(networkNote(&p, cpus) + "; choose other CPUs, move the card's interrupts, " +
			"lower placement.priority to 50, or use rt: auto to measure it all the same")
	}
	return p, nil
}

func resolveTask(c Config, t time.Duration) Task {
	task := Task{
		Host:       PLCHost(c.PLC.Host),
		Interval:   t,
		Workload:   c.PLC.Workload,
		Iterations: c.PLC.Iterations.N,
		Auto:       c.PLC.Iterations.Auto,
		Target:     time.Duration(c.PLC.Target),
		Publish:    PublishAt(c.PLC.Publish),
		Deadline:   time.Duration(c.PLC.Deadline),
		Guard:      time.Duration(c.PLC.Guard),
		ThiefAbove: time.Duration(c.PLC.ThiefAbove),
		Spin:       min(maxSpin, t/10),
	}
	if task.Deadline == 0 {
		task.Deadline = t
		if task.Publish == PublishStart { // a value leaves one cycle later by design
			task.Deadline += t
		}
	}
	if task.ThiefAbove == 0 {
		task.ThiefAbove = t
	}
	return task
}

func resolveOPCUA(c Config, t time.Duration) OPCUA {
	o := OPCUA{
		Endpoint:           c.OPCUA.Endpoint,
		PublishingInterval: time.Duration(c.OPCUA.PublishingInterval),
		Items:              c.OPCUA.Items,
		Clients:            c.OPCUA.Clients,
		QueueSize:          c.OPCUA.QueueSize,
		PublishRequests:    c.OPCUA.PublishRequests,
		Buffer:             smallChunk,
		Reconnect:          time.Duration(c.OPCUA.Reconnect),
	}
	if o.PublishingInterval == 0 {
		o.PublishingInterval = t
	}
	values := int(o.PublishingInterval / t)         // of each item, in one message
	if 200+40*o.Items*max(values, 1) > smallChunk { // a notification is about 40 bytes, the rest about 200
		o.Buffer = largeChunk
	}
	return o
}

// rtTime is the RLIMIT_RTTIME guard: twice the longest stretch without a blocking call.
// The program and its spin fill at most one cycle; the floor of 1 s leaves room for
// calibration, the collector and releases that overrun, and still frees a hung CPU.
func rtTime(t time.Duration) time.Duration { return max(2*t, minRTTime) }
