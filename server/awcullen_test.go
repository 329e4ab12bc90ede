package server

import (
	"context"
	"strings"
	"testing"
	"time"

	awclient "github.com/awcullen/opcua/client"
	awua "github.com/awcullen/opcua/ua"

	"opcycle/bench"
)

// A second, independent stack connects, browses, reads and subscribes at 10 ms with both
// intervals as asked (public case 1).
func TestAwcullenClient(t *testing.T) {
	p := newPlant(t, nil)
	p.step(1)
	p.run(5 * time.Millisecond)
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	c, err := awclient.Dial(ctx, p.Endpoint(), awclient.WithSecurityPolicyURI(awua.SecurityPolicyURINone, awua.MessageSecurityModeNone), awclient.WithInsecureSkipVerify())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(ctx)
	b, err := c.Browse(ctx, &awua.BrowseRequest{NodesToBrowse: []awua.BrowseDescription{{
		NodeID: awua.ObjectIDObjectsFolder, BrowseDirection: awua.BrowseDirectionForward, ReferenceTypeID: awua.ReferenceTypeIDHierarchicalReferences,
		IncludeSubtypes: true, ResultMask: uint32(awua.BrowseResultMaskAll)}}})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, r := range b.Results[0].References {
		names = append(names, r.BrowseName.Name)
	}
	same(t, "objects", strings.Join(names, " "), "Server Benchmark DeviceSet")
	node := awua.NewNodeIDString(nsBench, bench.NodeCounter)
	r, err := c.Read(ctx, &awua.ReadRequest{TimestampsToReturn: awua.TimestampsToReturnBoth, NodesToRead: []awua.ReadValueID{
		{NodeID: node, AttributeID: awua.AttributeIDValue}, {NodeID: awua.VariableIDServerServerStatus, AttributeID: awua.AttributeIDValue}}})
	if err != nil || r.Results[0].StatusCode != 0 || r.Results[0].SourceTimestamp.IsZero() || r.Results[1].StatusCode != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	s, err := c.CreateSubscription(ctx, &awua.CreateSubscriptionRequest{RequestedPublishingInterval: 10, RequestedMaxKeepAliveCount: 30, PublishingEnabled: true})
	if err != nil {
		t.Fatal(err)
	}
	same(t, "publishing interval", s.RevisedPublishingInterval, 10.0)
	m, err := c.CreateMonitoredItems(ctx, &awua.CreateMonitoredItemsRequest{SubscriptionID: s.SubscriptionID, TimestampsToReturn: awua.TimestampsToReturnBoth,
		ItemsToCreate: []awua.MonitoredItemCreateRequest{{ItemToMonitor: awua.ReadValueID{NodeID: node, AttributeID: awua.AttributeIDValue},
			MonitoringMode: awua.MonitoringModeReporting, RequestedParameters: awua.MonitoringParameters{ClientHandle: 42, QueueSize: 50, SamplingInterval: 10,
				Filter: awua.DataChangeFilter{Trigger: awua.DataChangeTriggerStatusValueTimestamp}}}}})
	if err != nil || m.Results[0].StatusCode != 0 {
		t.Fatalf("%+v, %v", m, err)
	}
	same(t, "sampling interval", m.Results[0].RevisedSamplingInterval, 10.0)
	last := int32(-1)
	var acks []awua.SubscriptionAcknowledgement
	for n := 0; n < 100; {
		x, err := c.Publish(ctx, &awua.PublishRequest{RequestHeader: awua.RequestHeader{TimeoutHint: 60000}, SubscriptionAcknowledgements: acks})
		if err != nil {
			t.Fatal(err)
		}
		acks = []awua.SubscriptionAcknowledgement{{SubscriptionID: x.SubscriptionID, SequenceNumber: x.NotificationMessage.SequenceNumber}}
		for _, d := range x.NotificationMessage.NotificationData {
			for _, v := range d.(awua.DataChangeNotification).MonitoredItems {
				k := v.Value.Value.(int32)
				if last >= 0 && k != last+1 {
					t.Fatalf("%d after %d", k, last)
				}
				last = k
				n++
			}
		}
	}
}
