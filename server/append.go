package server

import (
	"encoding/binary"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// OPC UA Binary (Part 6, 5.2) by hand, appended to a buffer whose capacity the caller has
// checked: no function here makes it grow on the measured path. All hot.

func put32(b []byte, v uint32) []byte { return binary.LittleEndian.AppendUint32(b, v) }
func put64(b []byte, v int64) []byte  { return binary.LittleEndian.AppendUint64(b, uint64(v)) }

// null32 is the length of a null array or string.
const null32 = 0xffffffff

// putTypeID appends a service's TypeId as a four-byte NodeId of namespace 0.
func putTypeID(b []byte, service uint16) []byte {
	return append(b, 0x01, 0x00, byte(service), byte(service>>8))
}

// responseHeaderSize is the size of what putResponseHeader appends.
const responseHeaderSize = 4 + 8 + 4 + 4 + 1 + 4 + 3

// putResponseHeader appends TypeId and ResponseHeader (Part 4, 7.33): no diagnostics, a
// null string table, no additional header.
func putResponseHeader(b []byte, service uint16, now int64, handle uint32, status ua.StatusCode) []byte {
	b = putTypeID(b, service)
	b = put64(b, now)
	b = put32(b, handle)
	b = put32(b, uint32(status))
	b = append(b, 0x00)             // ServiceDiagnostics: nothing
	b = put32(b, null32)            // StringTable
	return append(b, 0x00, 0, 0x00) // AdditionalHeader: NodeId i=0, no body
}

// putFault appends a ServiceFault (Part 4, 7.34).
func putFault(b []byte, now int64, handle uint32, status ua.StatusCode) []byte {
	return putResponseHeader(b, id.ServiceFault_Encoding_DefaultBinary, now, handle, status)
}

// putString appends a String.
func putString(b []byte, s string) []byte {
	return append(put32(b, uint32(len(s))), s...)
}
