package server

import (
	"math"

	"github.com/gopcua/opcua/ua"
)

// access levels (Part 3, 8.57).
const (
	accessRead  = byte(0x01)
	accessWrite = byte(0x02)
)

// attribute returns the value of an attribute other than Value (Part 3, 5);
// BadAttributeIdInvalid when the node class has none like it.
func (n *node) attribute(a ua.AttributeID) (any, ua.StatusCode) {
	switch a {
	case ua.AttributeIDNodeID:
		return n.id, ua.StatusOK
	case ua.AttributeIDNodeClass:
		return int32(n.class), ua.StatusOK
	case ua.AttributeIDBrowseName:
		return n.browse, ua.StatusOK
	case ua.AttributeIDDisplayName:
		return ua.NewLocalizedText(n.display), ua.StatusOK
	case ua.AttributeIDDescription:
		return ua.NewLocalizedText(""), ua.StatusOK
	case ua.AttributeIDWriteMask, ua.AttributeIDUserWriteMask:
		return uint32(0), ua.StatusOK
	}
	switch n.class {
	case ua.NodeClassVariable:
		return n.variableAttribute(a)
	case ua.NodeClassMethod:
		if a == ua.AttributeIDExecutable || a == ua.AttributeIDUserExecutable {
			return true, ua.StatusOK
		}
	case ua.NodeClassObject:
		if a == ua.AttributeIDEventNotifier {
			return byte(0), ua.StatusOK
		}
	default:
		return n.typeAttribute(a)
	}
	return nil, ua.StatusBadAttributeIDInvalid
}

func (n *node) variableAttribute(a ua.AttributeID) (any, ua.StatusCode) {
	switch a {
	case ua.AttributeIDDataType:
		return n.dataType, ua.StatusOK
	case ua.AttributeIDValueRank:
		return n.rank, ua.StatusOK
	case ua.AttributeIDArrayDimensions:
		if n.rank < 1 {
			return nil, ua.StatusBadAttributeIDInvalid
		}
		return []uint32{0}, ua.StatusOK
	case ua.AttributeIDAccessLevel, ua.AttributeIDUserAccessLevel:
		if n.writable {
			return accessRead | accessWrite, ua.StatusOK
		}
		return accessRead, ua.StatusOK
	case ua.AttributeIDMinimumSamplingInterval:
		return n.sampling, ua.StatusOK
	case ua.AttributeIDHistorizing:
		return false, ua.StatusOK
	}
	return nil, ua.StatusBadAttributeIDInvalid
}

func (n *node) typeAttribute(a ua.AttributeID) (any, ua.StatusCode) {
	switch {
	case a == ua.AttributeIDIsAbstract:
		return n.abstract, ua.StatusOK
	case n.class == ua.NodeClassReferenceType && a == ua.AttributeIDSymmetric:
		return n.symmetric, ua.StatusOK
	case n.class == ua.NodeClassReferenceType && a == ua.AttributeIDInverseName && n.inverse != "":
		return ua.NewLocalizedText(n.inverse), ua.StatusOK
	case n.class == ua.NodeClassVariableType && a == ua.AttributeIDDataType:
		return n.dataType, ua.StatusOK
	case n.class == ua.NodeClassVariableType && a == ua.AttributeIDValueRank:
		return n.rank, ua.StatusOK
	}
	return nil, ua.StatusBadAttributeIDInvalid
}

// readValue answers one ReadValueId (Part 4, 5.11.2).
func (s *space) readValue(r *ua.ReadValueID, stamps ua.TimestampsToReturn) *ua.DataValue {
	bad := func(status ua.StatusCode) *ua.DataValue {
		return &ua.DataValue{EncodingMask: ua.DataValueStatusCode, Status: status}
	}
	n := s.find(r.NodeID)
	if n == nil {
		return bad(ua.StatusBadNodeIDUnknown)
	}
	if r.DataEncoding != nil && r.DataEncoding.Name != "" {
		if r.AttributeID != ua.AttributeIDValue {
			return bad(ua.StatusBadDataEncodingInvalid)
		}
		if r.DataEncoding.NamespaceIndex != 0 || r.DataEncoding.Name != "Default Binary" {
			return bad(ua.StatusBadDataEncodingUnsupported)
		}
	}
	var v any
	var source int64
	var status ua.StatusCode
	if r.AttributeID == ua.AttributeIDValue && n.class == ua.NodeClassVariable {
		v, source, status = n.value()
	} else {
		v, status = n.attribute(r.AttributeID)
	}
	if status == ua.StatusOK && r.IndexRange != "" {
		v, status = indexRange(v, r.IndexRange)
	}
	if status != ua.StatusOK {
		return bad(status)
	}
	variant, err := ua.NewVariant(v)
	if err != nil {
		return bad(ua.StatusBadInternalError)
	}
	return stamped(variant, source, stamps)
}

// stamped puts the time stamps that were asked for beside a value and sets their mask bits.
func stamped(v *ua.Variant, source int64, stamps ua.TimestampsToReturn) *ua.DataValue {
	d := &ua.DataValue{EncodingMask: ua.DataValueValue, Value: v}
	if source != 0 && (stamps == ua.TimestampsToReturnSource || stamps == ua.TimestampsToReturnBoth) {
		d.EncodingMask |= ua.DataValueSourceTimestamp
		d.SourceTimestamp = timeOf(source)
	}
	if stamps == ua.TimestampsToReturnServer || stamps == ua.TimestampsToReturnBoth {
		d.EncodingMask |= ua.DataValueServerTimestamp
		d.ServerTimestamp = timeOf(dateTime())
	}
	return d
}

// read is Read (Part 4, 5.11.2). MaxAge needs no care: values are the current ones.
func (c *call) read(r *ua.ReadRequest) (ua.Response, ua.StatusCode) {
	switch {
	case len(r.NodesToRead) == 0:
		return nil, ua.StatusBadNothingToDo
	case len(r.NodesToRead) > c.limits().Operations:
		return nil, ua.StatusBadTooManyOperations
	case r.TimestampsToReturn > ua.TimestampsToReturnNeither:
		return nil, ua.StatusBadTimestampsToReturnInvalid
	case r.MaxAge < 0 || math.IsNaN(r.MaxAge):
		return nil, ua.StatusBadMaxAgeInvalid
	}
	out := &ua.ReadResponse{Results: make([]*ua.DataValue, len(r.NodesToRead))}
	for i, x := range r.NodesToRead {
		out.Results[i] = c.conn.server.space.readValue(x, r.TimestampsToReturn)
	}
	return out, ua.StatusOK
}

// limits are the server's.
func (c *call) limits() *Limits { return &c.conn.server.cfg.Limits }
