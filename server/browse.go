package server

import (
	"encoding/binary"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// maxReferences bounds the references of one node in one answer.
const maxReferences = 1000

// continuation is what BrowseNext goes on with (Part 4, 7.9).
type continuation struct {
	rest []*ua.ReferenceDescription
	size int
}

// browse is Browse (Part 4, 5.9.2).
func (c *call) browse(r *ua.BrowseRequest) (ua.Response, ua.StatusCode) {
	switch {
	case len(r.NodesToBrowse) == 0:
		return nil, ua.StatusBadNothingToDo
	case len(r.NodesToBrowse) > c.limits().Operations:
		return nil, ua.StatusBadTooManyOperations
	case r.View != nil && r.View.ViewID != nil && !isNull(r.View.ViewID):
		return nil, ua.StatusBadViewIDUnknown
	}
	size := int(min(r.RequestedMaxReferencesPerNode, maxReferences))
	if size == 0 {
		size = maxReferences
	}
	out := &ua.BrowseResponse{Results: make([]*ua.BrowseResult, len(r.NodesToBrowse))}
	for i, d := range r.NodesToBrowse {
		refs, status := c.conn.server.space.references(d)
		out.Results[i] = c.page(refs, size, status)
	}
	return out, ua.StatusOK
}

// isNull tells whether a NodeId is the null NodeId (Part 3, 8.2.4).
func isNull(n *ua.NodeID) bool {
	return n.Namespace() == 0 && n.IntID() == 0 && n.StringID() == ""
}

// page cuts references to size and keeps the rest for BrowseNext.
func (c *call) page(refs []*ua.ReferenceDescription, size int, status ua.StatusCode) *ua.BrowseResult {
	if status != ua.StatusOK || len(refs) <= size {
		return &ua.BrowseResult{StatusCode: status, References: refs}
	}
	s := c.session
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.points) >= c.limits().ContinuationPoints {
		return &ua.BrowseResult{StatusCode: ua.StatusBadNoContinuationPoints}
	}
	s.lastPoint++
	point := binary.LittleEndian.AppendUint32(nil, s.lastPoint)
	s.points[string(point)] = &continuation{rest: refs[size:], size: size}
	return &ua.BrowseResult{ContinuationPoint: point, References: refs[:size]}
}

// browseNext is BrowseNext (Part 4, 5.9.3). A point is good for one use.
func (c *call) browseNext(r *ua.BrowseNextRequest) (ua.Response, ua.StatusCode) {
	switch {
	case len(r.ContinuationPoints) == 0:
		return nil, ua.StatusBadNothingToDo
	case len(r.ContinuationPoints) > c.limits().Operations:
		return nil, ua.StatusBadTooManyOperations
	}
	out := &ua.BrowseNextResponse{}
	for _, p := range r.ContinuationPoints {
		c.session.mu.Lock()
		point := c.session.points[string(p)]
		delete(c.session.points, string(p))
		c.session.mu.Unlock()
		switch {
		case point == nil:
			out.Results = append(out.Results, &ua.BrowseResult{StatusCode: ua.StatusBadContinuationPointInvalid})
		case r.ReleaseContinuationPoints:
			out.Results = append(out.Results, &ua.BrowseResult{})
		default:
			out.Results = append(out.Results, c.page(point.rest, point.size, ua.StatusOK))
		}
	}
	return out, ua.StatusOK
}

// references returns the references of a node that a BrowseDescription asks for.
func (s *space) references(d *ua.BrowseDescription) ([]*ua.ReferenceDescription, ua.StatusCode) {
	n := s.find(d.NodeID)
	if n == nil {
		return nil, ua.StatusBadNodeIDUnknown
	}
	if d.BrowseDirection > ua.BrowseDirectionBoth {
		return nil, ua.StatusBadBrowseDirectionInvalid
	}
	var kind *node
	if d.ReferenceTypeID != nil && !isNull(d.ReferenceTypeID) {
		if kind = s.find(d.ReferenceTypeID); kind == nil || kind.class != ua.NodeClassReferenceType {
			return nil, ua.StatusBadReferenceTypeIDInvalid
		}
	}
	var out []*ua.ReferenceDescription
	for _, r := range n.references {
		if r.forward && d.BrowseDirection == ua.BrowseDirectionInverse || !r.forward && d.BrowseDirection == ua.BrowseDirectionForward {
			continue
		}
		if kind != nil && r.kind != kind && !(d.IncludeSubtypes && isSubtype(r.kind, kind)) {
			continue
		}
		if d.NodeClassMask != 0 && d.NodeClassMask&uint32(r.target.class) == 0 {
			continue
		}
		out = append(out, r.describe(ua.BrowseResultMask(d.ResultMask)))
	}
	return out, ua.StatusOK
}

// describe fills what the result mask asks for (Part 4, 7.29).
func (r *reference) describe(mask ua.BrowseResultMask) *ua.ReferenceDescription {
	null := ua.NewTwoByteNodeID(0)
	d := &ua.ReferenceDescription{
		ReferenceTypeID: null, NodeID: &ua.ExpandedNodeID{NodeID: r.target.id},
		BrowseName: &ua.QualifiedName{}, DisplayName: ua.NewLocalizedText(""), TypeDefinition: &ua.ExpandedNodeID{NodeID: null},
	}
	if mask&ua.BrowseResultMaskReferenceTypeID != 0 {
		d.ReferenceTypeID = r.kind.id
	}
	if mask&ua.BrowseResultMaskIsForward != 0 {
		d.IsForward = r.forward
	}
	if mask&ua.BrowseResultMaskNodeClass != 0 {
		d.NodeClass = r.target.class
	}
	if mask&ua.BrowseResultMaskBrowseName != 0 {
		d.BrowseName = r.target.browse
	}
	if mask&ua.BrowseResultMaskDisplayName != 0 {
		d.DisplayName = ua.NewLocalizedText(r.target.display)
	}
	if mask&ua.BrowseResultMaskTypeDefinition != 0 {
		for _, t := range r.target.references {
			if t.forward && t.kind.id.IntID() == id.HasTypeDefinition {
				d.TypeDefinition = &ua.ExpandedNodeID{NodeID: t.target.id}
			}
		}
	}
	return d
}
