package bench

// Config is what a user may say, in a profile or by flags; every field has a default, so
// that an empty profile is the vendor's benchmark. Decode fills it, Validate complains,
// Resolve turns it into a Plan; nothing else reads it.
type Config struct {
	Name      string          `yaml:"name"`
	PLC       PLCConfig       `yaml:"plc"`
	OPCUA     OPCUAConfig     `yaml:"opcua"`
	Run       RunConfig       `yaml:"run"`
	Placement PlacementConfig `yaml:"placement"`
	StressNG  Switch          `yaml:"stress-ng"` // the vendor's three switches
	Cyclic    Switch          `yaml:"cyclictest"`
	Tracing   Switch          `yaml:"tracing"`
	Beside    BesideConfig    `yaml:"beside"`
	CAT       CATConfig       `yaml:"cat"`
	Budgets   []string        `yaml:"budgets"` // "series.statistic op limit" in the names of metrics.md
}

// PLCConfig describes the cyclic task.
type PLCConfig struct {
	Host       string     `yaml:"host"`        // server | client: which process runs the task's program
	Interval   Duration   `yaml:"interval"`    // T, the control cycle
	Workload   string     `yaml:"workload"`    // FLOAT | ARITHMETIC | BITWISE | MEMORY
	Iterations Iterations `yaml:"iterations"`  // a count, or auto: found in the align phase
	Target     Duration   `yaml:"target"`      // calculation time that iterations: auto aims at
	Publish    string     `yaml:"publish"`     // end | start (opcua.md, decision 3)
	Deadline   Duration   `yaml:"deadline"`    // D; 0 = T, plus T with publish: start
	Guard      Duration   `yaml:"guard"`       // host = client: median arrival lies this long before a release
	ThiefAbove Duration   `yaml:"thief_above"` // releases whose execution takes longer are kept with their thieves; 0 = T
}

// OPCUAConfig describes the wire.
type OPCUAConfig struct {
	Endpoint           string   `yaml:"endpoint"`            // where the server listens; port 0 = a free one
	PublishingInterval Duration `yaml:"publishing_interval"` // 0 = T; else a whole multiple of T
	Items              int      `yaml:"items"`               // Int32 variables, all carry k
	Clients            int      `yaml:"clients"`             // each with a connection, session and subscription of its own
	QueueSize          int      `yaml:"queue_size"`          // requested, per monitored item
	PublishRequests    int      `yaml:"publish_requests"`    // outstanding at any time
	Reconnect          Duration `yaml:"reconnect"`           // how long a lost connection is tried for
}

// RunConfig describes the phases.
type RunConfig struct {
	Duration Duration `yaml:"duration"`
	WarmUp   Duration `yaml:"warm_up"`
	Floor    int      `yaml:"floor"` // periods of the floor before and after; 0 = none
	Out      string   `yaml:"out"`   // folder of the result; empty = results/<UTC time>
	// AbortOnFail ends a run when a budget can't hold any more.
	AbortOnFail Switch `yaml:"abort_on_fail"`
}

// PlacementConfig says who runs where.
type PlacementConfig struct {
	ServerCPUs       CPUList `yaml:"server_cpus"` // empty = auto
	ClientCPUs       CPUList `yaml:"client_cpus"`
	HousekeepingCPUs CPUList `yaml:"housekeeping_cpus"`
	RT               string  `yaml:"rt"`              // auto | require | off
	Priority         int     `yaml:"priority"`        // FIFO of the PLC thread
	ServerPriority   int     `yaml:"server_priority"` // FIFO of the rest of the server process
	ClientPriority   int     `yaml:"client_priority"`
}
