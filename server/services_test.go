package server

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"

	"opcycle/bench"
)

// status is the StatusCode of an error of the library, OK for nil.
func status(err error) ua.StatusCode {
	if err == nil {
		return ua.StatusOK
	}
	if s, ok := err.(ua.StatusCode); ok {
		return s
	}
	return ua.StatusBad
}

// served is a plant whose requests are answered although no cycle runs, after one release.
func served(t *testing.T, change func(*Config)) *plant {
	p := newPlant(t, change)
	p.step(1)
	p.services()
	return p
}

// Part 4, 5.14.2.2: requested intervals are revised, never rejected; public cases 1 and 2.
func TestRevisedPublishingInterval(t *testing.T) {
	p := served(t, nil)
	c := p.dial()
	for _, x := range []struct{ requested, revised float64 }{
		{10, 10}, {1, 10}, {0.5, 10}, {0, 10}, {-5, 10}, {math.NaN(), 10}, {math.Inf(-1), 10},
		{10.1, 20}, {15, 20}, {20, 20}, {1e12, 3600e3}, {math.Inf(1), 3600e3}, {math.MaxFloat64, 3600e3}, {math.SmallestNonzeroFloat64, 10},
	} {
		r := ask[*ua.CreateSubscriptionResponse](t, c, &ua.CreateSubscriptionRequest{RequestedPublishingInterval: x.requested, RequestedMaxKeepAliveCount: 5})
		same(t, fmt.Sprintf("revised %v", x.requested), r.RevisedPublishingInterval, x.revised)
		same(t, "lifetime", r.RevisedLifetimeCount, uint32(15))
		m := ask[*ua.ModifySubscriptionResponse](t, c, &ua.ModifySubscriptionRequest{SubscriptionID: r.SubscriptionID, RequestedPublishingInterval: x.requested, RequestedLifetimeCount: 1000})
		same(t, fmt.Sprintf("modified %v", x.requested), m.RevisedPublishingInterval, x.revised)
		same(t, "keep-alive", m.RevisedMaxKeepAliveCount, uint32(defaultKeepAlive))
		same(t, "lifetime", m.RevisedLifetimeCount, uint32(1000))
	}
	p.step(3)
}

func TestReviseTable(t *testing.T) {
	for _, x := range []struct {
		ms   float64
		t    time.Duration
		want int64
	}{{0.3, 100 * time.Microsecond, 3}, {0.31, 100 * time.Microsecond, 4}, {1, 10 * time.Millisecond, 1}, {1e12, time.Hour, 1}, {1e12, time.Millisecond, 3600000}} {
		same(t, fmt.Sprint(x.ms, x.t), ticksOf(x.ms, x.t), x.want)
	}
	l, k := reviseCounts(math.MaxUint32, math.MaxUint32)
	if k != maxKeepAlive || l != maxLifetime || l < 3*k {
		t.Errorf("lifetime %d, keep-alive %d", l, k)
	}
	same(t, "timeout", reviseTimeout(math.NaN()), defaultSessionTimeout)
	same(t, "timeout", reviseTimeout(1e300), maxSessionTimeout)
}

func create(node *ua.NodeID, change func(*ua.MonitoredItemCreateRequest)) *ua.MonitoredItemCreateRequest {
	r := &ua.MonitoredItemCreateRequest{
		ItemToMonitor:       &ua.ReadValueID{NodeID: node, AttributeID: ua.AttributeIDValue, DataEncoding: &ua.QualifiedName{}},
		MonitoringMode:      ua.MonitoringModeReporting,
		RequestedParameters: &ua.MonitoringParameters{QueueSize: 10, DiscardOldest: true},
	}
	if change != nil {
		change(r)
	}
	return r
}

func filter(trigger ua.DataChangeTrigger, kind ua.DeadbandType, v float64) *ua.ExtensionObject {
	return ua.NewExtensionObject(&ua.DataChangeFilter{Trigger: trigger, DeadbandType: uint32(kind), DeadbandValue: v})
}

// Part 4, 5.13.2.4: the result of every item; sampling −1, 0 and multiples of T; queue sizes.
func TestCreateMonitoredItems(t *testing.T) {
	p := served(t, nil)
	c := p.dial()
	sub := ask[*ua.CreateSubscriptionResponse](t, c, &ua.CreateSubscriptionRequest{RequestedPublishingInterval: 30, PublishingEnabled: true}).SubscriptionID
	type change = func(*ua.MonitoredItemCreateRequest)
	rows := []struct {
		name     string
		node     *ua.NodeID
		change   change
		status   ua.StatusCode
		sampling float64
		queue    uint32
	}{
		{"by exception", counterID(1), nil, ua.StatusOK, 0, 10},
		{"the publishing interval", counterID(2), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.SamplingInterval = -1 }, ua.StatusOK, 30, 10},
		{"ceiling", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.SamplingInterval = 11 }, ua.StatusOK, 20, 10},
		{"fastest", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.SamplingInterval = 0.1 }, ua.StatusOK, 10, 10},
		{"slowest", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.SamplingInterval = math.Inf(1) }, ua.StatusOK, 3600e3, 10},
		{"NaN", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.SamplingInterval = math.NaN() }, ua.StatusOK, 0, 10},
		{"queue 0", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.QueueSize = 0 }, ua.StatusOK, 0, 1},
		{"queue too long", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.QueueSize = math.MaxUint32 }, ua.StatusOK, 0, maxQueueSize},
		{"unknown node", ua.NewStringNodeID(nsBench, "Nothing"), nil, ua.StatusBadNodeIDUnknown, 0, 0},
		{"unknown attribute", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.ItemToMonitor.AttributeID = 99 }, ua.StatusBadAttributeIDInvalid, 0, 0},
		{"value of an object", ua.NewNumericNodeID(0, id.Server), nil, ua.StatusBadAttributeIDInvalid, 0, 0},
		{"another attribute", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.ItemToMonitor.AttributeID = ua.AttributeIDBrowseName }, ua.StatusOK, 0, 10},
		{"index range of a scalar", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.ItemToMonitor.IndexRange = "0:1" }, ua.StatusBadIndexRangeNoData, 0, 0},
		{"index range", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.ItemToMonitor.IndexRange = "2:1" }, ua.StatusBadIndexRangeInvalid, 0, 0},
		{"index range of an array", ua.NewNumericNodeID(0, id.Server_NamespaceArray), func(r *ua.MonitoredItemCreateRequest) { r.ItemToMonitor.IndexRange = "1:2" }, ua.StatusOK, 0, 10},
		{"encoding", counterID(1), func(r *ua.MonitoredItemCreateRequest) {
			r.ItemToMonitor.DataEncoding = &ua.QualifiedName{Name: "Default XML"}
		}, ua.StatusBadDataEncodingUnsupported, 0, 0},
		{"mode", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.MonitoringMode = 7 }, ua.StatusBadMonitoringModeInvalid, 0, 0},
		{"absolute deadband", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.Filter = filter(1, 1, 5) }, ua.StatusOK, 0, 10},
		{"percent deadband", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.Filter = filter(1, 2, 5) }, ua.StatusBadMonitoredItemFilterUnsupported, 0, 0},
		{"negative deadband", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.Filter = filter(1, 1, -5) }, ua.StatusBadDeadbandFilterInvalid, 0, 0},
		{"deadband of no kind", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.Filter = filter(1, 9, 5) }, ua.StatusBadDeadbandFilterInvalid, 0, 0},
		{"trigger", counterID(1), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.Filter = filter(9, 0, 0) }, ua.StatusBadMonitoredItemFilterInvalid, 0, 0},
		{"deadband on text", ua.NewStringNodeID(nsBench, bench.NodePlan), func(r *ua.MonitoredItemCreateRequest) { r.RequestedParameters.Filter = filter(1, 1, 5) }, ua.StatusBadFilterNotAllowed, 0, 0},
		{"filter on an attribute", counterID(1), func(r *ua.MonitoredItemCreateRequest) {
			r.ItemToMonitor.AttributeID = ua.AttributeIDNodeID
			r.RequestedParameters.Filter = filter(1, 0, 0)
		}, ua.StatusBadFilterNotAllowed, 0, 0},
		{"event filter", counterID(1), func(r *ua.MonitoredItemCreateRequest) {
			r.RequestedParameters.Filter = ua.NewExtensionObject(&ua.EventFilter{WhereClause: &ua.ContentFilter{}})
		}, ua.StatusBadMonitoredItemFilterUnsupported, 0, 0},
		{"clock", ua.NewNumericNodeID(0, id.Server_ServerStatus_CurrentTime), nil, ua.StatusOK, 1000, 10},
		{"status", ua.NewNumericNodeID(0, id.Server_ServerStatus), nil, ua.StatusOK, 1000, 10},
	}
	request := &ua.CreateMonitoredItemsRequest{SubscriptionID: sub, TimestampsToReturn: ua.TimestampsToReturnBoth}
	for _, x := range rows {
		request.ItemsToCreate = append(request.ItemsToCreate, create(x.node, x.change))
	}
	r := ask[*ua.CreateMonitoredItemsResponse](t, c, request)
	ids := map[uint32]bool{}
	for i, x := range rows {
		same(t, x.name+": status", r.Results[i].StatusCode, x.status)
		same(t, x.name+": sampling", r.Results[i].RevisedSamplingInterval, x.sampling)
		same(t, x.name+": queue", r.Results[i].RevisedQueueSize, x.queue)
		if x.status == ua.StatusOK {
			if ids[r.Results[i].MonitoredItemID] {
				t.Errorf("%s: id %d twice", x.name, r.Results[i].MonitoredItemID)
			}
			ids[r.Results[i].MonitoredItemID] = true
		}
	}
	request.SubscriptionID = 999
	_, err := try[*ua.CreateMonitoredItemsResponse](c, request)
	same(t, "unknown subscription", status(err), ua.StatusBadSubscriptionIDInvalid)
	request.SubscriptionID, request.TimestampsToReturn = sub, 9
	_, err = try[*ua.CreateMonitoredItemsResponse](c, request)
	same(t, "time stamps", status(err), ua.StatusBadTimestampsToReturnInvalid)
	request.TimestampsToReturn, request.ItemsToCreate = 0, nil
	_, err = try[*ua.CreateMonitoredItemsResponse](c, request)
	same(t, "nothing", status(err), ua.StatusBadNothingToDo)

	// Part 4, 5.13.2.2: the initial value of each, of every kind.
	got := make(chan *ua.PublishResponse, 1)
	go func() {
		m, err := try[*ua.PublishResponse](c, &ua.PublishRequest{})
		if err != nil {
			t.Error(err)
		}
		got <- m
	}()
	for p.Counters().PublishWaiting.Load() == 0 {
		time.Sleep(time.Millisecond)
	}
	p.step(3)
	m := <-got
	n := m.NotificationMessage.NotificationData[0].Value.(*ua.DataChangeNotification)
	if len(n.MonitoredItems) < len(ids) {
		t.Errorf("%d initial values of %d items", len(n.MonitoredItems), len(ids))
	}
	for _, v := range n.MonitoredItems {
		if x, ok := v.Value.Value.Value().(*ua.ExtensionObject); ok {
			s := x.Value.(*ua.ServerStatusDataType)
			if d := time.Since(s.CurrentTime); d < 0 || d > time.Minute || s.State != ua.ServerStateRunning {
				t.Errorf("status %+v", s)
			}
		}
	}
}

// Part 4, 5.11.2: attributes, time stamps, errors node by node.
func TestRead(t *testing.T) {
	p := served(t, nil)
	c := p.dial()
	read := func(n *ua.NodeID, a ua.AttributeID, ir string) *ua.DataValue {
		r := ask[*ua.ReadResponse](t, c, &ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnBoth,
			NodesToRead: []*ua.ReadValueID{{NodeID: n, AttributeID: a, IndexRange: ir, DataEncoding: &ua.QualifiedName{}}}})
		return r.Results[0]
	}
	std := func(n uint32) *ua.NodeID { return ua.NewNumericNodeID(0, n) }
	same(t, "unknown", read(ua.NewNumericNodeID(9, 9), 13, "").Status, ua.StatusBadNodeIDUnknown)
	same(t, "attribute", read(std(id.Server), 13, "").Status, ua.StatusBadAttributeIDInvalid)
	same(t, "attribute", read(std(id.Server), 0, "").Status, ua.StatusBadAttributeIDInvalid)
	same(t, "range", read(std(id.Server_NamespaceArray), 13, "9").Status, ua.StatusBadIndexRangeNoData)
	same(t, "range", read(std(id.Server_NamespaceArray), 13, "x").Status, ua.StatusBadIndexRangeInvalid)
	same(t, "range", read(std(id.Server_NamespaceArray), 13, "1:1").Status, ua.StatusBadIndexRangeInvalid)
	same(t, "part", len(read(std(id.Server_NamespaceArray), 13, "1:2").Value.Value().([]string)), 2)
	same(t, "part of a text", read(ua.NewStringNodeID(nsBench, bench.NodePlan), 13, "2:5").Value.Value().(string), "name")
	v := read(counterID(1), 13, "")
	same(t, "counter", v.Value.Value().(int32), int32(0))
	same(t, "both stamps", v.Has(ua.DataValueSourceTimestamp|ua.DataValueServerTimestamp), true)
	same(t, "type", read(counterID(1), ua.AttributeIDDataType, "").Value.NodeID().IntID(), uint32(id.Int32))
	same(t, "access", read(ua.NewStringNodeID(nsBench, bench.NodeEcho), ua.AttributeIDAccessLevel, "").Value.Value().(byte), byte(3))
	same(t, "interval", read(ua.NewStringNodeID(nsBench, bench.NodeInterval), 13, "").Value.Value().(string), "T#10ms")
	same(t, "items", read(ua.NewStringNodeID(nsBench, bench.NodeItems), 13, "").Value.Value().(uint32), uint32(3))
	same(t, "state", read(std(id.Server_ServerStatus_State), 13, "").Value.Value().(int32), int32(0))
	same(t, "rate", read(std(id.Server_ServerCapabilities_MinSupportedSampleRate), 13, "").Value.Value().(float64), 10.0)
	for _, x := range []struct {
		r    *ua.ReadRequest
		want ua.StatusCode
	}{
		{&ua.ReadRequest{}, ua.StatusBadNothingToDo},
		{&ua.ReadRequest{MaxAge: -1, NodesToRead: []*ua.ReadValueID{{NodeID: counterID(1), DataEncoding: &ua.QualifiedName{}}}}, ua.StatusBadMaxAgeInvalid},
		{&ua.ReadRequest{TimestampsToReturn: 4, NodesToRead: []*ua.ReadValueID{{NodeID: counterID(1), DataEncoding: &ua.QualifiedName{}}}}, ua.StatusBadTimestampsToReturnInvalid},
	} {
		_, err := try[*ua.ReadResponse](c, x.r)
		same(t, "status", status(err), x.want)
	}
	p.checkEveryAttribute(c)
}

// checkEveryAttribute reads every attribute of every node: none may fail to encode.
func (p *plant) checkEveryAttribute(c *opcua.Client) {
	for _, n := range p.space.nodes {
		r := &ua.ReadRequest{TimestampsToReturn: ua.TimestampsToReturnBoth}
		for a := ua.AttributeIDNodeID; a <= ua.AttributeIDAccessLevelEx; a++ {
			r.NodesToRead = append(r.NodesToRead, &ua.ReadValueID{NodeID: n.id, AttributeID: a, DataEncoding: &ua.QualifiedName{}})
		}
		for i, v := range ask[*ua.ReadResponse](p.t, c, r).Results {
			if v.Status != ua.StatusOK && v.Status != ua.StatusBadAttributeIDInvalid {
				p.t.Errorf("%v attribute %d: %v", n.id, i+1, v.Status)
			}
		}
	}
}

// Part 4, 5.11.4: type and access are checked; a Write is answered at once and read at the
// next input scan.
func TestWrite(t *testing.T) {
	p := newPlant(t, nil)
	c := p.dial()
	echo := ua.NewStringNodeID(nsBench, bench.NodeEcho)
	in, _ := p.Inputs(5, 0)
	same(t, "no Write yet", in, int64(-1))
	write := func(n *ua.NodeID, a ua.AttributeID, v any) ua.StatusCode {
		return ask[*ua.WriteResponse](t, c, &ua.WriteRequest{NodesToWrite: []*ua.WriteValue{{NodeID: n, AttributeID: a,
			Value: &ua.DataValue{EncodingMask: ua.DataValueValue, Value: ua.MustVariant(v)}}}}).Results[0]
	}
	same(t, "write", write(echo, 13, int32(3)), ua.StatusOK)
	in, _ = p.Inputs(1<<31+5, 0)
	same(t, "unwrapped", in, int64(1<<31+3))
	same(t, "type", write(echo, 13, uint32(3)), ua.StatusBadTypeMismatch)
	same(t, "type", write(echo, 13, []int32{3}), ua.StatusBadTypeMismatch)
	same(t, "read only", write(counterID(1), 13, int32(3)), ua.StatusBadNotWritable)
	same(t, "another attribute", write(echo, ua.AttributeIDDisplayName, int32(3)), ua.StatusBadNotWritable)
	same(t, "no attribute", write(echo, 99, int32(3)), ua.StatusBadAttributeIDInvalid)
	same(t, "unknown", write(ua.NewNumericNodeID(9, 9), 13, int32(3)), ua.StatusBadNodeIDUnknown)
	v, err := c.Node(echo).Value(context.Background())
	if err != nil || v.Value().(int32) != 3 {
		t.Error(v, err)
	}
	_, err = try[*ua.WriteResponse](c, &ua.WriteRequest{})
	same(t, "nothing", status(err), ua.StatusBadNothingToDo)
}
