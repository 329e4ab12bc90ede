package opcua

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"opcycle/bench"
	"opcycle/client"
	"opcycle/record"
)

// The rings of a client process, in the order in which it is given them.
const (
	RingTask     = iota // the PLC thread: releases (host = client); in the server process its only ring
	RingArrivals        // the publish pump
	RingWrites          // the writer
	ClientRings         // from here on the arrivals of further clients, one small ring each
)

// ServerRings is the number of rings of a server process.
const ServerRings = 1

// Measure is the client process: it obeys the conductor's orders until stop or until the
// conductor is gone. rtError says why the process is not real-time although it should be.
func Measure(ctl *Control, rings []*record.Ring, rtError string) error {
	if len(rings) < ClientRings {
		return fmt.Errorf("client process: %d rings; it needs %d", len(rings), ClientRings)
	}
	m := &measure{ctl: ctl, rings: rings, rtErr: rtError}
	defer m.end()
	return serveOrders(ctl, m.obey)
}

// serveOrders answers every order by obey, until it says that the last was the last.
func serveOrders(ctl *Control, obey func(Order) (Reply, bool)) error {
	for {
		o, err := ctl.Next()
		if err == io.EOF {
			return nil // the conductor is gone: nobody is left to measure for
		}
		if err != nil {
			return err
		}
		r, last := obey(o)
		r.ID = o.ID
		if err := ctl.Answer(r); err != nil || last {
			return err
		}
	}
}

type measure struct {
	ctl     *Control
	rings   []*record.Ring
	plan    bench.Plan
	rtErr   string
	proc    *process
	clients []*client.Client // the first echoes, and feeds the task
	task    *task
	cancel  context.CancelFunc
	ran     sync.WaitGroup
}

func (m *measure) obey(o Order) (r Reply, last bool) {
	var err error
	switch o.Do {
	case DoStart:
		r, err = m.start(o)
	case DoTask:
		m.task, err = startTask(m.plan, m.plan.Client, m.rtErr, m.plan.Task.Workload, o.Grid, o.First,
			&plcImage{client: m.clients[0]}, m.rings[RingTask])
		if err == nil {
			r.Info = m.info()
		}
	case DoCalibrate:
		if m.task == nil {
			err = fmt.Errorf("calibrate: the client hosts no task in this plan")
			break
		}
		r.Count, err = m.task.calibrate(time.Duration(o.NS), m.plan.Task.Interval)
	case DoHold:
		if m.task != nil {
			m.task.control.Hold.Store(o.On)
		}
	case DoWindow:
		err = m.clients[0].AskBooks(*o.Window)
	case DoBooks:
		r.Books, err = m.clients[0].Books()
	case DoSnapshot:
		r.Snapshot, r.Info = m.snapshot(), m.info()
	case DoStop:
		r.Info = m.info()
		m.end()
		r.Snapshot, last = m.snapshot(), true
	default:
		err = fmt.Errorf("client process: unknown order %q", o.Do)
	}
	if err != nil {
		r.Error = err.Error()
	}
	return r, last
}

func (m *measure) start(o Order) (Reply, error) {
	m.plan = *o.Plan
	m.proc = prepare(m.plan.Client, clientHeap, m.rtErr)
	if want := ClientRings + m.plan.OPCUA.Clients - 1; len(m.rings) != want {
		return Reply{}, fmt.Errorf("client process: %d rings for %d clients; it needs %d", len(m.rings), m.plan.OPCUA.Clients, want)
	}
	r := Reply{}
	for i := range m.plan.OPCUA.Clients {
		c, err := m.dial(o.Target, i)
		if err != nil {
			return Reply{}, fmt.Errorf("client %d: %w", i+1, err)
		}
		m.clients = append(m.clients, c)
		r.Subscriptions = append(r.Subscriptions, c.Attained().Subscription)
	}
	run, stop := context.WithCancel(context.Background())
	m.cancel = stop
	for _, c := range m.clients {
		m.ran.Add(1)
		go func() {
			defer m.ran.Done()
			if err := c.Run(run); err != nil { // told unasked: the conductor ends the run
				_ = m.ctl.Answer(Reply{Event: EventLost, Error: err.Error()})
			}
		}()
	}
	r.Attained, r.Info = m.clients[0].Attained(), m.info()
	return r, nil
}

// dial connects client i; its rings are the first client's, or one of its own.
func (m *measure) dial(endpoint string, i int) (*client.Client, error) {
	cfg := client.ConfigOf(m.plan, endpoint)
	if m.rtErr != "" {
		cfg.StamperPriority = 0
	}
	cfg.Arrivals, cfg.Writes = m.rings[RingArrivals], m.rings[RingWrites]
	if i > 0 {
		cfg.Arrivals, cfg.Writes = m.rings[ClientRings+i-1], nil
	}
	return client.Dial(context.Background(), cfg)
}

func (m *measure) info() *bench.ProcessInfo {
	if m.proc == nil {
		return nil
	}
	tid := 0
	if m.task != nil {
		tid = m.task.tid
	}
	info := m.proc.read(tid)
	if m.task != nil && m.task.err != "" {
		info.Error = m.task.err
	}
	return info
}

func (m *measure) snapshot() *Snapshot {
	s := snapshot()
	for _, c := range m.clients {
		s.Clients = append(s.Clients, c.Counts())
		s.Connections = append(s.Connections, connection(c.Connection()))
	}
	if m.task != nil {
		s.Executed, s.Skipped = m.task.control.Executed.Load(), m.task.control.Skipped.Load()
	}
	return s
}

// end stops task, pump and writer and waits for them; once.
func (m *measure) end() {
	if m.task != nil && !m.task.control.Stop.Load() {
		if err := m.task.stop(); err != nil {
			m.task.err = err.Error()
		}
	}
	if m.cancel != nil {
		m.cancel()
		m.ran.Wait()
		for _, c := range m.clients {
			c.Close()
		}
		m.cancel = nil
	}
}

// plcImage is the process image of the PLC in the client: the newest value in, the
// Write of the result out.
type plcImage struct {
	client *client.Client
	last   int64
	begun  bool
}

// Inputs takes the newest complete value. hot.
func (p *plcImage) Inputs(_, _ int64) (int64, record.Flags) {
	k, _, ok := p.client.Newest()
	if !ok {
		return -1, record.FlagStale
	}
	var f record.Flags
	if p.begun && k == p.last {
		f = record.FlagStale
	}
	p.last, p.begun = k, true
	return k, f
}

// Outputs writes the result of release k back; without any input yet, the release's own
// index. warm: through the library.
func (p *plcImage) Outputs(k, _ int64) (int64, record.Flags) {
	value := k
	if p.begun {
		value = p.last
	}
	p.client.Write(k, value)
	return 0, 0
}
