// Package client is the measuring OPC UA client: gopcua's client for channel, session and
// codec, and on top of it our own publish pump, our own Writes and socket time stamps.
// It emits records and judges nothing.
//
// It refuses the library's Subscribe (one outstanding Publish request, sequence numbers
// hidden) and its automatic reconnect (it can stay paused while "connected"): a lost
// connection is closed, counted and opened anew here.
package client

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uacp"
)

// Config is what a client needs of a plan, and the rings it writes to.
type Config struct {
	Endpoint           string // opc.tcp://host:port
	Host               bench.PLCHost
	Interval           time.Duration // T
	PublishingInterval time.Duration
	SamplingInterval   time.Duration
	Items              int
	QueueSize          int
	PublishRequests    int
	Buffer             int           // chunk size asked for, bytes
	Reconnect          time.Duration // how long a lost connection is tried for; 0: no second try
	StamperPriority    int           // FIFO priority of the socket watcher's thread; 0 = as the process

	Arrivals *record.Ring // written under the pump's lock, whichever goroutine holds it
	Writes   *record.Ring // written under the writer's lock; nil: this client writes nothing
}

// ConfigOf takes from plan what a client of endpoint needs.
func ConfigOf(plan bench.Plan, endpoint string) Config {
	o := plan.OPCUA
	c := Config{Endpoint: endpoint, Host: plan.Task.Host, Interval: plan.Task.Interval,
		PublishingInterval: o.PublishingInterval, SamplingInterval: o.SamplingInterval,
		Items: o.Items, QueueSize: o.QueueSize, PublishRequests: o.PublishRequests,
		Buffer: o.Buffer, Reconnect: o.Reconnect}
	if plan.Client.FIFO > 0 {
		c.StamperPriority = plan.Client.FIFO + 1
	}
	return c
}

// Counts are the client's counters since it was made. They only grow.
type Counts struct {
	Messages   int64 `json:"messages"`    // notification messages with values
	KeepAlives int64 `json:"keep_alives"` // without
	Values     int64 `json:"values"`
	Duplicates int64 `json:"duplicates"` // values that came again
	Reordered  int64 `json:"reordered"`  // values older than one that came before
	Gaps       int64 `json:"gaps"`       // sequence numbers never seen
	Overflows  int64 `json:"overflows"`  // values with the Overflow bit
	Bad        int64 `json:"bad"`        // values with a bad status or no Int32
	Unstamped  int64 `json:"unstamped"`  // messages without a matched kernel stamp
	EchoSkip   int64 `json:"echo_skipped"`
	Writes     int64 `json:"writes"`
	Failed     int64 `json:"writes_failed"`
	Faults     int64 `json:"publish_faults"` // Publish requests answered with a bad status
	Reconnects int64 `json:"reconnects"`
}

// Client is one connection at a time to one server, and what it counted over all of them.
type Client struct {
	cfg    Config
	link   atomic.Pointer[link]
	pump   *pump
	writer *writer
	got    bench.Attained
	since  time.Time // StartTime of the server of the first connection
}

// link is one connection with its subscription.
type link struct {
	opc    *opcua.Client
	subID  uint32
	echo   *ua.NodeID
	stamps *stamps
	tcp    *rt.TCPLog
	ctx    context.Context
	cancel context.CancelFunc
	broken chan error // the first failure of any of its goroutines
}

func (l *link) fail(err error) {
	select {
	case l.broken <- err:
	default:
	}
}

// Dial connects, looks the nodes up by namespace URI and creates the subscription with
// its items, within ConnectLimit. cold.
func Dial(ctx context.Context, cfg Config) (*Client, error) {
	c := &Client{cfg: cfg}
	c.pump = newPump(cfg)
	c.writer = newWriter(c, cfg)
	l, err := c.connect(ctx)
	if err != nil {
		c.Close()
		return nil, err
	}
	c.link.Store(l)
	return c, nil
}

// Attained is what the server granted.
func (c *Client) Attained() bench.Attained { return c.got }

// Counts is a consistent-enough copy of the counters: each by itself is exact.
func (c *Client) Counts() Counts {
	n := c.pump.counts()
	c.writer.countInto(&n)
	return n
}

// Connection is what the kernel knows of the present connection.
func (c *Client) Connection() rt.TCPState { return c.link.Load().tcp.State(rt.Now()) }

// Newest is the newest complete grid index and when it came; ok is false before the first. hot.
func (c *Client) Newest() (k, received int64, ok bool) { return c.pump.newest() }

// connect opens a connection within ConnectLimit. The library takes its request timeout
// before the server tells what it revises: one that turns out too short for what was
// granted would end a healthy connection, so that one is opened anew with enough.
func (c *Client) connect(ctx context.Context) (*link, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectLimit)
	defer cancel()
	n, interval := c.cfg.PublishRequests, c.cfg.PublishingInterval
	timeout := requestTimeout(n, interval, aliveCount(interval))
	l, err := c.open(ctx, timeout)
	if err != nil {
		return nil, err
	}
	granted := time.Duration(c.got.PublishingInterval * float64(time.Millisecond))
	need := requestTimeout(n, granted, c.got.KeepAlive)
	if need <= timeout {
		return l, nil
	}
	l.close()
	return c.open(ctx, need)
}

// open makes one connection with its subscription.
func (c *Client) open(ctx context.Context, timeout time.Duration) (*link, error) {
	l := &link{broken: make(chan error, 1)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	var descriptor uintptr
	dialer := &net.Dialer{Timeout: time.Second, FallbackDelay: -1, Control: func(_, _ string, raw syscall.RawConn) error {
		l.tcp = rt.NewTCPLog(raw, rt.Now()) // the last address tried is the one connected
		return raw.Control(func(fd uintptr) { descriptor = fd })
	}}
	ack := *uacp.DefaultClientACK
	ack.ReceiveBufSize, ack.SendBufSize = uint32(c.cfg.Buffer), uint32(c.cfg.Buffer)
	opc, err := opcua.NewClient(c.cfg.Endpoint,
		opcua.AutoReconnect(false),
		opcua.Dialer(&uacp.Dialer{Dialer: dialer, ClientACK: &ack}),
		opcua.RequestTimeout(timeout),
		opcua.SecurityMode(ua.MessageSecurityModeNone),
		opcua.ApplicationName("opcycle measure"),
		opcua.SessionName("opcycle measure"),
		opcua.StateChangedFunc(func(s opcua.ConnState) {
			if s == opcua.Closed || s == opcua.Disconnected {
				l.fail(fmt.Errorf("opc ua client: connection %s", s))
			}
		}))
	if err != nil {
		return nil, fmt.Errorf("opc ua client for %s: %w", c.cfg.Endpoint, err)
	}
	l.opc = opc
	if err := opc.Connect(ctx); err != nil {
		l.close()
		return nil, fmt.Errorf("connect to %s: %w; is `opcycle serve` running there?", c.cfg.Endpoint, err)
	}
	// After the netpoller has registered the socket, not before: the kernel wakes the
	// youngest watcher first, and only the first to wake finds the runtime's one P free.
	l.stamps = newStamps(descriptor, c.cfg.StamperPriority)
	if err := c.sameServer(ctx, l); err != nil {
		l.close()
		return nil, err
	}
	if err := c.subscribe(ctx, l); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// close ends the session and waits for the socket watcher.
func (l *link) close() {
	l.cancel()
	ctx, done := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer done()
	if l.opc != nil {
		_ = l.opc.Close(ctx) // the connection goes either way
	}
	if l.stamps != nil {
		l.stamps.close()
	}
}

// sameServer refuses another server than that of the first connection: it counts its cycles
// by itself, and its values would pass for other ones of this run.
func (c *Client) sameServer(ctx context.Context, l *link) error {
	v, err := l.opc.Node(ua.NewNumericNodeID(0, id.Server_ServerStatus_StartTime)).Value(ctx)
	if err != nil {
		return fmt.Errorf("read the StartTime of %s: %w", c.cfg.Endpoint, err)
	}
	since := v.Time()
	if c.since.IsZero() {
		c.since = since
	}
	if !since.Equal(c.since) {
		return fmt.Errorf("%w, started at %s UTC: the cycles of this run ended with the one before", ErrAnother, since.UTC().Format(time.DateTime))
	}
	return nil
}

// ErrLost says that the connection was lost and did not come back in time, and ErrAnother
// why not: the server of the run has gone.
var (
	ErrLost    = errors.New("connection lost")
	ErrAnother = errors.New("another server answers there now")
)
