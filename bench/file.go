package bench

import "time"

// Schema is the version of File that this program writes. Older versions stay readable:
//
//   - A field may be added, with omitempty or omitzero where older results lack it; its
//     absence must mean "not known", never a value.
//   - A field is not renamed or removed, and changes neither unit nor meaning. Where that can't
//     be helped, Schema grows by one and report.Read converts what is older.
//   - A result of each version, as its program wrote it, is kept in report/testdata/kept and
//     must be read, judged and reported in every form (report.TestKeptResults).
const Schema = 1

// File is a result: everything that was measured and what is needed to believe it. It is
// written once, atomically, as run.json; every report is a pure function of it.
type File struct {
	Schema   int       `json:"schema"`
	Tool     Tool      `json:"tool"`
	Suite    string    `json:"suite"` // "opcua", another suite, "campaign" or "import"
	Started  time.Time `json:"started"`
	Ended    time.Time `json:"ended"`
	Aborted  *Aborted  `json:"aborted,omitempty"` // the run ended itself: run.abort_on_fail
	Complete bool      `json:"complete"`          // false: ended before the plan's end
	Invalid  []string  `json:"invalid"`           // reasons; empty = valid
	Warnings []string  `json:"warnings"`

	Plan Plan `json:"plan,omitzero"` // zero, like Phase and Attained, where no OPC UA was measured
	Host Host `json:"host"`
	// Findings are check's, made for this plan right before it; none in results of older
	// versions and imports. ServerFindings are of a server's machine that was started by hand.
	Findings       []Finding `json:"findings,omitempty"`
	ServerFindings []Finding `json:"server_findings,omitempty"`

	Processes []ProcessInfo `json:"processes"`
	Phase     Phase         `json:"phase,omitzero"`
	Attained  Attained      `json:"attained,omitzero"` // what the peer made of our requests

	// CAT is what became of the plan's cache allocation; nil: none was asked for.
	CAT *CAT `json:"cat,omitempty"`

	// Nodes is set where the server was started elsewhere.
	Nodes *Nodes `json:"nodes,omitempty"`

	// Budgets are those of a file without a plan.
	Budgets []string `json:"budgets,omitempty"`

	// Suites are what other suites measured: all there is in a file of "suite NAME" or of
	// a campaign, and what ran beside in a file of "run".
	Suites []SuiteResult `json:"suites,omitempty"`

	Figures  []Figure  `json:"figures"` // scalars, in the order of metrics.md
	Series   []Series  `json:"series"`
	Abnormal []Release `json:"abnormal"` // late, missed, overrun or slow indices in full, at most AbnormalMax
	// AbnormalLeftOut counts those beyond AbnormalMax.
	AbnormalLeftOut int64  `json:"abnormal_left_out"`
	Cycles          string `json:"cycles_file,omitempty"` // name of cycles.bin beside this file
}

// AbnormalMax bounds the abnormal cycles that a result holds in full.
const AbnormalMax = 100_000

// Tool is the program that measured.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Go      string `json:"go"`
	Commit  string `json:"commit"` // empty: built without version control
}

// Phase is the measuring phase.
type Phase struct {
	Grid       Grid   `json:"grid"`        // of the publisher
	First      int64  `json:"first"`       // first index; indices First … First+N−1
	N          int64  `json:"n"`           // as planned
	Ran        int64  `json:"ran"`         // indices that the run reached: N, less when it ended early
	Task       Grid   `json:"task"`        // grid of the task that runs the program (host = client: the client's)
	Shift      int64  `json:"shift"`       // d of metrics.md; 0 with host = server
	Clock      string `json:"clock"`       // "common" when both processes share one, else why not
	WallOffset int64  `json:"wall_offset"` // REALTIME − MONOTONIC, ns, before the phase
	WallMoved  int64  `json:"wall_moved"`  // its change over the phase, ns
}

// Attained is what was asked of the server and what it granted.
type Attained struct {
	PublishingInterval float64 `json:"publishing_interval_ms"`
	SamplingInterval   float64 `json:"sampling_interval_ms"`
	QueueSize          uint32  `json:"queue_size"`
	KeepAlive          uint32  `json:"keep_alive_count"`
	Lifetime           uint32  `json:"lifetime_count"`
	Iterations         int64   `json:"iterations"`
	IterationTime      float64 `json:"iteration_ns"`
	Endpoint           string  `json:"endpoint"`
	Security           string  `json:"security"`
	Subscription       uint32  `json:"subscription"` // id of the measuring client's subscription
}

// ProcessInfo is a process as it really ran.
type ProcessInfo struct {
	Name        string       `json:"name"`
	PID         int          `json:"pid"`
	MaxProcs    int          `json:"gomaxprocs"`
	Threads     []ThreadInfo `json:"threads"` // read back from the kernel
	Locked      bool         `json:"memory_locked"`
	LockError   string       `json:"memory_lock_error,omitempty"`
	CState      string       `json:"cstates"` // "held at 0 µs" or why not
	TimerSlack  int64        `json:"timer_slack_ns"`
	GOGC        string       `json:"gogc"`
	MemLimit    int64        `json:"gomemlimit"`
	BootID      string       `json:"boot_id"`
	TimeNS      uint64       `json:"time_namespace"`
	ClockSource string       `json:"clock_source"`
	Error       string       `json:"error,omitempty"` // how it ended, if not well
}

// ThreadInfo is one thread's place and policy.
type ThreadInfo struct {
	TID      int    `json:"tid"`
	Role     string `json:"role"` // "plc" or "runtime"
	Policy   string `json:"policy"`
	Priority int    `json:"priority"`
	CPUs     []int  `json:"cpus"`
}

// Figure is one scalar: a count, a state, a ratio. Value nil means unknown, and NA says
// why; it is never 0 for unknown.
type Figure struct {
	Suite     string   `json:"suite"`
	Object    string   `json:"object"`
	Series    string   `json:"series"`
	Statistic string   `json:"statistic"`
	Value     *float64 `json:"value"`
	Unit      string   `json:"unit"`           // "ns", "1", "ratio", "text"
	Text      string   `json:"text,omitempty"` // for Unit "text"
	NA        string   `json:"na,omitempty"`
}

// Series is one measured quantity, ready to be reported and merged.
type Series struct {
	Suite     string     `json:"suite"`
	Object    string     `json:"object"`
	Name      string     `json:"name"`
	Unit      string     `json:"unit"` // "ns"
	Count     int64      `json:"count"`
	Sum       int64      `json:"sum"`
	Squares   string     `json:"sum_of_squares"` // decimal, any size
	Min       *int64     `json:"min"`
	Max       *int64     `json:"max"`
	Avg       *float64   `json:"avg"`
	StdDev    *float64   `json:"stddev"`
	Quantiles []Quantile `json:"quantiles"`
	Underflow int64      `json:"underflow"`
	Overflow  int64      `json:"overflow"`
	NA        string     `json:"na,omitempty"` // why there is nothing
	// Positive and Negative are HdrHistogram V2 exports (base64, compressed) of the
	// values ≥ 0 and of the negated values < 0; empty when there are none.
	Positive string  `json:"histogram"`
	Negative string  `json:"histogram_negative,omitempty"`
	Blocks   []Block `json:"seconds"`
}

// Quantile is one quantile with what it stands on.
type Quantile struct {
	Q      float64 `json:"q"`
	Value  *int64  `json:"value"`        // nil: n/a
	Beyond int64   `json:"beyond"`       // samples above it
	Bursts int     `json:"bursts"`       // separate stretches these fall into (gaps of 1 s or more)
	Exact  bool    `json:"exact"`        // from the samples, not from a histogram
	NA     string  `json:"na,omitempty"` // "needs 10000 samples"
}

// ReportedQuantiles returns the quantiles of every series, ascending.
func ReportedQuantiles() []float64 { return []float64{0.5, 0.9, 0.99, 0.999, 0.9999} }

// Block is one second of a series, or a few of a long run. Blocks without a value are left
// out; all blocks of a series are equally long.
type Block struct {
	Second  int64  `json:"s"`           // its first
	Width   int64  `json:"w,omitempty"` // seconds; 0 = 1
	Count   int64  `json:"n"`
	Sum     int64  `json:"sum"`
	Squares string `json:"sq"`
	Min     int64  `json:"min"`
	Max     int64  `json:"max"`
}

// Length is how many seconds b holds.
func (b *Block) Length() int64 { return max(b.Width, 1) }

// Release is one index of the measuring phase, joined from both ends, in full: kept for
// those that are late, missed, overrun or slow. Instants are ns since the phase's first
// due time; nil is "did not happen" or "not known".
type Release struct {
	K        int64   `json:"k"`
	Second   float64 `json:"t"` // due, seconds into the phase
	Outcome  Outcome `json:"outcome"`
	Cause    Cause   `json:"cause,omitempty"`
	Detail   string  `json:"detail,omitempty"`
	Executed bool    `json:"executed"`
	Wake     *int64  `json:"wake"`
	Begin    *int64  `json:"begin"`
	End      *int64  `json:"end"`
	Done     *int64  `json:"done"`
	Sent     *int64  `json:"sent"`
	Kernel   *int64  `json:"kernel"`
	Received *int64  `json:"received"`
	Thieves  Thieves `json:"thieves"`
}

// Thieves split the time that a release lost, ns (metrics.md, "Time thieves").
type Thieves struct {
	RunQueue *int64 `json:"run_queue"` // nil: schedstat not readable
	Fault    *int64 `json:"fault"`
	GC       int64  `json:"gc"`
	Throttle int64  `json:"throttle"`
	Rest     int64  `json:"rest"`
	// Faults counts page faults. The kernel gives no time for them: with faults, Fault is
	// nil and their time is in Rest.
	Faults int64 `json:"faults"`
}
