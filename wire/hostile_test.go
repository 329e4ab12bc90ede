package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"
)

// acknowledged says HEL and takes the ACK.
func acknowledged(p *peer) {
	p.hello(65535, 65535, "opc.tcp://127.0.0.1:4840")
	p.read()
}

// policy asks for a channel with that security, unsealed.
func policy(p *peer, uri string, mode uint32) {
	acknowledged(p)
	p.raw("OPNF", le(0), text(uri), le(0xffffffff, 0xffffffff), le(1, 1), openBody(0, mode, 1000))
}

// TestHandshakeRefusals: who breaks the handshake gets the right ERR and a closed socket.
func TestHandshakeRefusals(t *testing.T) {
	const url = "opc.tcp://127.0.0.1:4840"
	for _, c := range []struct {
		name string
		do   func(p *peer)
		want ua.StatusCode
	}{
		{"silent", func(*peer) {}, ua.StatusBadTimeout},
		{"half a HEL", func(p *peer) { p.conn.Write([]byte("HELF\x40\x00")) }, ua.StatusBadTimeout},
		{"silent after ACK", acknowledged, ua.StatusBadTimeout},
		{"a web browser", func(p *peer) { p.conn.Write([]byte("GET / HTTP/1.1\r\n\r\n")) }, ua.StatusBadTCPMessageTypeInvalid},
		{"HEL of a megabyte", func(p *peer) { p.raw("HELF", make([]byte, 1<<20)) }, ua.StatusBadTCPMessageTooLarge},
		{"HEL without a body", func(p *peer) { p.raw("HELF") }, ua.StatusBadTCPInternalError},
		{"HEL shorter than its header", func(p *peer) { p.conn.Write([]byte("HELF\x07\x00\x00\x00")) }, ua.StatusBadTCPMessageTypeInvalid},
		{"HEL as intermediate chunk", func(p *peer) { p.raw("HELC", le(0, 65535, 65535, 0, 0), text(url)) }, ua.StatusBadTCPMessageTypeInvalid},
		{"small receive buffer", func(p *peer) { p.hello(8191, 65535, url) }, ua.StatusBadTCPNotEnoughResources},
		{"small send buffer", func(p *peer) { p.hello(65535, 0, url) }, ua.StatusBadTCPNotEnoughResources},
		{"http URL", func(p *peer) { p.hello(65535, 65535, "http://127.0.0.1") }, ua.StatusBadTCPEndpointURLInvalid},
		{"long URL", func(p *peer) { p.hello(65535, 65535, url+strings.Repeat("x", 4090)) }, ua.StatusBadTCPMessageTooLarge},
		{"MSG before HEL", func(p *peer) { p.raw("MSGF", le(1, 1, 1, 1)) }, ua.StatusBadTCPMessageTypeInvalid},
		{"MSG before OPN", func(p *peer) { acknowledged(p); p.raw("MSGF", le(1, 1, 1, 1)) }, ua.StatusBadTCPMessageTypeInvalid},
		{"unknown policy", func(p *peer) { policy(p, "urn:policy", 1) }, ua.StatusBadSecurityPolicyRejected},
		{"deprecated policy", func(p *peer) { policy(p, ua.SecurityPolicyURIBasic256, 3) }, ua.StatusBadSecurityPolicyRejected},
		{"None with Sign", func(p *peer) { policy(p, ua.SecurityPolicyURINone, 2) }, ua.StatusBadSecurityModeRejected},
		{"invalid mode", func(p *peer) { policy(p, ua.SecurityPolicyURINone, 0) }, ua.StatusBadSecurityModeRejected},
		{"renewal first", func(p *peer) { acknowledged(p); p.open(1, 1, 0) }, ua.StatusBadRequestTypeInvalid},
		{"OPN for a channel", func(p *peer) { acknowledged(p); p.channel = 9; p.open(0, 1, 0) }, ua.StatusBadTCPSecureChannelUnknown},
		{"OPN cut short", func(p *peer) {
			acknowledged(p)
			p.raw("OPNF", le(0), text(ua.SecurityPolicyURINone), le(0xffffffff, 0xffffffff), le(1, 1), openBody(0, 1, 0)[:30])
		}, ua.StatusBadDecodingError},
		{"OPN with a lying length", func(p *peer) { acknowledged(p); p.raw("OPNF", le(0, 0x7fffffff), text("x")) }, ua.StatusBadSecurityPolicyRejected},
		{"OPN in two chunks", func(p *peer) {
			acknowledged(p)
			p.raw("OPNC", le(0), text(ua.SecurityPolicyURINone), le(0xffffffff, 0xffffffff), le(1, 1), openBody(0, 1, 0))
		}, ua.StatusBadTCPMessageTypeInvalid},
		{"OPN with another service", func(p *peer) {
			acknowledged(p)
			p.raw("OPNF", le(0), text(ua.SecurityPolicyURINone), le(0xffffffff, 0xffffffff), le(1, 1), []byte{1, 0, 1, 1})
		}, ua.StatusBadTCPMessageTypeInvalid},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig()
			if c.want == ua.StatusBadTimeout {
				cfg.HelloTimeout = 50 * time.Millisecond
			}
			p, end := attend(t, cfg)
			c.do(p)
			if got := p.status(); got != c.want {
				t.Errorf("the peer was told %v, expected %v", got, c.want)
			}
			if o := <-end; o.channel != nil || !errors.Is(o.err, c.want) {
				t.Errorf("Accept returned %v, expected %v", o.err, c.want)
			}
		})
	}
}

// TestChannelRefusals: the same on an open channel.
func TestChannelRefusals(t *testing.T) {
	body := make([]byte, 100)
	for _, c := range []struct {
		name string
		do   func(p *peer)
		want ua.StatusCode
	}{
		{"oversized chunk", func(p *peer) { p.raw("MSGF", make([]byte, 65536)) }, ua.StatusBadTCPMessageTooLarge},
		{"huge size, little data", func(p *peer) { p.conn.Write([]byte("MSGF\xff\xff\xff\xff")) }, ua.StatusBadTCPMessageTooLarge},
		{"sequence number left out", func(p *peer) { p.sent++; p.send("MSGF", 2, body) }, ua.StatusBadSequenceNumberInvalid},
		{"replayed chunk", func(p *peer) {
			p.send("MSGF", 2, body)
			p.write("MSGF", p.channel, p.token, p.sent, 2, body)
		}, ua.StatusBadSequenceNumberInvalid},
		{"sequence starts over early", func(p *peer) { p.sent = 0; p.send("MSGF", 2, body) }, ua.StatusBadSequenceNumberInvalid},
		{"wrong token", func(p *peer) { p.token++; p.send("MSGF", 2, body) }, ua.StatusBadSecureChannelTokenUnknown},
		{"wrong channel", func(p *peer) { p.channel++; p.send("MSGF", 2, body) }, ua.StatusBadTCPSecureChannelUnknown},
		{"unknown message type", func(p *peer) { p.send("XYZF", 2, body) }, ua.StatusBadTCPMessageTypeInvalid},
		{"second HEL", func(p *peer) { p.hello(65535, 65535, "opc.tcp://x") }, ua.StatusBadTCPMessageTypeInvalid},
		{"unknown chunk type", func(p *peer) { p.send("MSGX", 2, body) }, ua.StatusBadTCPMessageTypeInvalid},
		{"MSG without headers", func(p *peer) { p.raw("MSGF") }, ua.StatusBadTCPMessageTypeInvalid},
		{"CLO of another channel", func(p *peer) { p.channel++; p.send("CLOF", 2, nil) }, ua.StatusBadTCPSecureChannelUnknown},
		{"second issue", func(p *peer) { p.open(0, 1, 0) }, ua.StatusBadRequestTypeInvalid},
		{"renewal of another channel", func(p *peer) { p.channel++; p.open(1, 1, 0) }, ua.StatusBadTCPSecureChannelUnknown},
		{"renewal with another mode", func(p *peer) { p.open(1, 2, 0) }, ua.StatusBadSecurityModeRejected},
		{"renewal with another policy", func(p *peer) {
			p.raw("OPNF", le(p.channel), text(ua.SecurityPolicyURIBasic256Sha256), le(0xffffffff, 0xffffffff), make([]byte, 256))
		}, ua.StatusBadSecurityChecksFailed},
		{"OPN without headers", func(p *peer) { p.raw("OPNF") }, ua.StatusBadTCPMessageTypeInvalid},
		{"endless chunks", func(p *peer) {
			for range 600 {
				p.send("MSGC", 2, nil)
			}
		}, ua.StatusBadTCPMessageTooLarge},
		{"endless message", func(p *peer) {
			for range 5 {
				p.send("MSGC", 2, make([]byte, 30000))
			}
		}, ua.StatusBadTCPMessageTooLarge},
		{"two messages mixed", func(p *peer) { p.send("MSGC", 2, body); p.send("MSGF", 3, body) }, ua.StatusBadSecurityChecksFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig()
			cfg.MaxMessage = 100_000
			p, end := attend(t, cfg)
			p.handshake(60_000)
			c.do(p)
			if got := p.status(); got != c.want {
				t.Errorf("the peer was told %v, expected %v", got, c.want)
			}
			if o := <-end; !errors.Is(o.err, c.want) {
				t.Errorf("Receive returned %v, expected %v", o.err, c.want)
			}
		})
	}
}

// TestEndings: a channel that ends without anybody at fault gets no ERR.
func TestEndings(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(p *peer)
		want error
	}{
		{"CLO", func(p *peer) { p.send("CLOF", 2, nil) }, io.EOF},
		{"connection closed", func(p *peer) { p.conn.Close() }, io.EOF},
		{"closed within a chunk", func(p *peer) { p.conn.Write([]byte("MSGF\xff")); p.conn.Close() }, io.ErrUnexpectedEOF},
		{"the peer's ERR", func(p *peer) { p.raw("ERRF", le(uint32(ua.StatusBadTCPServerTooBusy)), text("enough")) }, ua.StatusBadTCPServerTooBusy},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, end := attend(t, testConfig())
			p.handshake(60_000)
			c.do(p)
			if o := <-end; !errors.Is(o.err, c.want) {
				t.Errorf("Receive returned %v, expected %v", o.err, c.want)
			}
			if kind, body := p.read(); body != nil {
				t.Errorf("the peer got %s", kind)
			}
		})
	}
}

// TestSealRefusals: a chunk changed in any single place is refused, whatever its policy.
func TestSealRefusals(t *testing.T) {
	for _, s := range every()[1:] {
		t.Run(s.PolicyURI[len(ua.SecurityPolicyURIPrefix):]+" "+s.Mode.String(), func(t *testing.T) {
			c, p := established(t, testConfig(), s)
			good := p.sealed("MSGF", p.channel, p.token, 1, 5, []byte("0123456789"))
			for i := symmetricEnd; i < len(good); i++ {
				bad := bytes.Clone(good)
				bad[i] ^= 0x40
				if _, ok := c.from.now.open.open(bad); ok {
					t.Errorf("byte %d of %d changed and not noticed", i, len(good))
				}
			}
			for n := bodyStart; n < len(good); n++ {
				if _, ok := c.from.now.open.open(bytes.Clone(good[:n])); ok {
					t.Errorf("cut to %d of %d bytes and not noticed", n, len(good))
				}
			}
			if plain, ok := c.from.now.open.open(good); !ok || string(plain[bodyStart:]) != "0123456789" {
				t.Errorf("untouched chunk: %v %q", ok, plain)
			}
		})
	}
}
