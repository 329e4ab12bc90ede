package server

import (
	"math"

	"github.com/gopcua/opcua/ua"
)

// maxTargets bounds the nodes that one browse path may reach, and maxPath its length.
const (
	maxTargets = 1000
	maxPath    = 100
)

// translate is TranslateBrowsePathsToNodeIds (Part 4, 5.9.4).
func (c *call) translate(r *ua.TranslateBrowsePathsToNodeIDsRequest) (ua.Response, ua.StatusCode) {
	switch {
	case len(r.BrowsePaths) == 0:
		return nil, ua.StatusBadNothingToDo
	case len(r.BrowsePaths) > c.limits().Operations:
		return nil, ua.StatusBadTooManyOperations
	}
	out := &ua.TranslateBrowsePathsToNodeIDsResponse{}
	for _, p := range r.BrowsePaths {
		targets, status := c.conn.server.space.follow(p)
		result := &ua.BrowsePathResult{StatusCode: status}
		for _, t := range targets {
			result.Targets = append(result.Targets, &ua.BrowsePathTarget{
				TargetID: &ua.ExpandedNodeID{NodeID: t.id}, RemainingPathIndex: math.MaxUint32,
			})
		}
		out.Results = append(out.Results, result)
	}
	return out, ua.StatusOK
}

// follow walks one path.
func (s *space) follow(p *ua.BrowsePath) ([]*node, ua.StatusCode) {
	from := s.find(p.StartingNode)
	switch {
	case from == nil:
		return nil, ua.StatusBadNodeIDUnknown
	case p.RelativePath == nil || len(p.RelativePath.Elements) == 0:
		return nil, ua.StatusBadNothingToDo
	case len(p.RelativePath.Elements) > maxPath:
		return nil, ua.StatusBadTooManyOperations
	}
	at := []*node{from}
	for _, e := range p.RelativePath.Elements {
		if e.TargetName == nil || e.TargetName.Name == "" {
			return nil, ua.StatusBadBrowseNameInvalid
		}
		next, status := s.step(at, e)
		if status != ua.StatusOK {
			return nil, status
		}
		at = next
	}
	if len(at) == 0 {
		return nil, ua.StatusBadNoMatch
	}
	return at, ua.StatusOK
}

// step goes one element further from every node.
func (s *space) step(at []*node, e *ua.RelativePathElement) ([]*node, ua.StatusCode) {
	var kind *node
	if e.ReferenceTypeID != nil && !isNull(e.ReferenceTypeID) {
		if kind = s.find(e.ReferenceTypeID); kind == nil || kind.class != ua.NodeClassReferenceType {
			return nil, ua.StatusBadNoMatch
		}
	}
	var next []*node
	for _, n := range at {
		for _, r := range n.references {
			if r.forward == e.IsInverse || *r.target.browse != *e.TargetName {
				continue
			}
			if kind != nil && r.kind != kind && !(e.IncludeSubtypes && isSubtype(r.kind, kind)) {
				continue
			}
			if next = append(next, r.target); len(next) > maxTargets {
				return nil, ua.StatusBadTooManyMatches
			}
		}
	}
	return next, ua.StatusOK
}

// registerNodes is RegisterNodes (Part 4, 5.9.5): the node ids are as short as they get, so
// they are returned as they came; unknown ones are refused.
func (c *call) registerNodes(r *ua.RegisterNodesRequest) (ua.Response, ua.StatusCode) {
	if status := c.countNodes(len(r.NodesToRegister)); status != ua.StatusOK {
		return nil, status
	}
	for _, n := range r.NodesToRegister {
		if c.conn.server.space.find(n) == nil {
			return nil, ua.StatusBadNodeIDInvalid
		}
	}
	return &ua.RegisterNodesResponse{RegisteredNodeIDs: r.NodesToRegister}, ua.StatusOK
}

// unregisterNodes is UnregisterNodes (Part 4, 5.9.6).
func (c *call) unregisterNodes(r *ua.UnregisterNodesRequest) (ua.Response, ua.StatusCode) {
	if status := c.countNodes(len(r.NodesToUnregister)); status != ua.StatusOK {
		return nil, status
	}
	return &ua.UnregisterNodesResponse{}, ua.StatusOK
}

func (c *call) countNodes(n int) ua.StatusCode {
	switch {
	case n == 0:
		return ua.StatusBadNothingToDo
	case n > c.limits().Operations:
		return ua.StatusBadTooManyOperations
	}
	return ua.StatusOK
}
