package wire

import (
	"bytes"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"
)

// offline is a channel over a byte stream, without a socket or a goroutine.
func offline(tb testing.TB, stream []byte) *Channel {
	cfg := testConfig()
	cfg.SendNow = func(_ uintptr, p []byte) (int, error) { return len(p), nil }
	cfg.MaxMessage = 100_000
	cfg = cfg.withDefaults()
	c := newChannel(nil, cfg, cfg.Buffer)
	c.in.src = bytes.NewReader(stream)
	return c
}

// FuzzReceive feeds a stream to an open channel, policy None and SignAndEncrypt. Whatever comes,
// it ends with an error, no body exceeds the limit, and nothing panics.
func FuzzReceive(f *testing.F) {
	p := &peer{tb: f, channel: 1, token: 77}
	request := p.sealed("MSGF", 1, 77, 1, 2, []byte("request"))
	chunks := bytes.Join([][]byte{
		p.sealed("MSGC", 1, 77, 1, 2, []byte("one ")), p.sealed("MSGC", 1, 77, 2, 2, []byte("two ")), p.sealed("MSGF", 1, 77, 3, 2, []byte("three"))}, nil)
	renewal := append([]byte("OPNF\x00\x00\x00\x00"), bytes.Join([][]byte{
		le(1), text(ua.SecurityPolicyURINone), le(0xffffffff, 0xffffffff), le(1, 1), openBody(1, 1, 1000)}, nil)...)
	put32(renewal[sizeOffset:], uint32(len(renewal)))
	for _, seed := range [][]byte{request, chunks, renewal, append(bytes.Clone(renewal), p.sealed("MSGF", 1, 2, 2, 2, nil)...),
		p.sealed("MSGA", 1, 77, 1, 2, append(le(0x80000000), text("no")...)), p.sealed("CLOF", 1, 77, 1, 2, nil),
		append([]byte("ERRF\x10\x00\x00\x00"), le(0x80000000, 0)...), []byte("HELF"), []byte("MSGF\xff\xff\xff\xff")} {
		f.Add(seed, false)
	}
	secure := Security{ua.SecurityPolicyURIBasic256Sha256, ua.MessageSecurityModeSignAndEncrypt}
	open, err := derive(secure, make([]byte, 32), make([]byte, 32), false)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(append([]byte("MSGF\x50\x00\x00\x00"), make([]byte, 72)...), true)
	f.Fuzz(func(t *testing.T, stream []byte, sealed bool) {
		c := offline(t, stream)
		tk := &token{id: 77, created: time.Now(), life: time.Hour}
		c.security = none()[0]
		if sealed {
			tk.open, c.security = open, secure
		}
		c.from.now, c.tokens.next = tk, tk
		c.adopt()
		for range len(stream)/bodyStart + 2 {
			r, err := c.Receive()
			if err != nil {
				if c.ending.state.Load() != ended {
					t.Errorf("%v, and the channel goes on", err)
				}
				return
			}
			if len(r.Body) > int(c.cfg.MaxMessage) {
				t.Errorf("a body of %d bytes", len(r.Body))
			}
		}
		t.Error("more requests than chunks")
	})
}

// FuzzOpen feeds what a stranger sends first: HEL and OPN, with and without security.
func FuzzOpen(f *testing.F) {
	certificate, key := identity(f, "urn:wire:server", 2048)
	hel := append([]byte("HELF\x38\x00\x00\x00"), append(le(0, 65535, 65535, 0, 0), text("opc.tcp://127.0.0.1:4840")...)...)
	opn := func(policy string, rest ...[]byte) []byte {
		b := append([]byte("OPNF\x00\x00\x00\x00"), append(append(le(0), text(policy)...), bytes.Join(rest, nil)...)...)
		put32(b[sizeOffset:], uint32(len(b)))
		return b
	}
	null := le(0xffffffff, 0xffffffff)
	f.Add(hel, opn(ua.SecurityPolicyURINone, null, le(1, 1), openBody(0, 1, 1000)))
	f.Add(hel, opn(ua.SecurityPolicyURIBasic256Sha256, text(string(certificate)), text("01234567890123456789"), make([]byte, 512)))
	f.Fuzz(func(t *testing.T, first, second []byte) {
		if len(first) >= headerSize {
			if h, err := parseHello(first); err == nil && h.ReceiveBufSize < minBuffer {
				t.Errorf("took %+v", h)
			}
		}
		c := offline(t, nil)
		c.cfg.Security, c.cfg.Certificate, c.cfg.Key = every(), certificate, key
		if len(second) < headerSize {
			return
		}
		if err := c.issue(second); err == nil && (c.security != none()[0] || c.tokens.now == nil) {
			t.Errorf("opened %v", c.security)
		}
	})
}
