package bench

import "time"

// Role says what a suite's result is to the run that it was measured in.
type Role string

// A suite alone is measured; beside another it is also a disturbance, and is marked so.
const (
	RoleMeasured Role = "measured"
	RoleBeside   Role = "beside" // measured, and noise to the suite that it ran beside
	RoleNoise    Role = "noise"  // a stressor: only verified
)

// SuiteResult is what one run of a suite measured.
type SuiteResult struct {
	Suite    string    `json:"suite"`
	Label    string    `json:"label,omitempty"` // "without CAT"; tells runs of one suite apart
	Role     Role      `json:"role"`
	Imported string    `json:"imported,omitempty"` // the program that measured it, "lmbench 1.9"; empty: ours
	Started  time.Time `json:"started"`            // of the timed part
	Ended    time.Time `json:"ended"`
	Complete bool      `json:"complete"`          // false: ended before its plan's end
	Resumed  int       `json:"resumed,omitempty"` // times that it went on from a checkpoint
	Pauses   []Pause   `json:"pauses,omitempty"`  // one for each time
	Invalid  []string  `json:"invalid,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	// Failed is what the suite itself checks and what did not hold: the run fails.
	Failed []string `json:"failed,omitempty"`
	// Absent is what was asked for and not had.
	Absent    []Absent      `json:"absent,omitempty"`
	Settings  []Setting     `json:"settings"`            // every option as in effect
	Noise     []string      `json:"noise,omitempty"`     // what ran beside on purpose, one line each
	Stressors []SuiteResult `json:"stressors,omitempty"` // the same in full
	CAT       *CAT          `json:"cat,omitempty"`       // nil: not asked for
	Processes []ProcessInfo `json:"processes,omitempty"`

	Figures  []Figure  `json:"figures,omitempty"`
	Series   []Series  `json:"series,omitempty"`
	Readings []Reading `json:"readings,omitempty"`
	Moments  []Moment  `json:"moments,omitempty"` // the worst, or what happened, in order of time
	Samples  *Samples  `json:"samples,omitempty"`
	Files    []string  `json:"files,omitempty"`   // beside the result
	Summary  []string  `json:"summary,omitempty"` // what was seen, in plain words
}

// Pause is a stretch in which a run was down, from its last checkpoint on.
type Pause struct {
	Checkpoint time.Time `json:"checkpoint"` // what was measured until then was kept
	Again      time.Time `json:"again"`      // when it was measured again
	// Lost bounds what was measured after the checkpoint and is not in the result: 0 for a
	// clean end, else the interval between two checkpoints.
	Lost int64 `json:"lost_at_most_ns"`
}

// Absent is something that was asked for and not had.
type Absent struct {
	What string `json:"what"`
	Why  string `json:"why"` // with the way out
}

// Reading is one figure of a table of rows: what an operation costs, by one statistic,
// from n repetitions, with its spread. nil is unknown.
type Reading struct {
	Table     string   `json:"table"`            // "processes"
	Name      string   `json:"name"`             // "null_call": the figure's machine name
	Run       string   `json:"run,omitempty"`    // which of several runs, "1"
	Mechanism string   `json:"mechanism"`        // how it was done: "pipe, raw clone"
	Headline  bool     `json:"headline"`         // the one that stands in the table
	Statistic string   `json:"statistic"`        // of Value: "median", "min", "mean"
	Value     *float64 `json:"value"`            // nil: NA says why
	Unit      string   `json:"unit"`             // "us", "ns", "MB/s", "TSC cycles", …
	N         int64    `json:"n"`                // repetitions that the statistic is of
	Batch     int64    `json:"batch,omitempty"`  // operations in one repetition
	Min       *float64 `json:"min"`              // of the repetitions
	Max       *float64 `json:"max"`              //
	Median    *float64 `json:"median"`           //
	Mean      *float64 `json:"mean"`             //
	StdDev    *float64 `json:"stddev"`           //
	P99       *float64 `json:"p99"`              //
	Placement string   `json:"placement"`        // "same CPU 1", "CPU 1 to 0", "unpinned"
	Policy    string   `json:"policy,omitempty"` // "SCHED_FIFO 99"
	Deviation string   `json:"deviation,omitempty"`
	Unstable  string   `json:"unstable,omitempty"` // why the spread makes it meaningless
	NA        string   `json:"na,omitempty"`
}

// Moment is one thing that happened at an instant of a run.
type Moment struct {
	At    time.Time `json:"at"`
	Since int64     `json:"since_begin_ns"` // begin of the timed part
	CPU   int       `json:"cpu"`
	Index int64     `json:"index"` // of the sample
	What  string    `json:"what"`
	Value int64     `json:"value"`
	Unit  string    `json:"unit"`
}

// Samples is a table of numbers, one row a sample.
type Samples struct {
	Columns []string     `json:"columns"`
	Units   []string     `json:"units"`
	Rows    [][]*float64 `json:"rows"`     // nil: not known
	LeftOut int64        `json:"left_out"` // rows that are only in a file
}

// CAT is what became of a cache allocation that was asked for.
type CAT struct {
	Applied bool     `json:"applied"` // written, and read back as asked
	Why     string   `json:"why,omitempty"`
	Groups  []string `json:"groups,omitempty"` // "opcycle-rt: CPUs 3, L3:0=f0"
}

// SuiteOPCUA is the suite of a control cycle over OPC UA.
const SuiteOPCUA = "opcua"
