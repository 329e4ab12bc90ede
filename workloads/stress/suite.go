package stress

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"opcycle/bench"
)

// Name is the suite's name in results.
const Name = "stress"

// The engines.
const (
	engineAuto     = "auto"
	engineStressNG = "stress-ng"
	engineBuiltin  = "builtin"
)

// MemoryArgs are the vendor's noise for caterpillar and cyclictest; MixedArgs the default
// beside an OPC UA run.
const (
	MemoryArgs = "--memcpy 1"
	MixedArgs  = "--cpu 2 --fault 2 --cpu-load 80"
)

// Suite is the suite's line in workloads.All.
func Suite() bench.Suite {
	return bench.Suite{
		Name:  Name,
		Short: "a stressor alone, verified: what run --stress-ng and the option stress put beside a measurement",
		Method: `stress runs the real stress-ng with the arguments given, or a memory copy of our own, pinned
to CPUs at the ordinary policy, and proves that it worked: processor time of its processes,
the CPUs they were seen on, stress-ng's own metrics. A stressor that ended by itself, or did
nothing, makes the result invalid.`,
		New:    func() bench.Runner { return New() },
		Probes: map[string]bench.Probe{probeName: probe},
	}
}

// Runner is one run of a stressor.
type Runner struct {
	Engine   string
	Args     string // of stress-ng
	CPUs     []int  // nil: the first of the job's housekeeping CPUs
	Duration time.Duration
}

// New is a stressor with the vendor's defaults.
func New() *Runner {
	return &Runner{Engine: engineAuto, Args: MemoryArgs, Duration: 10 * time.Second}
}

// Options are the suite's settings.
func (r *Runner) Options() []bench.Option {
	return []bench.Option{
		bench.WordOption("engine", &r.Engine, Engines(), "stress-ng, builtin (a memory copy), or auto: stress-ng where it is installed"),
		bench.TextOption("args", &r.Args, "arguments of stress-ng"),
		bench.CPUOption("on", &r.CPUs, "CPUs of the stressor (the first housekeeping CPU)"),
		bench.DurationOption("duration", &r.Duration, 100*time.Millisecond, "length of the run"),
	}
}

// Engines are the words for Engine.
func Engines() []string { return []string{engineAuto, engineStressNG, engineBuiltin} }

// program finds stress-ng; empty: the builtin stressor runs.
func (r *Runner) program() (path, why string, err error) {
	if r.Engine == engineBuiltin {
		return "", "", nil
	}
	path, err = exec.LookPath(engineStressNG)
	switch {
	case err == nil:
		return path, "", nil
	case r.Engine == engineStressNG:
		return "", "", errors.New("stress-ng is not installed: apt-get install stress-ng, or dnf install stress-ng; or use the engine builtin")
	}
	return "", "stress-ng is not installed: a memory copy of our own ran instead", nil
}

// arguments are those given, with what makes the run end by us and tell its metrics.
func (r *Runner) arguments(metrics string) ([]string, error) {
	args := strings.Fields(r.Args)
	if len(args) == 0 {
		return nil, errors.New("no arguments for stress-ng; name a stressor, such as --memcpy 1")
	}
	for _, a := range args {
		name, _, _ := strings.Cut(a, "=")
		switch name {
		case "-t", "--timeout", "--yaml", "-Y", "--taskset", "--metrics", "-q", "--quiet":
			return nil, fmt.Errorf("stress-ng %s is set by this program; leave it away (CPUs and duration have options)", name)
		}
	}
	return append(args, "--timeout", "0", "--metrics", "--yaml", metrics), nil
}
