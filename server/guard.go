package server

import (
	"reflect"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// maxNesting bounds Variants, DataValues and DiagnosticInfos inside each other (Part 6,
// 5.2.2.12: a decoder supports at least 100 levels and reports an error beyond).
const maxNesting = 100

// guard walks a request by the Go type that the library will decode it into, before the
// library does. The library v0.9.1 panics on a negative array length inside a Variant,
// runs for hours on array dimensions whose product overflows, and recurses without a
// limit, which ends the process, since Go cannot recover from a full stack. The walk
// allocates nothing in proportion to the message. cold.
type guard struct{ reader }

// checkRequest reports whether b, from at on, is a well-formed t. In place, it hides from
// the library the bodies of ExtensionObjects that no service here reads. cold.
func checkRequest(b []byte, at int, t reflect.Type) bool {
	g := guard{reader{b: b, at: at}}
	g.fields(t, 1) // field 0 is the RequestHeader, read by readHeader
	return !g.bad
}

func (g *guard) fields(t reflect.Type, from int) {
	for i := from; i < t.NumField() && !g.bad; i++ {
		g.value(t.Field(i).Type)
	}
}

// value walks one value of a type that can stand in a request.
func (g *guard) value(t reflect.Type) {
	switch t {
	case reflect.TypeFor[*ua.NodeID]():
		g.nodeID()
		return
	case reflect.TypeFor[*ua.ExpandedNodeID]():
		g.expandedNodeID()
		return
	case reflect.TypeFor[*ua.ExtensionObject]():
		g.extension()
		return
	case reflect.TypeFor[*ua.Variant]():
		g.variant(0)
		return
	case reflect.TypeFor[*ua.DataValue]():
		g.dataValue(0)
		return
	case reflect.TypeFor[*ua.LocalizedText]():
		g.localizedText()
		return
	case reflect.TypeFor[*ua.DiagnosticInfo]():
		g.diagnosticInfo(0)
		return
	case reflect.TypeFor[*ua.GUID]():
		g.take(16)
		return
	case reflect.TypeFor[time.Time]():
		g.take(8)
		return
	}
	g.plain(t)
}

// plain walks numbers, strings, structures and arrays.
func (g *guard) plain(t reflect.Type) {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		g.take(1)
	case reflect.Int16, reflect.Uint16:
		g.take(2)
	case reflect.Int32, reflect.Uint32, reflect.Float32:
		g.take(4)
	case reflect.Int64, reflect.Uint64, reflect.Float64:
		g.take(8)
	case reflect.String:
		g.bytes()
	case reflect.Pointer:
		g.fields(t.Elem(), 0)
	case reflect.Struct:
		g.fields(t, 0)
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			g.bytes()
			return
		}
		for n := g.length(1); n > 0 && !g.bad; n-- {
			g.value(t.Elem())
		}
	default:
		g.bad = true
	}
}

func (g *guard) expandedNodeID() {
	encoding := g.u8()
	g.nodeIDBody(encoding &^ 0xC0)
	if encoding&0x80 != 0 {
		g.bytes()
	}
	if encoding&0x40 != 0 {
		g.u32()
	}
}

// readable are the ExtensionObjects that some service reads; all are flat.
func readable(typeID uint32) bool {
	switch typeID {
	case id.AnonymousIdentityToken_Encoding_DefaultBinary, id.UserNameIdentityToken_Encoding_DefaultBinary,
		id.X509IdentityToken_Encoding_DefaultBinary, id.IssuedIdentityToken_Encoding_DefaultBinary,
		id.DataChangeFilter_Encoding_DefaultBinary:
		return true
	}
	return false
}

// extension walks an ExtensionObject. One that nobody reads keeps its place and gets the
// numeric type of all ones, which the library does not know and does not open.
func (g *guard) extension() {
	from := g.at
	g.extensionObject()
	if g.bad {
		return
	}
	r := reader{b: g.b, at: from}
	encoding := r.b[from]
	if typeID := r.typeID(); !r.bad && readable(typeID) {
		return
	}
	switch encoding &^ 0xC0 {
	case 0x00:
		if g.b[from+1] != 0 {
			g.b[from+1] = 0xff
		}
	case 0x01:
		g.b[from+2], g.b[from+3] = 0xff, 0xff
	case 0x02:
		copy(g.b[from+3:from+7], []byte{0xff, 0xff, 0xff, 0xff})
	}
}
