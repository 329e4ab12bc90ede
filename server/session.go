package server

import (
	"crypto/rand"
	"crypto/subtle"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gopcua/opcua/ua"
)

// session is a Session (Part 4, 5.7, https://reference.opcfoundation.org/Core/Part4/v105/docs/5.7).
// Fields without a remark are set before anybody else knows it.
type session struct {
	id          *ua.NodeID
	token       *ua.NodeID
	encoded     []byte // token as it stands in request headers
	name        string
	uri         string // ApplicationUri of the client
	timeout     time.Duration
	maxResponse uint32
	seat        *seat // the PLC thread's side; goroutines only pass it on

	conn     atomic.Pointer[connection] // the channel it is bound to; nil: none
	active   atomic.Bool
	closed   atomic.Bool
	seen     atomic.Int64 // monotonic: when the last request came, time.Since(start)
	orphaned atomic.Int64 // monotonic: since when it has no channel
	calls    atomic.Int32 // Call requests under way: it waits for us, and does not expire

	mu        sync.Mutex               // the rest: two goroutines for a moment when the session moves to another channel
	subs      map[uint32]*subscription // made or transferred here; dead ones are swept out
	points    map[string]*continuation
	lastPoint uint32
}

// sessions is the registry: goroutines of connections and the housekeeping goroutine use
// it, the PLC thread never.
type sessions struct {
	cfg   *Config
	start time.Time
	mu    sync.Mutex
	all   map[string]*session // by encoded token
	ended []*session          // closed here, still to be closed on the PLC thread
	last  uint32              // of SessionIds
}

func (r *sessions) init(cfg *Config) {
	r.cfg, r.start, r.all = cfg, time.Now(), map[string]*session{}
}

// now is a monotonic instant.
func (r *sessions) now() int64 { return int64(time.Since(r.start)) }

// used are the connections with an active session.
func (r *sessions) used() map[*connection]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make(map[*connection]bool, len(r.all))
	for _, s := range r.all {
		if c := s.conn.Load(); c != nil && s.active.Load() {
			out[c] = true
		}
	}
	return out
}

// create makes a session. At the limit another one goes (evict); when all are in use:
// BadTooManySessions (Part 4, 5.7.2.3).
func (r *sessions) create(s *session) ua.StatusCode {
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return ua.StatusBadInternalError
	}
	s.token = ua.NewByteStringNodeID(0, secret)
	s.encoded, _ = s.token.Encode()
	s.seat = newSeat(s.maxResponse, &r.cfg.Limits)
	s.subs, s.points = map[uint32]*subscription{}, map[string]*continuation{}
	s.seen.Store(r.now())
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.all) >= r.cfg.Limits.Sessions && !r.evict() {
		return ua.StatusBadTooManySessions
	}
	r.last++
	s.id = ua.NewNumericNodeID(1, r.last)
	r.all[string(s.encoded)] = s
	r.cfg.Counters.Sessions.Add(1)
	r.cfg.Counters.SessionsEver.Add(1)
	return ua.StatusOK
}

// evict ends the session that lacks a channel for the longest time, else the one that was
// made and not activated. mu is held.
func (r *sessions) evict() bool {
	var oldest, unused *session
	for _, s := range r.all {
		switch {
		case s.conn.Load() == nil:
			if oldest == nil || s.orphaned.Load() < oldest.orphaned.Load() {
				oldest = s
			}
		case !s.active.Load():
			if unused == nil || s.seen.Load() < unused.seen.Load() {
				unused = s
			}
		}
	}
	if oldest == nil {
		oldest = unused
	}
	if oldest == nil {
		return false
	}
	r.remove(oldest)
	r.ended = append(r.ended, oldest)
	return true
}

// remove takes s out; false when it was out already. mu is held.
func (r *sessions) remove(s *session) bool {
	if !s.closed.CompareAndSwap(false, true) {
		return false
	}
	delete(r.all, string(s.encoded))
	r.cfg.Counters.Sessions.Add(-1)
	return true
}

// close takes s out on the client's wish.
func (r *sessions) close(s *session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.remove(s)
}

// find returns the session of a token, on whatever channel.
func (r *sessions) find(token []byte) *session {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.all[string(token)]
}

// unbind leaves the sessions of an ended connection without a channel.
func (r *sessions) unbind(c *connection) {
	for _, s := range c.sessions {
		s.orphaned.Store(r.now())
		s.conn.CompareAndSwap(c, nil)
	}
}

// expire ends the sessions from which nothing was heard for their timeout (Part 4,
// 5.7.2.1), and returns all that still have to be closed on the PLC thread.
func (r *sessions) expire() []*session {
	now := r.now()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.all {
		if s.calls.Load() == 0 && now-s.seen.Load() > int64(s.timeout) {
			r.remove(s)
			r.ended = append(r.ended, s)
		}
	}
	ended := r.ended
	r.ended = nil
	return ended
}

// again returns sessions to the list of those that expire reported. Their number is
// bounded by what was alive.
func (r *sessions) again(s []*session) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ended = append(r.ended, s...)
}

// session returns the activated session of a request that came over this channel. hot: no
// allocation when it is one of ours.
func (c *connection) session(token []byte) (*session, ua.StatusCode) {
	for i, s := range c.sessions {
		if subtle.ConstantTimeCompare(s.encoded, token) != 1 {
			continue
		}
		switch {
		case s.closed.Load():
			c.sessions = append(c.sessions[:i], c.sessions[i+1:]...)
			return nil, ua.StatusBadSessionClosed
		case s.conn.Load() != c: // activated on another channel meanwhile
			c.sessions = append(c.sessions[:i], c.sessions[i+1:]...)
			return nil, ua.StatusBadSecureChannelIDInvalid
		case !s.active.Load():
			return nil, ua.StatusBadSessionNotActivated
		}
		s.seen.Store(c.server.sessions.now())
		return s, ua.StatusOK
	}
	return nil, ua.StatusBadSessionIDInvalid
}
