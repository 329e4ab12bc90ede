package stress

import (
	"fmt"
	"slices"

	"github.com/prometheus/procfs"
)

// seen is what was seen of a process group in /proc.
type seen struct {
	Ticks     uint64 // of processor time, user and system, of all processes now
	Processes int
	CPUs      []int    // that one of them was on while it had used time, ascending
	Lost      []string // workers that ended before the stressor was told to
}

// watch looks at the processes of a group. One goroutine owns it.
type watch struct {
	fs    procfs.FS
	group int
	last  map[int]uint64 // ticks by process
	gone  uint64         // ticks of processes that have ended
	// workers are the leader's children that worked in two looks or more, by process: a
	// stressor goes on without one that was killed, at a part of the noise. What it starts
	// only to see what the machine can do is gone before.
	workers map[int]worker
	seen    seen
}

type worker struct {
	name  string
	looks int
}

func newWatch(root string, group int) (*watch, error) {
	fs, err := procfs.NewFS(root)
	return &watch{fs: fs, group: group, last: map[int]uint64{}, workers: map[int]worker{}}, err
}

// look reads every process of the group. grew says whether one of them worked since the
// last look.
func (w *watch) look() (grew bool) {
	procs, err := w.fs.AllProcs()
	if err != nil {
		return false
	}
	now, alive := map[int]uint64{}, map[int]bool{}
	var sum uint64
	for _, p := range procs {
		s, err := p.Stat()
		if err != nil || s.PGRP != w.group {
			continue
		}
		ticks := uint64(s.UTime) + uint64(s.STime)
		now[p.PID] = ticks
		sum += ticks
		if s.PPID == w.group && s.State != "Z" {
			alive[p.PID] = true
			if ticks > w.last[p.PID] {
				w.workers[p.PID] = worker{s.Comm, w.workers[p.PID].looks + 1}
			}
		}
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
	for pid, k := range w.workers {
		if !alive[pid] {
			delete(w.workers, pid)
			if k.looks > 1 {
				w.seen.Lost = append(w.seen.Lost, fmt.Sprintf("%s (process %d)", k.name, pid))
			}
		}
	}
	w.last = now
	w.seen.Ticks, w.seen.Processes = w.gone+sum, max(w.seen.Processes, len(now))
	return grew
}
