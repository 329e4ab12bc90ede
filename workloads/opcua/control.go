package opcua

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"opcycle/bench"
	"opcycle/client"
)

// Order is one line from the conductor to a measured process, answered by one Reply.
type Order struct {
	ID      uint64        `json:"id"` // > 0, echoed by the reply: a late one answers no later order
	Do      string        `json:"do"`
	Plan    *bench.Plan   `json:"plan,omitempty"`    // start
	Target  string        `json:"target,omitempty"`  // start, client: endpoint; start, floor: address
	On      bool          `json:"on,omitempty"`      // hold
	Grid    bench.Grid    `json:"grid"`              // task, floor
	First   int64         `json:"first,omitempty"`   // task
	Periods int           `json:"periods,omitempty"` // floor
	Bytes   int           `json:"bytes,omitempty"`   // floor
	NS      int64         `json:"ns,omitempty"`      // calibrate, start of a server: target; 0 none
	Window  *bench.Window `json:"window,omitempty"`  // window, client
	Result  []byte        `json:"result,omitempty"`  // result, server
	Busy    string        `json:"busy,omitempty"`    // start, server: why it takes no plan of a client
	Tool    bench.Tool    `json:"tool,omitzero"`     // start, server: what it announces
}

// The orders.
const (
	DoStart     = "start"     // plan in, ready out
	DoTask      = "task"      // client: start the PLC task on this grid
	DoCalibrate = "calibrate" // find the iteration count for a target time
	DoHold      = "hold"      // run neither program nor output: the floor is measured
	DoSnapshot  = "snapshot"
	DoStop      = "stop"
	DoWindow    = "window" // client: write the window to the server
	DoBooks     = "books"  // client: read the server's part
	DoResult    = "result" // server: hand the part out
	DoFloor     = "floor"  // exchange messages and answer with the samples
)

// The events: replies that nobody asked for.
const (
	EventLost   = "lost"   // client: the server is gone for good
	EventWindow = "window" // server: a client that came by itself asks for books
)

// Reply answers one order.
type Reply struct {
	ID       uint64             `json:"id,omitempty"` // of its order; 0 for an event
	Error    string             `json:"error,omitempty"`
	Event    string             `json:"event,omitempty"` // "lost": sent unasked when the server is gone for good
	Endpoint string             `json:"endpoint,omitempty"`
	Grid     bench.Grid         `json:"grid"`
	Attained bench.Attained     `json:"attained"`
	Info     *bench.ProcessInfo `json:"info,omitempty"`
	Snapshot *Snapshot          `json:"snapshot,omitempty"`
	Floor    *FloorSamples      `json:"floor,omitempty"`
	Count    int64              `json:"count,omitempty"`
	Window   *bench.Window      `json:"window,omitempty"` // event "window": a client asks for books
	Books    []byte             `json:"books,omitempty"`
	// Subscriptions are the ids of the clients' subscriptions, in their order.
	Subscriptions []uint32 `json:"subscriptions,omitempty"`
}

// Snapshot is a measured process's own accounts at one instant.
type Snapshot struct {
	At          int64            `json:"at"` // CLOCK_MONOTONIC ns
	Mallocs     uint64           `json:"mallocs"`
	AllocBytes  uint64           `json:"alloc_bytes"`
	HeapInuse   uint64           `json:"heap_inuse"`
	Goroutines  int              `json:"goroutines"`
	Descriptors int              `json:"descriptors"` // −1 unknown
	GCs         int64            `json:"gcs"`
	Pauses      []Pause          `json:"pauses"` // the newest, at most 256, oldest first
	Voluntary   int64            `json:"voluntary_switches"`
	Involuntary int64            `json:"involuntary_switches"`
	MinorFaults int64            `json:"minor_faults"`
	MajorFaults int64            `json:"major_faults"`
	CPU         int64            `json:"cpu_ns"` // user and system time
	Clients     []client.Counts  `json:"clients,omitempty"`
	Server      map[string]int64 `json:"server,omitempty"`
	Executed    int64            `json:"executed"`
	Skipped     int64            `json:"skipped"`
	// Connections carry values; see bench.End.
	Connections []bench.Connection `json:"connections,omitempty"`
}

// Pause is one collector pause, CLOCK_REALTIME ns.
type Pause struct {
	End int64 `json:"end"`
	NS  int64 `json:"ns"`
}

// Control is the process's end of the conductor's socket.
type Control struct {
	conn net.Conn
	dec  *json.Decoder
	mu   sync.Mutex // an event may come between two replies
	enc  *json.Encoder
}

// OpenControl takes over the socket at descriptor fd. cold.
func OpenControl(fd uintptr) (*Control, error) {
	f := os.NewFile(fd, "control")
	defer f.Close()
	conn, err := net.FileConn(f)
	if err != nil {
		return nil, fmt.Errorf("control socket at descriptor %d: %w; this verb is started by `opcycle run`", fd, err)
	}
	return NewControl(conn), nil
}

// NewControl speaks orders and replies over conn; either end.
func NewControl(conn net.Conn) *Control {
	return &Control{conn: conn, dec: json.NewDecoder(conn), enc: json.NewEncoder(conn)}
}

// Next waits for the next order; io.EOF says that the conductor is gone.
func (c *Control) Next() (Order, error) {
	var o Order
	err := c.dec.Decode(&o)
	if err != nil && !errors.Is(err, io.EOF) {
		err = fmt.Errorf("control socket: %w", err)
	}
	return o, err
}

// Answer sends one reply.
func (c *Control) Answer(r Reply) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.enc.Encode(r)
}

// Send sends one order; the conductor's end. A peer that does not read is given limit, or
// until ctx ends.
func (c *Control) Send(ctx context.Context, o Order, limit time.Duration) error {
	_ = c.conn.SetWriteDeadline(time.Now().Add(limit))
	end := context.AfterFunc(ctx, func() { _ = c.conn.SetWriteDeadline(time.Now()) })
	defer end()
	return c.enc.Encode(o)
}

// Receive waits for one reply until the deadline; the conductor's end.
func (c *Control) Receive(deadline time.Time) (Reply, error) {
	var r Reply
	_ = c.conn.SetReadDeadline(deadline)
	err := c.dec.Decode(&r)
	return r, err
}

// Close ends the conversation.
func (c *Control) Close() error { return c.conn.Close() }
