package wire

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"io"
	"math/big"
	"net"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/ua"
)

func TestMain(m *testing.M) { checkLeaks(m) }

// none offers no security.
func none() []Security {
	return []Security{{ua.SecurityPolicyURINone, ua.MessageSecurityModeNone}}
}

// every offers all that the package has.
func every() []Security {
	all := none()
	for _, p := range []string{ua.SecurityPolicyURIBasic256Sha256, ua.SecurityPolicyURIAes128Sha256RsaOaep, ua.SecurityPolicyURIAes256Sha256RsaPss} {
		all = append(all, Security{p, ua.MessageSecurityModeSign}, Security{p, ua.MessageSecurityModeSignAndEncrypt})
	}
	return all
}

// testConfig is a small valid configuration. Its tokens live long: on a starved machine a
// renewal comes later than any short life (gopcua's client goes by the shorter one that it asked for).
func testConfig() Config {
	return Config{ChannelID: 1, Security: none(), SendNow: sendNow, MinLifetime: time.Hour}
}

// identity makes a self-signed certificate with an RSA key.
func identity(tb testing.TB, uri string, bits int) ([]byte, *rsa.PrivateKey) {
	tb.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		tb.Fatal(err)
	}
	u, err := url.Parse(uri)
	if err != nil {
		tb.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: uri}, URIs: []*url.URL{u},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageContentCommitment | x509.KeyUsageKeyEncipherment |
			x509.KeyUsageDataEncipherment | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}, BasicConstraintsValid: true, IsCA: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	return der, key
}

// serve accepts connections on a free loopback port; each gets a channel id of its own
// and a goroutine that runs each. At the end of the test everything is closed and waited for.
func serve(tb testing.TB, cfg Config, each func(*Channel)) (address string) {
	tb.Helper()
	l, err := net.ListenTCP("tcp", &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		tb.Fatal(err)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	var channels []*Channel
	all.Go(func() {
		for {
			conn, err := l.AcceptTCP()
			if err != nil {
				return
			}
			cfg.ChannelID++
			cfg := cfg
			all.Go(func() {
				c, err := Accept(conn, cfg)
				if err != nil {
					return
				}
				mu.Lock()
				channels = append(channels, c)
				mu.Unlock()
				each(c)
				c.Close(ua.StatusOK, "")
				c.Wait()
			})
		}
	})
	tb.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, c := range channels {
			c.Close(ua.StatusOK, "")
		}
		mu.Unlock()
		all.Wait()
	})
	return l.Addr().String()
}

// plcAnswers is how many requests may wait for the stand-in of the PLC thread.
const plcAnswers = 64

// answer is a minimal server over one channel: sessions without state, endpoints, and the
// namespace array for every Read, which a second goroutine answers by TrySend as the PLC thread would.
func answer(tb testing.TB, c *Channel) {
	type reply struct {
		id   uint32
		body []byte
	}
	plc, over := make(chan reply, plcAnswers), make(chan struct{})
	go func() {
		defer close(over)
		for r := range plc {
			for sent, err := Refused, error(nil); sent == Refused && err == nil; {
				sent, err = c.TrySend(r.id, r.body)
			}
		}
	}()
	defer func() { close(plc); <-over }()
	for {
		r, err := c.Receive()
		if err != nil {
			if err != ErrClosed && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !isReset(err) {
				tb.Errorf("receive: %v", err)
			}
			tb.Logf("channel %d ended by %v after %+v", c.ID(), err, c.Counters())
			return
		}
		_, request, err := ua.DecodeService(r.Body)
		if err != nil {
			tb.Errorf("decode: %v", err)
			return
		}
		response := respond(tb, c, request.(ua.Request))
		body := encode(tb, response)
		if _, read := request.(*ua.ReadRequest); read {
			plc <- reply{r.ID, body}
			continue
		}
		if err := c.Send(r.ID, body); err != nil && !errors.Is(err, ErrClosed) {
			tb.Errorf("send: %v", err)
			return
		}
	}
}

func isReset(err error) bool {
	var op *net.OpError
	return errors.As(err, &op)
}

// encode is a body: TypeId and service.
func encode(tb testing.TB, service any) []byte {
	typeID := ua.ServiceTypeID(service)
	body, err := ua.Encode(service)
	if err != nil || typeID == 0 {
		tb.Errorf("encode %T: %v", service, err)
	}
	return append([]byte{1, 0, byte(typeID), byte(typeID >> 8)}, body...)
}

// respond builds the answer to the few services that a client needs to connect.
func respond(tb testing.TB, c *Channel, request ua.Request) ua.Response {
	header := &ua.ResponseHeader{
		Timestamp: time.Now(), RequestHandle: request.Header().RequestHandle,
		ServiceDiagnostics: &ua.DiagnosticInfo{}, AdditionalHeader: ua.NewExtensionObject(nil),
	}
	nonce := make([]byte, 32)
	switch r := request.(type) {
	case *ua.GetEndpointsRequest:
		return &ua.GetEndpointsResponse{ResponseHeader: header, Endpoints: endpoints(c)}
	case *ua.CreateSessionRequest:
		signature, algorithm, err := c.SignSession(append(append([]byte{}, r.ClientCertificate...), r.ClientNonce...))
		if err != nil {
			tb.Error(err)
		}
		return &ua.CreateSessionResponse{
			ResponseHeader: header, ServerCertificate: c.ServerCertificate(), SessionID: ua.NewNumericNodeID(1, 1), AuthenticationToken: ua.NewNumericNodeID(1, 2),
			RevisedSessionTimeout: 60000, ServerNonce: nonce, ServerEndpoints: endpoints(c),
			ServerSignature: &ua.SignatureData{Algorithm: algorithm, Signature: signature},
		}
	case *ua.ActivateSessionRequest:
		if err := c.VerifySession(append(append([]byte{}, c.ServerCertificate()...), nonce...), r.ClientSignature.Signature); err != nil {
			tb.Error(err)
		}
		return &ua.ActivateSessionResponse{ResponseHeader: header, ServerNonce: nonce}
	case *ua.CloseSessionRequest:
		return &ua.CloseSessionResponse{ResponseHeader: header}
	case *ua.ReadRequest:
		return &ua.ReadResponse{ResponseHeader: header, Results: values(r.NodesToRead)}
	case *ua.WriteRequest:
		return &ua.WriteResponse{ResponseHeader: header, Results: make([]ua.StatusCode, len(r.NodesToWrite))}
	}
	header.ServiceResult = ua.StatusBadServiceUnsupported
	return &ua.ServiceFault{ResponseHeader: header}
}

// values answers Read: the namespaces for that node, the node id's number for all others.
func values(nodes []*ua.ReadValueID) []*ua.DataValue {
	results := make([]*ua.DataValue, len(nodes))
	for i, n := range nodes {
		v := ua.MustVariant(n.NodeID.IntID())
		if n.NodeID.IntID() == id.Server_NamespaceArray || n.NodeID.IntID() == id.Server_ServerArray {
			v = ua.MustVariant([]string{"http://opcfoundation.org/UA/", "urn:wire:test"})
		}
		results[i] = &ua.DataValue{EncodingMask: ua.DataValueValue, Value: v}
	}
	return results
}

// endpoints lists what the channel's configuration offers under the URL that the client used.
func endpoints(c *Channel) []*ua.EndpointDescription {
	var all []*ua.EndpointDescription
	for _, s := range c.cfg.Security {
		all = append(all, &ua.EndpointDescription{
			EndpointURL: c.EndpointURL(), SecurityPolicyURI: s.PolicyURI, SecurityMode: s.Mode,
			Server: &ua.ApplicationDescription{
				ApplicationURI: "urn:wire:test", ApplicationName: &ua.LocalizedText{}, ApplicationType: ua.ApplicationTypeServer,
			},
			ServerCertificate:   c.ServerCertificate(),
			UserIdentityTokens:  []*ua.UserTokenPolicy{{PolicyID: "anonymous", TokenType: ua.UserTokenTypeAnonymous}},
			TransportProfileURI: "http://opcfoundation.org/UA-Profile/Transport/uatcp-uasc-uabinary",
			SecurityLevel:       uint8(s.Mode),
		})
	}
	return all
}
