package bench

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// BesideConfig is what runs beside the OPC UA run, for exactly its measuring phase. The
// vendor's three switches are keys of their own.
type BesideConfig struct {
	StressEngine    string   `yaml:"stress_engine"`   // auto | stress-ng | builtin
	StressArgs      string   `yaml:"stress_args"`     // of stress-ng
	StressCPUs      CPUList  `yaml:"stress_cpus"`     // empty = the housekeeping CPUs
	CyclictestCPUs  CPUList  `yaml:"cyclictest_cpus"` // empty = the measured CPUs
	CyclictestEvery Duration `yaml:"cyclictest_interval"`
	CyclictestPrio  int      `yaml:"cyclictest_priority"`
	TraceStopAbove  Duration `yaml:"trace_stop_above"` // a release that begins later, or overruns its cycle, stops the tracer; 0 = never
	With            []string `yaml:"with"`             // further suites, by name
}

// The suites behind the vendor's switches.
const (
	SuiteStress     = "stress"
	SuiteCyclictest = "cyclictest"
)

// Beside is one suite that runs while another measures.
type Beside struct {
	Suite    string    `json:"suite"`
	Role     Role      `json:"role"`
	Settings []Setting `json:"settings,omitempty"` // its options that are not at their defaults
}

// The words of the marks that the task writes into the trace: a release that ended (with
// its execution time), one that began too late, one that ended beyond its cycle.
const (
	TraceCycle   = "cycle"
	TraceLate    = "late"
	TraceOverrun = "overrun"
)

// Trace is what the tracer does.
type Trace struct {
	StopAbove time.Duration `json:"stop_above"`    // 0: never
	Dir       string        `json:"dir,omitempty"` // of its instance, once there is one
}

// taskCPUs are the CPUs that the PLC thread may run on.
func (p *Plan) taskCPUs() []int {
	pr := p.Server
	if p.Task.Host == HostClient {
		pr = p.Client
	}
	if len(pr.TaskCPUs) > 0 {
		return pr.TaskCPUs
	}
	return pr.CPUs
}

// Switches says what of the vendor's three switches is on, and what else runs beside, as
// one line.
func (p *Plan) Switches() string {
	var stress, cyclic bool
	var others []string
	for _, b := range p.Beside {
		switch b.Suite {
		case SuiteStress:
			stress = true
		case SuiteCyclictest:
			cyclic = true
		default:
			others = append(others, b.Suite)
		}
	}
	word := func(name string, on bool) string {
		if on {
			return name + " on"
		}
		return name + " off"
	}
	out := word("stress-ng", stress) + ", " + word("cyclictest", cyclic) + ", " + word("tracing", p.Trace != nil)
	if p.CAT != nil {
		out += ", cache allocation " + p.CAT.Mode
	}
	if len(others) > 0 {
		out += "; beside: " + strings.Join(others, ", ")
	}
	return out
}

// Disturbed tells whether anything of that is on.
func (p *Plan) Disturbed() bool { return len(p.Beside) > 0 || p.Trace != nil }

// beside resolves what runs beside.
func beside(c Config, p *Plan) {
	all := slices.Concat(p.Server.CPUs, p.Client.CPUs)
	slices.Sort(all)
	measured := CPUList(slices.Compact(all))
	if c.StressNG {
		cpus := c.Beside.StressCPUs
		if len(cpus) == 0 {
			cpus = p.Housekeeping.CPUs
		}
		p.Beside = append(p.Beside, Beside{Suite: SuiteStress, Role: RoleNoise, Settings: []Setting{
			{"engine", c.Beside.StressEngine}, {"args", c.Beside.StressArgs}, {"on", cpus.String()}}})
		for _, m := range []*Process{&p.Server, &p.Client} {
			if both := intersect(cpus, m.CPUs); len(both) > 0 {
				p.Notes = append(p.Notes, fmt.Sprintf("the stressor runs on CPU %s of the %s itself, below it: it is no neighbour there (beside.stress_cpus)", CPUList(both), m.Name))
			}
		}
	}
	if c.Cyclic {
		cpus := measured
		if len(c.Beside.CyclictestCPUs) > 0 {
			cpus = c.Beside.CyclictestCPUs
		}
		p.Beside = append(p.Beside, Beside{Suite: SuiteCyclictest, Role: RoleBeside, Settings: []Setting{
			{"cpus", cpus.String()}, {"interval", time.Duration(c.Beside.CyclictestEvery).String()}, {"priority", strconv.Itoa(c.Beside.CyclictestPrio)}}})
		if task := p.taskCPUs(); c.Beside.CyclictestPrio > c.Placement.Priority && p.RT != RTOff && len(intersect(cpus, task)) > 0 {
			p.Notes = append(p.Notes, "cyclictest runs above the PLC thread on its CPU and disturbs it by design")
		}
	}
	for _, name := range c.Beside.With {
		role := RoleBeside
		if name == SuiteStress {
			role = RoleNoise
		}
		p.Beside = append(p.Beside, Beside{Suite: name, Role: role})
		p.Notes = append(p.Notes, "the suite "+name+" runs beside and is noise to this run")
	}
	if c.Tracing {
		p.Trace = &Trace{StopAbove: time.Duration(c.Beside.TraceStopAbove)}
	}
}
