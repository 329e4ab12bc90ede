package server

import (
	"errors"
	"fmt"
	"net"
	"time"

	"opcycle/bench"
	"opcycle/record"
)

// Config is everything the server has to know before it listens.
type Config struct {
	Listen          string           // TCP address, "127.0.0.1:0" for a free port; no default
	Listener        *net.TCPListener // listens already; instead of Listen
	ApplicationURI  string           // default "urn:opcycle:server"
	ApplicationName string           // default "opcycle"
	Version         string           // SoftwareVersion of BuildInfo; default "dev"

	Items    int             // Counter variables, ≥ 1; all carry the grid index
	Interval time.Duration   // T, the cycle of the thread that calls Outputs; > 0
	Priority uint32          // CtrlTask's Priority, for reading only
	Publish  bench.PublishAt // default end
	Plan     []byte          // JSON text of the node Plan

	// Ring takes KindSent and KindDrop records; nil takes none. Written by the PLC
	// thread only.
	Ring *record.Ring
	// Counters are filled by the server; nil makes its own.
	Counters *Counters

	// Window is told the text that a client writes to the node Window; an error refuses
	// it: as BadTooManyOperations one that wraps ErrTooSoon, else as BadOutOfRange. Called
	// on a connection's goroutine. nil: the node is not writable.
	Window func(text string) error

	// Methods are the object Benchmark's. A server without Items has no task: its only use
	// is to have them called.
	Methods []Method

	Buffer int // negotiated chunk size in bytes; default 65535
	Limits Limits
}

// ErrTooSoon says that a Window was written too soon after another.
var ErrTooSoon = errors.New("too soon after the last one; write again later")

// Limits bound what peers may make the server hold; 0 takes the default.
type Limits struct {
	Channels                int // TCP connections at a time; 128
	Sessions                int // 64
	Subscriptions           int // in all, orphans included; 256
	SubscriptionsPerSession int // 32
	MonitoredItems          int // per session; 10000
	AllItems                int // of all sessions: about 60 ns each in every tick of the PLC thread; 50000
	QueueSize               int // of one monitored item; 10000
	QueueEntries            int // of all queues of a session, 32 bytes each; 250000
	Retransmission          int // bytes a session's retransmission queues may hold; 16 MiB
	PublishRequests         int // waiting in a session; 20, at least 10
	Operations              int // nodes or items in one request; 10000
	Message                 int // bytes of one request; 2 MiB
	Backlog                 int // bytes that may wait for a slow reader; 512 KiB
	ContinuationPoints      int // per session; 16
}

// withDefaults fills zero fields. cold.
func (l Limits) withDefaults() Limits {
	def := func(p *int, v int) {
		if *p == 0 {
			*p = v
		}
	}
	def(&l.Channels, 128)
	def(&l.Sessions, 64)
	def(&l.Subscriptions, 256)
	def(&l.SubscriptionsPerSession, 32)
	def(&l.MonitoredItems, 10000)
	def(&l.AllItems, 50000)
	def(&l.QueueSize, maxQueueSize)
	def(&l.QueueEntries, 250000)
	def(&l.Retransmission, 16<<20)
	def(&l.PublishRequests, 20)
	def(&l.Operations, 10000)
	def(&l.Message, 2<<20)
	def(&l.Backlog, 512<<10)
	def(&l.ContinuationPoints, 16)
	return l
}

// withDefaults fills zero fields. cold.
func (c Config) withDefaults() Config {
	if c.ApplicationURI == "" {
		c.ApplicationURI = "urn:opcycle:server"
	}
	if c.ApplicationName == "" {
		c.ApplicationName = "opcycle"
	}
	if c.Version == "" {
		c.Version = "dev"
	}
	if c.Publish == "" {
		c.Publish = bench.PublishEnd
	}
	if c.Buffer == 0 {
		c.Buffer = 65535
	}
	if c.Counters == nil {
		c.Counters = new(Counters)
	}
	c.Limits = c.Limits.withDefaults()
	return c
}

// Validate names everything that New would refuse; defaults count as set. cold.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	complain := func(bad bool, format string, args ...any) {
		if bad {
			errs = append(errs, fmt.Errorf("server: "+format, args...))
		}
	}
	_, _, err := net.SplitHostPort(c.Listen)
	complain(err != nil && c.Listener == nil, "listen on %q: write host:port, port 0 for a free one: %w", c.Listen, err)
	complain((c.Items < 1 && len(c.Methods) == 0) || c.Items < 0 || c.Items > 100000, "%d items: use 1 to 100000", c.Items)
	complain(c.Interval < time.Microsecond || c.Interval > time.Hour, "interval %v: use 1 µs to 1 h", c.Interval)
	complain(c.Publish != bench.PublishEnd && c.Publish != bench.PublishStart, "publish %q: use %q or %q", c.Publish, bench.PublishEnd, bench.PublishStart)
	complain(c.Buffer < 8192 || c.Buffer > 1<<24, "buffer %d: use 8192 to %d bytes", c.Buffer, 1<<24)
	l := c.Limits
	complain(l.PublishRequests < 10 || l.PublishRequests > 1000, "%d publish requests: Part 4, 5.14.5 clients expect at least 10; use 10 to 1000", l.PublishRequests)
	complain(l.QueueSize > maxQueueSize, "queue size %d: at most %d", l.QueueSize, maxQueueSize)
	complain(l.Backlog < c.Buffer, "backlog %d: it has to hold one chunk of %d bytes", l.Backlog, c.Buffer)
	if least := 2 * l.PublishRequests * l.SubscriptionsPerSession * 256; l.Retransmission < least {
		complain(true, "retransmission %d bytes: two times the publish requests, 256 bytes each, for every subscription take %d", l.Retransmission, least)
	}
	for _, v := range []int{l.Channels, l.Sessions, l.Subscriptions, l.SubscriptionsPerSession, l.MonitoredItems,
		l.QueueSize, l.QueueEntries, l.Retransmission, l.Operations, l.Message, l.ContinuationPoints} {
		complain(v < 1, "a limit of %d: use 1 or more, or 0 for the default", v)
	}
	return errors.Join(errs...)
}
