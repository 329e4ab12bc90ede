package host

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// CPUCounters are the kernel's counters since boot, read before and after the measuring
// phase; their difference tells what else the measured CPUs did. A nil field is unknown.
type CPUCounters struct {
	CPUs         []CPUCount // ascending
	Throttled    *int64     // times that a CPU quota of this process's cgroup, or one above, stopped it
	ThrottledFor *time.Duration
	Unreadable   []string
}

// CPUCount is one CPU.
type CPUCount struct {
	CPU        int
	Steal      *time.Duration // taken by the hypervisor; in steps of 10 ms
	Interrupts *int64         // every kind: devices, timers, from other CPUs
	Devices    *int64         // of these, devices'
	Softirqs   *int64
}

// Counters reads the counters below the folder root. The error is for a root without
// /proc.
func Counters(root string) (CPUCounters, error) {
	t := &tree{files: disk(root)}
	proc, err := t.procfs()
	if err != nil {
		return CPUCounters{}, fmt.Errorf("read the counters below %s: %w; this works on Linux with /proc mounted", root, err)
	}
	cpus := map[int]*CPUCount{}
	at := func(id int) *CPUCount {
		if cpus[id] == nil {
			cpus[id] = &CPUCount{CPU: id}
		}
		return cpus[id]
	}
	if s, err := proc.Stat(); err != nil {
		t.miss("proc/stat", err)
	} else {
		for id, c := range s.CPU {
			d := time.Duration(c.Steal*100+0.5) * 10 * time.Millisecond // procfs divides ticks by 100
			at(int(id)).Steal = &d
		}
	}
	irqs, soft := t.table("proc/interrupts"), t.table("proc/softirqs")
	for id, c := range cpus {
		c.Interrupts, c.Devices, c.Softirqs = known(irqs.all(id)), known(irqs.device(id)), known(soft.all(id))
	}
	out := CPUCounters{}
	for _, id := range slices.Sorted(maps.Keys(cpus)) {
		out.CPUs = append(out.CPUs, *cpus[id])
	}
	out.Throttled, out.ThrottledFor = t.throttled()
	out.Unreadable = t.unreadable
	return out, nil
}

func (t *tree) table(name string) table {
	out, err := parseTable(t.text(name))
	if err != nil {
		t.miss(name, err)
	}
	return out
}

func known(n int64) *int64 {
	if n < 0 {
		return nil
	}
	return &n
}

// throttled adds up the quota stops of every level that keeps a count; nil: none does.
func (t *tree) throttled() (*int64, *time.Duration) {
	var times *int64
	var lost *time.Duration
	for _, dir := range t.levels("cpu") {
		s, _ := t.option(dir + "/cpu.stat")
		for line := range strings.Lines(s) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
			n, err := strconv.ParseInt(value, 10, 64)
			if err != nil {
				continue
			}
			switch key {
			case "nr_throttled":
				times = sum(times, n)
			case "throttled_usec": // v2
				lost = sum(lost, time.Duration(n)*time.Microsecond)
			case "throttled_time": // v1
				lost = sum(lost, time.Duration(n))
			}
		}
	}
	return times, lost
}

func sum[T ~int64](p *T, n T) *T {
	if p != nil {
		n += *p
	}
	return &n
}

// Since returns what was counted between before and c on the given CPUs. What either
// side does not know stays unknown.
func (c CPUCounters) Since(before CPUCounters, cpus []int) CPUCounters {
	out := CPUCounters{
		Throttled:    minus(c.Throttled, before.Throttled),
		ThrottledFor: minus(c.ThrottledFor, before.ThrottledFor),
		Unreadable:   c.Unreadable,
	}
	for _, id := range cpus {
		a, b := c.of(id), before.of(id)
		out.CPUs = append(out.CPUs, CPUCount{
			CPU:        id,
			Steal:      minus(a.Steal, b.Steal),
			Interrupts: minus(a.Interrupts, b.Interrupts),
			Devices:    minus(a.Devices, b.Devices),
			Softirqs:   minus(a.Softirqs, b.Softirqs),
		})
	}
	return out
}

// of finds a CPU; one that is not there is all unknown.
func (c CPUCounters) of(id int) CPUCount {
	for _, x := range c.CPUs {
		if x.CPU == id {
			return x
		}
	}
	return CPUCount{CPU: id}
}

func minus[T ~int64](a, b *T) *T {
	if a == nil || b == nil {
		return nil
	}
	d := *a - *b
	return &d
}
