package server

import (
	"math"
	"sync/atomic"

	"github.com/gopcua/opcua/ua"
)

// farewell is a StatusChangeNotification that a subscription leaves behind (Part 4,
// 5.14.1.2 and 5.14.7.1): it waits for a Publish request of the session.
type farewell struct {
	subscription, sequence uint32
	status                 ua.StatusCode
}

// maxFarewells bounds them; older ones make room.
const maxFarewells = 32

// seat is the PLC thread's side of a session: its subscriptions and the Publish requests
// that wait for them, shared by all of them (Part 4, 5.14.1.1). Made with all its memory
// by the goroutine that makes the session; the PLC thread owns it from its first order on.
type seat struct {
	limit  int         // MaxResponseMessageSize of the client
	told   atomic.Bool // an order or a request for it was given: the PLC thread may know it
	joined bool        // the engine lists it
	closed bool        // the session ended: orders that still come are refused

	subs    []*subscription // capacity: SubscriptionsPerSession
	items   int             // monitored items of all of them
	entries int             // queue entries of all items

	waiting []*publishRequest // ring of waiting Publish requests; length: one more than allowed
	head, n int
	nearest int64 // earliest deadline of a waiting request, monotonic ns; 0 = none

	farewells [maxFarewells]farewell
	leaving   int
}

func newSeat(maxResponse uint32, l *Limits) *seat {
	limit := math.MaxInt32
	if maxResponse > 0 && maxResponse < math.MaxInt32 {
		limit = int(maxResponse)
	}
	return &seat{
		limit:   limit,
		subs:    make([]*subscription, 0, l.SubscriptionsPerSession),
		waiting: make([]*publishRequest, l.PublishRequests+1),
	}
}

// push appends a waiting request; the caller keeps n within bounds. hot.
func (s *seat) push(p *publishRequest) {
	i := s.head + s.n
	if i >= len(s.waiting) {
		i -= len(s.waiting)
	}
	s.waiting[i] = p
	s.n++
}

// pop takes the oldest waiting request out. hot.
func (s *seat) pop() *publishRequest {
	p := s.waiting[s.head]
	s.waiting[s.head] = nil
	if s.head++; s.head == len(s.waiting) {
		s.head = 0
	}
	s.n--
	return p
}

// oldest is the request that the next message answers. Those of a connection that ended
// are forgotten on the way. hot.
func (s *seat) oldest(e *engine) *publishRequest {
	for s.n > 0 {
		p := s.waiting[s.head]
		if !p.conn.inbox.gone.Load() {
			return p
		}
		s.pop()
		e.release(p)
	}
	return nil
}

// find returns the subscription with the given id. hot.
func (s *seat) find(id uint32) *subscription {
	for _, sub := range s.subs {
		if sub.id == id {
			return sub
		}
	}
	return nil
}

// remove takes sub out of the list. PLC thread.
func (s *seat) remove(sub *subscription) {
	for i, x := range s.subs {
		if x == sub {
			copy(s.subs[i:], s.subs[i+1:])
			s.subs[len(s.subs)-1] = nil
			s.subs = s.subs[:len(s.subs)-1]
			s.items -= len(sub.items)
			s.entries -= sub.entries
			return
		}
	}
}

// leave queues a farewell. PLC thread.
func (s *seat) leave(f farewell) {
	if s.leaving == maxFarewells {
		copy(s.farewells[:], s.farewells[1:])
		s.leaving--
	}
	s.farewells[s.leaving] = f
	s.leaving++
}
