package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gopcua/opcua/ua"

	"opcycle/rt"
	"opcycle/wire"
)

// Server is the embedded OPC UA server.
//
// New, Serve and Close belong to whoever owns it; Inputs, Outputs and Idle to the PLC
// thread alone. Every goroutine that Serve starts has ended when Close returns.
type Server struct {
	cfg      Config
	counters *Counters
	listener *net.TCPListener
	image    *image
	engine   *engine // PLC thread
	space    *space
	services map[uint32]service
	sessions sessions

	mu          sync.Mutex // connections, desk's place among the inboxes
	connections map[*connection]struct{}
	closed      bool
	desk        inbox // of the housekeeping goroutine
	lastChannel atomic.Uint32
	running     sync.WaitGroup
	resume      chan struct{} // of Pause
	stop        chan struct{} // closed by Close
	stopped     chan struct{} // nothing runs any more
	once        sync.Once
}

// New checks the configuration, makes the address space and listens. Nobody is served
// before Serve.
func New(cfg Config) (*Server, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	listener := cfg.Listener
	if listener == nil {
		l, err := net.Listen("tcp", cfg.Listen)
		if err != nil {
			return nil, fmt.Errorf("server: listen: %w%s", err, wayOut(err))
		}
		listener = l.(*net.TCPListener)
	}
	s := &Server{
		cfg: cfg, counters: cfg.Counters, listener: listener,
		resume:      make(chan struct{}, 1),
		image:       newImage(dateTime()),
		connections: map[*connection]struct{}{},
		stop:        make(chan struct{}), stopped: make(chan struct{}),
	}
	s.engine = newEngine(&s.cfg, s.image)
	s.space = newSpace(&s.cfg, s.image)
	s.services = serviceTable()
	s.sessions.init(&s.cfg)
	s.publishInboxes()
	s.counters.BytesBound.Store(s.MemoryPerConnection())
	return s, nil
}

// wayOut says what to do about an address that cannot be listened on.
func wayOut(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "; another server has this port: end it, or take another port"
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return "; take an address of this host, or 0.0.0.0 for all of them"
	case errors.Is(err, syscall.EACCES):
		return "; take a port from 1024 on"
	}
	return ""
}

// Addr is the address that the server listens on.
func (s *Server) Addr() net.Addr { return s.listener.Addr() }

// Endpoint is the URL of a client on this host.
func (s *Server) Endpoint() string { return "opc.tcp://" + s.Addr().String() }

// SetResult makes b the value of the node Result; the server keeps it. nil: none yet.
func (s *Server) SetResult(b []byte) { s.image.result.Store(&b) }

// Counters are the live counters.
func (s *Server) Counters() *Counters { return s.counters }

// Serve accepts connections until ctx ends or Close is called; both are a nil error.
func (s *Server) Serve(ctx context.Context) error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return errors.New("server: serve after close: make a new server")
	}
	s.running.Add(2)
	s.mu.Unlock()
	go s.keepHouse()
	defer s.running.Done()
	end := context.AfterFunc(ctx, s.shut)
	defer end()
	for {
		conn, err := s.listener.AcceptTCP()
		if err != nil {
			select {
			case <-s.stop:
				return nil
			default:
			}
			if errors.Is(err, os.ErrDeadlineExceeded) { // Pause
				select {
				case <-s.resume:
				case <-s.stop:
				}
				continue
			}
			var temporary interface{ Temporary() bool }
			if errors.As(err, &temporary) && temporary.Temporary() { // out of descriptors: the next one may fit
				select {
				case <-time.After(10 * time.Millisecond):
				case <-s.stop:
				}
				continue
			}
			return fmt.Errorf("server: accept: %w", err)
		}
		s.admit(conn)
	}
}

// Pause has no more connections accepted and returns a duplicate of the listening socket,
// for another process to accept them meanwhile; those that are open stay. The caller closes
// the duplicate.
func (s *Server) Pause() (*os.File, error) {
	f, err := s.listener.File()
	if err != nil {
		return nil, fmt.Errorf("server: pause: %w", err)
	}
	return f, s.listener.SetDeadline(time.Unix(1, 0))
}

// Resume goes on accepting connections after Pause.
func (s *Server) Resume() error {
	err := s.listener.SetDeadline(time.Time{})
	select {
	case s.resume <- struct{}{}:
	default:
	}
	return err
}

// admit makes room for a connection and starts its goroutine. At the limit the oldest
// connection without a session goes (Part 4, 5.6.2.1: a server closes unused channels to
// accept new ones); when all have one, the new one is refused.
func (s *Server) admit(conn *net.TCPConn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.room() {
		conn.Close()
		return
	}
	c := newConnection(s, conn)
	s.connections[c] = struct{}{}
	s.counters.Connections.Add(1)
	s.counters.ConnectionsEver.Add(1)
	s.running.Add(1)
	go c.run()
}

// room makes sure that one more connection fits. Ended ones that still wait for the PLC
// thread or for housekeeping take no place of a living one, up to twice as many: a client
// that comes and goes quickly would be refused for its own past. mu is held.
func (s *Server) room() bool {
	most := s.cfg.Limits.Channels
	if len(s.connections) < most {
		return true
	}
	living, waiting := 0, 0
	for c := range s.connections {
		switch {
		case !c.inbox.gone.Load():
			if !c.evicted { // an evicted one is on its way out
				living++
			}
		case c.inbox.empty():
			s.drop(c)
		default:
			waiting++
		}
	}
	return waiting < 2*most && (living < most || s.evict())
}

// evict ends the oldest connection without a session. mu is held.
func (s *Server) evict() bool {
	var oldest *connection
	for c := range s.connections {
		if !c.used.Load() && !c.evicted && (oldest == nil || c.opened.Before(oldest.opened)) {
			oldest = c
		}
	}
	if oldest == nil {
		return false
	}
	oldest.evicted = true
	oldest.abort(ua.StatusBadTCPNotEnoughResources, "other clients need the channel")
	return true
}

// publishInboxes shows the PLC thread the inboxes there are. mu is held, or nobody else
// knows the server yet.
func (s *Server) publishInboxes() {
	boxes := make([]*inbox, 0, len(s.connections)+1)
	boxes = append(boxes, &s.desk)
	for c := range s.connections {
		if c.ready.Load() {
			boxes = append(boxes, &c.inbox)
		}
	}
	s.engine.inboxes.Store(&boxes)
}

// wireConfig is what a connection's channel accepts.
func (s *Server) wireConfig() wire.Config {
	return wire.Config{
		ChannelID:  s.lastChannel.Add(1),
		Buffer:     uint32(s.cfg.Buffer),
		MaxMessage: uint32(s.cfg.Limits.Message),
		MaxChunks:  uint32(s.cfg.Limits.Message/8192 + 1),
		Backlog:    s.cfg.Limits.Backlog,
		Security:   []wire.Security{{PolicyURI: ua.SecurityPolicyURINone, Mode: ua.MessageSecurityModeNone}},
		SendNow:    rt.SendNow,
	}
}

// shut begins the end: no connection is accepted and all are told to go.
func (s *Server) shut() {
	s.once.Do(func() {
		s.mu.Lock()
		s.closed = true
		close(s.stop)
		s.listener.Close()
		for c := range s.connections {
			c.abort(ua.StatusBadServerHalted, "the server ends")
		}
		s.mu.Unlock()
		go func() {
			s.running.Wait()
			close(s.stopped)
		}()
	})
}

// closeLimit bounds Close.
const closeLimit = 2 * time.Second

// Close ends everything and waits until every goroutine of the server is gone. It does
// not need the PLC thread.
func (s *Server) Close() error {
	s.shut()
	select {
	case <-s.stopped:
		return nil
	case <-time.After(closeLimit):
		return fmt.Errorf("server: close: connections still end after %v", closeLimit)
	}
}
