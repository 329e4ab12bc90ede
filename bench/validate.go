package bench

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Limits of a configuration.
const (
	minInterval = 100 * time.Microsecond
	maxInterval = time.Hour
	minCycles   = 10 // below, a run says nothing
)

// Validate says everything that is wrong with c, at once (Complaints), and adjusts
// nothing. Keys that Decode could not read are not judged a second time.
func Validate(c Config, o Origins) error {
	v := validator{c: &c, o: &o}
	v.words()
	v.counts()
	v.times()
	v.publishing()
	v.priorities()
	v.cpus()
	v.endpoint()
	v.switches()
	v.cat()
	v.budgets()
	return v.complaints.err()
}

type validator struct {
	c          *Config
	o          *Origins
	complaints Complaints
}

// check complains about key unless ok. others are further keys that the rule reads.
func (v *validator) check(ok bool, key, what, way string, others ...string) {
	if ok || !v.o.usable(key) || !v.o.usable(others...) {
		return
	}
	v.complaints = append(v.complaints, Complaint{v.o.place(key), key, what, way})
}

// pair complains about two keys that contradict each other, at the one that the user said
// (the first, when both or neither were), naming where the other comes from.
func (v *validator) pair(ok bool, key, value, other, otherValue, what, way string) {
	if !v.o.Said(key) && v.o.Said(other) {
		key, value, other, otherValue = other, otherValue, key, value
	}
	v.check(ok, key, fmt.Sprintf("%s contradicts %s %s (%s): %s", value, other, otherValue, v.o.At(other), what), way, other)
}

func (v *validator) word(key, got string, words []string) {
	if slices.Contains(words, got) {
		return
	}
	way := "use " + strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	v.check(false, key, fmt.Sprintf("%q is not known", got), way)
}

func (v *validator) words() {
	v.word("plc.host", v.c.PLC.Host, hostWords())
	v.word("plc.workload", v.c.PLC.Workload, workloadWords())
	v.word("plc.publish", v.c.PLC.Publish, publishWords())
	v.word("placement.rt", v.c.Placement.RT, rtWords())
}

func (v *validator) inRange(key string, n, lo, hi int) {
	v.check(n >= lo && n <= hi, key, fmt.Sprintf("%d is out of range", n), fmt.Sprintf("use %d to %d", lo, hi))
}

func (v *validator) counts() {
	v.inRange("opcua.items", v.c.OPCUA.Items, 1, 10000)
	v.inRange("opcua.clients", v.c.OPCUA.Clients, 1, 50)
	v.inRange("opcua.queue_size", v.c.OPCUA.QueueSize, 1, 10000)
	v.inRange("opcua.publish_requests", v.c.OPCUA.PublishRequests, 1, 100)
	v.inRange("run.floor", v.c.Run.Floor, 0, 100000)
	v.check(v.c.PLC.Iterations.N >= 0, "plc.iterations", "negative", "use 0 or more, or auto")
}

// interval is T, or false when it is no usable cycle (complained about once).
func (v *validator) interval() (time.Duration, bool) {
	t := time.Duration(v.c.PLC.Interval)
	return t, t >= minInterval && t <= maxInterval && v.o.usable("plc.interval")
}

func (v *validator) times() {
	t := time.Duration(v.c.PLC.Interval)
	_, ok := v.interval()
	v.check(ok, "plc.interval", t.String()+" is out of range", fmt.Sprintf("use %s to %s", minInterval, maxInterval))
	for _, d := range []struct {
		key   string
		value Duration
		way   string
	}{
		{"plc.deadline", v.c.PLC.Deadline, "use more than 0, or 0 for the default"},
		{"plc.guard", v.c.PLC.Guard, "use 0 or more"},
		{"plc.thief_above", v.c.PLC.ThiefAbove, "use more than 0, or 0 for the default"},
		{"opcua.publishing_interval", v.c.OPCUA.PublishingInterval, "use a whole multiple of plc.interval, or 0 for the default"},
		{"opcua.reconnect", v.c.OPCUA.Reconnect, "use 0 or more"},
		{"run.warm_up", v.c.Run.WarmUp, "use 0 or more"},
	} {
		v.check(d.value >= 0, d.key, time.Duration(d.value).String()+" is negative", d.way)
	}
	if ok {
		v.againstInterval(t)
	}
}

// againstInterval holds the rules between the cycle and another time.
func (v *validator) againstInterval(t time.Duration) {
	plc := &v.c.PLC
	if plc.Iterations.Auto && v.o.usable("plc.iterations") {
		target := time.Duration(plc.Target)
		v.check(target > 0, "plc.target", target.String()+" is no time to aim at", "use more than 0 with iterations: auto")
		v.pair(target*5 < t*4, "plc.target", target.String(), "plc.interval", t.String(),
			"iterations: auto would fill 80 % of the cycle or more", "lower the target or lengthen the interval")
	}
	if plc.Host == string(HostClient) || v.o.Said("plc.guard") {
		guard := time.Duration(plc.Guard)
		v.pair(guard < t, "plc.guard", guard.String(), "plc.interval", t.String(),
			"the guard does not fit in a cycle", "lower the guard or lengthen the interval")
	}
	d := time.Duration(v.c.Run.Duration)
	whole := max(d/t, minCycles) * t
	v.pair(d > 0 && d%t == 0, "run.duration", d.String(), "plc.interval", t.String(),
		"the measuring phase is no whole number of cycles", fmt.Sprintf("use %s or %s", whole, whole+t))
	v.pair(d <= 0 || d%t != 0 || d/t >= minCycles, "run.duration", d.String(), "plc.interval", t.String(),
		fmt.Sprintf("the measuring phase has fewer than %d cycles", minCycles), fmt.Sprintf("use at least %s", minCycles*t))
}

func (v *validator) publishing() {
	t, ok := v.interval()
	p := time.Duration(v.c.OPCUA.PublishingInterval)
	if !ok || p <= 0 {
		return
	}
	m := int64(p / t)
	near := time.Duration(max(m, 1)) * t
	v.pair(p%t == 0, "opcua.publishing_interval", p.String(), "plc.interval", t.String(),
		"it is no whole multiple of the cycle", fmt.Sprintf("use %s or %s", near, near+t))
	if p%t == 0 {
		q := v.c.OPCUA.QueueSize
		v.pair(q < 1 || int64(q) >= m, "opcua.queue_size", strconv.Itoa(q), "opcua.publishing_interval", p.String(),
			fmt.Sprintf("%d values come due in one publishing interval", m), fmt.Sprintf("use a queue size of at least %d", m))
	}
}

func (v *validator) priorities() {
	p := &v.c.Placement
	v.inRange("placement.priority", p.Priority, 1, 99)
	v.inRange("placement.server_priority", p.ServerPriority, 1, 99)
	v.inRange("placement.client_priority", p.ClientPriority, 1, 99)
	const what, way = "the PLC thread must be strictly above the rest of its process", "raise placement.priority or lower the other"
	v.pair(p.Priority > p.ServerPriority, "placement.priority", strconv.Itoa(p.Priority),
		"placement.server_priority", strconv.Itoa(p.ServerPriority), what, way)
	if v.c.PLC.Host == string(HostClient) {
		v.pair(p.Priority > p.ClientPriority, "placement.priority", strconv.Itoa(p.Priority),
			"placement.client_priority", strconv.Itoa(p.ClientPriority), what, way)
	}
}

func (v *validator) cpus() {
	for _, l := range []struct {
		key  string
		list CPUList
	}{
		{"placement.server_cpus", v.c.Placement.ServerCPUs},
		{"placement.client_cpus", v.c.Placement.ClientCPUs},
		{"placement.housekeeping_cpus", v.c.Placement.HousekeepingCPUs},
	} {
		seen := map[int]bool{}
		for _, cpu := range l.list {
			v.check(cpu >= 0, l.key, fmt.Sprintf("there is no CPU %d", cpu), "CPUs are numbered from 0")
			v.check(!seen[cpu], l.key, fmt.Sprintf("CPU %d is listed twice", cpu), "list each CPU once")
			seen[cpu] = true
		}
	}
}

func (v *validator) endpoint() {
	e := v.c.OPCUA.Endpoint
	u, err := url.Parse(e)
	ok := err == nil && u.Scheme == "opc.tcp" && u.Hostname() != "" && u.User == nil && u.RawQuery == "" && u.Fragment == ""
	if ok {
		_, err = strconv.ParseUint(u.Port(), 10, 16)
		ok = err == nil
	}
	v.check(ok, "opcua.endpoint", fmt.Sprintf("%q is no endpoint", e), "write opc.tcp://host:port; port 0 takes a free one")
}

func (v *validator) switches() {
	b := &v.c.Beside
	v.word("beside.stress_engine", b.StressEngine, []string{"auto", "stress-ng", "builtin"})
	v.inRange("beside.cyclictest_priority", b.CyclictestPrio, 1, 99)
	v.check(time.Duration(b.CyclictestEvery) >= 20*time.Microsecond, "beside.cyclictest_interval", time.Duration(b.CyclictestEvery).String()+" is too short", "use 20us or more")
	for i, name := range b.With {
		key := fmt.Sprintf("beside.with[%d]", i)
		v.check(!slices.Contains(b.With[:i], name), key, "the suite "+name+" is there twice", "name it once", "beside.with")
		v.check(!(name == SuiteStress && bool(v.c.StressNG)), key, "stress runs beside already: stress-ng is on", "leave one of them away", "stress-ng", "beside.with")
		v.check(!(name == SuiteCyclictest && bool(v.c.Cyclic)), key, "cyclictest runs beside already: its switch is on", "leave one of them away", "cyclictest", "beside.with")
	}
	v.check(b.TraceStopAbove >= 0, "beside.trace_stop_above", "it is negative", "write a time such as 200us, or 0 to trace to the end")
	v.check(b.TraceStopAbove == 0 || bool(v.c.Tracing), "beside.trace_stop_above", "nothing is traced", "set tracing: on (--trace)", "tracing")
}

func (v *validator) budgets() {
	for i, s := range v.c.Budgets {
		_, err := ParseBudget(s)
		if err == nil {
			continue
		}
		key := fmt.Sprintf("budgets[%d]", i)
		what, way, _ := strings.Cut(err.Error(), "; ")
		v.check(false, key, what, way, "budgets")
	}
}
