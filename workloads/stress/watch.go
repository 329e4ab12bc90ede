package stress

import (
	"slices"

	"github.com/prometheus/procfs"
)

// seen is what was seen of a process group in /proc.
type seen struct {
	Ticks     uint64 // of processor time, user and system, of all processes now
	Processes int
	CPUs      []int // that one of them was on while it had used time, ascending
}

// watch looks at the processes of a group. One goroutine owns it.
type watch struct {
	fs    procfs.FS
	group int
	last  map[int]uint64 // ticks by process
	gone  uint64         // ticks of processes that have ended
	seen  seen
}

func newWatch(root string, group int) (*watch, error) {
	fs, err := procfs.NewFS(root)
	return &watch{fs: fs, group: group, last: map[int]uint64{}}, err
}

// look reads every process of the group. grew says whether one of them worked since the
// last look.
func (w *watch) look() (grew bool) {
	procs, err := w.fs.AllProcs()
	if err != nil {
		return false
	}
	now := map[int]uint64{}
	var sum uint64
	for _, p := range procs {
		s, err := p.Stat()
		if err != nil || s.PGRP != w.group {
			continue
		}
		ticks := uint64(s.UTime) + uint64(s.STime)
		now[p.PID] = ticks
		sum += ticks
		if ticks > w.last[p.PID] {
			grew = true
			if cpu := int(s.Processor); !slices.Contains(w.seen.CPUs, cpu) {
				w.seen.CPUs = append(w.seen.CPUs, cpu)
				slices.Sort(w.seen.CPUs)
			}
		}
	}
	for pid, ticks := range w.last {
		if _, ok := now[pid]; !ok {
			w.gone += ticks
		}
	}
	w.last = now
	w.seen.Ticks, w.seen.Processes = w.gone+sum, max(w.seen.Processes, len(now))
	return grew
}
