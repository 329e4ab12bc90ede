package bench

import "time"

// Plan is a Config resolved on a Host: nothing in it is "auto" or zero-means-default any
// more, and no process that receives it decides again.
type Plan struct {
	Name     string        `json:"name"`
	Task     Task          `json:"task"`
	OPCUA    OPCUA         `json:"opcua"`
	WarmUp   time.Duration `json:"warm_up"`
	Duration time.Duration `json:"duration"`
	Cycles   int64         `json:"cycles"` // N = Duration / T, whole
	Floor    int           `json:"floor"`  // periods before and after; 0 = none
	RT       RTMode        `json:"rt"`
	Out      string        `json:"out"`

	Server       Process  `json:"server"`
	Client       Process  `json:"client"`
	Housekeeping Process  `json:"housekeeping"`
	Budgets      []string `json:"budgets"`
	AbortOnFail  bool     `json:"abort_on_fail,omitempty"` // end when a budget can't hold any more

	Beside []Beside `json:"beside,omitempty"` // what runs beside, for the measuring phase
	Trace  *Trace   `json:"trace,omitempty"`  // nil: nothing is traced
	CAT    *CATPlan `json:"cat,omitempty"`    // nil: no cache allocation is asked for
	// Notes say what the resolution had to give up and what that costs, one sentence each.
	Notes []string `json:"notes,omitempty"`
}

// PLCHost is the process whose task runs the program.
type PLCHost string

// The two topologies of metrics.md.
const (
	HostServer PLCHost = "server"
	HostClient PLCHost = "client"
)

// PublishAt is the place in a release at which values leave.
type PublishAt string

// The two places of opcua.md, decision 3.
const (
	PublishEnd   PublishAt = "end"
	PublishStart PublishAt = "start"
)

// RTMode says what to do when SCHED_FIFO or locked memory are refused.
type RTMode string

// auto goes on without and says so; require ends before measuring; off does not ask.
const (
	RTAuto    RTMode = "auto"
	RTRequire RTMode = "require"
	RTOff     RTMode = "off"
)

// Task is the cyclic task (IEC 61131-3 task: interval, priority).
type Task struct {
	Host       PLCHost       `json:"host"`
	Interval   time.Duration `json:"interval"` // T
	Workload   string        `json:"workload"`
	Iterations int64         `json:"iterations"` // 0 while Auto and not yet found
	Auto       bool          `json:"auto"`
	Target     time.Duration `json:"target"`
	Publish    PublishAt     `json:"publish"`
	Deadline   time.Duration `json:"deadline"` // D
	Guard      time.Duration `json:"guard"`
	ThiefAbove time.Duration `json:"thief_above"`
	Spin       time.Duration `json:"spin"` // last stretch before a release that is spun: min(300 µs, T/10)
	Priority   int           `json:"priority"`
}

// OPCUA is the wire as both ends will use it.
type OPCUA struct {
	Endpoint           string        `json:"endpoint"`
	PublishingInterval time.Duration `json:"publishing_interval"`
	SamplingInterval   time.Duration `json:"sampling_interval"` // 0: by exception
	Items              int           `json:"items"`
	Clients            int           `json:"clients"` // connections of the client process, each measured by itself
	QueueSize          int           `json:"queue_size"`
	PublishRequests    int           `json:"publish_requests"`
	Buffer             int           `json:"buffer"` // negotiated chunk size, bytes
	Reconnect          time.Duration `json:"reconnect"`
}

// Process is a measured or housekeeping process: where it runs and how.
type Process struct {
	Name     string        `json:"name"`
	CPUs     []int         `json:"cpus"`
	MaxProcs int           `json:"gomaxprocs"`
	FIFO     int           `json:"fifo"`                // policy SCHED_FIFO at this priority; 0 = SCHED_OTHER
	RTTime   time.Duration `json:"rttime"`              // RLIMIT_RTTIME guard; 0 = none
	TaskCPUs []int         `json:"task_cpus,omitempty"` // CPUs of the PLC thread when it has one of its own
}

// Process names, as they stand in results.
const (
	ProcessServer    = "server"
	ProcessClient    = "client"
	ProcessConductor = "conductor"
)

// TaskProcess is the process that hosts the program.
func (p *Plan) TaskProcess() string { return string(p.Task.Host) }

// Period is T in nanoseconds.
func (p *Plan) Period() int64 { return int64(p.Task.Interval) }
