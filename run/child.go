package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// orderLimit bounds how long an order may take unless it says otherwise.
const orderLimit = 15 * time.Second

// stopLimit bounds how long a child may take for its last word, and killAfter how much
// longer for its end before it is killed: both children and the result must be done within
// 2 s of an interrupt, even when a child is stopped and obeys nothing.
const (
	stopLimit = 700 * time.Millisecond
	killAfter = 200 * time.Millisecond
)

// child is a measured process: the same binary, started anew, with rings shared with it
// and a socket for orders.
type child struct {
	name   string
	cmd    *exec.Cmd
	ctl    *opcua.Control
	shared []*rt.Shared
	rings  []*record.Ring
	stderr tail

	mu      sync.Mutex
	lastID  uint64            // of the newest order; under mu
	replies chan opcua.Reply  // the newest reply; an older one that nobody took has gone
	events  chan error        // the child's unasked word, or its end
	windows chan bench.Window // what clients ask a server for
	heard   chan struct{}     // closed when its socket has ended: no reply comes after
	exited  chan struct{}     // closed when it has ended and was waited for
	state   error             // how it ended; read after exited
}

// tail keeps the last of what a child said on standard error.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	const keep = 8 << 10
	if t.buf.Len()+len(p) > keep {
		old := t.buf.Bytes()
		old = old[min(len(old), max(0, len(old)+len(p)-keep)):]
		t.buf = *bytes.NewBuffer(append([]byte(nil), old...))
	}
	return t.buf.Write(p)
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.buf.String())
}

// Starter says how the children are made: which program, and which verbs of it.
type Starter struct {
	Exe string // this binary
	// Args are the arguments that make it a measured process of the given kind.
	Args func(kind string, p bench.Process, mode bench.RTMode, rings Rings) []string
}

// Rings is how many rings a process is given: Large of record.RingSlots, then Small of
// record.SmallRingSlots; a Listener, if any, follows them.
type Rings struct {
	Large, Small int
	Listener     *os.File // stays the caller's
}

// start makes rings, starts a child of that kind and returns when it runs. cold.
func (s Starter) start(kind string, p bench.Process, mode bench.RTMode, rings Rings) (*child, error) {
	c := &child{name: p.Name, replies: make(chan opcua.Reply, 1), events: make(chan error, 4), windows: make(chan bench.Window, 4), heard: make(chan struct{}), exited: make(chan struct{})}
	ours, theirs, err := rt.SocketPair()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	defer ours.Close()
	defer theirs.Close()
	conn, err := net.FileConn(ours)
	if err != nil {
		return nil, fmt.Errorf("start %s: control socket: %w", p.Name, err)
	}
	c.ctl = opcua.NewControl(conn)
	c.cmd = exec.Command(s.Exe, s.Args(kind, p, mode, rings)...)
	c.cmd.ExtraFiles = []*os.File{theirs}
	c.cmd.Stderr = &c.stderr
	// GOMAXPROCS=1 before the first real-time thread: see opcua.md, "Measured rules".
	c.cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	// A terminal's interrupt is for the conductor, which then stops its children.
	c.cmd.SysProcAttr = rt.OwnGroup()
	if err := c.share(rings); err != nil {
		c.free()
		return nil, err
	}
	if err := c.cmd.Start(); err != nil {
		c.free()
		return nil, fmt.Errorf("start %s: %w", p.Name, err)
	}
	go c.wait()
	go c.listen()
	return c, nil
}

func (c *child) share(rings Rings) error {
	for i := range rings.Large + rings.Small {
		slots := record.RingSlots
		if i >= rings.Large {
			slots = record.SmallRingSlots
		}
		m, err := rt.NewShared("opcycle-"+c.name+"-"+strconv.Itoa(i), record.RingBytes(slots))
		if err != nil {
			return fmt.Errorf("start %s: %w", c.name, err)
		}
		c.shared = append(c.shared, m)
		r, err := record.NewRing(m.Mem, true)
		if err != nil {
			return fmt.Errorf("start %s: %w", c.name, err)
		}
		c.rings = append(c.rings, r)
		c.cmd.ExtraFiles = append(c.cmd.ExtraFiles, m.File)
	}
	if rings.Listener != nil {
		c.cmd.ExtraFiles = append(c.cmd.ExtraFiles, rings.Listener)
	}
	return nil
}

// wait is the goroutine that owns the process.
func (c *child) wait() {
	err := c.cmd.Wait()
	c.state = fmt.Errorf("the %s process ended: %s", c.name, c.cmd.ProcessState)
	if err == nil {
		c.state = fmt.Errorf("the %s process ended by itself", c.name)
	}
	if said := c.stderr.String(); said != "" {
		c.state = fmt.Errorf("%w: %s", c.state, said)
	}
	close(c.exited)
	select {
	case c.events <- c.state:
	default:
	}
}

// listen takes replies and events apart. It ends with the socket.
func (c *child) listen() {
	defer close(c.heard)
	for {
		r, err := c.ctl.Receive(time.Time{})
		if err != nil {
			return
		}
		switch r.Event {
		case "":
		case opcua.EventWindow:
			select {
			case c.windows <- *r.Window:
			default: // nobody keeps books, or four asked at once
			}
			continue
		default:
			select {
			case c.events <- fmt.Errorf("%s: %s", c.name, r.Error):
			default:
			}
			continue
		}
		c.newest(r)
	}
}

// newest puts r in the place of an older reply that nobody waited for any more.
func (c *child) newest(r opcua.Reply) {
	for {
		select {
		case c.replies <- r:
			return
		default:
		}
		select {
		case <-c.replies:
		default:
		}
	}
}

// order sends o and waits for its reply. A reply that carries an error is an error; the
// late reply of an older order is dropped.
func (c *child) order(ctx context.Context, o opcua.Order, limit time.Duration) (opcua.Reply, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lastID++
	o.ID = c.lastID
	if err := c.ctl.Send(ctx, o, limit); err != nil {
		return opcua.Reply{}, fmt.Errorf("%s: order %s: %w", c.name, o.Do, c.ended(err))
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case r := <-c.replies:
			if r.ID == o.ID {
				return c.told(r)
			}
		case <-c.heard: // its last word may have come with the end
			return c.lastWord(o.ID)
		case <-ctx.Done():
			return opcua.Reply{}, ctx.Err()
		case <-timer.C:
			return opcua.Reply{}, fmt.Errorf("%s: no answer to %s within %s", c.name, o.Do, limit)
		}
	}
}

// lastWord is the reply to order id that came with the child's end, or how it ended.
func (c *child) lastWord(id uint64) (opcua.Reply, error) {
	select {
	case r := <-c.replies:
		if r.ID == id {
			return c.told(r)
		}
	default:
	}
	<-c.exited
	return opcua.Reply{}, c.state
}

func (c *child) told(r opcua.Reply) (opcua.Reply, error) {
	if r.Error != "" {
		return r, errors.New(c.name + ": " + r.Error)
	}
	return r, nil
}

// ended prefers how the child ended over the broken socket that shows it.
func (c *child) ended(err error) error {
	select {
	case <-c.exited:
		return c.state
	case <-time.After(100 * time.Millisecond):
		return err
	}
}

// stop is stopWithin the usual limit.
func (c *child) stop() (opcua.Reply, error) { return c.stopWithin(stopLimit) }

// stopWithin orders the end, and kills what has not ended killAfter the limit. The last
// reply, if it came, holds the last snapshot. The child has ended and was waited for when
// it returns.
func (c *child) stopWithin(limit time.Duration) (opcua.Reply, error) {
	kill := time.After(limit + killAfter)
	r, err := c.order(context.Background(), opcua.Order{Do: opcua.DoStop}, limit)
	select {
	case <-c.exited:
	case <-kill:
		rt.Kill(c.cmd.Process)
		<-c.exited
	}
	return r, err
}

// kill ends a child without a word.
func (c *child) kill() {
	rt.Kill(c.cmd.Process)
	<-c.exited
}

// free gives the memory and the socket back; nobody may use the rings after.
func (c *child) free() {
	if c.ctl != nil {
		_ = c.ctl.Close()
	}
	for _, m := range c.shared {
		_ = m.Close()
	}
}
