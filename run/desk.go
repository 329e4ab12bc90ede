package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"opcycle/bench"
	"opcycle/rt"
	"opcycle/server"
	"opcycle/workloads/opcua"
)

// Desk is a server that waits for a plan: a client sends one by the Methods of the object
// Benchmark, and for that run a server process of its own takes the desk's port. One run at
// a time; it belongs to the session that prepared it and ends with it.
//
// The desk is in the conductor, on the housekeeping CPUs: neither the methods nor the
// comparison of the clocks reaches the measured process. While a run is on, new connections
// are the measured process's; a session that loses its connection cannot come back to the
// desk, and is gone.
type Desk struct {
	Starter Starter
	Tool    bench.Tool
	Listen  string // TCP address
	Host    bench.Host
	// Resolve makes the plan for this host of a client's configuration, or says what is
	// wrong with it; from names the client.
	Resolve func(config, from string) (bench.Plan, error)
	Ready   func(endpoint string)
	Event   func(text string) // one line for every run: who, since when, how it ended
	Warn    func(text string)
	Look    func(bench.Plan) []bench.Finding // see Serving
}

const (
	// deskTick is how often the desk serves subscriptions, and looks whether the client of
	// a run is still there.
	deskTick = 100 * time.Millisecond
	// deskPatience is how long a prepared plan waits for its start.
	deskPatience = time.Minute
	// problemText bounds an error text for a client, bytes.
	problemText = 16 << 10
)

// desk is a Desk at work.
type desk struct {
	Desk
	ctx    context.Context
	server *server.Server

	mu    sync.Mutex // held over a whole method: they come one after the other
	lease *lease     // nil: nobody has the run
}

// lease is the run of one client.
type lease struct {
	who   server.Caller
	since time.Time
	plan  bench.Plan
	stop  context.CancelFunc // nil: prepared, not started
	done  chan struct{}      // closed when the measured process has ended
	did   Served
	err   error // how it ended; read after done
}

func (l *lease) name() string {
	return fmt.Sprintf("%s at %s, since %s", l.who.Application, l.who.Address, l.since.UTC().Format("2006-01-02 15:04:05 UTC"))
}

// Run waits for plans until ctx ends.
func (d Desk) Run(ctx context.Context) error {
	w := &desk{Desk: d, ctx: ctx}
	announcement, err := json.Marshal(bench.Announcement{Tool: d.Tool, Waiting: true})
	if err != nil {
		return fmt.Errorf("the announcement as JSON: %w", err)
	}
	w.server, err = server.New(server.Config{Listen: d.Listen, Interval: deskTick, Plan: announcement, Methods: opcua.Methods(w)})
	if err != nil {
		return err
	}
	served := make(chan error, 1)
	go func() { served <- w.server.Serve(ctx) }()
	d.Ready(w.server.Endpoint())
	tick := time.NewTicker(deskTick)
	defer tick.Stop()
	for k := int64(0); ; k++ {
		select {
		case err = <-served:
			w.mu.Lock()
			w.end("the server ends")
			w.mu.Unlock()
			return errors.Join(err, w.server.Close())
		case <-tick.C:
			w.server.Idle(k, rt.Now())
			w.watch()
		}
	}
}

// watch ends a run whose client or process is gone, and forgets a plan that nobody starts.
func (d *desk) watch() {
	if !d.mu.TryLock() { // a method is under way
		return
	}
	defer d.mu.Unlock()
	l := d.lease
	switch {
	case l == nil:
	case l.who.Gone():
		d.end("its client is gone")
	case l.stop == nil && time.Since(l.since) > deskPatience:
		d.end(fmt.Sprintf("not started within %s", deskPatience))
	case l.stop != nil:
		select {
		case <-l.done:
			d.end("its server process ended")
		default:
		}
	}
}

// end ends the run, if there is one, and takes the port back. mu is held.
func (d *desk) end(why string) {
	l := d.lease
	if l == nil {
		return
	}
	d.lease = nil
	if l.stop == nil {
		d.Event(fmt.Sprintf("plan of %s: dropped: %s", l.name(), why))
		return
	}
	l.stop()
	<-l.done
	if err := d.server.Resume(); err != nil && d.ctx.Err() == nil {
		d.Warn("accept connections again: " + err.Error())
	}
	if l.err != nil {
		why += ": " + l.err.Error()
	}
	d.Event(fmt.Sprintf("run of %s: ended: %s; %s", l.name(), why, l.did))
}

// refuse says why who may not have the run now, "" when it may. mu is held.
func (d *desk) refuse(who server.Caller) string {
	if l := d.lease; l != nil && !l.who.Is(who) {
		return busyText(l)
	}
	return ""
}

// busyText is what everybody but the run's client is told.
func busyText(l *lease) string {
	return "another run is on, of " + l.name() + "; it ends with its client's session"
}

// Prepare resolves a plan on this host and keeps it for its client.
func (d *desk) Prepare(who server.Caller, config string) (plan, problem string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if why := d.refuse(who); why != "" {
		return "", why
	}
	if d.lease != nil && d.lease.stop != nil {
		return "", "your run is on; Stop it first"
	}
	p, err := d.Resolve(config, who.Address)
	if err != nil {
		return "", clipped(err.Error())
	}
	text, err := json.Marshal(p)
	if err != nil {
		return "", "the plan as JSON: " + err.Error()
	}
	d.lease = &lease{who: who, since: time.Now(), plan: p}
	return string(text), ""
}

// Start starts the server process of the prepared plan on the desk's port.
func (d *desk) Start(who server.Caller) (announcement, problem string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if why := d.refuse(who); why != "" {
		return "", why
	}
	l := d.lease
	switch {
	case l == nil:
		return "", "no plan was prepared in this session, or it waited too long; call Prepare first"
	case l.stop != nil:
		return "", "the run is on already"
	}
	listener, err := d.server.Pause()
	if err != nil {
		return "", err.Error()
	}
	a, err := d.launch(l, listener)
	_ = listener.Close() // the process has its own
	if err == nil {
		var text []byte
		if text, err = json.Marshal(a); err == nil {
			d.Event("run of " + l.name() + ": started")
			return string(text), ""
		}
	}
	d.end("it did not start")
	return "", clipped(err.Error())
}

// launch starts the server process and waits until it listens or has ended.
func (d *desk) launch(l *lease, listener *os.File) (bench.Announcement, error) {
	if err := rt.SetProcessAffinity(l.plan.Housekeeping.CPUs); err != nil {
		d.Warn("the conductor could not leave the measured CPUs: " + err.Error())
	}
	ctx, stop := context.WithCancel(d.ctx)
	l.stop, l.done = stop, make(chan struct{})
	ready := make(chan bench.Announcement, 1)
	go func() {
		defer close(l.done)
		l.did, l.err = Serving{Starter: d.Starter, Tool: d.Tool, Plan: l.plan, Host: d.Host, Warn: d.Warn, Listener: listener, Busy: busyText(l), Look: d.Look,
			Ready: func(_ string, a bench.Announcement) { ready <- a }}.Run(ctx)
	}()
	select {
	case a := <-ready:
		return a, nil
	case <-l.done:
		if l.err == nil {
			l.err = errors.New("interrupted")
		}
		return bench.Announcement{}, l.err
	}
}

// Stop ends the caller's run, or forgets its plan.
func (d *desk) Stop(who server.Caller) (problem string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if why := d.refuse(who); why != "" {
		return why
	}
	if d.lease == nil {
		return "there is no run to stop"
	}
	d.end("its client stopped it")
	return ""
}

// clipped is a text that fits into an answer.
func clipped(text string) string {
	if len(text) <= problemText {
		return text
	}
	return strings.ToValidUTF8(text[:problemText], "") + " … (shortened)"
}
