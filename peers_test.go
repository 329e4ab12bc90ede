package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/judge"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

// deafVariable makes this test binary a client that asks for much and is then stopped.
const deafVariable = "OPCYCLE_TEST_DEAF"

// TestDeafPeer is no test: it is the process of the peer that does not read.
func TestDeafPeer(t *testing.T) {
	endpoint := os.Getenv(deafVariable)
	if endpoint == "" {
		t.Skip("started by TestBadPeersInARun")
	}
	ctx := context.Background()
	c := subscriber(t, ctx, endpoint, 1000)
	for range 20 {
		go func() {
			for c.Send(ctx, &ua.PublishRequest{}, func(ua.Response) error { return nil }) == nil {
			}
		}()
	}
	fmt.Println("subscribed")
	time.Sleep(time.Minute) // stopped, then killed long before
}

// subscriber is a gopcua client with a subscription of items and no Publish request.
func subscriber(t *testing.T, ctx context.Context, endpoint string, items int) *opcua.Client {
	t.Helper()
	c, err := opcua.NewClient(endpoint, opcua.SecurityPolicy("None"), opcua.AutoReconnect(false))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	ns := uint16(slices.Index(c.Namespaces(), bench.BenchmarkURI))
	var sub *ua.CreateSubscriptionResponse
	if err := c.Send(ctx, &ua.CreateSubscriptionRequest{RequestedPublishingInterval: 10, RequestedLifetimeCount: 300, RequestedMaxKeepAliveCount: 100, PublishingEnabled: true},
		func(r ua.Response) error { sub = r.(*ua.CreateSubscriptionResponse); return nil }); err != nil {
		t.Fatal(err)
	}
	req := &ua.CreateMonitoredItemsRequest{SubscriptionID: sub.SubscriptionID, TimestampsToReturn: ua.TimestampsToReturnBoth}
	for i := range items {
		name := bench.NodeCounter
		if i > 0 {
			name = fmt.Sprintf("%s.%d", bench.NodeCounter, i+1)
		}
		req.ItemsToCreate = append(req.ItemsToCreate, &ua.MonitoredItemCreateRequest{
			ItemToMonitor:       &ua.ReadValueID{NodeID: ua.NewStringNodeID(ns, name), AttributeID: ua.AttributeIDValue, DataEncoding: &ua.QualifiedName{}},
			MonitoringMode:      ua.MonitoringModeReporting,
			RequestedParameters: &ua.MonitoringParameters{ClientHandle: uint32(i), QueueSize: 1},
		})
	}
	if err := c.Send(ctx, req, func(ua.Response) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return c
}

// TestBadPeersInARun: in the second half of a run a peer stops reading with 20 large
// answers outstanding and is killed, others open TCP and are silent, flood with requests,
// send garbage and vanish. The measuring client loses nothing by it, and the PLC thread's
// start latency of both halves is reported.
func TestBadPeersInARun(t *testing.T) {
	alone(t)
	port := freePort(t)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	out := filepath.Join(t.TempDir(), "out")
	const seconds = 12
	c := start(t, "", "run", "--out", out, profile(t,
		fmt.Sprintf("run: {floor: 0, duration: %ds, warm_up: 500ms}", seconds),
		"plc: {interval: 20ms, iterations: 1000}",
		fmt.Sprintf(`opcua: {items: 1000, endpoint: "opc.tcp://%s", queue_size: 50}`, address)))
	c.phase(bench.PhaseMeasure)
	time.Sleep(seconds / 2 * time.Second) // the quiet half; what is asserted does not depend on it
	ctx, cancel := context.WithTimeout(context.Background(), seconds*time.Second/2)
	defer cancel()
	var peers sync.WaitGroup
	for _, peer := range []func(context.Context, *testing.T, string){deaf, silent, flood, garbage, vanish} {
		peers.Add(1)
		go func() { defer peers.Done(); peer(ctx, t, address) }()
	}
	code := c.code()
	cancel()
	peers.Wait()
	f := result(t, out)
	n := counts{t, f}
	if !f.Complete || code == exitNotMeasured && len(f.Invalid) > 0 {
		t.Errorf("exit %d, complete %v, invalid %q", code, f.Complete, f.Invalid)
	}
	if lost := n.get("packets", "missed") - n.get("missed", string(bench.SkippedRelease)); lost != 0 {
		t.Errorf("%d values lost to bad peers", lost)
	}
	if n.get("counters", "Panics") != 0 {
		t.Error("a peer made the server panic")
	}
	latency := judge.FindSeries(&f, "", "start_latency")
	var half [2]struct{ n, sum, most int64 }
	for _, b := range latency.Blocks {
		h := &half[min(b.Second/(seconds/2), 1)]
		h.n, h.sum, h.most = h.n+b.Count, h.sum+b.Sum, max(h.most, b.Max)
	}
	t.Logf("start latency: quiet half avg %.1f us, max %.1f us; with bad peers avg %.1f us, max %.1f us; memory bound per connection %d bytes",
		float64(half[0].sum)/float64(half[0].n)/1e3, float64(half[0].most)/1e3,
		float64(half[1].sum)/float64(half[1].n)/1e3, float64(half[1].most)/1e3, n.get("counters", "BytesBound"))
}

// deaf subscribes to 1000 items with 20 Publish requests, is stopped and then killed.
func deaf(ctx context.Context, t *testing.T, address string) {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestDeafPeer$", "-test.timeout", "60s")
	cmd.Env = append(os.Environ(), deafVariable+"=opc.tcp://"+address)
	pipe, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	said := make([]byte, len("subscribed"))
	if _, err := io.ReadFull(pipe, said); err != nil {
		t.Errorf("the deaf peer did not subscribe: %v", err)
		return
	}
	_ = cmd.Process.Signal(syscall.SIGSTOP)
	<-ctx.Done()
}

// silent opens 50 connections and says nothing.
func silent(ctx context.Context, _ *testing.T, address string) {
	var open []net.Conn
	for range 50 {
		if c, err := net.Dial("tcp", address); err == nil {
			open = append(open, c)
		}
	}
	<-ctx.Done()
	for _, c := range open {
		_ = c.Close()
	}
}

// flood reads as fast as it is answered, a thousand times at most.
func flood(ctx context.Context, t *testing.T, address string) {
	c := subscriber(t, context.WithoutCancel(ctx), "opc.tcp://"+address, 1)
	defer c.Close(context.WithoutCancel(ctx))
	for range 1000 {
		if ctx.Err() != nil {
			return
		}
		_, _ = c.Read(ctx, &ua.ReadRequest{NodesToRead: []*ua.ReadValueID{{NodeID: ua.NewNumericNodeID(0, 2258), AttributeID: ua.AttributeIDValue, DataEncoding: &ua.QualifiedName{}}}})
	}
}

// garbage sends what is no OPC UA.
func garbage(ctx context.Context, _ *testing.T, address string) {
	for range 50 {
		if c, err := net.Dial("tcp", address); err == nil {
			_, _ = c.Write([]byte("GET / HTTP/1.1\r\nHost: plc\r\n\r\n"))
			_ = c.Close()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// vanish connects, subscribes and is gone without a word, ten times.
func vanish(ctx context.Context, _ *testing.T, address string) {
	for range 10 {
		var conn net.Conn
		if c, err := net.Dial("tcp", address); err == nil {
			conn = c
			hello := []byte("HELF\x20\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\xff\xff\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff")
			_, _ = conn.Write(hello)
			_ = conn.(*net.TCPConn).SetLinger(0) // a reset, not an end
			_ = conn.Close()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}
