package server

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

// Part 4, 5.5.4; public cases 17, 18, F5: the endpoint is the one that the client asked
// for, letter by letter, without a session.
func TestGetEndpoints(t *testing.T) {
	p := newPlant(t, nil)
	port := strings.TrimPrefix(p.Addr().String(), "127.0.0.1:")
	for _, u := range []string{"opc.tcp://127.0.0.1:" + port, "opc.tcp://localhost:" + port, "opc.tcp://127.0.0.1:" + port + "/",
		"opc.tcp://localhost:" + port + "/some/path", "opc.tcp://LOCALHOST:" + port} {
		eps, err := opcua.GetEndpoints(context.Background(), u)
		if err != nil {
			t.Fatal(u, err)
		}
		same(t, u, len(eps), 1)
		same(t, u, eps[0].EndpointURL, u)
		same(t, u, eps[0].SecurityPolicyURI, ua.SecurityPolicyURINone)
		same(t, u, eps[0].Server.DiscoveryURLs[0], u)
		c, err := opcua.NewClient(u, opcua.SecurityFromEndpoint(eps[0], ua.UserTokenTypeAnonymous), opcua.AutoReconnect(false))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Connect(context.Background()); err != nil {
			t.Fatal(u, err)
		}
		c.Close(context.Background())
	}
	c := p.channelOnly()
	for requested, want := range map[string]string{
		"opc.tcp://pod-7:14840": "opc.tcp://pod-7:14840", // behind a port mapping: the name that the client knows
		"":                      p.Endpoint(),
		"nonsense":              p.Endpoint(),
		"http://x":              p.Endpoint(),
	} {
		r := ask[*ua.GetEndpointsResponse](t, c, &ua.GetEndpointsRequest{EndpointURL: requested})
		same(t, requested, r.Endpoints[0].EndpointURL, want)
	}
	same(t, "profile", len(ask[*ua.GetEndpointsResponse](t, c, &ua.GetEndpointsRequest{ProfileURIs: []string{"x"}}).Endpoints), 0)
	f := ask[*ua.FindServersResponse](t, c, &ua.FindServersRequest{EndpointURL: "opc.tcp://pod-7:14840"})
	same(t, "FindServers", f.Servers[0].DiscoveryURLs[0], "opc.tcp://pod-7:14840")
	same(t, "FindServers", len(ask[*ua.FindServersResponse](t, c, &ua.FindServersRequest{ServerURIs: []string{"x"}}).Servers), 0)
}

// Part 4, 5.9.2 to 5.9.4: the whole tree from Root, page by page and at once; both ends of
// every hierarchical reference; a type for every object and variable.
func TestBrowse(t *testing.T) {
	p := served(t, func(c *Config) { c.Items = 2500 })
	c := p.dial()
	for _, page := range []uint32{0, 1, 7} {
		seen := map[string]bool{}
		var walk func(n *ua.NodeID)
		walk = func(n *ua.NodeID) {
			if seen[n.String()] {
				return
			}
			seen[n.String()] = true
			if page == 1 && n.StringID() == "Benchmark" {
				return // 2500 round trips
			}
			for _, r := range browseAll(t, c, n, page) {
				walk(r.NodeID.NodeID)
			}
		}
		walk(ua.NewNumericNodeID(0, id.RootFolder))
		if page != 1 {
			same(t, "nodes", len(seen), len(p.space.nodes))
		}
	}
	for _, n := range p.space.nodes {
		typed, parents := n.class != ua.NodeClassObject && n.class != ua.NodeClassVariable, 0
		for _, r := range n.references {
			typed = typed || r.forward && r.kind.id.IntID() == id.HasTypeDefinition
			if !r.forward {
				parents++
			}
		}
		if !typed || parents == 0 && n.id.IntID() != id.RootFolder {
			t.Errorf("%v: typed %v, parents %d", n.id, typed, parents)
		}
	}
	r := ask[*ua.TranslateBrowsePathsToNodeIDsResponse](t, c, &ua.TranslateBrowsePathsToNodeIDsRequest{BrowsePaths: []*ua.BrowsePath{
		path(2, "DeviceSet", 3, "CtrlConfiguration", 3, "CtrlResource", 3, "CtrlTask", 3, "Interval"),
		path(2, "DeviceSet", 3, "Nothing"), path(0, ""),
	}})
	same(t, "path", r.Results[0].Targets[0].TargetID.NodeID.StringID(), bench.NodeInterval)
	same(t, "no match", r.Results[1].StatusCode, ua.StatusBadNoMatch)
	same(t, "no name", r.Results[2].StatusCode, ua.StatusBadBrowseNameInvalid)
	for want, d := range map[ua.StatusCode]*ua.BrowseDescription{
		ua.StatusBadNodeIDUnknown:          {NodeID: ua.NewNumericNodeID(7, 7), ReferenceTypeID: ua.NewTwoByteNodeID(0)},
		ua.StatusBadBrowseDirectionInvalid: {NodeID: ua.NewNumericNodeID(0, 84), ReferenceTypeID: ua.NewTwoByteNodeID(0), BrowseDirection: 7},
		ua.StatusBadReferenceTypeIDInvalid: {NodeID: ua.NewNumericNodeID(0, 84), ReferenceTypeID: ua.NewNumericNodeID(0, 84)},
	} {
		same(t, "status", browse(t, c, d, 0).StatusCode, want)
	}
	n := ask[*ua.BrowseNextResponse](t, c, &ua.BrowseNextRequest{ContinuationPoints: [][]byte{{1, 2, 3, 4}}})
	same(t, "point", n.Results[0].StatusCode, ua.StatusBadContinuationPointInvalid)
	for i := range 20 { // points are bounded
		d := &ua.BrowseDescription{NodeID: ua.NewNumericNodeID(0, 84), ReferenceTypeID: ua.NewTwoByteNodeID(0), ResultMask: 63}
		want := ua.StatusOK
		if i >= 16 {
			want = ua.StatusBadNoContinuationPoints
		}
		same(t, "points", browse(t, c, d, 1).StatusCode, want)
	}
}

func path(elements ...any) *ua.BrowsePath {
	p := &ua.BrowsePath{StartingNode: ua.NewNumericNodeID(0, id.ObjectsFolder), RelativePath: &ua.RelativePath{}}
	for i := 0; i < len(elements); i += 2 {
		p.RelativePath.Elements = append(p.RelativePath.Elements, &ua.RelativePathElement{ReferenceTypeID: ua.NewNumericNodeID(0, id.HierarchicalReferences),
			IncludeSubtypes: true, TargetName: &ua.QualifiedName{NamespaceIndex: uint16(elements[i].(int)), Name: elements[i+1].(string)}})
	}
	return p
}

func browse(t *testing.T, c *opcua.Client, d *ua.BrowseDescription, page uint32) *ua.BrowseResult {
	return ask[*ua.BrowseResponse](t, c, &ua.BrowseRequest{View: &ua.ViewDescription{ViewID: ua.NewTwoByteNodeID(0)},
		RequestedMaxReferencesPerNode: page, NodesToBrowse: []*ua.BrowseDescription{d}}).Results[0]
}

func browseAll(t *testing.T, c *opcua.Client, n *ua.NodeID, page uint32) []*ua.ReferenceDescription {
	r := browse(t, c, &ua.BrowseDescription{NodeID: n, ReferenceTypeID: ua.NewNumericNodeID(0, id.HierarchicalReferences), IncludeSubtypes: true, ResultMask: 63}, page)
	out := r.References
	for len(r.ContinuationPoint) > 0 {
		r = ask[*ua.BrowseNextResponse](t, c, &ua.BrowseNextRequest{ContinuationPoints: [][]byte{r.ContinuationPoint}}).Results[0]
		out = append(out, r.References...)
	}
	return out
}

// Public case 7: 14 subscriptions of one item deliver what one of 14 items does. Public case
// 12: closing in the middle ends everything at once (goleak, Close).
func TestManySubscriptions(t *testing.T) {
	p := newPlant(t, func(c *Config) { c.Items = 14 })
	p.step(1)
	p.run(5 * time.Millisecond) // gopcua's second Subscribe waits for a message of the first
	type stream struct {
		mu   sync.Mutex
		last map[uint32]int32
		n    map[uint32]int
	}
	open := func(subs, items int) *stream {
		s := &stream{last: map[uint32]int32{}, n: map[uint32]int{}}
		notify := make(chan *opcua.PublishNotificationData, 10000)
		c := p.dial()
		done := make(chan struct{})
		t.Cleanup(func() { c.Close(context.Background()); close(notify); <-done })
		go func() {
			defer close(done)
			for d := range notify {
				x, ok := d.Value.(*ua.DataChangeNotification)
				if !ok {
					continue
				}
				s.mu.Lock()
				for _, v := range x.MonitoredItems {
					k := v.Value.Value.Value().(int32)
					if s.n[v.ClientHandle] > 0 && k != s.last[v.ClientHandle]+1 {
						t.Errorf("item %d: %d after %d", v.ClientHandle, k, s.last[v.ClientHandle])
					}
					s.last[v.ClientHandle] = k
					s.n[v.ClientHandle]++
				}
				s.mu.Unlock()
			}
		}()
		for i := range subs {
			sub, err := c.Subscribe(context.Background(), &opcua.SubscriptionParameters{Interval: 50 * time.Millisecond}, notify)
			if err != nil {
				t.Fatal(err)
			}
			for j := range items {
				h := uint32(i*items + j)
				name := bench.NodeCounter
				if h > 0 {
					name = fmt.Sprintf("%s.%d", name, h+1)
				}
				if _, err := sub.Monitor(context.Background(), ua.TimestampsToReturnBoth, create(ua.NewStringNodeID(nsBench, name), func(r *ua.MonitoredItemCreateRequest) {
					r.RequestedParameters.ClientHandle, r.RequestedParameters.QueueSize = h, 5000 // 25 s: this machine may stall
				})); err != nil {
					t.Fatal(err)
				}
			}
		}
		return s
	}
	streams := []*stream{open(14, 1), open(1, 14)}
	for _, s := range streams {
		until(t, "values", func() bool {
			s.mu.Lock()
			defer s.mu.Unlock()
			least := 1 << 30
			for h := range uint32(14) {
				least = min(least, s.n[h])
			}
			return least >= 100
		})
	}
	same(t, "overflows", p.Counters().QueueOverflows.Load(), int64(0))
}
