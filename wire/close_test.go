package wire

import (
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gopcua/opcua/ua"
)

// TestCloseWhileSending: after Wait nobody writes to the descriptor, which the
// system may have given to another connection.
func TestCloseWhileSending(t *testing.T) {
	for range 50 {
		var closed atomic.Bool
		cfg := testConfig()
		cfg.SendNow = func(fd uintptr, b []byte) (int, error) {
			if closed.Load() {
				t.Error("a write after the socket was closed")
			}
			runtime.Gosched()
			return sendNow(fd, b)
		}
		c, p := established(t, cfg, none()[0])
		var all sync.WaitGroup
		all.Go(func() {
			for {
				if _, err := c.TrySend(1, []byte("body")); err != nil {
					return
				}
			}
		})
		all.Go(func() {
			for {
				if err := c.Send(1, []byte("body")); err != nil {
					return
				}
			}
		})
		all.Go(func() {
			for {
				if _, ok := p.next(); !ok {
					p.conn.Close()
					return
				}
			}
		})
		for c.Counters().MessagesOut < 20 {
			runtime.Gosched()
		}
		for range 3 {
			all.Go(func() { c.Close(ua.StatusBadShutdown, "the server ends") })
		}
		c.Wait()
		closed.Store(true)
		all.Wait()
	}
}

// TestCloseTellsWhy: the status of the first Close reaches the peer.
func TestCloseTellsWhy(t *testing.T) {
	c, p := established(t, testConfig(), none()[0])
	c.Close(ua.StatusBadShutdown, "the server ends")
	c.Close(ua.StatusBadTimeout, "too late to say")
	if got := p.status(); got != ua.StatusBadShutdown {
		t.Errorf("the peer was told %v", got)
	}
	c.Wait()
	if _, err := c.Receive(); !errors.Is(err, ErrClosed) {
		t.Errorf("Receive: %v", err)
	}
	if err := c.Send(1, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("Send: %v", err)
	}
}
