package main

import (
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
)

// relay passes TCP on, and can take every connection away for a while.
type relay struct {
	listener net.Listener
	back     func() time.Duration // how long the server's bytes take; nil: they do not. Set before it is used
	mu       sync.Mutex
	conns    []net.Conn
	down     bool
	done     sync.WaitGroup
}

func newRelay(t *testing.T, target string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l}
	r.done.Add(1)
	go func() {
		defer r.done.Done()
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			r.pass(in, target)
		}
	}()
	t.Cleanup(func() {
		_ = l.Close()
		r.cut(true)
		r.done.Wait()
	})
	return r
}

func (r *relay) endpoint() string { return "opc.tcp://" + r.listener.Addr().String() }

func (r *relay) pass(in net.Conn, target string) {
	out, err := net.Dial("tcp", target)
	if err != nil {
		_ = in.Close()
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.down {
		_, _ = in.Close(), out.Close()
		return
	}
	r.conns = append(r.conns, in, out)
	for _, pair := range [][2]net.Conn{{in, out}, {out, in}} {
		r.done.Add(1)
		go func() {
			defer r.done.Done()
			defer pair[1].Close()
			if r.back != nil && pair[0] == out {
				delayed(pair[1], pair[0], r.back)
				return
			}
			_, _ = io.Copy(pair[1], pair[0])
		}()
	}
}

// cut takes every connection away, and refuses new ones while down.
func (r *relay) cut(down bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.down = down
	for _, c := range r.conns {
		_ = c.Close()
	}
	r.conns = nil
}

// measured starts serve and, through a relay, measure; it returns in the measuring phase.
func measured(t *testing.T, duration string) (server, client *command, via *relay, out string) {
	t.Helper()
	alone(t)
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	server = start(t, "", "serve", "--listen", "opc.tcp://"+address, profile(t, "plc: {"+relaxedPLC+"}"))
	server.says(address)
	via = newRelay(t, address)
	out = filepath.Join(t.TempDir(), "out")
	client = start(t, "", "measure", via.endpoint(), "--duration", duration, "--warm-up", "500ms", "--out", out)
	client.phase(bench.PhaseMeasure)
	time.Sleep(1200 * time.Millisecond) // into the phase, which is announced ten cycles before it comes
	return server, client, via, out
}

// Public case 10: a connection that is lost in the middle of a run comes back, the gap is
// counted, and the run is invalid.
func TestAConnectionThatIsLostForAWhile(t *testing.T) {
	server, client, via, out := measured(t, "3s")
	via.cut(true)
	time.Sleep(300 * time.Millisecond) // the loss itself
	via.cut(false)
	code := client.code()
	f := identities(t, out)
	n := counts{t, f}
	if code != exitNotMeasured || !f.Complete || !strings.Contains(strings.Join(f.Invalid, "\n"), "reconnect inside the measuring phase") {
		t.Errorf("exit %d, complete %v, invalid %q", code, f.Complete, f.Invalid)
	}
	if lost := n.get("missed", string(bench.Reconnect)); lost < 3 || lost != n.get("packets", "missed") {
		t.Errorf("%d of %d missed by reconnect in 300 ms of 50 ms cycles", lost, n.get("packets", "missed"))
	}
	if after := n.get("packets", "total"); after < 30 {
		t.Errorf("%d received: the client did not go on", after)
	}
	server.signal(syscall.SIGINT)
	if code := server.code(); code != exitPass {
		t.Errorf("serve: exit %d", code)
	}
	leftNothing(t, out)
}

// A server that is gone for good ends the client within the reconnect limit (5 s) and
// some, or with its phase when that comes first: then too the run is invalid, and the
// cycles are missed by reconnect.
func TestAConnectionThatIsLostForGood(t *testing.T) {
	for _, duration := range []string{"20s", "3s"} {
		t.Run("phase of "+duration, func(t *testing.T) {
			server, client, via, out := measured(t, duration)
			via.cut(true)
			from := time.Now()
			code := client.code()
			t.Logf("ended %s after the loss", time.Since(from))
			if code != exitNotMeasured || time.Since(from) > 30*time.Second {
				t.Errorf("exit %d, %s after the loss", code, time.Since(from))
			}
			f := result(t, out)
			if f.Complete != (duration == "3s") || len(f.Invalid) == 0 {
				t.Errorf("complete %v, invalid %q", f.Complete, f.Invalid)
			}
			n := counts{t, f}
			if lost := n.get("missed", string(bench.Reconnect)); lost < 20 || lost != n.get("packets", "missed") {
				t.Errorf("%d of %d missed by reconnect", lost, n.get("packets", "missed"))
			}
			if !f.Complete {
				partial(t, client, out)
			}
			server.signal(syscall.SIGINT)
			server.code()
			leftNothing(t, out)
		})
	}
}

// A conductor that is killed takes its processes with it.
func TestAKilledConductorLeavesNoProcess(t *testing.T) {
	alone(t)
	out := filepath.Join(t.TempDir(), "out")
	c := start(t, "", "run", "--out", out, profile(t, quick(bench.HostServer)...))
	c.phase(bench.PhaseMeasure)
	c.signal(syscall.SIGKILL)
	c.code()
	for end := time.Now().Add(10 * time.Second); len(processes(t)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			leftNothing(t, out)
			t.FailNow()
		}
	}
	if exists(out) {
		t.Error("a result, though nobody ended the run")
	}
}
