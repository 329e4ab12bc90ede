package cyclictest

import (
	"errors"
	"fmt"
	"time"

	"opcycle/bench"
)

// Name is the suite's name in results.
const Name = "cyclictest"

const probeName = "wake-up"

// The engines.
const (
	engineOwn     = "opcycle"
	engineRTTests = "rt-tests"
)

// Suite is the suite's line in workloads.All.
func Suite() bench.Suite {
	return bench.Suite{
		Name:  Name,
		Short: "how late a SCHED_FIFO thread wakes from an absolute sleep (cyclictest-style)",
		Method: `cyclictest measures how late a thread wakes: one thread a CPU at SCHED_FIFO 99 sleeps to
instants of a grid (250 us), and each latency is the clock right after the sleep minus the
instant it was due. Instants that were slept over are counted as missed. The result has
percentiles, the worst 16 wake-ups with their times, and a histogram.

--engine rt-tests runs the real cyclictest instead and reads its JSON. --cross-check runs
both in turns on one CPU and prints the ratio of their medians and averages: the run fails
(exit 1) when the ratio's interval lies wholly above 1.10.

Memory is locked and the CPUs kept out of sleep states where the kernel allows it; what was
not had is in the result, or ends the run before it begins with --rt require. It cannot
tell who delayed a wake-up, and a maximum is no bound: a longer run finds a larger one.

  opcycle suite cyclictest                          one minute on the quietest CPU
  opcycle suite cyclictest --cpus 2-3 --duration 24h
  opcycle suite cyclictest --text hist.txt --json result.json   as rt-tests writes them
  opcycle suite cyclictest --cross-check            our loop against rt-tests', four minutes`,
		Asks:   bench.Asks{Lock: true},
		New:    func() bench.Runner { return newRunner() },
		Probes: map[string]bench.Probe{probeName: probe},
	}
}

// runner is one run's settings.
type runner struct {
	interval   time.Duration
	priority   int
	duration   time.Duration
	loops      int
	histogram  int
	engine     string
	text, json string
	crossCheck bool
	pairs      int
	slice      time.Duration
}

func newRunner() *runner {
	return &runner{interval: 250 * time.Microsecond, priority: 99, duration: time.Minute, histogram: 400,
		engine: engineOwn, pairs: 20, slice: 5 * time.Second}
}

// Options are the suite's settings.
func (r *runner) Options() []bench.Option {
	return []bench.Option{
		bench.DurationOption("interval", &r.interval, 20*time.Microsecond, "distance of the instants"),
		bench.IntOption("priority", &r.priority, 1, 99, "SCHED_FIFO priority"),
		bench.DurationOption("duration", &r.duration, 10*time.Millisecond, "length of the run"),
		bench.IntOption("loops", &r.loops, 0, 1<<40, "wake-ups a thread instead of a duration, 0 for the duration"),
		bench.IntOption("histogram", &r.histogram, 0, microBuckets, "buckets of 1 us in the histogram of --text and --json and of rt-tests; 0 for none"),
		bench.WordOption("engine", &r.engine, []string{engineOwn, engineRTTests}, "whose loop measures: opcycle or rt-tests"),
		bench.TextOption("text", &r.text, "name of a file beside the result, as cyclictest -h prints it"),
		bench.TextOption("json", &r.json, "name of a file beside the result, as cyclictest --json writes it"),
		bench.SwitchOption("cross-check", &r.crossCheck, "run both engines in turns and compare them"),
		bench.IntOption("pairs", &r.pairs, 1, 1000, "pairs of slices of the cross-check"),
		bench.DurationOption("slice", &r.slice, 100*time.Millisecond, "length of a slice of the cross-check"),
	}
}

// check refuses what can't be measured.
func (r *runner) check(job bench.Job) error {
	switch {
	case r.crossCheck && r.engine == engineRTTests:
		return errors.New("--cross-check runs both engines; leave --engine away")
	case r.crossCheck && len(job.Measured) > 1:
		return fmt.Errorf("--cross-check compares on one CPU; name one with --cpus, not %s", bench.CPUList(job.Measured))
	case r.crossCheck && r.histogram == 0:
		return errors.New("--cross-check needs a histogram for the medians; leave --histogram away")
	case (r.crossCheck || r.engine == engineRTTests) && job.Begin != nil:
		return errors.New("beside another suite only the engine opcycle can be framed by its measuring phase")
	case r.interval > time.Second:
		return fmt.Errorf("--interval %s is too long for a wake-up that must be stopped in time; use 1s or less", r.interval)
	case r.loops == 0 && r.duration < 10*r.interval:
		return fmt.Errorf("--duration %s is too short for --interval %s; use %s or more", r.duration, r.interval, 10*r.interval)
	case (r.text != "" || r.json != "") && job.Create == nil:
		return errors.New("--text and --json need a folder for the result")
	}
	return nil
}

// length is how long the run is planned to be.
func (r *runner) length() time.Duration { return time.Duration(r.planned()) * r.interval }

// planned is how much each thread has to measure: wake-ups with --loops, else instants,
// those that were slept over included.
func (r *runner) planned() int64 {
	if r.loops > 0 {
		return int64(r.loops)
	}
	return int64(r.duration / r.interval)
}

// done is how much of planned t is.
func (r *runner) done(t *tally) int64 {
	if r.loops > 0 {
		return t.Latency.Count
	}
	return t.instants()
}
