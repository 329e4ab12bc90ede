package server

import (
	"context"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

// withMethods makes Join ("a", "b" to "a+b") and Bare, which takes and gives nothing.
func withMethods(who *atomic.Pointer[Caller]) func(*Config) {
	return func(c *Config) {
		c.Methods = []Method{
			{Name: "Join", Inputs: []Argument{{"A", "first", 8}, {"B", "second", 8}}, Outputs: []Argument{{Name: "Sum"}},
				Call: func(w Caller, in []string) []string {
					who.Store(&w)
					return []string{strings.Join(in, "+")}
				}},
			{Name: "Bare", Call: func(Caller, []string) []string { return nil }},
		}
	}
}

func own(name string) *ua.NodeID { return ua.NewStringNodeID(nsBench, name) }

// Part 4, 5.12.2: what is wrong with a call, and with which argument, by its status codes.
func TestCall(t *testing.T) {
	var who atomic.Pointer[Caller]
	p := newPlant(t, withMethods(&who))
	c := p.dial()
	v := func(x ...any) (out []*ua.Variant) {
		for _, e := range x {
			out = append(out, ua.MustVariant(e))
		}
		return out
	}
	for _, tc := range []struct {
		name           string
		object, method string
		in             []*ua.Variant
		want           ua.StatusCode
		results        []ua.StatusCode
		out            string
	}{
		{"good", "Benchmark", "Benchmark.Join", v("a", "b"), ua.StatusOK, nil, "a+b"},
		{"nothing in or out", "Benchmark", "Benchmark.Bare", nil, ua.StatusOK, nil, ""},
		{"too few", "Benchmark", "Benchmark.Join", v("a"), ua.StatusBadArgumentsMissing, nil, ""},
		{"too many", "Benchmark", "Benchmark.Join", v("a", "b", "c"), ua.StatusBadTooManyArguments, nil, ""},
		{"too many for none", "Benchmark", "Benchmark.Bare", v("a"), ua.StatusBadTooManyArguments, nil, ""},
		{"type", "Benchmark", "Benchmark.Join", v("a", int32(1)), ua.StatusBadInvalidArgument, []ua.StatusCode{ua.StatusOK, ua.StatusBadTypeMismatch}, ""},
		{"array", "Benchmark", "Benchmark.Join", v([]string{"a"}, "b"), ua.StatusBadInvalidArgument, []ua.StatusCode{ua.StatusBadTypeMismatch, ua.StatusOK}, ""},
		{"size", "Benchmark", "Benchmark.Join", v("123456789", "b"), ua.StatusBadInvalidArgument, []ua.StatusCode{ua.StatusBadOutOfRange, ua.StatusOK}, ""},
		{"no object", "Nothing", "Benchmark.Join", v("a", "b"), ua.StatusBadNodeIDUnknown, nil, ""},
		{"no method", "Benchmark", "Benchmark.Nothing", v("a", "b"), ua.StatusBadMethodInvalid, nil, ""},
		{"a variable", "Benchmark", bench.NodeCounter, v("a", "b"), ua.StatusBadMethodInvalid, nil, ""},
		{"of another object", "CtrlTask", "Benchmark.Join", v("a", "b"), ua.StatusBadMethodInvalid, nil, ""},
	} {
		r := ask[*ua.CallResponse](t, c, &ua.CallRequest{MethodsToCall: []*ua.CallMethodRequest{
			{ObjectID: own(tc.object), MethodID: own(tc.method), InputArguments: tc.in}}}).Results[0]
		same(t, tc.name, r.StatusCode, tc.want)
		same(t, tc.name+": results", len(r.InputArgumentResults), len(tc.results))
		for i := range tc.results {
			same(t, tc.name+": result", r.InputArgumentResults[i], tc.results[i])
		}
		if tc.out != "" && (len(r.OutputArguments) != 1 || r.OutputArguments[0].String() != tc.out) {
			t.Errorf("%s: %v", tc.name, r.OutputArguments)
		}
	}
	if w := who.Load(); w.Gone() || !strings.HasPrefix(w.Address, "127.0.0.1:") || w.Application == "" {
		t.Errorf("caller %+v, gone %v", w, w.Gone())
	}
	c.Close(context.Background())
	for end := time.Now().Add(10 * time.Second); !who.Load().Gone(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the caller closed its session and is not gone")
		}
	}
}

// A client finds the methods and what they take by browsing.
func TestMethodsAreBrowseable(t *testing.T) {
	var who atomic.Pointer[Caller]
	c := newPlant(t, withMethods(&who)).dial()
	ctx := context.Background()
	refs, err := c.Node(own("Benchmark")).ReferencedNodes(ctx, id.HasComponent, ua.BrowseDirectionForward, ua.NodeClassMethod, true)
	if err != nil || len(refs) != 2 || refs[0].ID.StringID() != "Benchmark.Join" {
		t.Fatalf("%v, %v", refs, err)
	}
	a, err := refs[0].Attributes(ctx, ua.AttributeIDExecutable, ua.AttributeIDUserExecutable, ua.AttributeIDNodeClass, ua.AttributeIDValue)
	if err != nil || !a[0].Value.Bool() || !a[1].Value.Bool() || a[2].Value.Int() != int64(ua.NodeClassMethod) || a[3].Status != ua.StatusBadAttributeIDInvalid {
		t.Errorf("%v, %v", a, err)
	}
	args, err := c.Node(own("Benchmark.Join.InputArguments")).Value(ctx)
	if err != nil {
		t.Fatal(err)
	}
	list, _ := args.Value().([]*ua.ExtensionObject)
	if len(list) != 2 {
		t.Fatalf("%v", args.Value())
	}
	if second, ok := list[1].Value.(*ua.Argument); !ok || second.Name != "B" || second.DataType.IntID() != id.String || second.ValueRank != -1 {
		t.Errorf("%+v", list[1].Value)
	}
	if refs, err := c.Node(own("Benchmark.Bare")).ReferencedNodes(ctx, id.HasProperty, ua.BrowseDirectionForward, ua.NodeClassAll, true); err != nil || len(refs) != 0 {
		t.Errorf("a method without arguments has %v, %v", refs, err)
	}
}

// While a server is paused another one accepts on its socket; whoever is connected stays.
func TestPauseLendsTheListener(t *testing.T) {
	var who atomic.Pointer[Caller]
	desk := newPlant(t, func(c *Config) { withMethods(&who)(c); c.Items, c.Plan = 0, []byte("desk") })
	before := desk.dial()
	f, err := desk.Pause()
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.FileListener(f)
	f.Close()
	if err != nil {
		t.Fatal(err)
	}
	other := newPlant(t, func(c *Config) { c.Listen, c.Listener, c.Plan = "", l.(*net.TCPListener), []byte("other") })
	plan := func(c *opcua.Client) string {
		v, err := c.Node(own(bench.NodePlan)).Value(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return v.String()
	}
	same(t, "a new client", plan(other.dial()), "other")
	same(t, "an old client", plan(before), "desk")
	other.Close()
	if err := desk.Resume(); err != nil {
		t.Fatal(err)
	}
	same(t, "afterwards", plan(desk.dial()), "desk")
}
