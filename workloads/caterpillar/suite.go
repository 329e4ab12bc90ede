package caterpillar

import (
	"fmt"
	"strconv"
	"strings"

	"opcycle/bench"
)

// Name is the suite's name in results.
const Name = "caterpillar"

const probeName = "walk"

// The workloads.
const (
	workMemory  = "memory"
	workCompute = "compute"
)

// Suite is the suite's line in workloads.All.
func Suite() bench.Suite {
	return bench.Suite{
		Name:  Name,
		Short: "how much the execution time of a memory workload varies, in cycles (caterpillar-style, own workload)",
		Method: `caterpillar chases function pointers in random order through a buffer larger than the
second-level cache and times each of 10,000 iterations of a sample in cycles. A sample's
jitter is their standard deviation; the table has the least and the largest jitter of all
samples and its standard deviation, as the vendor's has. The vendor's program, buffer and
pattern are not published: ours is a workload of our own, and its package says all of it.

The thread runs at SCHED_FIFO 99. Where the kernel limits FIFO time (RT bandwidth, fair
server; the result says which) it rests between iterations, and the iterations after a
rest, until the chain was walked once, are left out and counted. --no-rest does without:
then nothing else runs on the CPU, not even the kernel's own threads. Gaps as long as the
kernel's throttling, by default 40 to 60 ms, are counted as suspected. --workload compute touches no
memory: the control that a cache can't disturb.`,
		Asks:   bench.Asks{Lock: true},
		New:    func() bench.Runner { return newRunner() },
		Probes: map[string]bench.Probe{probeName: probe},
	}
}

// runner is one run's settings.
type runner struct {
	samples  int
	workload string
	buffer   string // auto, or bytes with an ending K or M
	steps    int
	priority int
	noRest   bool
	huge     bool
	csv      string
}

func newRunner() *runner {
	return &runner{samples: 30, workload: workMemory, buffer: "auto", steps: 4096, priority: 99, csv: "caterpillar.csv"}
}

// Options are the suite's settings.
func (r *runner) Options() []bench.Option {
	buffer := bench.TextOption("buffer", &r.buffer, "bytes of the buffer, as 2M or 1536K, or auto: 1.5 x L2")
	set := buffer.Set
	buffer.Set = func(s string) error {
		if s != "auto" {
			if _, err := bufferBytes(s); err != nil {
				return err
			}
		}
		return set(s)
	}
	return []bench.Option{
		bench.IntOption("samples", &r.samples, 1, 100_000, "samples of 10,000 iterations; the vendor's 3 hours are 7200"),
		bench.WordOption("workload", &r.workload, []string{workMemory, workCompute}, "memory, or compute as the control"),
		buffer,
		bench.IntOption("steps", &r.steps, 1, 1<<18, "steps of an iteration (nodes of the chain, or rounds of compute)"),
		bench.IntOption("priority", &r.priority, 1, 99, "SCHED_FIFO priority"),
		bench.SwitchOption("no-rest", &r.noRest, "do not rest where the kernel limits FIFO time"),
		bench.SwitchOption("huge-pages", &r.huge, "ask for huge pages"),
		bench.TextOption("csv", &r.csv, "name of the file of samples beside the result; empty: none"),
	}
}

// bufferBytes reads "2M", "1536K" or a number of bytes.
func bufferBytes(s string) (int64, error) {
	unit, digits := int64(1), s
	switch {
	case strings.HasSuffix(s, "K"):
		unit, digits = 1<<10, strings.TrimSuffix(s, "K")
	case strings.HasSuffix(s, "M"):
		unit, digits = 1<<20, strings.TrimSuffix(s, "M")
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n <= 0 || n > 4<<30/unit || n*unit < 4096 {
		return 0, fmt.Errorf("%q is no size; write bytes from 4096 to 4096M, such as 2M or 1536K, or auto", s)
	}
	return n * unit, nil
}

// bufferOf is the buffer's size on a host, where it comes from, and why it is less than it
// should be.
func (r *runner) bufferOf(h *bench.Host, cpu int) (bytes int64, from, small string, err error) {
	c, _ := h.CPUByID(cpu)
	l2, ok := c.DataCache(2)
	switch {
	case r.buffer != "auto":
		if bytes, err = bufferBytes(r.buffer); err != nil {
			return 0, "", "", err
		}
		from = "as asked for"
	case !ok:
		return 0, "", "", fmt.Errorf("the second-level cache of CPU %d is not known: /sys/devices/system/cpu/cpu%d/cache has none; give --buffer", cpu, cpu)
	default:
		bytes, from = l2.Bytes*3/2, fmt.Sprintf("1.5 x L2 of %d KiB", l2.Bytes>>10)
		if l3, ok := c.DataCache(3); ok && len(l3.Shared) > 0 {
			if share := l3.Bytes / int64(len(l3.Shared)); share < bytes {
				bytes, from = share, fmt.Sprintf("this CPU's share of L3, %d KiB of %d CPUs, less than 1.5 x L2", l3.Bytes>>10, len(l3.Shared))
			}
		}
	}
	if ok && bytes <= l2.Bytes {
		small = fmt.Sprintf("the buffer of %d KiB fits into L2 (%d KiB): without neighbours in it the caches beyond are not measured", bytes>>10, l2.Bytes>>10)
	}
	return bytes, from, small, nil
}
