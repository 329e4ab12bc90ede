package server

import (
	"strconv"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

const productURI = "urn:opcycle"

// Namespaces in the order of NamespaceArray (Part 5, 6.3.1); clients look them up by URI.
const (
	nsStandard uint16 = iota
	nsLocal           // ApplicationUri
	nsDI
	nsPLCopen
	nsBench
)

// space is the address space: a table that is complete when newSpace returns and never
// changes. Values come from closures over constants and atomics.
type space struct {
	nodes      map[nodeKey]*node
	namespaces []string
}

// nodeKey is a NodeId as a map key, whatever its encoding was.
type nodeKey struct {
	ns   uint16
	kind byte // i, s, g, b
	num  uint32
	str  string
}

func keyOf(n *ua.NodeID) nodeKey {
	switch n.Type() {
	case ua.NodeIDTypeString:
		return nodeKey{ns: n.Namespace(), kind: 's', str: n.StringID()}
	case ua.NodeIDTypeGUID:
		return nodeKey{ns: n.Namespace(), kind: 'g', str: n.StringID()}
	case ua.NodeIDTypeByteString:
		return nodeKey{ns: n.Namespace(), kind: 'b', str: n.StringID()}
	}
	return nodeKey{ns: n.Namespace(), kind: 'i', num: n.IntID()}
}

// node is one node with its attributes (Part 3, 5).
type node struct {
	id         *ua.NodeID
	class      ua.NodeClass
	browse     *ua.QualifiedName
	display    string
	references []reference

	// Variables.
	kind     sourceKind
	value    func() (v any, source int64, status ua.StatusCode)
	dataType *ua.NodeID
	rank     int32
	writable bool
	write    func(v any) ua.StatusCode // of a writable one, called on a connection's goroutine
	sampling float64                   // MinimumSamplingInterval, ms

	method *Method // of a Method

	// Types.
	abstract  bool
	symmetric bool
	inverse   string
}

// reference is one end of a reference; the other node has the other end.
type reference struct {
	kind    *node // the ReferenceType
	forward bool
	target  *node
}

// find returns the node with the given id, nil when there is none.
func (s *space) find(n *ua.NodeID) *node {
	if n == nil {
		return nil
	}
	return s.nodes[keyOf(n)]
}

// std returns a standard node that the table has: a missing one is an error of newSpace.
func (s *space) std(n uint32) *node { return s.nodes[nodeKey{kind: 'i', num: n}] }

func newSpace(cfg *Config, m *image) *space {
	s := &space{
		nodes: map[nodeKey]*node{},
		namespaces: []string{"http://opcfoundation.org/UA/", cfg.ApplicationURI, "http://opcfoundation.org/UA/DI/",
			"http://PLCopen.org/OpcUa/IEC61131-3/", bench.BenchmarkURI},
	}
	s.addTypes()
	s.addServer(cfg, time.Now())
	s.addBenchmark(cfg, m)
	return s
}

// add puts a node into the table, below its parent.
func (s *space) add(n *node, parent *node, kind uint32) *node {
	if n.display == "" {
		n.display = n.browse.Name
	}
	s.nodes[keyOf(n.id)] = n
	if parent != nil {
		s.connect(parent, kind, n)
	}
	return n
}

// connect adds a reference, both ends.
func (s *space) connect(from *node, kind uint32, to *node) {
	k := s.std(kind)
	from.references = append(from.references, reference{kind: k, forward: true, target: to})
	to.references = append(to.references, reference{kind: k, forward: false, target: from})
}

// typed gives a node its type definition. The type's end is left out: an inverse
// HasTypeDefinition for each of 100,000 variables helps nobody (Part 3, 7.13 allows it).
func (s *space) typed(n *node, definition uint32) *node {
	n.references = append(n.references, reference{kind: s.std(id.HasTypeDefinition), forward: true, target: s.std(definition)})
	return n
}

// object adds an Object.
func (s *space) object(parent *node, kind uint32, nodeID *ua.NodeID, ns uint16, name string, definition uint32) *node {
	n := &node{id: nodeID, class: ua.NodeClassObject, browse: &ua.QualifiedName{NamespaceIndex: ns, Name: name}}
	return s.typed(s.add(n, parent, kind), definition)
}

// variable adds a Variable that never changes.
func (s *space) variable(parent *node, kind uint32, nodeID *ua.NodeID, ns uint16, name string, dataType uint32, v any, since int64) *node {
	definition := uint32(id.BaseDataVariableType)
	if kind == id.HasProperty {
		definition = id.PropertyType
	}
	n := &node{
		id: nodeID, class: ua.NodeClassVariable, browse: &ua.QualifiedName{NamespaceIndex: ns, Name: name},
		dataType: ua.NewNumericNodeID(0, dataType), rank: rankOf(v),
		value: func() (any, int64, ua.StatusCode) { return v, since, ua.StatusOK },
	}
	return s.typed(s.add(n, parent, kind), definition)
}

// rankOf is the ValueRank of a value: −1 scalar, 1 array (Part 3, 5.6.2).
func rankOf(v any) int32 {
	switch v.(type) {
	case []string, []uint32, []*ua.ExtensionObject:
		return 1
	}
	return -1
}

// iecTime writes a duration as an IEC 61131-3 literal: T#10ms, T#250us, T#1s500ms.
func iecTime(d time.Duration) string {
	if d == 0 {
		return "T#0s"
	}
	out := "T#"
	for _, u := range []struct {
		name string
		d    time.Duration
	}{{"h", time.Hour}, {"m", time.Minute}, {"s", time.Second}, {"ms", time.Millisecond}, {"us", time.Microsecond}, {"ns", 1}} {
		if n := d / u.d; n > 0 {
			out += strconv.FormatInt(int64(n), 10) + u.name
			d -= n * u.d
		}
	}
	return out
}
