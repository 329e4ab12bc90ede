package stress

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/imports"
	"opcycle/rt"
)

// Times of a run.
const (
	lookEvery = 500 * time.Millisecond
	idleMost  = 5 * time.Second // a stressor that has not worked for so long does nothing
	endWithin = 8 * time.Second // for stress-ng to write its metrics
)

// Verified is the Progress.Text of a stressor that was seen to work.
const Verified = "verified"

// Run runs the stressor until its duration is over, End is closed or ctx ends, all of which
// are its plan's end.
func (r *Runner) Run(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	path, instead, err := r.program()
	if err != nil {
		return bench.SuiteResult{}, err
	}
	s := &stressor{Runner: r, job: job, cpus: r.CPUs}
	if len(s.cpus) == 0 {
		s.cpus = job.Housekeeping[:1]
	}
	if job.Begin != nil {
		select {
		case <-job.Begin:
		case <-ctx.Done():
			return bench.SuiteResult{}, ctx.Err()
		}
	}
	s.out = bench.SuiteResult{Suite: Name, Role: bench.RoleNoise, Started: time.Now()}
	if instead != "" {
		s.out.Absent = append(s.out.Absent, bench.Absent{What: "stress-ng " + r.Args, Why: instead})
	}
	if path == "" {
		err = s.builtin(ctx)
	} else {
		err = s.real(ctx, path)
	}
	s.out.Ended = time.Now()
	return s.out, err
}

// stressor is a run under way.
type stressor struct {
	*Runner
	job   bench.Job
	cpus  []int
	out   bench.SuiteResult
	watch *watch
}

// real runs stress-ng.
func (s *stressor) real(ctx context.Context, path string) error {
	dir, err := os.MkdirTemp("", "opcycle-stress-")
	if err != nil {
		return fmt.Errorf("stress-ng: a folder for its metrics: %w", err)
	}
	defer os.RemoveAll(dir)
	metrics := filepath.Join(dir, "metrics.yaml")
	args, err := s.arguments(metrics)
	if err != nil {
		return err
	}
	var said bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.SysProcAttr = dir, &said, &said, rt.EndWithParent()
	ended, err := launch(cmd, s.cpus)
	if err != nil {
		return fmt.Errorf("start stress-ng: %w", err)
	}
	defer rt.KillGroup(cmd.Process) // whatever is left of it
	early, err := s.follow(ctx, cmd.Process.Pid, ended)
	if err != nil {
		rt.KillGroup(cmd.Process)
		<-ended
		return err
	}
	if !early {
		_ = cmd.Process.Signal(os.Interrupt) // an end by itself meanwhile is seen below
		select {
		case <-ended:
		case <-time.After(endWithin):
			rt.KillGroup(cmd.Process)
			<-ended
			s.fault("stress-ng did not end within %s of SIGINT and was killed", endWithin)
		}
		if len(s.out.Invalid) == 0 && !cmd.ProcessState.Success() {
			s.fault("stress-ng ended with %s: %s", cmd.ProcessState, lastLines(said.String()))
		}
	} else {
		s.fault("stress-ng ended by itself after %.1f s: %s: %s", time.Since(s.out.Started).Seconds(), cmd.ProcessState, lastLines(said.String()))
	}
	s.metrics(metrics)
	return nil
}

// launch starts cmd from a thread that has the place and lives until cmd has ended, since
// the child inherits the one and dies with the other.
func launch(cmd *exec.Cmd, cpus []int) (ended chan struct{}, err error) {
	started := make(chan error, 1)
	ended = make(chan struct{})
	go func() {
		runtime.LockOSThread() // never unlocked: the thread ends with this goroutine
		err := rt.SetAffinity(0, cpus)
		if err == nil {
			err = cmd.Start()
		}
		started <- err
		if err == nil {
			_ = cmd.Wait() // ProcessState says how
			close(ended)
		}
	}()
	return ended, <-started
}

// follow looks at the stressor until it has to end. early says that it ended by itself.
func (s *stressor) follow(ctx context.Context, group int, ended <-chan struct{}) (early bool, err error) {
	if s.watch, err = newWatch(filepath.Join(s.job.Root, "proc"), group); err != nil {
		return false, fmt.Errorf("look at the stressor: %w", err)
	}
	var over <-chan time.Time
	if s.job.End == nil {
		over = time.After(s.Duration)
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	worked := time.Now()
	defer s.whole(ended)
	for {
		select {
		case <-ended:
			return true, nil
		case <-ctx.Done():
			return false, nil
		case <-s.job.End:
			s.out.Complete = true
			return false, nil
		case <-over:
			s.out.Complete = true
			return false, nil
		case <-tick.C:
		}
		if s.watch.look() {
			worked = time.Now()
			s.job.Progress(bench.Progress{Phase: Name, Share: -1, Text: Verified})
		} else if time.Since(worked) > idleMost {
			s.fault("its processes used no processor time for %s", idleMost)
			return false, nil
		}
		if len(s.watch.seen.Lost) > 0 {
			return false, nil // what goes on is not the noise that was asked for
		}
	}
}

// whole looks once more, before the stressor is told to end, and finds workers that ended
// before.
func (s *stressor) whole(ended <-chan struct{}) {
	select {
	case <-ended:
		return // with all its workers, which is said
	default:
	}
	s.watch.look()
	if lost := s.watch.seen.Lost; len(lost) > 0 {
		s.fault("%s ended by itself within %.1f s", strings.Join(lost, ", "), time.Since(s.out.Started).Seconds())
	}
}

func (s *stressor) fault(format string, args ...any) {
	s.out.Invalid = append(s.out.Invalid, fmt.Sprintf(format, args...))
	s.out.Complete = false
}

// metrics reads what stress-ng says of itself, and holds it against what was seen.
func (s *stressor) metrics(path string) {
	data, err := os.ReadFile(path)
	if err == nil {
		var r bench.SuiteResult
		if r, err = imports.StressNG("its metrics", data); err == nil {
			s.out.Figures = append(s.out.Figures, r.Figures...)
			s.out.Settings = append(s.out.Settings, r.Settings...)
		}
	}
	if err != nil && len(s.out.Invalid) == 0 { // one that died could not write them
		s.fault("stress-ng left no metrics that can be read: %v", err)
	}
	var parts []string
	for i := range s.out.Figures {
		f := &s.out.Figures[i]
		if f.Series != "bogo_ops" || f.Value == nil {
			continue
		}
		switch {
		case f.Statistic == "count" && *f.Value == 0:
			s.fault("the stressor %s did no bogo operation", f.Object)
		case f.Statistic == "rate":
			parts = append(parts, fmt.Sprintf("%s %.1f bogo ops/s", f.Object, *f.Value))
		}
	}
	s.account("stress-ng "+s.Args, strings.Join(parts, ", "))
}

// account puts what was seen in /proc into the result.
func (s *stressor) account(what, rate string) {
	seconds := float64(s.watch.seen.Ticks) / 100 // USER_HZ is 100 on every Linux
	ns := seconds * 1e9
	s.out.Figures = append(s.out.Figures, bench.Figure{Suite: Name, Object: "all", Series: "cpu", Statistic: "sum", Unit: "ns", Value: &ns},
		bench.Figure{Suite: Name, Object: "all", Series: "cpus", Statistic: "seen", Unit: "text", Text: bench.CPUList(s.watch.seen.CPUs).String()})
	if seconds == 0 {
		s.fault("its processes used no processor time")
	}
	for _, cpu := range s.watch.seen.CPUs {
		if !slices.Contains(s.cpus, cpu) {
			s.out.Warnings = append(s.out.Warnings, fmt.Sprintf("the stressor was seen on CPU %d, outside the CPUs %s that it was given", cpu, bench.CPUList(s.cpus)))
		}
	}
	line := fmt.Sprintf("%s on CPUs %s: %d processes, %.1f s of processor time in %.1f s, seen on CPUs %s", what, bench.CPUList(s.cpus),
		s.watch.seen.Processes, seconds, time.Since(s.out.Started).Seconds(), bench.CPUList(s.watch.seen.CPUs))
	if rate != "" {
		line += "; " + rate
	}
	s.out.Noise = append(s.out.Noise, line)
}

// builtin runs our own memory copy.
func (s *stressor) builtin(ctx context.Context) error {
	p, err := s.job.Start(ctx, bench.ProbeOrder{Suite: Name, Probe: probeName, Input: builtinOrder{s.cpus}, Shared: 4096, Home: s.cpus})
	if err != nil {
		return err
	}
	defer p.Close()
	if err := errors.Join(p.Ready(), p.Go()); err != nil {
		return err
	}
	early, err := s.follow(ctx, p.PID, p.Done)
	if err != nil {
		return err
	}
	if early {
		s.fault("the builtin stressor ended by itself after %.1f s", time.Since(s.out.Started).Seconds())
	}
	p.Stop()
	var a builtinAnswer
	if err := p.Wait(&a); err != nil {
		s.fault("the builtin stressor: %v", err)
	}
	v := float64(a.Copies)
	s.out.Figures = append(s.out.Figures, bench.Figure{Suite: Name, Object: "memcpy", Series: "copies", Statistic: "count", Unit: "1", Value: &v})
	s.account("builtin memory copy", fmt.Sprintf("%.1f MB/s copied", v*copyBytes/1e6/max(time.Since(s.out.Started).Seconds(), 1e-3)))
	return nil
}

// lastLines is the end of what a program said.
func lastLines(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return strings.Join(lines[max(len(lines)-3, 0):], " | ")
}
