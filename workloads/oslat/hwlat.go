package oslat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
)

// HWLat is hwlat's line in workloads.All.
func HWLat() bench.Suite {
	return bench.Suite{
		Name:  NameHWLat,
		Short: "gaps that the hardware alone took, by the kernel's own detector (tracer hwlat); n/a without it",
		Method: `hwlat lets the kernel's tracer hwlat spin with interrupts off, 0.5 s of every second, and
lists each gap above the threshold that it saw. It needs tracefs and a kernel with the
tracer; without them it is n/a, and "opcycle suite oslat" is the next best: gaps of system
and hardware, not of hardware alone.`,
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

// tracingDirs are where tracefs is mounted, below a root.
func tracingDirs() []string { return []string{"sys/kernel/tracing", "sys/kernel/debug/tracing"} }

// Run asks the kernel. A kernel without the tracer makes the result invalid: nothing was
// measured, and the reason says so.
func (h *hwlat) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	out := bench.SuiteResult{Started: time.Now()}
	if h.width >= h.window {
		return out, fmt.Errorf("--width %s does not fit into --window %s; the rest of a window is what keeps the machine alive", h.width, h.window)
	}
	dir, err := h.find(job.Root)
	if err != nil {
		out.Ended = time.Now()
		out.Absent = []bench.Absent{{What: "the tracer hwlat", Why: err.Error()}}
		out.Invalid = []string{"n/a: " + err.Error() + `; "opcycle suite oslat" sees gaps of system and hardware together`}
		return out, nil
	}
	restore, err := h.set(dir, job.Measured)
	if err == nil {
		err = h.wait(ctx, job)
	}
	gaps, readErr := readHWLat(dir)
	err = errors.Join(err, readErr, restore())
	out.Ended, out.Complete = time.Now(), ctx.Err() == nil
	var worst float64
	for _, g := range gaps {
		worst = max(worst, float64(g.Value))
	}
	out.Moments = gaps
	n := float64(len(gaps))
	out.Figures = []bench.Figure{{Suite: NameHWLat, Series: "gaps", Statistic: "count", Unit: "1", Value: &n}, {Suite: NameHWLat, Series: "gaps", Statistic: "max", Unit: "ns"}}
	if n > 0 {
		out.Figures[1].Value = &worst
	} else {
		out.Figures[1].NA = "no gap of " + h.threshold.String() + " or more was seen"
	}
	return out, err
}

// find is the tracefs with the tracer.
func (h *hwlat) find(root string) (string, error) {
	for _, d := range tracingDirs() {
		dir := filepath.Join(root, d)
		data, err := os.ReadFile(filepath.Join(dir, "available_tracers"))
		if err != nil {
			continue
		}
		for _, t := range strings.Fields(string(data)) {
			if t == NameHWLat {
				return dir, nil
			}
		}
		return "", fmt.Errorf("this kernel has no tracer hwlat (CONFIG_HWLAT_TRACER), only %s", strings.TrimSpace(string(data)))
	}
	return "", errors.New("tracefs is not mounted: mount -t tracefs none /sys/kernel/tracing")
}

// set configures and starts the tracer; restore puts everything back as found.
func (h *hwlat) set(dir string, cpus []int) (restore func() error, err error) {
	var undo [][2]string
	restore = func() error {
		var errs []error
		for i := len(undo) - 1; i >= 0; i-- {
			errs = append(errs, os.WriteFile(filepath.Join(dir, undo[i][0]), []byte(undo[i][1]), 0o644))
		}
		return errors.Join(errs...)
	}
	us := func(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
	// The kernel refuses a width that does not fit its window at any moment: through the
	// least width, whichever way both change, and back by the same way.
	for _, s := range [][2]string{{"tracing_on", "0"}, {"tracing_cpumask", cpuMask(cpus)}, {"current_tracer", NameHWLat}, {"hwlat_detector/width", "1"}, {"hwlat_detector/window", us(h.window)},
		{"hwlat_detector/width", us(h.width)}, {"tracing_thresh", us(h.threshold)}, {"tracing_on", "1"}} {
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

// cpuMask is the kernel's mask in hexadecimal, 32 CPUs a word.
func cpuMask(cpus []int) string {
	var words []uint32
	for _, c := range cpus {
		for len(words) <= c/32 {
			words = append(words, 0)
		}
		words[c/32] |= 1 << (c % 32)
	}
	var parts []string
	for i := len(words) - 1; i >= 0; i-- {
		form := "%08x"
		if len(parts) == 0 {
			form = "%x"
		}
		parts = append(parts, fmt.Sprintf(form, words[i]))
	}
	return strings.Join(parts, ",")
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

// readHWLat reads the gaps in the tracer's buffer; of inner and outer the larger counts.
func readHWLat(dir string) ([]bench.Moment, error) {
	data, err := os.ReadFile(filepath.Join(dir, "trace"))
	if err != nil {
		return nil, fmt.Errorf("read the tracer hwlat: %w", err)
	}
	var out []bench.Moment
	for line := range strings.Lines(string(data)) {
		m := hwlatLine.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		n := make([]int64, len(m))
		for i := 1; i < len(m); i++ {
			n[i], _ = strconv.ParseInt(m[i], 10, 64) // digits by the expression
		}
		out = append(out, bench.Moment{At: time.Unix(n[5], n[6]).UTC(), CPU: int(n[1]), Index: n[2], What: "gap with interrupts off", Value: max(n[3], n[4]) * 1000, Unit: "ns"})
	}
	return out, nil
}
