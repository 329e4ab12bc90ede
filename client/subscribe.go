package client

import (
	"context"
	"fmt"
	"math"
	"time"

	"opcycle/bench"

	"github.com/gopcua/opcua/ua"
)

// namespace is the index of the benchmark's namespace on this server.
func (l *link) namespace(ctx context.Context) (uint16, error) {
	for i, uri := range l.opc.Namespaces() {
		if uri == bench.BenchmarkURI {
			return uint16(i), nil
		}
	}
	return 0, fmt.Errorf("the server has no namespace %s: it is not an opcycle server", bench.BenchmarkURI)
}

// subscribe creates the subscription and its items as raw requests, since the library's
// Subscribe starts its own publish loop. Part 4, 5.14.2 and 5.13.2.
func (c *Client) subscribe(ctx context.Context, l *link) error {
	ns, err := l.namespace(ctx)
	if err != nil {
		return err
	}
	l.echo = ua.NewStringNodeID(ns, bench.NodeEcho)
	interval := c.cfg.PublishingInterval
	alive := aliveCount(interval)
	life := max(3*alive, uint32(10*time.Second/interval))
	var sub *ua.CreateSubscriptionResponse
	err = l.opc.Send(ctx, &ua.CreateSubscriptionRequest{
		RequestedPublishingInterval: float64(interval) / float64(time.Millisecond),
		RequestedLifetimeCount:      life,
		RequestedMaxKeepAliveCount:  alive,
		PublishingEnabled:           true,
	}, into(&sub))
	if err != nil {
		return fmt.Errorf("create subscription: %w", err)
	}
	l.subID = sub.SubscriptionID
	c.got.Subscription = sub.SubscriptionID
	c.got.PublishingInterval = sub.RevisedPublishingInterval
	c.got.KeepAlive, c.got.Lifetime = sub.RevisedMaxKeepAliveCount, sub.RevisedLifetimeCount
	c.got.Endpoint, c.got.Security = c.cfg.Endpoint, "None"
	c.got.SamplingInterval, c.got.QueueSize = 0, math.MaxUint32
	const batch = 500
	for from := 0; from < c.cfg.Items; from += batch {
		if err := c.monitor(ctx, l, ns, from, min(from+batch, c.cfg.Items)); err != nil {
			return err
		}
	}
	return nil
}

// monitor creates the monitored items from…to−1; the handle of an item is its number.
func (c *Client) monitor(ctx context.Context, l *link, ns uint16, from, to int) error {
	req := &ua.CreateMonitoredItemsRequest{SubscriptionID: l.subID, TimestampsToReturn: ua.TimestampsToReturnSource}
	for i := from; i < to; i++ {
		req.ItemsToCreate = append(req.ItemsToCreate, &ua.MonitoredItemCreateRequest{
			ItemToMonitor:  &ua.ReadValueID{NodeID: ua.NewStringNodeID(ns, ItemName(i)), AttributeID: ua.AttributeIDValue, DataEncoding: &ua.QualifiedName{}},
			MonitoringMode: ua.MonitoringModeReporting,
			RequestedParameters: &ua.MonitoringParameters{ClientHandle: uint32(i), QueueSize: uint32(c.cfg.QueueSize),
				SamplingInterval: float64(c.cfg.SamplingInterval) / float64(time.Millisecond), DiscardOldest: true},
		})
	}
	var resp *ua.CreateMonitoredItemsResponse
	if err := l.opc.Send(ctx, req, into(&resp)); err != nil {
		return fmt.Errorf("create monitored items %d to %d: %w", from+1, to, err)
	}
	for i, r := range resp.Results {
		if r.StatusCode != ua.StatusOK {
			return fmt.Errorf("monitor %s: %w; has the server as many items as this client asks for?", ItemName(from+i), r.StatusCode)
		}
		c.got.SamplingInterval = max(c.got.SamplingInterval, r.RevisedSamplingInterval)
		c.got.QueueSize = min(c.got.QueueSize, r.RevisedQueueSize)
	}
	return nil
}

// ItemName is the string identifier of monitored item i, counted from 0.
func ItemName(i int) string {
	if i == 0 {
		return bench.NodeCounter
	}
	return fmt.Sprintf("%s.%d", bench.NodeCounter, i+1)
}

// into returns a handler that stores a response of the wanted type.
func into[T ua.Response](dst *T) func(ua.Response) error {
	return func(r ua.Response) error {
		v, ok := r.(T)
		if !ok {
			return fmt.Errorf("the server answered with %T", r)
		}
		*dst = v
		return nil
	}
}
