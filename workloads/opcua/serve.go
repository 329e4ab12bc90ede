package opcua

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"reflect"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/server"
)

// Serve is the server process: it obeys the conductor's orders until stop or until the
// conductor is gone. rtError says why the process is not real-time although it should be.
// listener is where it listens, nil for the plan's endpoint.
func Serve(ctl *Control, rings []*record.Ring, listener *net.TCPListener, rtError string) error {
	if len(rings) != ServerRings {
		return fmt.Errorf("server process: %d rings; it needs %d", len(rings), ServerRings)
	}
	s := &serve{ctl: ctl, ring: rings[RingTask], listener: listener, rtErr: rtError}
	defer s.end()
	return serveOrders(ctl, s.obey)
}

type serve struct {
	ctl      *Control
	ring     *record.Ring
	listener *net.TCPListener
	plan     bench.Plan
	rtErr    string
	proc     *process
	server   *server.Server
	task     *task
	gate     *gate
	cancel   context.CancelFunc
	served   chan error
}

func (s *serve) obey(o Order) (r Reply, last bool) {
	var err error
	if s.task == nil && o.Do != DoStart && o.Do != DoStop {
		return Reply{Error: "server process: " + o.Do + " before start"}, false
	}
	switch o.Do {
	case DoStart:
		r, err = s.start(o)
	case DoCalibrate:
		r.Count, err = s.task.calibrate(time.Duration(o.NS), s.plan.Task.Interval)
	case DoHold:
		s.task.control.Hold.Store(o.On)
	case DoResult:
		s.server.SetResult(o.Result)
	case DoSnapshot:
		r.Snapshot, r.Info = s.snapshot(), s.info()
	case DoStop:
		r.Snapshot, r.Info, last = s.snapshot(), s.info(), true // the end, up to a cycle long, comes after the word
	default:
		err = fmt.Errorf("server process: unknown order %q", o.Do)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r, last
}

// start opens the port and runs the task: the server is part of the task from here on.
func (s *serve) start(o Order) (Reply, error) {
	s.plan = *o.Plan
	s.proc = prepare(s.plan.Server, serverHeap, s.rtErr)
	if o.NS > 0 { // before anybody can read the announcement
		s.plan.Task.Target = time.Duration(o.NS)
		n, err := calibrated(s.plan, s.plan.Server, s.rtErr)
		if err != nil {
			return Reply{}, err
		}
		s.plan.Task.Iterations = n
	}
	p := s.plan
	u, err := url.Parse(p.OPCUA.Endpoint)
	if err != nil {
		return Reply{}, fmt.Errorf("endpoint %s: %w", p.OPCUA.Endpoint, err)
	}
	period := p.Period()
	grid := bench.Grid{Origin: rt.Now()/period*period + period, Period: period}
	s.gate = &gate{grid: grid}
	a := bench.Announcement{Tool: o.Tool, Plan: p, Grid: grid, Server: s.proc.info}
	if s.listener != nil { // a desk's
		a.Busy = o.Busy
	}
	text, err := json.Marshal(a)
	if err != nil {
		return Reply{}, fmt.Errorf("the plan as JSON: %w", err)
	}
	s.server, err = server.New(server.Config{Listen: u.Host, Items: p.OPCUA.Items, Interval: p.Task.Interval,
		Priority: uint32(p.Task.Priority), Publish: p.Task.Publish, Plan: text, Ring: s.ring, Window: s.window,
		Listener: s.listener, Methods: Methods(busy(o.Busy))})
	if err != nil {
		return Reply{}, err
	}
	program := p.Task.Workload
	if p.Task.Host == bench.HostClient {
		program = "" // the server is the I/O simulator
	}
	s.task, err = startTask(p, p.Server, s.rtErr, program, grid, grid.Next(rt.Now()+int64(20*time.Millisecond)), &serverImage{s.server}, s.ring)
	if err != nil {
		return Reply{}, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.cancel, s.served = cancel, make(chan error, 1)
	go func() { s.served <- s.server.Serve(ctx) }()
	return Reply{Endpoint: s.server.Endpoint(), Grid: grid, Count: p.Task.Iterations, Info: s.info()}, nil
}

// window passes on what a client asks for; the conductor keeps the books.
func (s *serve) window(text string) error {
	if len(text) > windowText {
		return fmt.Errorf("window: %d bytes; write at most %d", len(text), windowText)
	}
	var w bench.Window
	if err := json.Unmarshal([]byte(text), &w); err != nil {
		return fmt.Errorf("window: %w", err)
	}
	if err := s.gate.admit(w, rt.Now()); err != nil {
		return err
	}
	if !w.Done {
		s.server.SetResult(nil)
	}
	return s.ctl.Answer(Reply{Event: EventWindow, Window: &w})
}

// serverImage is the process image of the task in the server: the subscription engine.
type serverImage struct{ *server.Server }

// Held serves peers in a held release without a new value. hot.
func (i *serverImage) Held(k, now int64) { i.Idle(k, now) }

func (s *serve) info() *bench.ProcessInfo {
	if s.proc == nil {
		return nil
	}
	tid := 0
	if s.task != nil {
		tid = s.task.tid
	}
	info := s.proc.read(tid)
	if s.task != nil && s.task.err != "" {
		info.Error = s.task.err
	}
	return info
}

func (s *serve) snapshot() *Snapshot {
	n := snapshot()
	n.Server = map[string]int64{}
	if s.server != nil {
		totals := reflect.ValueOf(s.server.Counters().Snapshot())
		for i := range totals.NumField() {
			n.Server[totals.Type().Field(i).Name] = totals.Field(i).Int()
		}
		for _, c := range s.server.Connections() {
			n.Connections = append(n.Connections, connection(c))
		}
	}
	if s.task != nil {
		n.Executed, n.Skipped = s.task.control.Executed.Load(), s.task.control.Skipped.Load()
	}
	return n
}

// end stops the task, then the server, and waits for both; once.
func (s *serve) end() {
	if s.task != nil && !s.task.control.Stop.Load() {
		if err := s.task.stop(); err != nil {
			s.task.err = err.Error()
		}
	}
	if s.cancel != nil {
		s.cancel()
		if err := s.server.Close(); err != nil {
			s.rtErr = err.Error()
		}
		<-s.served
		s.cancel = nil
	}
}
