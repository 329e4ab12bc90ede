package cyclictest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"opcycle/bench"
	"opcycle/imports"
	"opcycle/rt"
)

// programName is the real cyclictest.
const programName = "cyclictest"

// program is one run of the real cyclictest under way.
type program struct {
	cmd  *exec.Cmd
	said bytes.Buffer // standard output: the text
	json bytes.Buffer // what it wrote to --json
	info bench.ProcessInfo
}

// findProgram finds the real cyclictest.
func findProgram() (string, error) {
	path, err := exec.LookPath(programName)
	if err != nil {
		return "", errors.New("the real cyclictest is not in PATH; install it (Debian, Ubuntu: apt install rt-tests; Fedora, RHEL: dnf install realtime-tests), or leave --engine and --cross-check away")
	}
	return path, nil
}

// arguments are those that make the real cyclictest measure what ours does. Its main thread
// stays away from the measured CPUs, as ours does.
func (r *runner) arguments(job bench.Job, length time.Duration) ([]string, error) {
	if r.interval%time.Microsecond != 0 {
		return nil, fmt.Errorf("--interval %s is no whole number of microseconds, and rt-tests knows no others", r.interval)
	}
	a := []string{"-q", "-m", "-a", bench.CPUList(job.Measured).String(), "-t", strconv.Itoa(len(job.Measured)), "-i", strconv.FormatInt(r.interval.Microseconds(), 10)}
	if job.RT == bench.RTOff {
		a = append(a, "--policy", "other")
	} else {
		a = append(a, "-p", strconv.Itoa(r.priority))
	}
	if len(job.Measured) > 1 && r.histogram == 0 {
		a = append(a, "-d", "0") // with a histogram it is 0 already, and says so
	}
	if !slices.ContainsFunc(job.Housekeeping, func(c int) bool { return slices.Contains(job.Measured, c) }) {
		a = append(a, "--mainaffinity", bench.CPUList(job.Housekeeping).String())
	}
	if r.histogram > 0 {
		a = append(a, "-h", strconv.Itoa(r.histogram))
	}
	if length%time.Second == 0 && r.loops == 0 {
		return append(a, "-D", strconv.Itoa(int(length/time.Second)), "--json=/dev/fd/3"), nil
	}
	return append(a, "-l", strconv.FormatInt(int64(length/r.interval), 10), "--json=/dev/fd/3"), nil
}

// real measures with the real cyclictest.
func (r *runner) real(ctx context.Context, job bench.Job) (bench.SuiteResult, error) {
	if job.Checkpoint != nil && job.Resume != nil {
		return bench.SuiteResult{}, errors.New("--engine rt-tests can't go on from a checkpoint; begin the run again, or use --engine opcycle")
	}
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	begin := time.Now()
	run, p, err := r.runProgram(ctx, job, r.length(), tick.C, func() {
		job.Progress(bench.Progress{Phase: bench.PhaseMeasure, Share: min(float64(time.Since(begin))/float64(r.length()), 1)})
	})
	if err != nil && ctx.Err() != nil {
		return bench.SuiteResult{Started: begin.UTC(), Ended: time.Now().UTC(), Warnings: []string{"ended before rt-tests had anything to say: " + err.Error()}}, nil
	}
	if err != nil {
		return bench.SuiteResult{}, err
	}
	out, err := run.Result()
	if err != nil {
		return out, err
	}
	out.Started, out.Ended = begin.UTC(), time.Now().UTC() // its own are whole seconds
	out.Complete = out.Complete && ctx.Err() == nil
	out.Processes = append(out.Processes, p.info)
	for i := range out.Figures {
		if f := &out.Figures[i]; f.Series == "program" && f.Statistic == "command" {
			f.Text, f.NA = strings.Join(p.cmd.Args, " "), ""
		}
	}
	out.Warnings = append(out.Warnings, missing(job, &p.info)...)
	return out, r.beside(job, &out, write(&p.said), write(&p.json))
}

func write(b *bytes.Buffer) func(io.Writer) error {
	return func(w io.Writer) error { _, err := w.Write(b.Bytes()); return err }
}

// missing tells of a policy that the real cyclictest did not have.
func missing(job bench.Job, p *bench.ProcessInfo) []string {
	if job.RT == bench.RTOff || slices.ContainsFunc(p.Threads, func(t bench.ThreadInfo) bool { return t.Role == "measuring" }) {
		return nil
	}
	return []string{"no real-time thread of cyclictest was seen while it ran: its policy is not known"}
}

// runProgram runs the real cyclictest for length and reads its JSON. An end of ctx
// interrupts it: it then writes what it has. every is called at each tick.
func (r *runner) runProgram(ctx context.Context, job bench.Job, length time.Duration, tick <-chan time.Time, every func()) (imports.CyclictestRun, *program, error) {
	none := imports.CyclictestRun{}
	path, err := findProgram()
	if err != nil {
		return none, nil, err
	}
	args, err := r.arguments(job, length)
	if err != nil {
		return none, nil, err
	}
	p := &program{cmd: exec.Command(path, args...)}
	var complaint bytes.Buffer
	p.cmd.Stdout, p.cmd.Stderr, p.cmd.SysProcAttr = &p.said, &complaint, rt.TiedGroup()
	ended, err := p.start()
	if err != nil {
		return none, nil, fmt.Errorf("start %s: %w", path, err)
	}
	stop, limit := ctx.Done(), time.After(2*length+grace)
	killed := false
	for waiting := true; waiting; {
		select {
		case err = <-ended:
			waiting = false
		case <-stop:
			_ = rt.Interrupt(p.cmd.Process) // it may have ended
			stop, limit = nil, time.After(lastWord+r.interval)
		case <-limit:
			killed = true
			rt.KillGroup(p.cmd.Process)
		case <-tick:
			p.look()
			every()
		}
	}
	switch said := strings.TrimSpace(complaint.String()); {
	case killed:
		return none, nil, fmt.Errorf("%s did not end in time and was killed", path)
	case err != nil && said != "":
		return none, nil, fmt.Errorf("%s: %w: %s", path, err, said)
	case err != nil:
		return none, nil, fmt.Errorf("%s: %w", path, err)
	}
	run, err := imports.ReadCyclictest("the JSON of "+path, p.json.Bytes())
	return run, p, err
}

// start starts the program, from a thread that lives as long as it does, and sets the guard
// of real-time threads. ended tells its end, with all of its output read.
func (p *program) start() (ended <-chan error, err error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	p.cmd.ExtraFiles = []*os.File{w}
	started, done, read := make(chan error), make(chan error, 1), make(chan struct{})
	go func() {
		defer close(read)
		_, _ = p.json.ReadFrom(r) // a JSON cut short is seen where it is read
		_ = r.Close()
	}()
	go func() {
		runtime.LockOSThread() // never unlocked: the program ends with this thread (rt.TiedGroup)
		err := p.cmd.Start()
		_ = w.Close() // the program's end
		if err == nil {
			if err = rt.LimitRealTimeOf(p.cmd.Process.Pid, guard); err != nil {
				rt.KillGroup(p.cmd.Process)
				_ = p.cmd.Wait() // killed
			}
		}
		started <- err
		if err == nil {
			err = p.cmd.Wait()
			<-read
			done <- err
		}
	}()
	return done, <-started
}

// look reads the program's threads back, until its real-time ones were seen.
func (p *program) look() {
	if slices.ContainsFunc(p.info.Threads, func(t bench.ThreadInfo) bool { return t.Role == "measuring" }) {
		return
	}
	p.info = bench.ProcessInfo{Name: "rt-tests/" + programName, PID: p.cmd.Process.Pid, TimerSlack: -1, GOGC: "n/a",
		LockError: "lock asked for with -m, not read back", CState: "as it holds them itself"}
	tids, err := rt.ThreadsOf(p.info.PID)
	if err != nil {
		return // it has ended
	}
	for _, tid := range tids {
		a, err := rt.ReadThread(tid)
		if err != nil {
			continue
		}
		role := "main"
		if a.Policy.RealTime() {
			role = "measuring"
		}
		p.info.Threads = append(p.info.Threads, bench.ThreadInfo{TID: tid, Role: role, Policy: a.Policy.String(), Priority: a.Priority, CPUs: a.CPUs})
	}
}
