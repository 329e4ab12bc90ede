package run

import (
	"context"
	"errors"
	"net"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"opcycle/rt"
	"opcycle/workloads/opcua"
)

// fakeChild is a child whose process is argv and whose orders the test answers by peer.
func fakeChild(t *testing.T, argv ...string) (c *child, peer *opcua.Control) {
	t.Helper()
	ours, theirs, err := rt.SocketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer ours.Close()
	defer theirs.Close()
	near, err := net.FileConn(ours)
	if err != nil {
		t.Fatal(err)
	}
	far, err := net.FileConn(theirs)
	if err != nil {
		t.Fatal(err)
	}
	c = &child{name: "fake", ctl: opcua.NewControl(near), cmd: exec.Command(argv[0], argv[1:]...), replies: make(chan opcua.Reply, 1),
		events: make(chan error, 4), heard: make(chan struct{}), exited: make(chan struct{})}
	if err := c.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go c.wait()
	go c.listen()
	peer = opcua.NewControl(far)
	t.Cleanup(func() {
		c.kill()
		c.free()
		_ = peer.Close()
	})
	return c, peer
}

// A reply that comes after its order was given up must not answer the next one.
func TestALateReplyAnswersNoLaterOrder(t *testing.T) {
	c, peer := fakeChild(t, "sleep", "60")
	if _, err := c.order(context.Background(), opcua.Order{Do: "first"}, time.Millisecond); err == nil {
		t.Fatal("an order that nobody answered came back")
	}
	first, err := peer.Next()
	if err != nil {
		t.Fatal(err)
	}
	answered := make(chan error, 1)
	go func() { // the late one comes twice, before and after the second order
		err := peer.Answer(opcua.Reply{ID: first.ID, Count: 1})
		second, e := peer.Next()
		answered <- errors.Join(err, e, peer.Answer(opcua.Reply{ID: first.ID, Count: 1}), peer.Answer(opcua.Reply{ID: second.ID, Count: 2}))
	}()
	r, err := c.order(context.Background(), opcua.Order{Do: "second"}, time.Minute)
	if err != nil || r.Count != 2 {
		t.Errorf("the second order was answered by %d, %v", r.Count, err)
	}
	if err := <-answered; err != nil {
		t.Error(err)
	}
}

// An order to a peer that reads nothing ends with its limit, or with its context.
func TestAnOrderThatNobodyReadsEnds(t *testing.T) {
	c, _ := fakeChild(t, "sleep", "60")
	big := opcua.Order{Do: opcua.DoResult, Result: make([]byte, 8<<20)} // more than a socket buffers
	if _, err := c.order(context.Background(), big, 50*time.Millisecond); err == nil {
		t.Error("an order that nobody read was answered")
	}
	c, _ = fakeChild(t, "sleep", "60") // the first one's stream is broken for good
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if _, err := c.order(ctx, big, time.Hour); err == nil {
		t.Error("an order that nobody read was answered")
	}
}

// A stopped process obeys nothing and is killed in time: an interrupt ends within 2 s.
func TestAStoppedChildIsKilled(t *testing.T) {
	c, _ := fakeChild(t, "sleep", "60")
	if err := c.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	_, err := c.stopWithin(50 * time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "no answer to stop") {
		t.Errorf("stop: %v", err)
	}
	if d := time.Since(begin); d < 50*time.Millisecond+killAfter {
		t.Errorf("killed after %s, before its time", d)
	}
	select {
	case <-c.exited:
	default:
		t.Error("stop returned before the process had ended")
	}
	if stopLimit+killAfter+300*time.Millisecond >= 2*time.Second { // 300 ms: the server is told after the client
		t.Error("two stopped children take longer than 2 s")
	}
}
