package server

import (
	"crypto/rand"
	"slices"

	"github.com/gopcua/opcua/ua"
)

// maxSessionsPerChannel bounds the sessions of one channel.
const maxSessionsPerChannel = 8

// anonymousPolicy is the PolicyId of the only UserTokenPolicy.
const anonymousPolicy = "anonymous"

// createSession is CreateSession (Part 4, 5.7.2).
func (c *call) createSession(r *ua.CreateSessionRequest) (ua.Response, ua.StatusCode) {
	c.conn.sweep()
	if len(c.conn.sessions) >= maxSessionsPerChannel {
		return nil, ua.StatusBadTooManySessions
	}
	timeout := reviseTimeout(r.RequestedSessionTimeout)
	s := &session{name: r.SessionName, timeout: timeout, maxResponse: r.MaxResponseMessageSize}
	if r.ClientDescription != nil {
		s.uri = r.ClientDescription.ApplicationURI
	}
	s.conn.Store(c.conn)
	if status := c.conn.server.sessions.create(s); status != ua.StatusOK {
		return nil, status
	}
	c.conn.sessions = append(c.conn.sessions, s)
	nonce, status := newNonce()
	if status != ua.StatusOK {
		return nil, status
	}
	return &ua.CreateSessionResponse{
		SessionID: s.id, AuthenticationToken: s.token,
		RevisedSessionTimeout: milliseconds(timeout),
		ServerNonce:           nonce,
		ServerEndpoints:       c.conn.server.endpoints(c.conn.host(r.EndpointURL)),
		ServerSignature:       &ua.SignatureData{}, // policy None signs nothing; others go here (wire.SignSession)
		MaxRequestMessageSize: uint32(c.conn.server.cfg.Limits.Message),
	}, ua.StatusOK
}

// newNonce is a ServerNonce of the 32 bytes that Part 4, 5.7.2.2 asks for.
func newNonce() ([]byte, ua.StatusCode) {
	b := make([]byte, 32)
	if _, err := rand.Read(b); err != nil {
		return nil, ua.StatusBadInternalError
	}
	return b, ua.StatusOK
}

// activateSession is ActivateSession (Part 4, 5.7.3). A session comes over to this channel
// when its client is the same application.
func (c *call) activateSession(r *ua.ActivateSessionRequest) (ua.Response, ua.StatusCode) {
	s := c.conn.server.sessions.find(c.head.token)
	if s == nil || s.closed.Load() {
		return nil, ua.StatusBadSessionIDInvalid
	}
	if status := identity(r.UserIdentityToken); status != ua.StatusOK {
		return nil, status
	}
	if s.conn.Load() != c.conn {
		if !s.active.Load() { // Part 4, 5.7.3.1: the first activation is on the channel that made it
			return nil, ua.StatusBadSessionNotActivated
		}
		c.conn.sweep()
		if len(c.conn.sessions) >= maxSessionsPerChannel {
			return nil, ua.StatusBadTooManySessions
		}
		c.conn.server.sessions.rebind(s, c.conn)
	}
	s.active.Store(true)
	s.seen.Store(c.conn.server.sessions.now())
	c.conn.used.Store(true)
	nonce, status := newNonce()
	if status != ua.StatusOK {
		return nil, status
	}
	return &ua.ActivateSessionResponse{ServerNonce: nonce}, ua.StatusOK
}

// identity judges a user identity token (Part 4, 7.41): anonymous only. Users and
// certificates go here.
func identity(x *ua.ExtensionObject) ua.StatusCode {
	if x == nil || x.Value == nil {
		if x != nil && x.EncodingMask != ua.ExtensionObjectEmpty {
			return ua.StatusBadIdentityTokenInvalid
		}
		return ua.StatusOK // Part 4, 5.7.3.2: a null token means anonymous
	}
	switch t := x.Value.(type) {
	case *ua.AnonymousIdentityToken:
		if t.PolicyID != "" && t.PolicyID != anonymousPolicy {
			return ua.StatusBadIdentityTokenInvalid
		}
		return ua.StatusOK
	case *ua.UserNameIdentityToken, *ua.X509IdentityToken, *ua.IssuedIdentityToken:
		return ua.StatusBadIdentityTokenRejected
	}
	return ua.StatusBadIdentityTokenInvalid
}

// closeSession is CloseSession (Part 4, 5.7.4); a session that was not activated may be
// closed too.
func (c *call) closeSession(r *ua.CloseSessionRequest) (ua.Response, ua.StatusCode) {
	s := c.conn.server.sessions.find(c.head.token)
	if s == nil || s.conn.Load() != c.conn {
		return nil, ua.StatusBadSessionIDInvalid
	}
	if !c.conn.server.sessions.close(s) {
		return nil, ua.StatusBadSessionClosed
	}
	c.conn.forget(s)
	if !s.seat.told.Load() { // the PLC thread never heard of it
		return &ua.CloseSessionResponse{}, ua.StatusOK
	}
	o := &closeSession{ticket: newTicket(s.seat), keep: !r.DeleteSubscriptions}
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		c.conn.server.sessions.again([]*session{s})
		return nil, status
	}
	return &ua.CloseSessionResponse{}, ua.StatusOK
}

// sweep forgets sessions that ended or moved to another channel.
func (c *connection) sweep() {
	c.sessions = slices.DeleteFunc(c.sessions, func(s *session) bool { return s.closed.Load() || s.conn.Load() != c })
}

// forget takes s off this connection's list.
func (c *connection) forget(s *session) {
	for i, x := range c.sessions {
		if x == s {
			c.sessions = append(c.sessions[:i], c.sessions[i+1:]...)
			return
		}
	}
}

// cancel is Cancel (Part 4, 5.7.5): only Publish requests ever wait.
func (c *call) cancel(r *ua.CancelRequest) (ua.Response, ua.StatusCode) {
	o := &cancel{ticket: newTicket(c.session.seat), handle: r.RequestHandle}
	if status := c.conn.order(o, &o.ticket); status != ua.StatusOK {
		return nil, status
	}
	return &ua.CancelResponse{CancelCount: o.count}, ua.StatusOK
}
