package server

import "github.com/gopcua/opcua/ua"

// variant walks a Variant (Part 6, 5.2.2.16).
func (g *guard) variant(depth int) {
	mask := g.u8()
	kind := ua.TypeID(mask & 0x3f)
	if depth >= maxNesting || kind > ua.TypeIDDiagnosticInfo {
		g.bad = true
	}
	if g.bad || kind == ua.TypeIDNull {
		return
	}
	if mask&ua.VariantArrayValues == 0 {
		g.element(kind, depth)
		return
	}
	n := g.length(1)
	for i := 0; i < n && !g.bad; i++ {
		g.element(kind, depth)
	}
	if mask&ua.VariantArrayDimensions == 0 {
		return
	}
	product := int64(1)
	d := g.length(4)
	for i := 0; i < d && !g.bad; i++ {
		v := int32(g.u32())
		if product *= int64(v); v < 1 || product > int64(n) {
			g.bad = true
		}
	}
	if d > 0 && product != int64(n) {
		g.bad = true
	}
}

// element walks one value of a built-in type (Part 6, 5.1.2).
func (g *guard) element(kind ua.TypeID, depth int) {
	switch kind {
	case ua.TypeIDBoolean, ua.TypeIDSByte, ua.TypeIDByte:
		g.take(1)
	case ua.TypeIDInt16, ua.TypeIDUint16:
		g.take(2)
	case ua.TypeIDInt32, ua.TypeIDUint32, ua.TypeIDFloat, ua.TypeIDStatusCode:
		g.take(4)
	case ua.TypeIDInt64, ua.TypeIDUint64, ua.TypeIDDouble, ua.TypeIDDateTime:
		g.take(8)
	case ua.TypeIDGUID:
		g.take(16)
	case ua.TypeIDString, ua.TypeIDByteString, ua.TypeIDXMLElement:
		g.bytes()
	case ua.TypeIDNodeID:
		g.nodeID()
	case ua.TypeIDExpandedNodeID:
		g.expandedNodeID()
	case ua.TypeIDQualifiedName:
		g.u16()
		g.bytes()
	case ua.TypeIDLocalizedText:
		g.localizedText()
	case ua.TypeIDExtensionObject:
		g.extension()
	case ua.TypeIDDataValue:
		g.dataValue(depth + 1)
	case ua.TypeIDVariant:
		g.variant(depth + 1)
	case ua.TypeIDDiagnosticInfo:
		g.diagnosticInfo(depth + 1)
	}
}

// dataValue walks a DataValue (Part 6, 5.2.2.17).
func (g *guard) dataValue(depth int) {
	mask := g.u8()
	if mask&ua.DataValueValue != 0 {
		g.variant(depth + 1)
	}
	if mask&ua.DataValueStatusCode != 0 {
		g.take(4)
	}
	if mask&ua.DataValueSourceTimestamp != 0 {
		g.take(8)
	}
	if mask&ua.DataValueSourcePicoseconds != 0 {
		g.take(2)
	}
	if mask&ua.DataValueServerTimestamp != 0 {
		g.take(8)
	}
	if mask&ua.DataValueServerPicoseconds != 0 {
		g.take(2)
	}
}

// localizedText walks a LocalizedText (Part 6, 5.2.2.14).
func (g *guard) localizedText() {
	mask := g.u8()
	if mask&ua.LocalizedTextLocale != 0 {
		g.bytes()
	}
	if mask&ua.LocalizedTextText != 0 {
		g.bytes()
	}
}

// diagnosticInfo walks a DiagnosticInfo (Part 6, 5.2.2.12).
func (g *guard) diagnosticInfo(depth int) {
	for ; !g.bad; depth++ {
		if depth >= maxNesting {
			g.bad = true
			return
		}
		mask := g.u8()
		for _, bit := range []byte{ua.DiagnosticInfoSymbolicID, ua.DiagnosticInfoNamespaceURI,
			ua.DiagnosticInfoLocale, ua.DiagnosticInfoLocalizedText} {
			if mask&bit != 0 {
				g.take(4)
			}
		}
		if mask&ua.DiagnosticInfoAdditionalInfo != 0 {
			g.bytes()
		}
		if mask&ua.DiagnosticInfoInnerStatusCode != 0 {
			g.take(4)
		}
		if mask&ua.DiagnosticInfoInnerDiagnosticInfo == 0 {
			return
		}
	}
}
