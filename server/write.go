package server

import (
	"github.com/gopcua/opcua/ua"
)

// write is Write (Part 4, 5.11.4). It is answered at once; the PLC thread reads the value
// at its next input scan.
func (c *call) write(r *ua.WriteRequest) (ua.Response, ua.StatusCode) {
	switch {
	case len(r.NodesToWrite) == 0:
		return nil, ua.StatusBadNothingToDo
	case len(r.NodesToWrite) > c.limits().Operations:
		return nil, ua.StatusBadTooManyOperations
	}
	out := &ua.WriteResponse{Results: make([]ua.StatusCode, len(r.NodesToWrite))}
	for i, w := range r.NodesToWrite {
		out.Results[i] = c.conn.server.writeValue(w)
	}
	return out, ua.StatusOK
}

// writeValue writes one value.
func (s *Server) writeValue(w *ua.WriteValue) ua.StatusCode {
	n := s.space.find(w.NodeID)
	if n == nil {
		return ua.StatusBadNodeIDUnknown
	}
	if w.AttributeID != ua.AttributeIDValue || n.class != ua.NodeClassVariable {
		if _, status := n.attribute(w.AttributeID); status != ua.StatusOK {
			return status
		}
		return ua.StatusBadNotWritable
	}
	if !n.writable {
		return ua.StatusBadNotWritable
	}
	if w.IndexRange != "" {
		if _, _, ok := parseRange(w.IndexRange); !ok {
			return ua.StatusBadIndexRangeInvalid
		}
		return ua.StatusBadIndexRangeNoData // a scalar has no parts
	}
	if w.Value == nil || !w.Value.Has(ua.DataValueValue) || w.Value.Value == nil {
		return ua.StatusBadTypeMismatch
	}
	if w.Value.Has(ua.DataValueStatusCode) && w.Value.Status != ua.StatusOK {
		return ua.StatusBadWriteNotSupported // Part 4, 5.11.4.2: no status beside a value is kept
	}
	if n.write != nil {
		return n.write(w.Value.Value.Value())
	}
	v, ok := w.Value.Value.Value().(int32)
	if !ok {
		return ua.StatusBadTypeMismatch
	}
	source := dateTime()
	if w.Value.Has(ua.DataValueSourceTimestamp) && !w.Value.SourceTimestamp.IsZero() {
		source = w.Value.SourceTimestamp.UnixNano()/100 + unixEpoch
	}
	s.image.write(v, source)
	return ua.StatusOK
}
