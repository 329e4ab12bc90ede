package server

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

// until waits for something that other goroutines do.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s: not in 20 s", what)
		}
	}
}

// subscribe makes a subscription of counter 1 and returns its id.
func (r *raw) subscribe(items int, queue uint32) uint32 {
	r.t.Helper()
	s := r.call(&ua.CreateSubscriptionRequest{RequestHeader: r.header(), RequestedPublishingInterval: 10, RequestedLifetimeCount: 1500, RequestedMaxKeepAliveCount: 100,
		PublishingEnabled: true}).(*ua.CreateSubscriptionResponse)
	m := &ua.CreateMonitoredItemsRequest{RequestHeader: r.header(), SubscriptionID: s.SubscriptionID, TimestampsToReturn: ua.TimestampsToReturnBoth}
	for i := range items {
		name := bench.NodeCounter
		if i > 0 {
			name = fmt.Sprintf("%s.%d", name, i+1)
		}
		m.ItemsToCreate = append(m.ItemsToCreate, create(ua.NewStringNodeID(nsBench, name), func(x *ua.MonitoredItemCreateRequest) {
			x.RequestedParameters.ClientHandle, x.RequestedParameters.QueueSize = uint32(i), queue
		}))
	}
	for i, x := range r.call(m).(*ua.CreateMonitoredItemsResponse).Results {
		same(r.t, fmt.Sprint("item ", i), x.StatusCode, ua.StatusOK)
	}
	return s.SubscriptionID
}

func (r *raw) publish(acks ...*ua.SubscriptionAcknowledgement) {
	r.send(r.encode(&ua.PublishRequest{RequestHeader: r.header(), SubscriptionAcknowledgements: acks}))
}

// Part 4, 5.7.2.1: a session ends when nothing was heard of it for its timeout; its
// subscription waits for a transfer, which goes on where the old session stopped.
func TestSessionTimeoutAndTransfer(t *testing.T) {
	p := served(t, nil)
	a := p.rawClient(true)
	sub := a.subscribe(1, 1000)
	a.publish()
	until(t, "request", func() bool { return p.Counters().PublishWaiting.Load() == 1 })
	p.step(2)
	first := a.answer().(*ua.PublishResponse)
	same(t, "sequence", first.NotificationMessage.SequenceNumber, uint32(1))
	a.conn.Close()
	until(t, "connection", func() bool { return p.Counters().Connections.Load() == 0 })
	p.step(5)
	s := p.sessions.find(encoded(a.auth))
	s.seen.Store(-int64(time.Hour))
	until(t, "session", func() bool { return p.Counters().Sessions.Load() == 0 })
	until(t, "orphan", func() bool { p.mu.Lock(); defer p.mu.Unlock(); return len(p.engine.orphans) == 1 })
	p.step(5)
	b := p.rawClient(true)
	r := b.call(&ua.TransferSubscriptionsRequest{RequestHeader: b.header(), SubscriptionIDs: []uint32{sub}}).(*ua.TransferSubscriptionsResponse)
	same(t, "transfer", r.Results[0].StatusCode, ua.StatusOK)
	same(t, "available", len(r.Results[0].AvailableSequenceNumbers), 1)
	again := b.call(&ua.RepublishRequest{RequestHeader: b.header(), SubscriptionID: sub, RetransmitSequenceNumber: 1}).(*ua.RepublishResponse)
	same(t, "republished", again.NotificationMessage.PublishTime, first.NotificationMessage.PublishTime)
	b.publish()
	until(t, "request", func() bool { return p.Counters().PublishWaiting.Load() == 1 })
	p.step(1)
	m := b.answer().(*ua.PublishResponse)
	same(t, "sequence", m.NotificationMessage.SequenceNumber, uint32(2))
	got := ints(t, m)
	same(t, "values", len(got), 12) // 2 to 13: none was lost
	same(t, "first value", got[0], int32(2))
}

func encoded(n *ua.NodeID) []byte {
	b, _ := n.Encode()
	return b
}

// Part 4, 5.7.3: a session comes over to a new channel by ActivateSession, with its
// subscription; the old channel has none any more.
func TestSessionMovesToAnotherChannel(t *testing.T) {
	p := served(t, nil)
	a := p.rawClient(true)
	sub := a.subscribe(1, 100)
	b := p.rawClient(false)
	b.auth = a.auth
	same(t, "before", b.ask(publishBody(t, b.auth, 0)), ua.StatusBadSessionIDInvalid)
	b.call(&ua.ActivateSessionRequest{RequestHeader: b.header(), ClientSignature: &ua.SignatureData{}, UserTokenSignature: &ua.SignatureData{}, UserIdentityToken: ua.NewExtensionObject(nil)})
	same(t, "old channel", a.ask(publishBody(t, a.auth, 0)), ua.StatusBadSecureChannelIDInvalid)
	b.publish()
	until(t, "request", func() bool { return p.Counters().PublishWaiting.Load() == 1 })
	p.step(2)
	same(t, "subscription", b.answer().(*ua.PublishResponse).SubscriptionID, sub)
}

// Part 4, 5.7.3.2: only anonymous users for now.
func TestIdentities(t *testing.T) {
	p := served(t, nil)
	for _, x := range []struct {
		token *ua.ExtensionObject
		want  ua.StatusCode
	}{
		{ua.NewExtensionObject(&ua.UserNameIdentityToken{UserName: "root", Password: []byte("x")}), ua.StatusBadIdentityTokenRejected},
		{ua.NewExtensionObject(&ua.X509IdentityToken{}), ua.StatusBadIdentityTokenRejected},
		{ua.NewExtensionObject(&ua.AnonymousIdentityToken{PolicyID: "other"}), ua.StatusBadIdentityTokenInvalid},
		{ua.NewExtensionObject(&ua.Argument{DataType: ua.NewTwoByteNodeID(1), Description: ua.NewLocalizedText("")}), ua.StatusBadIdentityTokenInvalid},
		{ua.NewExtensionObject(&ua.AnonymousIdentityToken{PolicyID: anonymousPolicy}), ua.StatusOK},
	} {
		r := p.rawClient(false)
		s := r.call(&ua.CreateSessionRequest{RequestHeader: r.header(), ClientDescription: &ua.ApplicationDescription{ApplicationName: ua.NewLocalizedText("")}}).(*ua.CreateSessionResponse)
		r.auth = s.AuthenticationToken
		got := r.ask(r.encode(&ua.ActivateSessionRequest{RequestHeader: r.header(), ClientSignature: &ua.SignatureData{}, UserTokenSignature: &ua.SignatureData{}, UserIdentityToken: x.token}))
		same(t, fmt.Sprintf("%T", x.token.Value), got, x.want)
	}
}

// Limits of sessions: those without a channel make room, living ones do not.
func TestSessionLimit(t *testing.T) {
	p := newPlant(t, func(c *Config) { c.Limits.Sessions = 3 })
	p.step(1)
	p.services()
	var rs []*raw
	for range 3 {
		rs = append(rs, p.rawClient(true))
	}
	r := p.rawClient(false)
	request := &ua.CreateSessionRequest{RequestHeader: r.header(), ClientDescription: &ua.ApplicationDescription{ApplicationName: ua.NewLocalizedText("")}}
	same(t, "full", r.ask(r.encode(request)), ua.StatusBadTooManySessions)
	rs[0].conn.Close()
	until(t, "unbound", func() bool { return p.sessions.find(encoded(rs[0].auth)).conn.Load() == nil })
	same(t, "made room", r.ask(r.encode(request)), ua.StatusOK)
	same(t, "sessions", p.Counters().Sessions.Load(), int64(3))
}

// Part 4, 5.7.4 and 5.14.5.3: CloseSession answers the waiting requests and deletes the
// subscriptions.
func TestCloseSession(t *testing.T) {
	p := served(t, nil)
	r := p.rawClient(true)
	r.subscribe(2, 10)
	r.publish()
	r.publish()
	r.send(r.encode(&ua.CloseSessionRequest{RequestHeader: r.header(), DeleteSubscriptions: true}))
	for range 2 {
		same(t, "waiting", r.answer().(*ua.ServiceFault).ResponseHeader.ServiceResult, ua.StatusBadSessionClosed)
	}
	same(t, "closed", r.answer().(*ua.CloseSessionResponse).ResponseHeader.ServiceResult, ua.StatusOK)
	same(t, "subscriptions", p.Counters().Subscriptions.Load(), int64(0))
	same(t, "items", p.Counters().MonitoredItems.Load(), int64(0))
	same(t, "after", r.ask(publishBody(t, r.auth, 0)), ua.StatusBadSessionIDInvalid)
}

// Part 4, 5.7.5: Cancel answers the waiting Publish requests with that handle.
func TestCancel(t *testing.T) {
	p := served(t, nil)
	r := p.rawClient(true)
	r.subscribe(1, 10)
	h := r.header().RequestHandle
	r.publish()
	r.send(r.encode(&ua.CancelRequest{RequestHeader: r.header(), RequestHandle: h}))
	same(t, "publish", r.answer().(*ua.ServiceFault).ResponseHeader.ServiceResult, ua.StatusBadRequestCancelledByClient)
	same(t, "count", r.answer().(*ua.CancelResponse).CancelCount, uint32(1))
}

// Close does not need the PLC thread and leaves nothing behind, whatever is under way.
func TestCloseWithoutPLCThread(t *testing.T) {
	s, err := New(Config{Listen: "127.0.0.1:0", Items: 1, Interval: 10 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error)
	go func() { served <- s.Serve(context.Background()) }()
	p := &plant{Server: s, t: t}
	r := p.rawClient(true)
	r.send(r.encode(&ua.CreateSubscriptionRequest{RequestHeader: r.header()})) // waits for a PLC thread
	silent, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	until(t, "order", func() bool { c := p.only(); return c != nil && s.Counters().Connections.Load() == 2 })
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Error(err)
	}
	if err := s.Serve(context.Background()); err == nil {
		t.Error("serves after close")
	}
	same(t, "connections", s.Counters().Connections.Load(), int64(0))
}

func TestConfigComplaints(t *testing.T) {
	_, err := New(Config{Listen: "nowhere", Publish: "soon", Limits: Limits{PublishRequests: 3}})
	for _, what := range []string{"host:port", "items", "interval", "publish", "at least 10"} {
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("no complaint about %s: %v", what, err)
		}
	}
}
