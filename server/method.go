package server

import (
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

// Method is an executable Method of the object Benchmark (Part 3, 5.7). All its arguments
// are Strings.
type Method struct {
	Name    string
	Inputs  []Argument
	Outputs []Argument
	// Call answers one call with as many texts as there are Outputs. It is called on the
	// goroutine of the caller's connection, which reads nothing else meanwhile, never on
	// the PLC thread; in has as many texts as there are Inputs.
	Call func(who Caller, in []string) []string
}

// Argument is one argument of a Method (Part 3, 8.6).
type Argument struct {
	Name, Description string
	Most              int // bytes of an input; longer ones are refused with BadOutOfRange
}

// Caller is the session that calls a Method.
type Caller struct {
	Application string // ApplicationUri that it gave for itself
	Address     string // of its connection
	session     *session
}

// Is tells whether both are the same session.
func (c Caller) Is(o Caller) bool { return c.session == o.session }

// Gone tells whether the session has ended, by its client or by its time-out, or has lost
// its connection.
func (c Caller) Gone() bool { return c.session.closed.Load() || c.session.conn.Load() == nil }

// maxCalls bounds the methods of one Call request: each may take long.
const maxCalls = 8

// addMethods makes the Methods of the object Benchmark.
func (s *space) addMethods(obj *node, methods []Method, since int64) {
	for i := range methods {
		m := &methods[i]
		own := func(name string) *ua.NodeID { return ua.NewStringNodeID(nsBench, name) }
		n := s.add(&node{id: own("Benchmark." + m.Name), class: ua.NodeClassMethod, method: m,
			browse: &ua.QualifiedName{NamespaceIndex: nsBench, Name: m.Name}}, obj, id.HasComponent)
		for _, x := range []struct {
			name string
			list []Argument
		}{{"InputArguments", m.Inputs}, {"OutputArguments", m.Outputs}} {
			if len(x.list) == 0 {
				continue // Part 3, 5.7: the Property is left out
			}
			v := make([]*ua.ExtensionObject, len(x.list))
			for j, a := range x.list {
				v[j] = ua.NewExtensionObject(&ua.Argument{Name: a.Name, DataType: ua.NewNumericNodeID(0, id.String), ValueRank: -1,
					ArrayDimensions: []uint32{}, Description: ua.NewLocalizedText(a.Description)})
			}
			s.variable(n, id.HasProperty, own("Benchmark."+m.Name+"."+x.name), 0, x.name, id.Argument, v, since)
		}
	}
}

// callMethods is Call (Part 4, 5.12.2, https://reference.opcfoundation.org/Core/Part4/v105/docs/5.12.2).
func (c *call) callMethods(r *ua.CallRequest) (ua.Response, ua.StatusCode) {
	switch {
	case len(r.MethodsToCall) == 0:
		return nil, ua.StatusBadNothingToDo
	case len(r.MethodsToCall) > maxCalls:
		return nil, ua.StatusBadTooManyOperations
	}
	c.session.calls.Add(1) // it is alive as long as we let it wait
	defer func() {
		c.session.seen.Store(c.conn.server.sessions.now())
		c.session.calls.Add(-1)
	}()
	out := &ua.CallResponse{}
	for _, m := range r.MethodsToCall {
		out.Results = append(out.Results, c.callMethod(m))
	}
	return out, ua.StatusOK
}

func (c *call) callMethod(r *ua.CallMethodRequest) *ua.CallMethodResult {
	bad := func(status ua.StatusCode) *ua.CallMethodResult { return &ua.CallMethodResult{StatusCode: status} }
	space := c.conn.server.space
	obj, n := space.find(r.ObjectID), space.find(r.MethodID)
	switch {
	case obj == nil:
		return bad(ua.StatusBadNodeIDUnknown)
	case n == nil || n.method == nil || !n.partOf(obj):
		return bad(ua.StatusBadMethodInvalid)
	case len(r.InputArguments) < len(n.method.Inputs):
		return bad(ua.StatusBadArgumentsMissing)
	case len(r.InputArguments) > len(n.method.Inputs):
		return bad(ua.StatusBadTooManyArguments)
	}
	in, results, ok := texts(n.method.Inputs, r.InputArguments)
	if !ok {
		return &ua.CallMethodResult{StatusCode: ua.StatusBadInvalidArgument, InputArgumentResults: results}
	}
	who := Caller{Application: c.session.uri, Address: c.conn.conn.RemoteAddr().String(), session: c.session}
	out := &ua.CallMethodResult{}
	for _, text := range n.method.Call(who, in) {
		out.OutputArguments = append(out.OutputArguments, ua.MustVariant(text))
	}
	return out
}

// texts reads the arguments of a call; results has a status for each.
func texts(want []Argument, given []*ua.Variant) (in []string, results []ua.StatusCode, ok bool) {
	ok = true
	results = make([]ua.StatusCode, len(given))
	for i, v := range given {
		text, isText := "", false
		if v != nil {
			text, isText = v.Value().(string)
		}
		switch {
		case !isText:
			results[i], ok = ua.StatusBadTypeMismatch, false
		case len(text) > want[i].Most:
			results[i], ok = ua.StatusBadOutOfRange, false
		}
		in = append(in, text)
	}
	return in, results, ok
}

// partOf tells whether n is a component of obj.
func (n *node) partOf(obj *node) bool {
	for _, r := range n.references {
		if !r.forward && r.target == obj && r.kind.id.IntID() == id.HasComponent {
			return true
		}
	}
	return false
}
