package server

import (
	"context"
	"encoding/binary"
	"slices"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// channelOnly opens a secure channel and no session.
func (p *plant) channelOnly() *opcua.Client {
	c, err := opcua.NewClient(p.Endpoint(), opcua.SecurityPolicy("None"), opcua.AutoReconnect(false), opcua.RequestTimeout(10*time.Second))
	if err != nil {
		p.t.Fatal(err)
	}
	if err := c.Dial(context.Background()); err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close(context.Background()) })
	return c
}

// everyRequest is one request of every service that wants a session.
func everyRequest() []ua.Request {
	value := &ua.ReadValueID{NodeID: counterID(1), AttributeID: 13, DataEncoding: &ua.QualifiedName{}}
	return []ua.Request{
		&ua.ReadRequest{NodesToRead: []*ua.ReadValueID{value}},
		&ua.WriteRequest{},
		&ua.BrowseRequest{View: &ua.ViewDescription{ViewID: ua.NewTwoByteNodeID(0)}},
		&ua.BrowseNextRequest{},
		&ua.TranslateBrowsePathsToNodeIDsRequest{},
		&ua.RegisterNodesRequest{},
		&ua.UnregisterNodesRequest{},
		&ua.CreateSubscriptionRequest{},
		&ua.ModifySubscriptionRequest{},
		&ua.SetPublishingModeRequest{},
		&ua.DeleteSubscriptionsRequest{},
		&ua.TransferSubscriptionsRequest{},
		&ua.PublishRequest{},
		&ua.RepublishRequest{},
		&ua.CreateMonitoredItemsRequest{ItemsToCreate: []*ua.MonitoredItemCreateRequest{create(counterID(1), nil)}},
		&ua.ModifyMonitoredItemsRequest{},
		&ua.SetMonitoringModeRequest{},
		&ua.SetTriggeringRequest{},
		&ua.DeleteMonitoredItemsRequest{},
		&ua.CancelRequest{},
	}
}

// Part 4, 5.7.3: no service works without a session. gopcua's engine answers Read with Good
// and dies of CreateSubscription (opcua.md, "Crashes").
func TestNoSession(t *testing.T) {
	p := served(t, nil)
	c := p.channelOnly()
	for _, r := range everyRequest() {
		_, err := try[ua.Response](c, r)
		same(t, "status", status(err), ua.StatusBadSessionIDInvalid)
	}
	_, err := try[*ua.CloseSessionResponse](c, &ua.CloseSessionRequest{})
	same(t, "CloseSession", status(err), ua.StatusBadSessionIDInvalid)
	_, err = try[*ua.ActivateSessionResponse](c, &ua.ActivateSessionRequest{ClientSignature: &ua.SignatureData{}, UserTokenSignature: &ua.SignatureData{}})
	same(t, "ActivateSession", status(err), ua.StatusBadSessionIDInvalid)
	p.dial()
}

// Part 4, 5.7.3: nor with one that was not activated.
func TestSessionNotActivated(t *testing.T) {
	p := served(t, nil)
	r := p.rawClient(false)
	s := r.call(&ua.CreateSessionRequest{RequestHeader: r.header(), ClientDescription: &ua.ApplicationDescription{ApplicationName: ua.NewLocalizedText("")}, RequestedSessionTimeout: 1}).(*ua.CreateSessionResponse)
	same(t, "timeout", s.RevisedSessionTimeout, milliseconds(minSessionTimeout))
	same(t, "nonce", len(s.ServerNonce), 32)
	same(t, "Publish", r.ask(publishBody(t, s.AuthenticationToken, 0)), ua.StatusBadSessionNotActivated)
	same(t, "Write", r.ask(writeBody(t, s.AuthenticationToken, []byte{0})), ua.StatusBadSessionNotActivated)
	other := p.rawClient(false)
	same(t, "on another channel", other.ask(publishBody(t, s.AuthenticationToken, 0)), ua.StatusBadSessionIDInvalid)
}

// only is the server's only connection.
func (p *plant) only() *connection {
	p.Server.mu.Lock()
	defer p.Server.mu.Unlock()
	for c := range p.connections {
		return c
	}
	return nil
}

// Every request with unknown ids is answered; gopcua's engine dies of SetMonitoringMode and
// DeleteMonitoredItems with an unknown id (opcua.md, "Crashes").
func TestUnknownIDs(t *testing.T) {
	p := served(t, nil)
	c := p.dial()
	sub := ask[*ua.CreateSubscriptionResponse](t, c, &ua.CreateSubscriptionRequest{RequestedPublishingInterval: 0}).SubscriptionID
	one := []uint32{77}
	for _, x := range []struct {
		r    ua.Request
		want ua.StatusCode
	}{
		{&ua.SetMonitoringModeRequest{SubscriptionID: 999, MonitoredItemIDs: one}, ua.StatusBadSubscriptionIDInvalid},
		{&ua.SetMonitoringModeRequest{SubscriptionID: sub, MonitoredItemIDs: one}, ua.StatusOK},
		{&ua.SetMonitoringModeRequest{SubscriptionID: sub, MonitoredItemIDs: one, MonitoringMode: 9}, ua.StatusBadMonitoringModeInvalid},
		{&ua.SetMonitoringModeRequest{SubscriptionID: sub}, ua.StatusBadNothingToDo},
		{&ua.DeleteMonitoredItemsRequest{SubscriptionID: 999, MonitoredItemIDs: one}, ua.StatusBadSubscriptionIDInvalid},
		{&ua.DeleteMonitoredItemsRequest{SubscriptionID: sub, MonitoredItemIDs: one}, ua.StatusOK},
		{&ua.ModifyMonitoredItemsRequest{SubscriptionID: 999, ItemsToModify: []*ua.MonitoredItemModifyRequest{{MonitoredItemID: 1, RequestedParameters: &ua.MonitoringParameters{}}}}, ua.StatusBadSubscriptionIDInvalid},
		{&ua.ModifyMonitoredItemsRequest{SubscriptionID: sub, ItemsToModify: []*ua.MonitoredItemModifyRequest{{MonitoredItemID: 1, RequestedParameters: &ua.MonitoringParameters{}}}}, ua.StatusOK},
		{&ua.SetTriggeringRequest{SubscriptionID: sub, TriggeringItemID: 5, LinksToAdd: one}, ua.StatusBadMonitoredItemIDInvalid},
		{&ua.SetTriggeringRequest{SubscriptionID: 999, LinksToAdd: one}, ua.StatusBadSubscriptionIDInvalid},
		{&ua.SetTriggeringRequest{SubscriptionID: sub}, ua.StatusBadNothingToDo},
		{&ua.ModifySubscriptionRequest{SubscriptionID: 999}, ua.StatusBadSubscriptionIDInvalid},
		{&ua.RepublishRequest{SubscriptionID: 999}, ua.StatusBadSubscriptionIDInvalid},
		{&ua.RepublishRequest{SubscriptionID: sub}, ua.StatusBadMessageNotAvailable},
		{&ua.DeleteSubscriptionsRequest{SubscriptionIDs: one}, ua.StatusOK},
		{&ua.DeleteSubscriptionsRequest{}, ua.StatusBadNothingToDo},
		{&ua.TransferSubscriptionsRequest{SubscriptionIDs: one}, ua.StatusOK},
		{&ua.SetPublishingModeRequest{SubscriptionIDs: one}, ua.StatusOK},
		{&ua.CancelRequest{RequestHandle: 5}, ua.StatusOK},
		{&ua.CallRequest{}, ua.StatusBadNothingToDo},
		{&ua.CallRequest{MethodsToCall: slices.Repeat([]*ua.CallMethodRequest{{ObjectID: ua.NewTwoByteNodeID(1), MethodID: ua.NewTwoByteNodeID(2)}}, maxCalls+1)}, ua.StatusBadTooManyOperations},
		{&ua.HistoryReadRequest{}, ua.StatusBadServiceUnsupported},
		{&ua.AddNodesRequest{}, ua.StatusBadServiceUnsupported},
		{&ua.QueryFirstRequest{View: &ua.ViewDescription{ViewID: ua.NewTwoByteNodeID(0)}, Filter: &ua.ContentFilter{}}, ua.StatusBadServiceUnsupported},
	} {
		_, err := try[ua.Response](c, x.r)
		if got := status(err); got != x.want {
			t.Errorf("%T: %v, want %v", x.r, got, x.want)
		}
	}
}

// nested is a Variant in a Variant, depth times.
func nested(depth int) []byte {
	b := make([]byte, 0, depth+5)
	for range depth {
		b = append(b, byte(ua.TypeIDVariant))
	}
	return append(b, byte(ua.TypeIDInt32), 1, 0, 0, 0)
}

// writeBody is a WriteRequest whose Variant is given as bytes.
func writeBody(tb testing.TB, token *ua.NodeID, variant []byte) []byte {
	r := &ua.WriteRequest{RequestHeader: &ua.RequestHeader{AuthenticationToken: token, RequestHandle: 7, AdditionalHeader: ua.NewExtensionObject(nil)},
		NodesToWrite: []*ua.WriteValue{{NodeID: ua.NewTwoByteNodeID(1), AttributeID: 13, Value: &ua.DataValue{EncodingMask: ua.DataValueValue, Value: ua.MustVariant(true)}}}}
	b, err := ua.Encode(r)
	if err != nil {
		tb.Fatal(err)
	}
	b = append(putTypeID(nil, id.WriteRequest_Encoding_DefaultBinary), b...)
	return append(b[:len(b)-2], variant...)
}

// What makes the library panic, run for hours or end the process is refused before it sees it.
func TestGuard(t *testing.T) {
	negative := binary.LittleEndian.AppendUint32([]byte{byte(ua.TypeIDInt32) | ua.VariantArrayValues}, 0xfffffff0)
	product := []byte{byte(ua.TypeIDInt32) | ua.VariantArrayValues | ua.VariantArrayDimensions}
	for _, n := range []uint32{0, 2, 1 << 30, 4} {
		product = binary.LittleEndian.AppendUint32(product, n)
	}
	deep := append([]byte{byte(ua.TypeIDDiagnosticInfo)}, make([]byte, 0, 1000)...)
	for range 1000 {
		deep = append(deep, ua.DiagnosticInfoInnerDiagnosticInfo)
	}
	for _, x := range []struct {
		name    string
		variant []byte
		good    bool
	}{
		{"plain", []byte{byte(ua.TypeIDInt32), 1, 0, 0, 0}, true},
		{"null", []byte{0}, true},
		{"nested 50", nested(50), true},
		{"nested 101", nested(101), false},
		{"nested a million", nested(1 << 20), false},
		{"negative array", negative, false},
		{"array of null length", []byte{byte(ua.TypeIDInt32) | ua.VariantArrayValues, 0xff, 0xff, 0xff, 0xff}, true},
		{"array longer than the message", []byte{byte(ua.TypeIDInt32) | ua.VariantArrayValues, 0xff, 0xff, 0xff, 0x7f}, false},
		{"dimensions", product, false},
		{"diagnostics", append(deep, 0), false},
		{"no type", []byte{63}, false},
		{"cut", []byte{byte(ua.TypeIDInt32), 1}, false},
	} {
		body := writeBody(t, ua.NewTwoByteNodeID(0), x.variant)
		h, _, whole := readHeader(body)
		if !whole {
			t.Fatal("header")
		}
		same(t, x.name, checkRequest(body, h.end, serviceTable()[h.service].request), x.good)
		if x.good {
			if _, _, err := ua.DecodeService(body); err != nil {
				t.Errorf("%s: %v", x.name, err)
			}
		}
	}
}

// Bytes that are no service, or cut off, are answered on the channel, which lives on.
func TestUndecodable(t *testing.T) {
	p := served(t, nil)
	r := p.rawClient(true)
	publish := publishBody(t, r.auth, 0)
	for _, x := range []struct {
		name string
		body []byte
		want ua.StatusCode
	}{
		{"one byte", []byte{0}, ua.StatusBadDecodingError},
		{"garbage", []byte{0x99, 1, 2, 3}, ua.StatusBadDecodingError},
		{"no such service", putTypeID(nil, 9999), ua.StatusBadServiceUnsupported},
		{"a response", putFault(nil, 0, 1, 0), ua.StatusBadServiceUnsupported},
		{"cut Variant", writeBody(t, r.auth, []byte{6, 1}), ua.StatusBadDecodingError},
		{"deep Variant", writeBody(t, r.auth, nested(60000)), ua.StatusBadDecodingError},
		{"cut header", publish[:20], ua.StatusBadDecodingError},
		{"acks without end", append(publish[:len(publish)-4:len(publish)-4], 0xff, 0xff, 0xff, 0x7f), ua.StatusBadDecodingError},
		{"too many acks", publishBody(t, r.auth, maxAcks+1), ua.StatusBadTooManyOperations},
		{"Publish", publish, ua.StatusBadNoSubscription},
	} {
		same(t, x.name, r.ask(x.body), x.want)
	}
}
