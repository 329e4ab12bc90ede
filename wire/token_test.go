package wire

import (
	"bytes"
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"
)

// echo answers every request with its own body by TrySend, until the channel ends.
func echo(c *Channel) {
	for {
		r, err := c.Receive()
		if err != nil {
			return
		}
		if sent, err := c.TrySend(r.ID, r.Body); sent == Refused || err != nil {
			return
		}
	}
}

// renewed is a peer with an open channel to an echoing server.
func renewed(t *testing.T, cfg Config) *peer {
	address := serve(t, cfg, echo)
	p := dial(t, address)
	p.handshake(60_000)
	return p
}

// TestRenewal: the server seals with the old token until the client used the new one;
// then the old one is dead (Part 4, 5.6.2.1).
func TestRenewal(t *testing.T) {
	p := renewed(t, testConfig())
	ask := func(with, expected uint32) {
		t.Helper()
		p.token = with
		p.send("MSGF", 5, []byte("hello"))
		c, ok := p.next()
		if !ok || c.token != expected || c.request != 5 || string(c.body) != "hello" {
			t.Fatalf("asked with token %d, answered %+v: expected token %d", with, c, expected)
		}
	}
	first := p.token
	ask(first, first)
	p.open(1, 1, 60_000)
	p.granted()
	second := p.token
	if second == first || second == p.channel || first == p.channel {
		t.Fatalf("tokens %d and %d on channel %d", first, second, p.channel)
	}
	ask(first, first)
	p.open(1, 1, 60_000) // the client lost interest in the second one
	p.granted()
	third := p.token
	ask(first, first)
	ask(third, third)
	p.token = first
	p.send("MSGF", 5, []byte("hello"))
	if got := p.status(); got != ua.StatusBadSecureChannelTokenUnknown {
		t.Errorf("the old token got %v", got)
	}
}

// TestRenewalWhileSending: a response to a renewal is sealed on a guess of its sequence
// number; with TrySend at work all the time the guess is often wrong, and no number is left out or given twice.
func TestRenewalWhileSending(t *testing.T) {
	const renewals = 200
	cfg := testConfig()
	cfg.SendTimeout, cfg.SendNow = patience, capricious()
	c, p := established(t, cfg, none()[0])
	var all sync.WaitGroup
	all.Go(func() {
		for {
			if _, err := c.Receive(); err != nil {
				return
			}
		}
	})
	all.Go(func() {
		for {
			if _, err := c.TrySend(1, make([]byte, 50)); err != nil {
				return
			}
			runtime.Gosched()
		}
	})
	for n := range renewals {
		p.open(1, 1, 60_000)
		for {
			got, ok := p.next()
			if !ok {
				t.Fatalf("ended by %q after %d renewals", got.kind, n)
			}
			if got.kind == "OPNF" {
				p.take(got)
				break
			}
		}
		p.send("MSGF", 2, []byte("under the new token"))
	}
	p.conn.Close()
	all.Wait()
	if got := c.Counters().Renewals; got != renewals {
		t.Errorf("%d renewals", got)
	}
}

// TestAge: a token that the client never uses seals when the old one ends, not before, and
// the channel ends when its last token expires.
func TestAge(t *testing.T) {
	const life = time.Hour
	for _, c := range []struct {
		name       string
		now        time.Duration // age of the token in use
		next       time.Duration // age of the granted one; negative is none
		want       uint32
		wantClosed bool
	}{
		{"fresh", 0, -1, 77, false},
		{"over and not renewed, within the 25 %", life + time.Minute, -1, 77, false},
		{"expired and not renewed", life + life/4, -1, 77, true},
		{"renewed and not used, not yet over", life - time.Minute, time.Minute, 77, false},
		{"renewed and not used, over", life, time.Minute, 78, false},
		{"renewed and not used, expired", 2 * life, time.Minute, 78, false},
		{"both expired", 2 * life, 2 * life, 78, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			channel, p := established(t, testConfig(), none()[0])
			if !channel.lock() {
				t.Fatal("no turn")
			}
			channel.tokens.now = &token{id: 77, created: time.Now().Add(-c.now), life: life}
			if c.next >= 0 {
				channel.tokens.next = &token{id: 78, created: time.Now().Add(-c.next), life: life}
			}
			channel.unlock()
			channel.age()
			if c.wantClosed {
				if got := p.status(); got != ua.StatusBadSecureChannelTokenUnknown {
					t.Errorf("ended with %v", got)
				}
				channel.Wait()
			} else if sent, err := channel.TrySend(1, nil); sent != Handed || err != nil {
				t.Errorf("%v %v", sent, err)
			} else if got, _ := p.next(); got.token != c.want {
				t.Errorf("sealed with token %d, expected %d", got.token, c.want)
			}
		})
	}
}

// TestExpiredToken: a channel that is not renewed ends, and a late chunk is refused.
func TestExpiredToken(t *testing.T) {
	cfg := testConfig()
	cfg.MinLifetime, cfg.MaxLifetime = 20*time.Millisecond, 20*time.Millisecond
	p := renewed(t, cfg)
	if got := p.status(); got != ua.StatusBadSecureChannelTokenUnknown {
		t.Errorf("ended with %v", got)
	}
}

// TestTokenNumbers: no token has the channel's number or 0, and none comes twice.
func TestTokenNumbers(t *testing.T) {
	for _, channel := range []uint32{1, 3, math.MaxUint32} {
		r, seen := reception{lastID: math.MaxUint32 - 3}, map[uint32]bool{}
		for range 10 {
			n := r.nextToken(channel)
			if n == channel || n == 0 || seen[n] {
				t.Errorf("channel %d: token %d", channel, n)
			}
			seen[n] = true
		}
	}
}

// TestSequence states Part 6, 6.7.2.4.
func TestSequence(t *testing.T) {
	for _, c := range []struct {
		last, n uint32
		want    bool
	}{
		{1, 2, true}, {1, 1, false}, {1, 3, false}, {5, 4, false}, {0, 1, true},
		{4294966270, 4294966271, true}, {4294966270, 1, false},
		{4294966271, 4294966272, true}, {4294966271, 0, true}, {4294966271, 1, true}, {4294966271, 1023, true}, {4294966271, 1024, false},
		{4294967295, 1, true}, {4294967295, 0, true},
	} {
		if got := follows(c.last, c.n); got != c.want {
			t.Errorf("%d after %d: %v", c.n, c.last, got)
		}
	}
	for n, last := 0, uint32(4294966200); n < 3000; n++ {
		next := after(last)
		if !follows(last, next) || next == 0 {
			t.Fatalf("we send %d after %d", next, last)
		}
		last = next
	}
}

// TestKeys compares our sealing with uapolicy's for every length of a chunk's end.
func TestKeys(t *testing.T) {
	for _, s := range every() {
		t.Run(s.PolicyURI[len(ua.SecurityPolicyURIPrefix):]+" "+s.Mode.String(), func(t *testing.T) {
			c, p := established(t, testConfig(), s)
			for n := range 70 {
				body := bytes.Repeat([]byte{byte(n)}, n)
				if sent, err := c.TrySend(uint32(n), body); sent != Handed || err != nil {
					t.Fatalf("%d bytes: %v %v", n, sent, err)
				}
				got, ok := p.next()
				if !ok || got.request != uint32(n) || !bytes.Equal(got.body, body) {
					t.Fatalf("%d bytes: %+v", n, got)
				}
				p.send("MSGF", uint32(n), body)
				r, err := c.Receive()
				if err != nil || r.ID != uint32(n) || !bytes.Equal(r.Body, body) {
					t.Fatalf("%d bytes: %v %v", n, r, err)
				}
			}
		})
	}
}

// TestRoom: the largest body fills a chunk, and no body of more fits.
func TestRoom(t *testing.T) {
	for _, s := range every() {
		k, err := derive(s, make([]byte, 32), make([]byte, 32), true)
		if err != nil {
			t.Fatal(err)
		}
		for size := 8192; size < 8192+40; size++ {
			if n := k.room(size); k.size(n) > size || k.size(n+1) <= size {
				t.Errorf("%v: room %d in %d takes %d, one more %d", s, n, size, k.size(n), k.size(n+1))
			}
			o := outbox{keys: k, size: 8192, buf: make([]byte, 0, 3*size)}
			if n := o.largest(cap(o.buf)); o.sealedSize(n) > cap(o.buf) || o.sealedSize(n+1) <= cap(o.buf) {
				t.Errorf("%v: largest %d in %d takes %d, one more %d", s, n, cap(o.buf), o.sealedSize(n), o.sealedSize(n+1))
			}
		}
	}
}
