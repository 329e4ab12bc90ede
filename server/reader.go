package server

import "encoding/binary"

// reader takes OPC UA Binary (Part 6, 5.2) apart without allocating and without
// reflection. Past the end, or past a length that does not fit, it sets bad and
// returns zeros for good.
type reader struct {
	b   []byte
	at  int
	bad bool
}

// take returns the next n bytes. hot.
func (r *reader) take(n int) []byte {
	if r.bad || n < 0 || n > len(r.b)-r.at {
		r.bad = true
		return nil
	}
	p := r.b[r.at : r.at+n]
	r.at += n
	return p
}

// u8 is a Byte. hot.
func (r *reader) u8() byte {
	if p := r.take(1); p != nil {
		return p[0]
	}
	return 0
}

// u16 is a UInt16. hot.
func (r *reader) u16() uint16 {
	if p := r.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

// u32 is a UInt32. hot.
func (r *reader) u32() uint32 {
	if p := r.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

// i64 is an Int64 or a DateTime. hot.
func (r *reader) i64() int64 {
	if p := r.take(8); p != nil {
		return int64(binary.LittleEndian.Uint64(p))
	}
	return 0
}

// bytes is a String or a ByteString; null is nil (Part 6, 5.2.2.4). hot.
func (r *reader) bytes() []byte {
	n := int32(r.u32())
	if n < 0 {
		r.bad = r.bad || n != -1
		return nil
	}
	return r.take(int(n))
}

// length is the length of an array whose elements take at least size bytes each; null is
// 0 (Part 6, 5.2.5). hot.
func (r *reader) length(size int) int {
	n := int32(r.u32())
	if n < -1 || int64(n)*int64(size) > int64(len(r.b)-r.at) {
		r.bad = true
	}
	if r.bad || n < 0 {
		return 0
	}
	return int(n)
}

// nodeID skips a NodeId (Part 6, 5.2.2.9) and returns its encoding. hot.
func (r *reader) nodeID() []byte {
	from := r.at
	r.nodeIDBody(r.u8())
	if r.bad {
		return nil
	}
	return r.b[from:r.at]
}

// nodeIDBody skips what follows the encoding byte of a NodeId. hot.
func (r *reader) nodeIDBody(encoding byte) {
	switch encoding {
	case 0x00:
		r.take(1)
	case 0x01:
		r.take(3)
	case 0x02:
		r.take(6)
	case 0x03, 0x05:
		r.take(2)
		r.bytes()
	case 0x04:
		r.take(18)
	default:
		r.bad = true
	}
}

// typeID is a numeric NodeId of namespace 0: the only kind that names a service. hot.
func (r *reader) typeID() uint32 {
	switch r.u8() {
	case 0x00:
		return uint32(r.u8())
	case 0x01:
		ns, id := r.u8(), r.u16()
		r.bad = r.bad || ns != 0
		return uint32(id)
	case 0x02:
		ns, id := r.u16(), r.u32()
		r.bad = r.bad || ns != 0
		return id
	}
	r.bad = true
	return 0
}

// header is what the server uses of a request's TypeId and RequestHeader (Part 4, 7.32).
// token aliases the message.
type header struct {
	service uint32 // TypeId
	token   []byte // AuthenticationToken, encoded
	handle  uint32 // RequestHandle
	hint    uint32 // TimeoutHint, ms; 0 = none
	extra   int    // where AdditionalHeader begins
	end     int    // where the header ends
}

// readHeader reads the head of a request. known is false when not even the service can
// be told, whole when the header is complete. hot.
func readHeader(body []byte) (h header, known, whole bool) {
	r := reader{b: body}
	h.service = r.typeID()
	if known = !r.bad; !known {
		return h, false, false
	}
	h.token = r.nodeID()
	r.i64() // Timestamp
	h.handle = r.u32()
	r.u32()   // ReturnDiagnostics: the server has none to return
	r.bytes() // AuditEntryId
	h.hint = r.u32()
	h.extra = r.at
	r.extensionObject()
	h.end = r.at
	return h, true, !r.bad
}

// extensionObject skips an ExtensionObject (Part 6, 5.2.2.15). hot.
func (r *reader) extensionObject() {
	encoding := r.u8()
	r.nodeIDBody(encoding &^ 0xC0)
	if encoding&0x80 != 0 {
		r.bytes() // NamespaceUri
	}
	if encoding&0x40 != 0 {
		r.u32() // ServerIndex
	}
	switch r.u8() {
	case 0x00:
	case 0x01, 0x02:
		r.bytes()
	default:
		r.bad = true
	}
}
