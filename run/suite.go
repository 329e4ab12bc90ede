package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"opcycle/bench"
	"opcycle/host"
)

// Around is put in place before a suite measures and taken away after: noise, a cache
// allocation.
type Around interface {
	// Begin puts it in place. Its error ends the run before anything is measured.
	Begin(ctx context.Context, job *bench.Job) error
	// End takes it away, also after a Begin that failed or never came, and writes what
	// became of it into r.
	End(r *bench.SuiteResult)
}

// Suite conducts one run of a suite.
type Suite struct {
	Suite   bench.Suite
	Runner  bench.Runner
	Options SuiteOptions
	Host    bench.Host
	Root    string
	Label   string
	Prober  Prober
	Folder  *Folder // nil: nothing may be written beside the result
	// Progress is called from this goroutine and from the runner's; never nil.
	Progress func(bench.Progress)
	Around   []Around

	Begin, End <-chan struct{} // see bench.Job
	Checkpoint func(so bench.SuiteResult, state []byte) error
	Every      time.Duration // between two checkpoints
	Resume     []byte
	Claimed    bool // somebody else holds the measured CPUs for this run
}

// Run runs the suite to its end. An error means that there is no result.
func (s Suite) Run(ctx context.Context) (bench.SuiteResult, error) {
	job, err := s.job()
	if err != nil {
		return bench.SuiteResult{}, err
	}
	if !s.Claimed {
		release, err := claim(job.Measured)
		if err != nil {
			return bench.SuiteResult{}, err
		}
		defer release()
	}
	for i, a := range s.Around {
		if n, ok := a.(*Noise); ok {
			n.prober = s.Prober
		}
		if err := a.Begin(ctx, &job); err != nil {
			var none bench.SuiteResult
			for _, began := range s.Around[:i+1] {
				began.End(&none)
			}
			return none, err
		}
	}
	from, _ := host.Counters(s.Root) // where nothing can be read, nothing is told
	r, err := s.Runner.Run(ctx, job)
	to, _ := host.Counters(s.Root)
	if s.Begin == nil { // beside another the wait for its begin would be in it
		stolen(&r, from, to, job.Measured)
	}
	for _, a := range slices.Backward(s.Around) {
		a.End(&r)
	}
	if err != nil {
		return r, fmt.Errorf("suite %s: %w", s.Suite.Name, err)
	}
	r.Suite, r.Label = s.Suite.Name, s.Label
	if r.Role == "" {
		r.Role = bench.RoleMeasured
	}
	r.Settings = append(bench.Settings(s.Runner.Options()), bench.Settings(s.Options.Table())...)
	return r, nil
}

// Housekeeping are the CPUs that this run leaves to the conductor.
func (s Suite) Housekeeping() ([]int, error) {
	job, err := s.job()
	return job.Housekeeping, err
}

// job resolves the options on the host.
func (s Suite) job() (bench.Job, error) {
	measured, housekeeping := bench.SuitePlace(s.Host)
	if len(s.Options.CPUs) > 0 {
		measured = s.Options.CPUs
		housekeeping = slices.DeleteFunc(slices.Clone(s.Host.Allowed), func(c int) bool { return slices.Contains(measured, c) })
		if len(housekeeping) == 0 {
			housekeeping = measured
		}
	}
	if len(s.Options.Housekeeping) > 0 {
		housekeeping = s.Options.Housekeeping
	}
	if len(measured) == 0 {
		return bench.Job{}, errors.New("this process may run on none of the online CPUs; set its affinity")
	}
	for _, l := range [][]int{measured, housekeeping} {
		for _, cpu := range l {
			if !bench.MayUse(s.Host, cpu) {
				return bench.Job{}, fmt.Errorf("CPU %d is not online or not allowed for this process (allowed: %s); choose others with --cpus and --housekeeping-cpus",
					cpu, bench.CPUList(s.Host.Allowed))
			}
		}
	}
	job := bench.Job{Host: s.Host, Root: s.Root, Label: s.Label, Measured: measured, Housekeeping: housekeeping, RT: bench.RTMode(s.Options.RT),
		Progress: s.Progress, Begin: s.Begin, End: s.End, Checkpoint: s.Checkpoint, CheckpointEvery: s.Every, Resume: s.Resume}
	job.Start = func(ctx context.Context, o bench.ProbeOrder) (*bench.ProbeRun, error) {
		if o.Suite == "" {
			o.Suite = s.Suite.Name
		}
		home := o.Home
		if home == nil {
			home = housekeeping
		}
		return s.Prober.Start(ctx, o, home)
	}
	if s.Folder != nil {
		job.Create, job.Dir = s.Folder.Create, s.Folder.Dir
	}
	return job, nil
}

// SuiteFile is a result of suites alone.
func SuiteFile(name string, h bench.Host, results []bench.SuiteResult) bench.File {
	f := bench.File{Schema: bench.Schema, Suite: name, Host: h, Suites: results, Complete: true}
	for i := range results {
		r := &results[i]
		if f.Started.IsZero() || r.Started.Before(f.Started) {
			f.Started = r.Started
		}
		if r.Ended.After(f.Ended) {
			f.Ended = r.Ended
		}
		f.Complete = f.Complete && r.Complete
	}
	return f
}

// aside is a file beside a result: it gets its name when it is closed.
type aside struct {
	*os.File
	name string
}

func (a aside) Close() error { return settle(a.File, a.name) }

// Create opens a file beside the result. What was written to a file that was never closed
// has no name of its own.
func (f *Folder) Create(name string) (io.WriteCloser, error) {
	if filepath.Base(name) != name {
		return nil, fmt.Errorf("a file beside the result is called %q: only a name is allowed", name)
	}
	t, err := os.CreateTemp(f.Dir, "."+name+"-*")
	if err != nil {
		return nil, fmt.Errorf("open %s beside the result: %w; choose another folder with --out", name, err)
	}
	f.asides = append(f.asides, t.Name())
	return aside{t, filepath.Join(f.Dir, name)}, nil
}

// Keep writes a file beside the result, whole or not at all.
func (f *Folder) Keep(name string, write func(io.Writer) error) error {
	w, err := f.Create(name)
	if err != nil {
		return err
	}
	t := w.(aside)
	if err := write(t); err != nil {
		_, _ = t.File.Close(), os.Remove(t.File.Name())
		return fmt.Errorf("write %s beside the result: %w", name, err)
	}
	return t.Close()
}

// SuiteOptions are the settings that every suite has.
type SuiteOptions struct {
	CPUs         []int
	Housekeeping []int
	RT           string

	CAT CATOptions

	Stress, StressEngine string // see stressOptions
	StressCPUs           []int
}

// DefaultSuiteOptions are those of a run without flags.
func DefaultSuiteOptions() SuiteOptions {
	return SuiteOptions{RT: string(bench.RTAuto), CAT: DefaultCATOptions(), Stress: stressOff, StressEngine: "auto"}
}

// Table is one line an option.
func (o *SuiteOptions) Table() []bench.Option {
	return append([]bench.Option{
		bench.CPUOption("cpus", &o.CPUs, "CPUs to measure, as 3 or 2,4-5 (the quietest one)"),
		bench.CPUOption("housekeeping-cpus", &o.Housekeeping, "CPUs for runtime threads, noise and the conductor (all others)"),
		bench.WordOption("rt", &o.RT, []string{string(bench.RTAuto), string(bench.RTRequire), string(bench.RTOff)}, "real-time policy: auto, require or off"),
	}, append(o.CAT.Table(), o.stressOptions()...)...)
}
