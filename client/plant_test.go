package client

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
	"opcycle/server"
)

// patience is far beyond everything that these tests wait for.
const patience = 20 * time.Second

// clean asserts at its end that the test left no goroutine behind.
func clean(t *testing.T) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })
}

// plant is our server on loopback with a goroutine in place of the PLC thread.
type plant struct {
	*server.Server
	stop   chan struct{}
	done   sync.WaitGroup
	ending sync.Once

	mu       sync.Mutex
	executed []int64
}

const period = 10 * time.Millisecond

func newPlant(t *testing.T, items int) *plant {
	t.Helper()
	return newPlantOf(t, items, period)
}

// newPlantOf is a plant that says its cycle is interval long; it is period long.
func newPlantOf(t *testing.T, items int, interval time.Duration) *plant {
	t.Helper()
	s, err := server.New(server.Config{Listen: "127.0.0.1:0", Items: items, Interval: interval, Plan: []byte(`{}`), Ring: newRing(t)})
	if err != nil {
		t.Fatal(err)
	}
	p := &plant{Server: s, stop: make(chan struct{})}
	p.done.Add(2)
	go func() {
		defer p.done.Done()
		if err := s.Serve(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	go p.cycle()
	t.Cleanup(p.end)
	return p
}

// cycle keeps the grid: a release that comes too late is left out.
func (p *plant) cycle() {
	defer p.done.Done()
	grid := bench.Grid{Origin: rt.Now(), Period: int64(period)}
	for k := int64(0); ; k = max(k+1, grid.Index(rt.Now())) {
		select {
		case <-p.stop:
			return
		case <-time.After(time.Duration(grid.Due(k) - rt.Now())):
		}
		p.Inputs(k, rt.Now())
		p.Outputs(k, rt.Now())
		p.mu.Lock()
		p.executed = append(p.executed, k)
		p.mu.Unlock()
	}
}

// end takes the server away: first its clients' connections, then the task.
func (p *plant) end() {
	p.ending.Do(func() {
		_ = p.Close()
		close(p.stop)
		p.done.Wait()
	})
}

// between are the releases that were executed from first to last.
func (p *plant) between(first, last int64) []int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []int64
	for _, k := range p.executed {
		if k >= first && k <= last {
			out = append(out, k)
		}
	}
	return out
}

func newRing(t *testing.T) *record.Ring {
	t.Helper()
	r, err := record.NewRing(make([]byte, record.RingBytes(8192)), true)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// config is that of a client which measures endpoint.
func config(t *testing.T, endpoint string, host bench.PLCHost) Config {
	t.Helper()
	return Config{Endpoint: endpoint, Host: host, Interval: period, PublishingInterval: period, Items: 1, QueueSize: 10,
		PublishRequests: 3, Buffer: 8192, Reconnect: 5 * time.Second, Arrivals: newRing(t), Writes: newRing(t)}
}

// running is a client that pumps until it is stopped.
type running struct {
	*Client
	cfg    Config
	cancel context.CancelFunc
	ran    chan error

	arrivals []record.Arrival
	gaps     []record.Gap
	writes   []record.Write
}

func run(t *testing.T, cfg Config) *running {
	t.Helper()
	c, err := Dial(context.Background(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Client: c, cfg: cfg, cancel: cancel, ran: make(chan error, 1)}
	go func() { r.ran <- c.Run(ctx) }()
	return r
}

// stopped ends the client and returns what Run did.
func (r *running) stopped(t *testing.T) error {
	t.Helper()
	r.cancel()
	return r.ended(t)
}

func (r *running) ended(t *testing.T) error {
	t.Helper()
	select {
	case err := <-r.ran:
		r.Close()
		r.drain()
		return err
	case <-time.After(patience):
		t.Fatal("Run does not end")
		return nil
	}
}

func (r *running) drain() {
	r.cfg.Arrivals.Drain(func(rec *record.Record) {
		switch rec.Kind {
		case record.KindArrival:
			r.arrivals = append(r.arrivals, rec.Arrival())
		case record.KindGap:
			r.gaps = append(r.gaps, rec.Gap())
		}
	})
	r.cfg.Writes.Drain(func(rec *record.Record) { r.writes = append(r.writes, rec.Write()) })
}

// eventually waits for ok.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// proxy passes TCP on to a server, counts the chunks that clients send, and can take the
// connections away.
type proxy struct {
	listener net.Listener
	done     sync.WaitGroup

	mu     sync.Mutex
	target string
	conns  map[net.Conn]struct{}
	down   bool
	chunks int // of the clients, complete
	taken  int // connections
	bytes  int
}

func newProxy(t *testing.T, target string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{listener: l, target: target, conns: map[net.Conn]struct{}{}}
	p.done.Add(1)
	go p.accept()
	t.Cleanup(func() {
		_ = l.Close()
		p.drop()
		p.done.Wait()
	})
	return p
}

func (p *proxy) endpoint() string { return "opc.tcp://" + p.listener.Addr().String() }

func (p *proxy) accept() {
	defer p.done.Done()
	for {
		in, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			continue
		}
		p.mu.Lock()
		p.taken++
		target := p.target
		p.mu.Unlock()
		out, err := net.Dial("tcp", target)
		if err != nil || !p.keep(in, out) {
			_ = in.Close()
			if out != nil {
				_ = out.Close()
			}
			continue
		}
		p.done.Add(2)
		go p.upstream(in, out)
		go func() {
			defer p.done.Done()
			defer in.Close()
			_, _ = io.Copy(in, out)
		}()
	}
}

func (p *proxy) keep(conns ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range conns {
		p.conns[c] = struct{}{}
	}
	return !p.down
}

// upstream passes chunk after chunk on (Part 6, 7.1.2.2: the size stands at byte 4).
func (p *proxy) upstream(in, out net.Conn) {
	defer p.done.Done()
	defer out.Close()
	head := make([]byte, 8)
	for {
		if _, err := io.ReadFull(in, head); err != nil {
			return
		}
		chunk := make([]byte, binary.LittleEndian.Uint32(head[4:]))
		copy(chunk, head)
		if _, err := io.ReadFull(in, chunk[8:]); err != nil {
			return
		}
		p.mu.Lock()
		p.chunks++
		p.bytes += len(chunk)
		p.mu.Unlock()
		if _, err := out.Write(chunk); err != nil {
			return
		}
	}
}

func (p *proxy) sent() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.chunks
}

func (p *proxy) accepted() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}

// drop ends every connection, and refuses new ones until raise.
func (p *proxy) drop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = true
	for c := range p.conns {
		_ = c.Close()
		delete(p.conns, c)
	}
}

func (p *proxy) raise() { p.raiseTo("") }

// raiseTo is raise, from now on to another server.
func (p *proxy) raiseTo(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = false
	if target != "" {
		p.target = target
	}
}
