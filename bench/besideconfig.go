package bench

import (
	"slices"
	"strconv"
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

// beside resolves what runs beside.
func beside(c Config, p *Plan) {
	all := slices.Concat(p.Server.CPUs, p.Client.CPUs)
	slices.Sort(all)
	measured := CPUList(slices.Compact(all)).String()
	if c.StressNG {
		cpus := c.Beside.StressCPUs
		if len(cpus) == 0 {
			cpus = p.Housekeeping.CPUs
		}
		p.Beside = append(p.Beside, Beside{Suite: "stress", Role: RoleNoise, Settings: []Setting{
			{"engine", c.Beside.StressEngine}, {"args", c.Beside.StressArgs}, {"on", cpus.String()}}})
	}
	if c.Cyclic {
		if len(c.Beside.CyclictestCPUs) > 0 {
			measured = c.Beside.CyclictestCPUs.String()
		}
		p.Beside = append(p.Beside, Beside{Suite: "cyclictest", Role: RoleBeside, Settings: []Setting{
			{"cpus", measured}, {"interval", time.Duration(c.Beside.CyclictestEvery).String()}, {"priority", strconv.Itoa(c.Beside.CyclictestPrio)}}})
		if c.Beside.CyclictestPrio > c.Placement.Priority && p.RT != RTOff {
			p.Notes = append(p.Notes, "cyclictest runs above the PLC thread on its CPU and disturbs it by design")
		}
	}
	for _, name := range c.Beside.With {
		p.Beside = append(p.Beside, Beside{Suite: name, Role: RoleBeside})
		p.Notes = append(p.Notes, "the suite "+name+" runs beside and is noise to this run")
	}
	if c.Tracing {
		p.Trace = &Trace{StopAbove: time.Duration(c.Beside.TraceStopAbove)}
	}
}
