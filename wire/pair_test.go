package wire

import (
	"bytes"
	"net"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uapolicy"
)

// connection is a TCP pair on loopback.
func connection(tb testing.TB) (server *net.TCPConn, client *net.TCPConn) {
	tb.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		tb.Fatal(err)
	}
	defer l.Close()
	conn, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	if server, err = l.AcceptTCP(); err != nil {
		tb.Fatal(err)
	}
	return server, conn.(*net.TCPConn)
}

// outcome is how a server's side ended.
type outcome struct {
	channel *Channel // nil when Accept failed
	err     error
}

// attend accepts one connection and receives, dropping all requests, until the end.
func attend(tb testing.TB, cfg Config) (*peer, <-chan outcome) {
	tb.Helper()
	server, client := connection(tb)
	end := make(chan outcome, 1)
	go func() {
		c, err := Accept(server, cfg)
		for err == nil {
			_, err = c.Receive()
		}
		if c != nil {
			c.Wait()
		}
		end <- outcome{c, err}
	}()
	return &peer{tb: tb, conn: client}, end
}

// established is an open channel without a handshake, under nonces that both ends know.
func established(tb testing.TB, cfg Config, s Security) (*Channel, *peer) {
	tb.Helper()
	server, client := connection(tb)
	theirs, ours := bytes.Repeat([]byte{1}, nonceSize), bytes.Repeat([]byte{2}, nonceSize)
	p := &peer{tb: tb, conn: client, channel: cfg.ChannelID, token: 77, mode: s.Mode}
	c := newChannel(server, cfg.withDefaults(), cfg.withDefaults().Buffer)
	t := &token{id: p.token, created: time.Now(), life: time.Hour}
	var err error
	if t.open, err = derive(s, ours, theirs, false); err != nil {
		tb.Fatal(err)
	}
	if t.seal, err = derive(s, theirs, ours, true); err != nil {
		tb.Fatal(err)
	}
	if s.PolicyURI != ua.SecurityPolicyURINone {
		if p.algorithm, err = uapolicy.Symmetric(s.PolicyURI, theirs, ours); err != nil {
			tb.Fatal(err)
		}
	}
	raw, err := server.SyscallConn()
	if err != nil {
		tb.Fatal(err)
	}
	if err := raw.Control(func(fd uintptr) { c.fd = fd }); err != nil {
		tb.Fatal(err)
	}
	c.security, c.from.now, c.tokens.next = s, t, t
	c.adopt()
	c.limits(0, 0)
	go c.flush()
	tb.Cleanup(func() { c.Close(ua.StatusOK, ""); c.Wait() })
	return c, p
}

// dial connects a peer.
func dial(tb testing.TB, address string) *peer {
	tb.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return &peer{tb: tb, conn: conn}
}
