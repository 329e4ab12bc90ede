package run

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/workloads/stress"
)

// The words of the option stress.
const (
	stressOff     = "off"
	stressDefault = "default"
)

// verifyLimit is how long a stressor may take until it is seen to work.
const verifyLimit = 10 * time.Second

// Noise runs a stressor while a suite measures.
type Noise struct {
	options *SuiteOptions
	prober  Prober
	warn    string
	running *beside
}

// Begin starts the stressor and returns when it was seen to work.
func (n *Noise) Begin(ctx context.Context, job *bench.Job) error {
	r := stress.New()
	r.Engine, r.CPUs = n.options.StressEngine, n.options.StressCPUs
	if n.options.Stress != stressDefault {
		r.Args = n.options.Stress
	}
	on := r.CPUs
	if len(on) == 0 {
		on = job.Housekeeping[:1]
	}
	for _, cpu := range on {
		if slices.Contains(job.Measured, cpu) {
			n.warn = fmt.Sprintf("the noise runs on the measured CPU %d itself: it is no neighbour there; give others with --stress-cpus", cpu)
		}
	}
	seen := make(chan struct{}, 1)
	s := Suite{Suite: stress.Suite(), Runner: r, Options: *n.options, Host: job.Host, Root: job.Root, Prober: n.prober,
		Progress: func(p bench.Progress) {
			if p.Text == stress.Verified {
				select {
				case seen <- struct{}{}:
				default:
				}
			}
		}}
	s.Options.CPUs, s.Options.Housekeeping = job.Measured, job.Housekeeping
	n.running = startBeside(ctx, s, bench.RoleNoise)
	n.running.start()
	select {
	case <-seen:
		return nil
	case <-n.running.done:
		so := n.running.collect()
		n.running = nil
		return fmt.Errorf("the stressor did not start: %s", strings.Join(so.Invalid, "; "))
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(verifyLimit):
		return fmt.Errorf("the stressor was not seen to work within %s", verifyLimit)
	}
}

// End stops the stressor and says in r what it did.
func (n *Noise) End(r *bench.SuiteResult) {
	if n.running == nil {
		return
	}
	n.running.stop()
	so := n.running.collect()
	n.running = nil
	r.Noise = append(r.Noise, so.Noise...)
	r.Stressors = append(r.Stressors, so)
	for _, s := range so.Invalid {
		r.Invalid = append(r.Invalid, "the noise that was asked for was not there: "+s)
	}
	if n.warn != "" {
		r.Warnings = append(r.Warnings, n.warn)
	}
	r.Warnings = append(r.Warnings, so.Warnings...)
	r.Absent = append(r.Absent, so.Absent...)
}

// stressOptions are the options of the noise.
func (o *SuiteOptions) stressOptions() []bench.Option {
	return []bench.Option{
		bench.TextOption("stress", &o.Stress, "noise: off, default ("+stress.MemoryArgs+"), or arguments of stress-ng"),
		bench.WordOption("stress-engine", &o.StressEngine, stress.Engines(), "stress-ng, builtin (a memory copy), or auto: stress-ng where it is installed"),
		bench.CPUOption("stress-cpus", &o.StressCPUs, "CPUs of the noise (the first housekeeping CPU)"),
	}
}
