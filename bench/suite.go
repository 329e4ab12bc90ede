package bench

import (
	"context"
	"io"
	"time"
)

// Suite is one suite of measurements: what it measures, how to say what is wanted, and the
// two sides of it. It is one line in workloads.All.
type Suite struct {
	Name   string // one word, as results and the command line have it
	Short  string // one line: what it measures
	Method string // help: what is timed, from where to where, what is subtracted, what it cannot tell
	// Alone says why it can't run beside another suite; empty: it can.
	Alone string
	// Asks is what its measured sides want of the kernel beyond their CPUs.
	Asks Asks
	// New is a fresh conductor's side with its defaults.
	New func() Runner
	// Probes are the measured sides by name, each run in a process of its own.
	Probes map[string]Probe
}

// Asks is what a suite's measured sides want of the kernel, for who looks whether the
// machine gives it.
type Asks struct {
	FIFO     int  // SCHED_FIFO priority of the timed thread, where no option "priority" says it; 0: none
	Lock     bool // locked memory
	Spins    bool // the timed thread never sleeps
	Tracer   bool // tracefs
	Counters bool // the processor's counters, by perf_event_open
}

// Runner is the conductor's side of one run of a suite. It measures nothing itself: it
// starts probes and makes a result of what they hand over.
type Runner interface {
	// Options are the settings, bound to this runner: Set changes it.
	Options() []Option
	// Run measures. A context that ends early gives the result of what was measured until
	// then, with Complete false, and no error; an error means that there is no result.
	Run(ctx context.Context, job Job) (SuiteResult, error)
}

// Job is what the conductor gives to a run of a suite.
type Job struct {
	Host         Host
	Root         string // below which /proc, /sys and /dev are read
	Label        string // what tells this run from others of the suite; may be empty
	Measured     []int  // CPUs to measure, unless an option says otherwise
	Housekeeping []int  // CPUs for the runtime's threads, for noise and for the conductor
	RT           RTMode
	// Start starts a probe of this suite.
	Start func(ctx context.Context, order ProbeOrder) (*ProbeRun, error)
	// Dir is the folder of the result, for a suite that measures its file system; what it
	// makes there it removes. Empty: there is none.
	Dir string
	// Progress tells how far the run is; never nil.
	Progress func(Progress)
	// Create opens a file beside the result under a temporary name; closing gives it its
	// name. nil: there is no folder.
	Create func(name string) (io.WriteCloser, error)

	// Begin and End frame a run beside another suite: the timed part starts when Begin is
	// closed and ends when End is closed, however long that is. nil: at once, and when the
	// options say so. A suite with an end of its own begins again until End.
	Begin, End <-chan struct{}

	// Checkpoint stores what was measured so far; nil: nobody keeps it. A suite calls it
	// every CheckpointEvery of its timed part, and once more when its context has ended and
	// its probe with it, so that a clean end loses nothing. It returns when the disk has it.
	// state is the suite's own, handed back as Resume: the suite then measures what its plan
	// still lacks and returns the result of both parts. Started, Resumed and the pause are
	// the conductor's to set. Its error does not end the run: the suite goes on and warns.
	Checkpoint      func(so SuiteResult, state []byte) error
	CheckpointEvery time.Duration // above 0 with Checkpoint
	Resume          []byte        // nil: from the start
}

// Probe is the measured side of a suite: it runs in a fresh process whose runtime threads
// are on the housekeeping CPUs (suites.md, R1 to R3, R9). Its error becomes the run's.
type Probe func(p *ProbeSide) error

// ProbeOrder asks for a probe.
type ProbeOrder struct {
	Suite  string // empty: the suite of the job
	Probe  string // its name in Suite.Probes
	Input  any    // marshalled as JSON
	Shared int    // bytes of memory shared with it, zeroed; 0 = none
	// MaxProcs is its GOMAXPROCS, 0 = 2. Home are the CPUs that its threads start on; the
	// probe moves its measuring thread itself. nil = the job's housekeeping CPUs.
	MaxProcs int
	Home     []int
	// Limit is the watchdog: a probe that has not ended this long after Go is killed, with
	// all that it started, and its error says "hung". 0 = none, for work that Stop ends.
	Limit time.Duration
}

// ProbeRun is a started probe in its conductor's hands. Every method may be called once,
// but Stop, Kill and Close any number of times. One goroutine owns it.
type ProbeRun struct {
	PID   int
	Mem   []byte                      // the shared memory; void after Close
	Ready func() error                // waits until the probe is prepared, at most 30 s
	Go    func() error                // lets it begin its timed part
	Stop  func()                      // raises its stop word
	Wait  func(answer any) error      // waits for its end and decodes its answer
	Kill  func()                      // ends it and its process group at once
	Close func()                      // ends it if it still runs, and frees Mem: call it always
	Done  <-chan struct{}             // closed when it has ended
	Info  func() (ProcessInfo, error) // after Ready: read back from the kernel
}

// ProbeSide is what a probe has in its own process.
type ProbeSide struct {
	Mem    []byte                // the shared memory of the order
	Stop   *uint32               // read atomically in timed loops: not 0 = end now
	Decode func(input any) error // the order's input
	// Ready says that everything is prepared and waits for Go. Call it on the goroutine
	// that measures, after its thread has its place.
	Ready func() error
	// Answer is what Wait decodes; call it last, once.
	Answer func(v any) error
}
