package server

import (
	"testing"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// decoder is a connection without a socket: what serve needs for a Publish request.
func (b *bare) decoder() (token *ua.NodeID) {
	s := &session{token: ua.NewByteStringNodeID(0, make([]byte, 32)), seat: b.seat}
	s.encoded, _ = s.token.Encode()
	s.active.Store(true)
	b.conn.server = &Server{cfg: *b.cfg, counters: b.counters}
	b.conn.server.sessions.init(b.cfg)
	b.conn.sessions = []*session{s}
	s.conn.Store(b.conn)
	return s.token
}

// A received Publish request costs no allocation from the channel to the inbox.
func TestPublishRequestAllocates(t *testing.T) {
	b := newBare(t, 1, 10)
	body := publishBody(t, b.decoder(), 3)
	n := testing.AllocsPerRun(1000, func() {
		if err := b.conn.serve(1, body); err != nil {
			t.Fatal(err)
		}
		m, _ := b.conn.inbox.peek()
		m.publish.busy.Store(false)
		b.conn.inbox.drop()
	})
	same(t, "allocations", n, 0.0)
}

// decodeLike compares the hand decoder with the library's on one message.
func decodeLike(t *testing.T, body []byte) {
	_, v, err := ua.DecodeService(append([]byte(nil), body...))
	r, ok := v.(*ua.PublishRequest)
	if err != nil || !ok {
		return
	}
	h, known, whole := readHeader(body)
	if !known || !whole || h.service != publishID {
		return // stricter than the library: flags in a NodeId, negative lengths, XML bodies
	}
	var p publishRequest
	switch got := p.decode(body, h); got {
	case ua.StatusBadDecodingError:
		return
	case ua.StatusBadTooManyOperations:
		if len(r.SubscriptionAcknowledgements) <= maxAcks {
			t.Errorf("%v for %d acks", got, len(r.SubscriptionAcknowledgements))
		}
		return
	}
	same(t, "handle", p.handle, r.RequestHeader.RequestHandle)
	same(t, "hint", h.hint, r.RequestHeader.TimeoutHint)
	same(t, "acks", p.acks, len(r.SubscriptionAcknowledgements))
	for i, a := range r.SubscriptionAcknowledgements {
		same(t, "ack", p.ack[i], ack{a.SubscriptionID, a.SequenceNumber})
	}
	token, err := r.RequestHeader.AuthenticationToken.Encode()
	if err != nil || string(token) != string(h.token) {
		return // another encoding of the same id
	}
}

// FuzzPublishRequest: the hand decoder reads what the library reads, and never panics.
func FuzzPublishRequest(f *testing.F) {
	for _, token := range []*ua.NodeID{ua.NewTwoByteNodeID(0), ua.NewFourByteNodeID(1, 300), ua.NewNumericNodeID(2, 1<<20),
		ua.NewStringNodeID(1, "x"), ua.NewGUIDNodeID(1, "72962B91-FA75-4AE6-8D28-B404DC7DAF63"), ua.NewByteStringNodeID(0, make([]byte, 32))} {
		for _, acks := range []int{0, 1, 5, maxAcks + 1} {
			f.Add(publishBody(f, token, acks))
		}
	}
	f.Fuzz(func(t *testing.T, body []byte) { decodeLike(t, body) })
}

// FuzzGuard: what the guard lets through the library decodes without a panic, and what we
// encode with the library the guard lets through.
func FuzzGuard(f *testing.F) {
	for _, r := range everyRequest() {
		r.SetHeader(&ua.RequestHeader{AuthenticationToken: ua.NewTwoByteNodeID(0), AdditionalHeader: ua.NewExtensionObject(nil)})
		b, err := ua.Encode(r)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(append(putTypeID(nil, ua.ServiceTypeID(r)), b...))
	}
	f.Add(writeBody(f, ua.NewTwoByteNodeID(0), nested(99)))
	f.Add(putTypeID(nil, id.ReadRequest_Encoding_DefaultBinary))
	table := serviceTable()
	f.Fuzz(func(t *testing.T, body []byte) {
		h, known, whole := readHeader(body)
		svc, ok := table[h.service]
		if !known || !whole || !ok {
			return
		}
		hide := guard{reader{b: body, at: h.extra}}
		hide.extension()
		if !checkRequest(body, h.end, svc.request) {
			return
		}
		_, _, _ = ua.DecodeService(body)
	})
}

// Requests of every service as the library encodes them pass the guard.
func TestGuardLetsRequestsThrough(t *testing.T) {
	table := serviceTable()
	for _, r := range everyRequest() {
		r.SetHeader(&ua.RequestHeader{AuthenticationToken: ua.NewByteStringNodeID(0, make([]byte, 32)), AuditEntryID: "x",
			AdditionalHeader: ua.NewExtensionObject(&ua.LiteralOperand{Value: ua.MustVariant(int32(1))})})
		b, err := ua.Encode(r)
		if err != nil {
			t.Fatal(err)
		}
		body := append(putTypeID(nil, ua.ServiceTypeID(r)), b...)
		h, _, whole := readHeader(body)
		if !whole {
			t.Errorf("%T: header", r)
		}
		svc, ok := table[h.service]
		if h.service == publishID {
			continue
		}
		hide := guard{reader{b: body, at: h.extra}}
		hide.extension()
		if !ok || !checkRequest(body, h.end, svc.request) {
			t.Errorf("%T does not pass", r)
		}
		_, v, err := ua.DecodeService(body)
		if err != nil || v.(ua.Request).Header().AdditionalHeader.Value != nil {
			t.Errorf("%T: %v, or its additional header was opened", r, err)
		}
	}
}

// A panic is an error of ours and ends one connection only: the last resort, tested by a
// service that does not exist in the product.
func TestPanicEndsOneConnection(t *testing.T) {
	p := newPlant(t, nil)
	p.step(1)
	p.services()
	p.Server.services[id.RegisterNodesRequest_Encoding_DefaultBinary] = of(func(*call, *ua.RegisterNodesRequest) (ua.Response, ua.StatusCode) { panic("test") })
	bad, good := p.rawClient(true), p.rawClient(true)
	bad.send(bad.encode(&ua.RegisterNodesRequest{RequestHeader: bad.header()}))
	if b, err := bad.tryChunk(); err == nil && string(b[:3]) != "ERR" {
		t.Errorf("answer %x", b)
	}
	until(t, "connection", func() bool { return p.Counters().Connections.Load() == 1 })
	same(t, "the other one", good.ask(publishBody(t, good.auth, 0)), ua.StatusBadNoSubscription)
	same(t, "counted", p.Counters().Panics.Swap(0), int64(1))
}
