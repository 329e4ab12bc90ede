package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"
)

// numbered is a body that says who sent it, its number and its length.
func numbered(who, n uint32, size int) []byte {
	b := make([]byte, max(size, 12))
	binary.LittleEndian.PutUint32(b, who)
	binary.LittleEndian.PutUint32(b[4:], n)
	binary.LittleEndian.PutUint32(b[8:], uint32(len(b)))
	for i := 12; i < len(b); i++ {
		b[i] = byte(n)
	}
	return b
}

// collect reads n messages and insists that chunks do not mix, that bodies are whole and that each sender's
// numbers go up by one. Sequence numbers are next's.
func collect(t *testing.T, p *peer, n int, pause func()) {
	var body []byte
	var request uint32
	last := map[uint32]uint32{}
	for read := 0; read < n; {
		pause()
		c, ok := p.next()
		if !ok {
			t.Errorf("the stream ended with %q after %d of %d messages", c.kind, read, n)
			return
		}
		if len(body) > 0 && c.request != request {
			t.Errorf("chunk of request %d in the middle of %d", c.request, request)
			return
		}
		body, request = append(body, c.body...), c.request
		if c.kind == "MSGC" {
			continue
		}
		who, number, size := u32(body), u32(body[4:]), u32(body[8:])
		if number != last[who]+1 || int(size) != len(body) || !bytes.Equal(body, numbered(who, number, len(body))) {
			t.Errorf("sender %d: message %d with %d of %d bytes after message %d", who, number, len(body), size, last[who])
			return
		}
		last[who] = number
		body = body[:0]
		read++
	}
}

// capricious is a socket that takes what it likes.
func capricious() func(fd uintptr, b []byte) (int, error) {
	var calls atomic.Uint32
	return func(fd uintptr, b []byte) (int, error) {
		switch calls.Add(1) % 5 {
		case 0: // part of it, as a full socket would
			return sendNow(fd, b[:len(b)/2])
		case 1:
			return 0, ErrWouldBlock
		case 2: // lose the processor with the turn in hand
			runtime.Gosched()
		}
		return sendNow(fd, b)
	}
}

// receive takes n requests numbered from 1.
func receive(t *testing.T, c *Channel, n uint32) {
	for want := uint32(1); want <= n; want++ {
		if r, err := c.Receive(); err != nil || r.ID != want {
			t.Errorf("receive %d: %v %v", want, r.ID, err)
			return
		}
	}
}

// TestBothSenders lets Send and TrySend fight over one channel while requests come in, the
// socket takes what it likes, and the peer reads unevenly; what was accepted
// arrives whole, once and in order.
func TestBothSenders(t *testing.T) {
	const messages = 1500
	for _, s := range []Security{every()[0], every()[1], every()[2]} {
		t.Run(s.PolicyURI[len(ua.SecurityPolicyURIPrefix):]+" "+s.Mode.String(), func(t *testing.T) {
			t.Parallel()
			cfg := testConfig()
			cfg.Buffer, cfg.Backlog, cfg.SendTimeout, cfg.SendNow = 8192, 3*8192, patience, capricious()
			c, p := established(t, cfg, s)
			var all sync.WaitGroup
			all.Go(func() {
				sizes := rand.New(rand.NewPCG(1, 2))
				for n := uint32(1); n <= messages; n++ {
					if err := c.Send(n, numbered(1, n, 1<<sizes.IntN(17))); err != nil {
						t.Errorf("send %d: %v", n, err)
						return
					}
				}
			})
			var refused int
			all.Go(func() {
				sizes := rand.New(rand.NewPCG(3, 4))
				for n := uint32(1); n <= messages; {
					sent, err := c.TrySend(1<<31|n, numbered(2, n, sizes.IntN(c.MaxTryBody())))
					if err != nil {
						t.Errorf("trysend %d: %v", n, err)
						return
					}
					if sent == Refused {
						refused++
						time.Sleep(10 * time.Microsecond) // a PLC would wait for its next cycle
						continue
					}
					n++
				}
			})
			all.Go(func() { receive(t, c, messages) })
			all.Go(func() {
				for n := uint32(1); n <= messages; n++ {
					p.send("MSGF", n, []byte("request"))
				}
			})
			speed := rand.New(rand.NewPCG(5, 6))
			collect(t, p, 2*messages, func() {
				if speed.IntN(50) == 0 {
					runtime.Gosched()
				}
			})
			all.Wait()
			n := c.Counters()
			t.Logf("%+v; TrySend refused %d times", n, refused)
			if n.MessagesOut != 2*messages || n.MessagesIn != messages || n.Refused != uint64(refused) || c.Backlog() != 0 {
				t.Errorf("counted %+v and a backlog of %d", n, c.Backlog())
			}
		})
	}
}

// TestHandOff stops the one sender with the turn in hand: TrySend hands over as long as there
// is space and never waits, and everything arrives in order.
func TestHandOff(t *testing.T) {
	cfg := testConfig()
	cfg.Buffer, cfg.Backlog = 8192, 8192
	held, release := make(chan struct{}), make(chan struct{})
	var once sync.Once
	cfg.SendNow = func(fd uintptr, b []byte) (int, error) {
		once.Do(func() { close(held); <-release })
		return sendNow(fd, b)
	}
	c, p := established(t, cfg, none()[0])
	result := make(chan error, 1)
	go func() { result <- c.Send(1, numbered(1, 1, 100)) }()
	<-held
	accepted := uint32(0)
	for {
		sent, err := c.TrySend(2, numbered(2, accepted+1, 1000))
		if err != nil || sent == Handed {
			t.Fatalf("%v %v while the other sender holds the turn", sent, err)
		}
		if sent == Refused {
			break
		}
		accepted++
	}
	if n := c.Counters(); accepted != 8 || n.Contended != 9 || n.Refused != 1 || c.Backlog() != 8000 {
		t.Errorf("%d accepted, backlog %d, %+v", accepted, c.Backlog(), n)
	}
	close(release)
	collect(t, p, 9, func() {})
	if err := <-result; err != nil {
		t.Error(err)
	}
	if sent, err := c.TrySend(2, numbered(2, accepted+1, 1000)); sent != Handed || err != nil {
		t.Errorf("afterwards: %v %v", sent, err)
	}
}

// fill sends by TrySend until it is refused, to a peer that does not read.
func fill(t *testing.T, c *Channel) (accepted uint32) {
	for {
		sent, err := c.TrySend(1, numbered(2, accepted+1, 20_000))
		if err != nil {
			t.Fatal(err)
		}
		if waiting := c.Backlog(); waiting > c.cfg.Backlog {
			t.Fatalf("%d bytes wait, the bound is %d", waiting, c.cfg.Backlog)
		}
		if sent == Refused {
			return accepted
		}
		accepted++
	}
}

// TestLateReader: TrySend keeps one message at most for a peer that does not read and refuses
// the rest without using a sequence number; a peer that reads on gets all that was accepted.
func TestLateReader(t *testing.T) {
	c, p := established(t, testConfig(), none()[0])
	accepted := fill(t, c)
	result := make(chan error, 1)
	go func() { result <- c.Send(2, numbered(1, 1, 500_000)) }()
	collect(t, p, int(accepted)+1, func() {})
	if err := <-result; err != nil {
		t.Error(err)
	}
	for c.Backlog() > 0 || c.stalled.Load() {
		runtime.Gosched()
	}
	if sent, err := c.TrySend(1, numbered(2, 1, 12)); sent != Handed || err != nil {
		t.Errorf("afterwards: %v %v", sent, err)
	}
}

// TestSlowReader: Send gives up on a peer that reads a byte at a time, and closes.
func TestSlowReader(t *testing.T) {
	cfg := testConfig()
	cfg.SendTimeout = 200 * time.Millisecond
	c, p := established(t, cfg, none()[0])
	fill(t, c)
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for b := make([]byte, 1); ; time.Sleep(time.Millisecond) {
			select {
			case <-stop:
				return
			default:
			}
			if _, err := p.conn.Read(b); err != nil {
				return
			}
		}
	}()
	var err error
	for err == nil { // the kernel's buffers may still grow
		err = c.Send(2, make([]byte, 500_000))
	}
	if !errors.Is(err, ErrSlow) {
		t.Errorf("Send returned %v", err)
	}
	c.Wait()
	close(stop)
	<-done
	if sent, err := c.TrySend(1, nil); sent != Refused || !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v %v", sent, err)
	}
}

// TestTooLarge: what the client's HEL does not allow is refused before anything is sent.
func TestTooLarge(t *testing.T) {
	c, p := established(t, testConfig(), none()[0])
	c.limits(100_000, 0)
	if c.MaxBody() != 100_000 {
		t.Errorf("by MaxMessageSize: %d", c.MaxBody())
	}
	c.limits(0, 3)
	if want := 3 * (65535 - 24); c.MaxBody() != want {
		t.Errorf("by MaxChunkCount: %d, expected %d", c.MaxBody(), want)
	}
	if err := c.Send(1, make([]byte, c.MaxBody()+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("Send: %v", err)
	}
	if sent, err := c.TrySend(1, make([]byte, c.MaxTryBody()+1)); sent != Refused || !errors.Is(err, ErrTooLarge) {
		t.Errorf("TrySend: %v %v", sent, err)
	}
	if sent, err := c.TrySend(1, numbered(1, 1, c.MaxTryBody())); sent == Refused || err != nil {
		t.Errorf("TrySend of the longest: %v %v", sent, err)
	}
	collect(t, p, 1, func() {})
}
