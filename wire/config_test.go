package wire

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/gopcua/opcua/ua"
	"github.com/gopcua/opcua/uapolicy"
)

// TestValidate: every complaint comes at once and says the way out.
func TestValidate(t *testing.T) {
	if err := testConfig().Validate(); err != nil {
		t.Errorf("the test's own configuration: %v", err)
	}
	secure := func(uri string, mode ua.MessageSecurityMode) func(*Config) {
		return func(c *Config) { c.Security = []Security{{uri, mode}} }
	}
	for _, c := range []struct {
		name   string
		change func(*Config)
		want   string
	}{
		{"no channel id", func(c *Config) { c.ChannelID = 0 }, "channel id 0"},
		{"small buffer", func(c *Config) { c.Buffer = 8191 }, "buffer 8191"},
		{"backlog below a chunk", func(c *Config) { c.Backlog = 65534 }, "backlog 65534"},
		{"no write", func(c *Config) { c.SendNow = nil }, "SendNow"},
		{"negative timeout", func(c *Config) { c.HelloTimeout = -1 }, "negative timeout"},
		{"lives swapped", func(c *Config) { c.MinLifetime, c.MaxLifetime = time.Hour, time.Minute }, "token life"},
		{"no security", func(c *Config) { c.Security = nil }, "no security"},
		{"deprecated", secure(ua.SecurityPolicyURIBasic128Rsa15, ua.MessageSecurityModeSign), "deprecated"},
		{"None signed", secure(ua.SecurityPolicyURINone, ua.MessageSecurityModeSign), "does not go with"},
		{"policy unsigned", secure(ua.SecurityPolicyURIBasic256Sha256, ua.MessageSecurityModeNone), "does not go with"},
		{"no certificate", secure(ua.SecurityPolicyURIBasic256Sha256, ua.MessageSecurityModeSign), "certificate"},
		{"two at once", func(c *Config) { c.ChannelID, c.SendNow = 0, nil }, "channel id 0 means `none yet`: give every channel its own from 1\nwire: no SendNow"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := testConfig()
			c.change(&cfg)
			if err := cfg.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: expected %q", err, c.want)
			}
			server, client := connection(t)
			if _, err := Accept(server, cfg); err == nil {
				t.Error("Accept took it")
			}
			if _, err := client.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
				t.Errorf("Accept left the connection open: %v", err)
			}
		})
	}
}

// TestNestedRequest: the deepest nesting that the default limit lets through does not
// overflow the stack in gopcua's decoder.
func TestNestedRequest(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector makes the recursion slow and its frames larger; the run without it proves this")
	}
	n := int(testConfig().withDefaults().MaxMessage)
	variant := bytes.Repeat([]byte{byte(ua.TypeIDDataValue), ua.DataValueValue}, n/2)
	if _, err := new(ua.Variant).Decode(variant); err == nil {
		t.Error("a Variant without an end decoded")
	}
	if _, err := new(ua.DiagnosticInfo).Decode(bytes.Repeat([]byte{ua.DiagnosticInfoInnerDiagnosticInfo}, n)); err == nil {
		t.Error("a DiagnosticInfo without an end decoded")
	}
}

// TestAcknowledge: the ACK announces one size for both directions, the smallest of all three.
func TestAcknowledge(t *testing.T) {
	for _, c := range []struct {
		name                      string
		ours, receive, send, want uint32
	}{
		{"all equal", 65535, 65535, 65535, 65535},
		{"we are small", 8192, 65535, 65536, 8192},
		{"the client receives little", 65535, 8192, 65535, 8192},
		{"the client sends little", 65535, 65536, 9000, 9000},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := testConfig()
			cfg.Buffer = c.ours
			p, end := attend(t, cfg)
			p.hello(c.receive, c.send, "opc.tcp://127.0.0.1:4840")
			kind, body := p.read()
			if kind != "ACKF" || len(body) != 20 || u32(body) != 0 || u32(body[4:]) != c.want || u32(body[8:]) != c.want ||
				u32(body[12:]) != 512<<10 || u32(body[16:]) != 512 {
				t.Errorf("%s %v: expected %d twice", kind, body, c.want)
			}
			p.open(0, 1, 0)
			p.granted()
			p.send("CLOF", 2, nil)
			o := <-end
			if !errors.Is(o.err, io.EOF) || o.channel.Buffer() != int(c.want) {
				t.Errorf("ended with %v", o.err)
			}
		})
	}
}

// TestSecureOpenRefusals: who asks for a secure channel and can not prove who he is.
func TestSecureOpenRefusals(t *testing.T) {
	ours, key := identity(t, "urn:wire:server", 2048)
	theirs, _ := identity(t, "urn:wire:client", 2048)
	weak, _ := identity(t, "urn:wire:client", 1024)
	good := uapolicy.Thumbprint(ours)
	distrust := errors.New("not on the list")
	for _, c := range []struct {
		name        string
		certificate []byte
		thumbprint  []byte
		sealed      int
		verify      func([]byte) error
		want        ua.StatusCode
	}{
		{"no certificate", nil, good, 512, nil, ua.StatusBadCertificateInvalid},
		{"garbage for a certificate", make([]byte, 300), good, 512, nil, ua.StatusBadCertificateInvalid},
		{"sealed for another server", theirs, make([]byte, 20), 512, nil, ua.StatusBadCertificateInvalid},
		{"key too short for the policy", weak, good, 512, nil, ua.StatusBadCertificatePolicyCheckFailed},
		{"not trusted", theirs, good, 512, func([]byte) error { return distrust }, ua.StatusBadCertificateUntrusted},
		{"not trusted with a status", theirs, good, 512, func([]byte) error { return ua.StatusBadCertificateRevoked }, ua.StatusBadCertificateRevoked},
		{"without the key", theirs, good, 512, nil, ua.StatusBadSecurityChecksFailed},
		{"not whole blocks", theirs, good, 511, nil, ua.StatusBadSecurityChecksFailed},
		{"nothing sealed", theirs, good, 0, nil, ua.StatusBadSecurityChecksFailed},
		{"work for a thousand RSA operations", theirs, good, 256 * 200, nil, ua.StatusBadSecurityChecksFailed},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig()
			cfg.Security, cfg.Certificate, cfg.Key, cfg.VerifyClient = every(), ours, key, c.verify
			p, end := attend(t, cfg)
			p.hello(65535, 65535, "opc.tcp://127.0.0.1:4840")
			p.read()
			p.raw("OPNF", le(0), text(ua.SecurityPolicyURIBasic256Sha256), text(string(c.certificate)), text(string(c.thumbprint)), make([]byte, c.sealed))
			if got := p.status(); got != c.want {
				t.Errorf("the peer was told %v, expected %v", got, c.want)
			}
			if o := <-end; !errors.Is(o.err, c.want) {
				t.Errorf("Accept returned %v", o.err)
			}
		})
	}
}

// TestSession signs and verifies by the channel's policy, and does neither without one.
func TestSession(t *testing.T) {
	certificate, key := identity(t, "urn:wire:both", 2048)
	data := []byte("certificate and nonce")
	for _, s := range every() {
		if s.PolicyURI == ua.SecurityPolicyURINone {
			c := &Channel{}
			if sum, algorithm, err := c.SignSession(data); sum != nil || algorithm != "" || err != nil || c.VerifySession(data, nil) != nil {
				t.Errorf("None: %v %q %v", sum, algorithm, err)
			}
			continue
		}
		pair, err := newAsymmetric(Config{Certificate: certificate, Key: key},
			openHeader{policy: s.PolicyURI, certificate: certificate, thumbprint: uapolicy.Thumbprint(certificate)})
		if err != nil {
			t.Fatal(err)
		}
		c := &Channel{asymmetric: pair}
		sum, algorithm, err := c.SignSession(data)
		if err != nil || algorithm == "" || c.VerifySession(data, sum) != nil {
			t.Errorf("%v: %q %v", s, algorithm, err)
		}
		if err := c.VerifySession(data[1:], sum); !errors.Is(err, ua.StatusBadApplicationSignatureInvalid) {
			t.Errorf("%v: other data verified: %v", s, err)
		}
	}
}
