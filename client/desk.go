package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"opcycle/bench"
	"opcycle/rt"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

// deskTimeout is the session time-out asked for: how long a server goes on for a client
// that has vanished without a word. It is well above the default of reconnect.
const deskTimeout = 10 * time.Second

// deskStart bounds one call: the server process starts, makes its memory resident and finds
// its iterations.
const deskStart = 30 * time.Second

// Desk is a connection of its own, beside the measured one, to the Methods of a server that
// waits for a plan, and to the clock of any server. Cold, but for Clock.
type Desk struct {
	opc      *opcua.Client
	endpoint string
	ns       uint16
	prepared bool
}

// OpenDesk connects to the server at endpoint, and returns what it announces.
func OpenDesk(ctx context.Context, endpoint string) (*Desk, bench.Announcement, error) {
	var a bench.Announcement
	name, err := os.Hostname()
	if err != nil {
		name = "unknown"
	}
	opc, err := opcua.NewClient(endpoint, opcua.AutoReconnect(false), opcua.SecurityMode(ua.MessageSecurityModeNone),
		opcua.ApplicationURI("urn:"+name+":opcycle:measure"), opcua.ApplicationName("opcycle measure"), opcua.SessionName("opcycle measure, plan and clock"),
		opcua.SessionTimeout(deskTimeout), opcua.RequestTimeout(deskStart))
	if err != nil {
		return nil, a, fmt.Errorf("opc ua client for %s: %w", endpoint, err)
	}
	if err := opc.Connect(ctx); err != nil {
		return nil, a, fmt.Errorf("connect to %s: %w; is `opcycle serve` running there, and does it listen for other hosts (--listen opc.tcp://0.0.0.0:4840)?", endpoint, err)
	}
	d := &Desk{opc: opc, endpoint: endpoint}
	l := link{opc: opc}
	if d.ns, err = l.namespace(ctx); err != nil {
		d.Close()
		return nil, a, fmt.Errorf("%s: %w; measure needs `opcycle serve` at the other end", endpoint, err)
	}
	v, err := opc.Node(ua.NewStringNodeID(d.ns, bench.NodePlan)).Value(ctx)
	if err == nil {
		err = json.Unmarshal([]byte(v.String()), &a)
	}
	if err != nil {
		d.Close()
		return nil, a, fmt.Errorf("read %s at %s: %w; is it the same version of opcycle?", bench.NodePlan, endpoint, err)
	}
	return d, a, nil
}

// Prepare has the server resolve config, a profile as YAML, on its host.
func (d *Desk) Prepare(ctx context.Context, config []byte) (bench.Plan, error) {
	var p bench.Plan
	text, err := d.call(ctx, bench.MethodPrepare, string(config))
	if err != nil {
		return p, err
	}
	d.prepared = true
	if err := json.Unmarshal([]byte(text), &p); err != nil {
		return p, fmt.Errorf("%s: its plan: %w; is it the same version of opcycle?", d.endpoint, err)
	}
	return p, nil
}

// Start starts the prepared run.
func (d *Desk) Start(ctx context.Context) (bench.Announcement, error) {
	var a bench.Announcement
	text, err := d.call(ctx, bench.MethodStart)
	if err != nil {
		return a, err
	}
	if err := json.Unmarshal([]byte(text), &a); err != nil {
		return a, fmt.Errorf("%s: its announcement: %w; is it the same version of opcycle?", d.endpoint, err)
	}
	return a, nil
}

// call calls a Method of the object Benchmark: its last output is the server's own error.
func (d *Desk) call(ctx context.Context, method string, in ...string) (string, error) {
	req := &ua.CallMethodRequest{ObjectID: ua.NewStringNodeID(d.ns, bench.NodeBenchmark),
		MethodID: ua.NewStringNodeID(d.ns, bench.NodeBenchmark+"."+method)}
	for _, text := range in {
		req.InputArguments = append(req.InputArguments, ua.MustVariant(text))
	}
	r, err := d.opc.Call(ctx, req)
	if err == nil && r.StatusCode != ua.StatusOK {
		err = r.StatusCode
	}
	if err == nil && len(r.OutputArguments) == 0 {
		err = errors.New("no answer in it")
	}
	if err != nil {
		return "", fmt.Errorf("%s at %s: %w", method, d.endpoint, err)
	}
	last := len(r.OutputArguments) - 1
	if problem := r.OutputArguments[last].String(); problem != "" {
		return "", fmt.Errorf("%s refuses %s: %s", d.endpoint, method, problem)
	}
	return r.OutputArguments[0].String(), nil
}

// Exchange is one reading of the server's clock between two of ours, ns.
type Exchange struct{ Sent, Server, Received int64 }

// Clock reads the server's clock once. It holds the session, too.
func (d *Desk) Clock(ctx context.Context) (Exchange, error) {
	e := Exchange{Sent: rt.Now()}
	var r *ua.ReadResponse
	err := d.opc.Send(ctx, &ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnNeither, NodesToRead: []*ua.ReadValueID{{
		NodeID: ua.NewStringNodeID(d.ns, bench.NodeClock), AttributeID: ua.AttributeIDValue, DataEncoding: &ua.QualifiedName{}}}},
		func(x ua.Response) error {
			e.Received = rt.Now()
			return into(&r)(x)
		})
	if err == nil && r.Results[0].Status != ua.StatusOK {
		err = r.Results[0].Status
	}
	if err != nil {
		return e, fmt.Errorf("read %s at %s: %w", bench.NodeClock, d.endpoint, err)
	}
	v, ok := r.Results[0].Value.Value().(int64)
	if !ok {
		return e, fmt.Errorf("read %s at %s: it holds %T", bench.NodeClock, d.endpoint, r.Results[0].Value.Value())
	}
	e.Server = v
	return e, nil
}

// Close ends what was prepared or started, and the session.
func (d *Desk) Close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if d.prepared {
		_, _ = d.call(ctx, bench.MethodStop) // the end of the session says the same
	}
	_ = d.opc.Close(ctx) // the connection goes either way
}
