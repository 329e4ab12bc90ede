package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"opcycle/bench"
	"opcycle/client"
	"opcycle/host"
	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// OPCUA conducts one run of the OPC UA suite.
type OPCUA struct {
	Starter  Starter
	Plan     bench.Plan
	Host     bench.Host
	Root     string               // where /proc and /sys are read below; "/" outside tests
	Progress func(bench.Progress) // called at most ten times a second, may be nil
	Watch    *Watch               // may be nil
	Records  io.Writer            // takes every record of the measuring phase as it is; may be nil
	// Remote is the server of somebody else that the client measures; nil starts our own.
	Remote *Remote
	// Prober starts the probes of what runs beside; Folder takes their files.
	Prober Prober
	Folder *Folder
}

// Remote is a server that was started by hand.
type Remote struct {
	Endpoint string
	bench.Announcement
	// Clock reads the server's CLOCK_MONOTONIC over a connection of its own, between two
	// readings of ours.
	Clock func(context.Context) (client.Exchange, error)
}

// ErrInterrupted says that the run was ended from outside.
var ErrInterrupted = errors.New("interrupted")

// session is a run under way. Its goroutine is the only one that touches it.
type session struct {
	OPCUA
	ctx            context.Context
	server, client *child // server is nil with a Remote
	file           bench.File
	grid           bench.Grid  // of the server's task, on its clock
	local          bench.Grid  // the same on the conductor's clock: without a common one, by the arrivals
	part           *bench.Part // of a Remote
	phase          bench.Phase
	look           glance
	join           *join
	collect        *collect
	further        []*tally // of the clients from the second on
	subs           []uint32 // subscriptions of all clients
	live           live

	before, after            [2]*opcua.Snapshot // server, client
	countersFrom, countersTo host.CPUCounters
	floors                   []floorPair
	clocks                   *clocks // nil: no Remote
	besides                  []*beside
	trace                    *tracer // nil: not asked for
	cat                      *CAT
	failed                   error          // what ended the run before its time
	watch                    []bench.Budget // those whose end ends the run
}

// live is what the progress shows.
type live struct {
	packer recordWriter
}

// Run leads the measured processes through every phase. The file is complete unless
// something ended it early; then it holds what was measured and says so. An error means
// that nothing was measured at all.
func (o OPCUA) Run(ctx context.Context) (bench.File, error) {
	s := &session{OPCUA: o, ctx: ctx}
	s.live.packer.w = o.Records
	s.file = bench.File{Schema: bench.Schema, Suite: suite, Started: time.Now().UTC(), Plan: o.Plan, Host: o.Host, Invalid: []string{}, Warnings: []string{}, Abnormal: []bench.Release{}}
	cpus := [][]int{o.Plan.Client.CPUs}
	if o.Remote == nil {
		cpus = append(cpus, o.Plan.Server.CPUs)
	}
	release, err := claim(cpus...)
	if err != nil {
		return bench.File{}, err
	}
	defer release()
	defer s.close()
	if err := s.allocate(); err != nil {
		return bench.File{}, err
	}
	s.openTrace()
	if err := s.prepare(); err != nil {
		return bench.File{}, err
	}
	for _, step := range []func() error{s.companions, s.warmUp, s.align, s.floor, s.companionsReady, s.measure} {
		if s.failed = step(); s.failed != nil {
			break
		}
	}
	s.finish()
	s.watched(bench.Progress{Phase: bench.PhaseReport, Share: 1})
	return s.file, nil
}

// prepare starts both processes and connects them.
func (s *session) prepare() error {
	s.tell(bench.PhaseStart, -1)
	endpoint, server, err := s.prepareServer()
	if err != nil {
		return err
	}
	s.tell(bench.PhaseConnect, -1)
	p := s.Plan
	if s.client, err = s.Starter.start(bench.ProcessClient, p.Client, p.RT, Rings{Large: opcua.ClientRings, Small: p.OPCUA.Clients - 1}); err != nil {
		return err
	}
	limit := orderLimit + time.Duration(p.OPCUA.Clients)*time.Second
	c, err := s.client.order(s.ctx, opcua.Order{Do: opcua.DoStart, Plan: &p, Target: endpoint}, limit)
	if err != nil {
		return fmt.Errorf("start the client: %w", err)
	}
	s.file.Attained, s.subs = c.Attained, c.Subscriptions
	s.file.Attained.Iterations = p.Task.Iterations
	s.file.Processes = append(s.file.Processes, *c.Info)
	s.file.Phase.Clock = commonClock(server, c.Info)
	if s.Remote != nil && s.Remote.Clock != nil {
		s.clocks = compareClocks(s.Remote.Clock, s.file.Phase.Clock == "common")
	}
	return s.required()
}

// prepareServer starts the server process, or takes the one that runs elsewhere.
func (s *session) prepareServer() (endpoint string, info *bench.ProcessInfo, err error) {
	if s.Remote != nil {
		s.grid = s.Remote.Grid
		return s.Remote.Endpoint, &s.Remote.Server, nil
	}
	p := s.Plan
	if s.server, err = s.Starter.start(bench.ProcessServer, p.Server, p.RT, Rings{Large: opcua.ServerRings}); err != nil {
		return "", nil, err
	}
	r, err := s.server.order(s.ctx, opcua.Order{Do: opcua.DoStart, Plan: &p}, orderLimit)
	if err != nil {
		return "", nil, fmt.Errorf("start the server: %w", err)
	}
	s.grid = r.Grid
	s.file.Processes = append(s.file.Processes, *r.Info)
	return r.Endpoint, r.Info, nil
}

// children are the processes of this run.
func (s *session) children() []*child {
	if s.server == nil {
		return []*child{s.client}
	}
	return []*child{s.server, s.client}
}

// warmUp lets both ends run and watches them.
func (s *session) warmUp() error {
	return s.wait(bench.PhaseWarmUp, s.Plan.WarmUp)
}

// align finds the iteration count and, with the PLC in the client, the client's grid.
func (s *session) align() error {
	t := s.Plan.Task
	s.tell(bench.PhaseAlign, -1)
	s.phase = bench.Phase{Grid: s.grid, Task: s.grid, Clock: s.file.Phase.Clock}
	arrivals, seen := s.look.medianOffset(bench.Grid{Period: s.grid.Period})
	s.local = s.grid
	if s.phase.Clock != "common" {
		if !seen {
			return errors.New("align: no value arrived during the warm-up; make it longer (--warm-up)")
		}
		s.local.Origin = arrivals
		if s.clocks != nil && s.clocks.ready(s.ctx, 3*time.Second) {
			offset, _, _ := s.clocks.at(rt.Now())
			s.local.Origin = s.grid.Origin - offset
		}
	}
	host := s.server
	if t.Host == bench.HostClient {
		host = s.client
		if !seen {
			return errors.New("align: no value arrived during the warm-up; make it longer (--warm-up)")
		}
		s.phase.Task.Origin = arrivals + int64(t.Guard) // d = 0: release k is the one after value k
		first := s.phase.Task.Next(rt.Now()) + 5
		if _, err := s.client.order(s.ctx, opcua.Order{Do: opcua.DoTask, Grid: s.phase.Task, First: first}, orderLimit); err != nil {
			return err
		}
	}
	s.file.Attained.Iterations = t.Iterations
	if t.Auto && host != nil { // a server that was started by hand found its own
		r, err := host.order(s.ctx, opcua.Order{Do: opcua.DoCalibrate, NS: int64(t.Target)}, orderLimit)
		if err != nil {
			return err
		}
		s.file.Attained.Iterations = r.Count
	}
	return s.wait(bench.PhaseAlign, max(300*time.Millisecond, 20*t.Interval))
}

func (s *session) tell(phase string, share float64) {
	p := bench.Progress{Phase: phase, Share: share}
	s.watched(p)
	if s.Progress == nil {
		return
	}
	if phase == bench.PhaseMeasure {
		open := int64(0) // due and not here
		if s.collect != nil {
			open = max(s.due()-s.received(), 0)
		}
		p.Text = fmt.Sprintf("%d received, %d open", s.received(), open)
	}
	s.Progress(p)
}

func (s *session) warn(text string)    { s.file.Warnings = append(s.file.Warnings, text) }
func (s *session) invalid(text string) { s.file.Invalid = append(s.file.Invalid, text) }

// close ends what still runs and gives all memory back.
func (s *session) close() {
	s.clocks.end()
	var wg sync.WaitGroup
	for _, c := range []*child{s.client, s.server} {
		if c == nil {
			continue
		}
		wg.Add(1)
		go func() {
			defer wg.Done()
			select {
			case <-c.exited:
			default:
				_, _ = c.stop()
			}
			c.free()
		}()
	}
	wg.Wait()
	if s.cat != nil {
		s.cat.remove() // nothing is left of it, but where the run ended before it was collected
	}
	if s.trace != nil && s.trace.fs != nil { // the run ended before it was collected
		_ = s.trace.fs.Close()
	}
}
