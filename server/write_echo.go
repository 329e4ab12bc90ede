package server

import (
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

// writeID is the TypeId of a WriteRequest in OPC UA Binary.
const writeID = id.WriteRequest_Encoding_DefaultBinary

// echoOf reads the Write that a measuring client sends every cycle: one Int32, without
// status or time, to the node Echo (Part 4, 5.11.4). ok is false for every other request,
// which then takes the library's way. hot: no allocation.
func echoOf(body []byte, at int) (v int32, ok bool) {
	r := reader{b: body, at: at}
	one := r.length(1) == 1
	one = r.u8() == 0x03 && one // a string NodeId (Part 6, 5.2.2.9)
	one = r.u16() == nsBench && one
	one = string(r.bytes()) == bench.NodeEcho && one
	one = r.u32() == uint32(ua.AttributeIDValue) && one
	one = len(r.bytes()) == 0 && one // no IndexRange
	one = r.u8() == ua.DataValueValue && one
	one = r.u8() == byte(ua.TypeIDInt32) && one // scalar
	v = int32(r.u32())
	return v, one && !r.bad && r.at == len(body)
}

// writeEcho answers such a Write: reflection over its structs would cost more allocations
// than everything else that a cycle makes the server do. hot: no allocation.
func (c *connection) writeEcho(request uint32, v int32, h header) error {
	if _, status := c.session(h.token); status != ua.StatusOK {
		return c.fault(request, h.handle, status)
	}
	now := dateTime()
	c.server.image.write(v, now)
	b := putResponseHeader(c.reply[:0], id.WriteResponse_Encoding_DefaultBinary, now, h.handle, ua.StatusOK)
	b = put32(b, 1)
	b = put32(b, uint32(ua.StatusOK))
	b = put32(b, null32) // DiagnosticInfos
	return c.wire.Send(request, b)
}
