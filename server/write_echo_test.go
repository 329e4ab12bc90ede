package server

import (
	"testing"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

// writeRequestBody is a Write request as the library encodes it.
func writeRequestBody(t *testing.T, change func(*ua.WriteRequest)) []byte {
	t.Helper()
	r := &ua.WriteRequest{
		RequestHeader: &ua.RequestHeader{AuthenticationToken: ua.NewTwoByteNodeID(0), Timestamp: time.Now(), RequestHandle: 9, AdditionalHeader: ua.NewExtensionObject(nil)},
		NodesToWrite: []*ua.WriteValue{{NodeID: ua.NewStringNodeID(nsBench, bench.NodeEcho), AttributeID: ua.AttributeIDValue,
			Value: &ua.DataValue{EncodingMask: ua.DataValueValue, Value: ua.MustVariant(int32(-5))}}},
	}
	change(r)
	b, err := ua.Encode(r)
	if err != nil {
		t.Fatal(err)
	}
	return append(putTypeID(nil, id.WriteRequest_Encoding_DefaultBinary), b...)
}

// Part 4, 5.11.4: only the one Write that a measuring client sends takes the short way;
// whatever else a Write may say is the library's to decode.
func TestEchoOf(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*ua.WriteRequest)
		ok     bool
	}{
		{"the echo", func(*ua.WriteRequest) {}, true},
		{"another node", func(r *ua.WriteRequest) { r.NodesToWrite[0].NodeID = ua.NewStringNodeID(nsBench, "Echo2") }, false},
		{"another namespace", func(r *ua.WriteRequest) { r.NodesToWrite[0].NodeID = ua.NewStringNodeID(nsLocal, bench.NodeEcho) }, false},
		{"a numeric node", func(r *ua.WriteRequest) { r.NodesToWrite[0].NodeID = ua.NewNumericNodeID(nsBench, 7) }, false},
		{"another attribute", func(r *ua.WriteRequest) { r.NodesToWrite[0].AttributeID = ua.AttributeIDDisplayName }, false},
		{"a range", func(r *ua.WriteRequest) { r.NodesToWrite[0].IndexRange = "0" }, false},
		{"another type", func(r *ua.WriteRequest) { r.NodesToWrite[0].Value.Value = ua.MustVariant(uint32(5)) }, false},
		{"an array", func(r *ua.WriteRequest) { r.NodesToWrite[0].Value.Value = ua.MustVariant([]int32{5}) }, false},
		{"a time", func(r *ua.WriteRequest) {
			r.NodesToWrite[0].Value.EncodingMask |= ua.DataValueSourceTimestamp
			r.NodesToWrite[0].Value.SourceTimestamp = time.Now()
		}, false},
		{"no value", func(r *ua.WriteRequest) { r.NodesToWrite[0].Value.EncodingMask = 0 }, false},
		{"two", func(r *ua.WriteRequest) { r.NodesToWrite = append(r.NodesToWrite, r.NodesToWrite[0]) }, false},
		{"none", func(r *ua.WriteRequest) { r.NodesToWrite = nil }, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			body := writeRequestBody(t, tc.change)
			h, known, whole := readHeader(body)
			if !known || !whole {
				t.Fatal("the header does not read")
			}
			v, ok := echoOf(body, h.end)
			same(t, "short way", ok, tc.ok)
			if tc.ok {
				same(t, "value", v, int32(-5))
			}
			for cut := h.end; cut < len(body); cut++ {
				if _, ok := echoOf(body[:cut], h.end); ok {
					t.Errorf("%d of %d bytes are taken", cut, len(body))
				}
			}
		})
	}
	body := writeRequestBody(t, func(*ua.WriteRequest) {})
	h, _, _ := readHeader(body)
	same(t, "allocations", testing.AllocsPerRun(100, func() { echoOf(body, h.end) }), 0.0)
}
