package host

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// table is /proc/interrupts or /proc/softirqs: counters since boot, a column a CPU.
//
// NB: procfs has readers for both, but drops the header, without which a column is no
// CPU number when a CPU is offline.
type table struct {
	cpus []int
	rows []irq
}

type irq struct {
	label  string // "24", "LOC", "NET_RX"
	counts []int64
	device string // rest of the line: chip, pin, names
}

func parseTable(s string) (table, error) {
	var t table
	if s == "" {
		return t, nil // unreadable, and noted by who read it
	}
	for i, line := range strings.Split(s, "\n") {
		fields := strings.Fields(line)
		if i == 0 {
			for _, f := range fields {
				id, err := strconv.Atoi(strings.TrimPrefix(f, "CPU"))
				if err != nil {
					return table{}, fmt.Errorf("the header holds %q instead of CPU numbers", f)
				}
				t.cpus = append(t.cpus, id)
			}
			continue
		}
		if len(fields) == 0 {
			continue
		}
		r := irq{label: strings.TrimSuffix(fields[0], ":")}
		for len(r.counts) < len(t.cpus) && len(r.counts)+1 < len(fields) {
			n, err := strconv.ParseInt(fields[len(r.counts)+1], 10, 64)
			if err != nil {
				break
			}
			r.counts = append(r.counts, n)
		}
		r.device = strings.Join(fields[1+len(r.counts):], " ")
		if len(r.counts) == len(t.cpus) { // ERR and MIS have one number for all CPUs
			t.rows = append(t.rows, r)
		}
	}
	if len(t.cpus) == 0 {
		return t, errors.New("no header")
	}
	return t, nil
}

// isDevice is true for a numbered interrupt, a device's; the others are the CPUs' own.
func (r irq) isDevice() bool {
	_, err := strconv.Atoi(r.label)
	return err == nil
}

// device is the number of device interrupts that a CPU took; −1: not known.
func (t table) device(cpu int) int64 { return t.sum(cpu, irq.isDevice) }

// all is the sum of every row of a CPU; −1: not known.
func (t table) all(cpu int) int64 { return t.sum(cpu, func(irq) bool { return true }) }

func (t table) sum(cpu int, which func(irq) bool) int64 {
	column := slices.Index(t.cpus, cpu)
	if column < 0 {
		return -1
	}
	var n int64
	for _, r := range t.rows {
		if which(r) {
			n += r.counts[column]
		}
	}
	return n
}
