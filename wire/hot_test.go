package wire

import (
	"io"
	"testing"

	"github.com/gopcua/opcua/ua"
)

// measured are the policies that are worth a number of their own.
func measured() []Security {
	return []Security{none()[0],
		{ua.SecurityPolicyURIBasic256Sha256, ua.MessageSecurityModeSign},
		{ua.SecurityPolicyURIBasic256Sha256, ua.MessageSecurityModeSignAndEncrypt}}
}

func (s Security) short() string {
	return s.PolicyURI[len(ua.SecurityPolicyURIPrefix):] + "/" + s.Mode.String()[len("MessageSecurityMode"):]
}

// requests seals one request after the other into one buffer: a client that does not allocate.
type requests struct {
	out outbox
}

func newRequests(tb testing.TB, c *Channel, p *peer) *requests {
	tb.Helper()
	theirs, ours := make([]byte, nonceSize), make([]byte, nonceSize)
	for i := range nonceSize {
		theirs[i], ours[i] = 1, 2
	}
	k, err := derive(c.security, ours, theirs, true)
	if err != nil {
		tb.Fatal(err)
	}
	return &requests{out: outbox{buf: make([]byte, 0, 65535), channel: p.channel, token: p.token, keys: k, size: 65535}}
}

func (r *requests) send(tb testing.TB, p *peer, body []byte) {
	r.out.message(1, body, nil, 0)
	n, err := p.conn.Write(r.out.rest())
	if err != nil {
		tb.Error(err)
	}
	r.out.wrote(n)
}

// swallow reads all that the server sends, into one buffer, until the end.
func swallow(p *peer) <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		for b := make([]byte, 1<<18); ; {
			if _, err := p.conn.Read(b); err != nil {
				return
			}
		}
	}()
	return done
}

// TestAllocations is the proof for the word hot: a message in and a message out, the
// latter also through the hand-off and through the backlog.
func TestAllocations(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates; the run without it proves this")
	}
	for _, s := range measured() {
		t.Run(s.short(), func(t *testing.T) {
			c, p := established(t, testConfig(), s)
			body := make([]byte, 140)
			client := newRequests(t, c, p)
			if n := testing.AllocsPerRun(1000, func() {
				client.send(t, p, body)
				if _, err := c.Receive(); err != nil {
					t.Error(err)
				}
			}); n != 0 {
				t.Errorf("Receive: %v allocations", n)
			}
			swallow(p)
			long := make([]byte, 200_000) // four chunks
			for _, b := range [][]byte{body, long} {
				if n := testing.AllocsPerRun(1000, func() {
					if _, err := c.TrySend(1, b); err != nil {
						t.Error(err)
					}
				}); n != 0 {
					t.Errorf("TrySend of %d bytes: %v allocations", len(b), n)
				}
			}
			if n := testing.AllocsPerRun(1000, func() {
				if !c.lock() {
					t.Error("no turn")
				}
				if sent, err := c.TrySend(1, body); err != nil || sent == Handed {
					t.Errorf("%v %v", sent, err)
				}
				c.unlock()
			}); n != 0 {
				t.Errorf("TrySend through the hand-off: %v allocations", n)
			}
		})
	}
}

func BenchmarkReceive(b *testing.B) {
	for _, s := range measured() {
		b.Run(s.short(), func(b *testing.B) {
			c, p := established(b, testConfig(), s)
			client, body := newRequests(b, c, p), make([]byte, 140)
			client.out.message(1, body, nil, 0)
			size := len(client.out.buf)
			client.out.wrote(size)
			client.out.sequence = 0
			// From memory: what is measured is ours, without the socket.
			c.in.src = &feed{client: client, body: body}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := c.Receive(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// feed seals requests on demand. Its own time is in the figure: halve it for the modes that seal.
type feed struct {
	client *requests
	body   []byte
}

func (f *feed) Read(p []byte) (int, error) {
	f.client.out.message(1, f.body, nil, 0)
	n := copy(p, f.client.out.buf)
	f.client.out.wrote(len(f.client.out.buf))
	if n == 0 {
		return 0, io.ErrShortBuffer
	}
	return n, nil
}

func BenchmarkTrySend(b *testing.B) {
	for _, s := range measured() {
		for _, where := range []string{"memory", "socket"} {
			b.Run(s.short()+"/"+where, func(b *testing.B) {
				cfg := testConfig()
				if where == "memory" {
					cfg.SendNow = func(_ uintptr, p []byte) (int, error) { return len(p), nil }
				}
				c, p := established(b, cfg, s)
				swallow(p)
				body := make([]byte, 140)
				b.SetBytes(int64(c.out.sealedSize(len(body))))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := c.TrySend(1, body); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(c.Counters().Refused)/float64(b.N), "refused/op")
			})
		}
	}
}
