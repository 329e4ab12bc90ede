package server

import (
	"sync/atomic"

	"opcycle/bench"
	"opcycle/record"
	"opcycle/rt"
)

const (
	// requestsPerTick bounds the requests of one connection that a tick handles, and
	// timePerTick the time that it spends on all of them. The bound is per connection,
	// since 20 clients with one Publish request a cycle each are 20 requests a cycle.
	requestsPerTick = 8
	timePerTick     = int64(100_000)
)

// engine is the subscription engine. The PLC thread owns it: whatever is not atomic here
// and in what it points to is touched by that thread only.
type engine struct {
	cfg      *Config
	image    *image
	counters *Counters
	inboxes  atomic.Pointer[[]*inbox] // replaced as a whole by the server

	seats   []*seat         // capacity for all that can be
	orphans []*subscription // their session ended
	lastID  uint32          // last SubscriptionId given
	turn    uint64          // round robin among sessions and among equal priorities
	out     []byte          // the message being made

	k, now, wall int64  // of the tick that runs
	version      uint64 // of the counter: changes with each latch
	counter      entry
	echoes       uint64 // version of the echo
	echo         entry
	echoCount    uint32

	deadline int64 // of the requests' share of this tick
	handled  int64 // requests handled in this tick
	flags    record.Flags
	started  int64 // DateTime of New: source time of what never changes
}

func newEngine(cfg *Config, m *image) *engine {
	e := &engine{
		cfg: cfg, image: m, counters: cfg.Counters, started: dateTime(),
		seats:   make([]*seat, 0, 2*cfg.Limits.Sessions+1),
		orphans: make([]*subscription, 0, cfg.Limits.Subscriptions),
		out:     make([]byte, 0, cfg.Limits.Backlog+65536),
	}
	e.counter.status = statusWaiting
	e.echo.source = e.started
	e.inboxes.Store(new([]*inbox))
	return e
}

// latch takes the output image of release k. hot.
func (e *engine) latch(k int64) {
	e.wall = dateTime()
	e.image.latch(k, e.wall)
	e.counter = entry{value: k, source: e.wall, server: e.wall}
	e.version++
}

// tick is one cycle of the engine: requests, samples, messages. hot.
func (e *engine) tick(k, now int64) {
	e.k, e.now, e.flags, e.handled = k, now, 0, 0
	e.wall = dateTime()
	e.readEcho()
	e.drain()
	for _, s := range e.seats {
		e.prepare(s)
	}
	e.turn++
	first := e.turn // every message moves turn: without a copy a seat would be passed over
	for i, n := 0, len(e.seats); i < n; i++ {
		e.publish(e.seats[(i+int(first%uint64(n)))%n])
	}
	for i := len(e.orphans) - 1; i >= 0; i-- {
		s := e.orphans[i]
		s.sample(e)
		if s.cycle(e, false) {
			e.forgetOrphan(i)
		}
	}
	if e.flags&record.FlagSlow != 0 {
		e.counters.SlowTicks.Add(1)
	}
}

// readEcho takes the newest Write into this tick's image. hot.
func (e *engine) readEcho() {
	v, n := e.image.written()
	if n != e.echoCount {
		e.echoCount = n
		e.echoes++
		e.echo = entry{value: int64(v), source: e.image.echoSource.Load(), server: e.wall}
		r := record.Echo{K: bench.Unwrap(v, e.k), At: e.image.echoAt.Load()}
		var slot record.Record
		r.Record(&slot)
		e.put(&slot)
	}
	e.echo.server = e.wall
}

// input is the grid index of the newest Write, −1 before the first. hot.
func (e *engine) input(k int64) int64 {
	v, n := e.image.written()
	if n == 0 {
		return -1
	}
	return bench.Unwrap(v, k)
}

// drain handles requests, one of each connection in turn. hot.
func (e *engine) drain() {
	boxes := *e.inboxes.Load()
	e.deadline = rt.Now() + timePerTick
	n := len(boxes)
	for round := 0; round < requestsPerTick; round++ {
		progress := false
		for i := range boxes {
			b := boxes[(i+int(e.turn%uint64(n)))%n]
			m, ok := b.peek()
			if !ok || !e.handle(m) {
				continue
			}
			b.drop()
			progress = true
			e.handled++
			if e.over() {
				e.counters.TickBudget.Add(1)
				e.counters.Requests.Add(e.handled)
				return
			}
		}
		if !progress {
			break
		}
	}
	e.counters.Requests.Add(e.handled)
}

// over tells whether the requests' share of this tick is used up. hot.
func (e *engine) over() bool { return rt.Now() > e.deadline }

// handle does one request, or reports that it has to stay where it is. hot.
func (e *engine) handle(m *message) bool {
	if m.publish != nil {
		return e.accept(m.publish)
	}
	return m.order.apply(e)
}

// prepare samples the subscriptions of a session, runs their publishing timers and ends
// those whose lifetime is over. hot.
func (e *engine) prepare(s *seat) {
	e.timeOut(s)
	p := s.oldest(e)
	usable := p != nil && p.conn.channel.Backlog() == 0
	for i := len(s.subs) - 1; i >= 0; i-- {
		sub := s.subs[i]
		sub.sample(e)
		if sub.cycle(e, usable) {
			e.expire(s, sub)
		}
	}
}

// put writes one record. hot.
func (e *engine) put(r *record.Record) {
	if e.cfg.Ring != nil && !e.cfg.Ring.Put(r) {
		e.counters.RecordsLost.Add(1)
	}
}
