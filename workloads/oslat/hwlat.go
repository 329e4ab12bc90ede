package oslat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// HWLat is hwlat's line in workloads.All.
func HWLat() bench.Suite {
	return bench.Suite{
		Name:  NameHWLat,
		Short: "gaps that the hardware alone took, by the kernel's own detector (tracer hwlat); n/a without it",
		Method: `hwlat lets the kernel's tracer hwlat spin with interrupts off, 0.5 s of every second, and
lists each gap above the threshold that it saw. Its thread goes round the measured CPUs, on
which nothing else runs meanwhile. It needs root, tracefs (mounted for the run where it is
not) and a kernel with the tracer; without them it is n/a, and "opcycle suite oslat" is the
next best: gaps of system and hardware, not of hardware alone. The tracer is left as it was
found; one that somebody uses is refused. A run that is killed leaves it on:
echo nop > /sys/kernel/tracing/current_tracer.`,
		Alone: "it switches interrupts off for half of the time",
		Asks:  bench.Asks{Tracer: true},
		New: func() bench.Runner {
			return &hwlat{duration: 30 * time.Second, width: 500 * time.Millisecond, window: time.Second, threshold: 10 * time.Microsecond}
		},
	}
}

type hwlat struct {
	duration, width, window, threshold time.Duration
}

// Options are the suite's settings.
func (h *hwlat) Options() []bench.Option {
	return []bench.Option{
		bench.DurationOption("duration", &h.duration, 10*time.Millisecond, "length of the run"),
		bench.DurationOption("width", &h.width, time.Millisecond, "spinning with interrupts off, of each window"),
		bench.DurationOption("window", &h.window, 2*time.Millisecond, "period of the spinning"),
		bench.DurationOption("threshold", &h.threshold, time.Microsecond, "least gap that is listed"),
	}
}

// Run asks the kernel. A kernel without the tracer makes the result invalid: nothing was
// measured, and the reason says so.
func (h *hwlat) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	out := bench.SuiteResult{Started: time.Now()}
	if h.width >= h.window {
		return out, fmt.Errorf("--width %s does not fit into --window %s; the rest of a window is what keeps the machine alive", h.width, h.window)
	}
	absent := func(err error) (bench.SuiteResult, error) {
		out.Ended = time.Now()
		out.Figures = []bench.Figure{{Suite: NameHWLat, Series: "gaps", Statistic: "max", Unit: "ns", NA: err.Error()}}
		out.Absent = []bench.Absent{{What: "the tracer hwlat", Why: err.Error()}}
		out.Invalid = []string{"n/a: " + err.Error() + `; "opcycle suite oslat" sees gaps of system and hardware together, not of hardware alone`}
		return out, nil
	}
	dir, done, err := rt.TracefsDir(job.Root)
	if err != nil {
		return absent(err)
	}
	if err := free(dir); err != nil {
		return absent(errors.Join(err, done()))
	}
	restore, err := h.set(dir, job.Measured)
	if err == nil {
		out.Started = time.Now()
		err = h.wait(ctx, job)
	}
	gaps, lost, readErr := readHWLat(dir)
	out.Ended, out.Complete = time.Now(), ctx.Err() == nil
	if err = errors.Join(err, readErr, restore(), done()); err != nil {
		return out, err
	}
	h.add(&out, gaps, lost)
	return out, nil
}

// add puts what the tracer saw into the result.
func (h *hwlat) add(out *bench.SuiteResult, gaps []bench.Moment, lost int64) {
	n, worst := float64(len(gaps)), 0.0
	for i := range gaps {
		gaps[i].Since = gaps[i].At.Sub(out.Started).Nanoseconds()
		worst = max(worst, float64(gaps[i].Value))
	}
	out.Moments = gaps
	figure := func(series, statistic, unit string, v float64) {
		out.Figures = append(out.Figures, bench.Figure{Suite: NameHWLat, Series: series, Statistic: statistic, Unit: unit, Value: &v})
	}
	figure("gaps", "count", "1", n)
	figure("gaps", "lost", "1", float64(lost))
	figure("watched", "share", "1", h.width.Seconds()/h.window.Seconds())
	figure("gaps", "max", "ns", worst)
	if last := &out.Figures[3]; n == 0 {
		last.Value, last.NA = nil, "no gap of "+h.threshold.String()+" or more was seen"
	}
	if lost > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the tracer's buffer lost %d gaps: use a higher --threshold", lost))
	}
}

// free says why the tracer can't be had: the kernel lacks it, or somebody uses the tracer.
func free(dir string) error {
	tracers, err := os.ReadFile(filepath.Join(dir, "available_tracers"))
	if err != nil {
		return fmt.Errorf("which tracers there are: %w; run as root", err)
	}
	if !slices.Contains(strings.Fields(string(tracers)), NameHWLat) {
		return fmt.Errorf("this kernel has no tracer hwlat (CONFIG_HWLAT_TRACER); available_tracers: %s", strings.TrimSpace(string(tracers)))
	}
	now, err := os.ReadFile(filepath.Join(dir, "current_tracer"))
	if err != nil {
		return fmt.Errorf("whether the tracer is in use: %w; run as root", err)
	}
	if name := strings.TrimSpace(string(now)); name != "nop" {
		return fmt.Errorf("the tracer is in use: current_tracer is %s; end that, or echo nop > current_tracer", name)
	}
	return nil
}

// set configures and starts the tracer; restore puts everything back as found, in the
// opposite order.
func (h *hwlat) set(dir string, cpus []int) (restore func() error, err error) {
	var undo [][2]string
	restore = func() error {
		var errs []error
		for _, u := range slices.Backward(undo) {
			if err := os.WriteFile(filepath.Join(dir, u[0]), []byte(u[1]), 0o644); err != nil {
				errs = append(errs, fmt.Errorf("put %s back to %q: %w", u[0], u[1], err))
			}
		}
		return errors.Join(errs...)
	}
	us := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	// The kernel refuses a width that does not fit its window at any moment: through the
	// least width, whichever way both change, and back by the same way.
	for _, s := range [][2]string{{"tracing_on", "0"}, {"tracing_cpumask", cpuMask(cpus)}, {"hwlat_detector/width", "1"}, {"hwlat_detector/window", us(h.window)},
		{"hwlat_detector/width", us(h.width)}, {"tracing_thresh", us(h.threshold)}, {"current_tracer", NameHWLat}, {"tracing_on", "1"}} {
		path := filepath.Join(dir, s[0])
		before, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(s[1]), 0o644)
		}
		if err != nil {
			return restore, fmt.Errorf("the tracer hwlat: %s to %s: %w", s[0], s[1], err)
		}
		undo = append(undo, [2]string{s[0], strings.TrimSpace(string(before))})
	}
	return restore, nil
}

// cpuMask is the kernel's form of a set of CPUs: words of 32 bits in hexadecimal, the highest
// first.
func cpuMask(cpus []int) string {
	words := make([]uint32, slices.Max(append([]int{0}, cpus...))/32+1)
	for _, cpu := range cpus {
		words[len(words)-1-cpu/32] |= 1 << (cpu % 32)
	}
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = fmt.Sprintf("%08x", w)
	}
	return strings.Join(out, ",")
}

func (h *hwlat) wait(ctx context.Context, job bench.Job) error {
	begin := time.Now()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	over := time.After(h.duration)
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-over:
			return nil
		case <-tick.C:
			job.Progress(bench.Progress{Phase: NameHWLat, Share: min(time.Since(begin).Seconds()/h.duration.Seconds(), 1)})
		}
	}
}

// hwlatLine is one gap of the tracer: "#1  inner/outer(us):  12/13  ts:1499801089.066141940".
var hwlatLine = regexp.MustCompile(`\[(\d+)\].*#(\d+)\s+inner/outer\(us\):\s*(\d+)/(\d+)\s+ts:(\d+)\.(\d{9})`)

// readHWLat reads the gaps in the tracer's buffer, and how many it lost; of inner and outer
// the larger counts.
func readHWLat(dir string) (gaps []bench.Moment, lost int64, err error) {
	data, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		return nil, 0, fmt.Errorf("read the tracer hwlat: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		m := hwlatLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n := make([]int64, len(m))
		for i := 1; i < len(m); i++ {
			n[i], _ = strconv.ParseInt(m[i], 10, 64) // digits by the expression
		}
		lost = max(lost, n[2]) // the tracer's own count, from 1
		gaps = append(gaps, bench.Moment{At: time.Unix(n[5], n[6]).UTC(), CPU: int(n[1]), Index: n[2], What: "gap with interrupts off", Value: max(n[3], n[4]) * 1000, Unit: "ns"})
	}
	return gaps, lost - int64(len(gaps)), nil
}
