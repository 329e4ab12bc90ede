package wire

import (
	"context"
	"crypto/rsa"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gopcua/opcua"
	"github.com/gopcua/opcua/ua"
)

// patience is how long a test waits for what should come soon.
const patience = 60 * time.Second

// TestGopcua connects gopcua's client over every policy and mode and reads through
// three renewals: by its own timer, where at 1.25 x the first token's life it would have gone
// deaf with a token id that equals the channel id or is given twice; under
// the race detector, which finds a race inside the client then, by its Renew.
func TestGopcua(t *testing.T) {
	serverCert, serverKey := identity(t, "urn:wire:server", 2048)
	clientCert, clientKey := identity(t, "urn:wire:client", 2048)
	bigCert, bigKey := identity(t, "urn:wire:client", 3072) // its padding has a second size byte
	for _, s := range every() {
		name := s.PolicyURI[len(ua.SecurityPolicyURIPrefix):] + " " + s.Mode.String()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig()
			cfg.Security, cfg.Certificate, cfg.Key = every(), serverCert, serverKey
			var channel atomic.Pointer[Channel]
			address := serve(t, cfg, func(c *Channel) {
				channel.Store(c) // the last one is the session's
				answer(t, c)
			})
			cert, key := clientCert, clientKey
			if s.Mode == ua.MessageSecurityModeSign {
				cert, key = bigCert, bigKey
			}
			client := connect(t, "opc.tcp://"+address, s, cert, key)
			throughRenewals(t, client, channel.Load())
		})
	}
}

// TestUnevenBuffers: a client with a small receive buffer gets multi-chunk answers; it
// takes the server's ReceiveBufSize as its own and died with EOF when the server announced two sizes.
func TestUnevenBuffers(t *testing.T) {
	var channel atomic.Pointer[Channel]
	address := serve(t, testConfig(), func(c *Channel) {
		channel.Store(c)
		answer(t, c)
	})
	client := connect(t, "opc.tcp://"+address, none()[0], nil, nil, opcua.ReceiveBufferSize(8192))
	read(t, client, 1, 6000)
	if got := channel.Load().Buffer(); got != 8192 {
		t.Errorf("chunks of %d bytes", got)
	}
}

// connect asks for the endpoints and connects to the one with that security.
func connect(t *testing.T, url string, s Security, cert []byte, key *rsa.PrivateKey, more ...opcua.Option) *opcua.Client {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	list, err := opcua.GetEndpoints(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	endpoint, err := opcua.SelectEndpoint(list, s.PolicyURI, s.Mode)
	if err != nil {
		t.Fatal(err)
	}
	life := 2 * time.Second
	if raceDetector {
		life = time.Hour
	}
	options := []opcua.Option{opcua.SecurityFromEndpoint(endpoint, ua.UserTokenTypeAnonymous), opcua.Lifetime(life), opcua.AutoReconnect(false)}
	if s.PolicyURI != ua.SecurityPolicyURINone {
		options = append(options, opcua.Certificate(cert), opcua.PrivateKey(key))
	}
	client, err := opcua.NewClient(url, append(options, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Connect(ctx); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Close(context.Background()) })
	if got := client.Namespaces(); len(got) != 2 {
		t.Fatalf("namespaces %q", got)
	}
	return client
}

// throughRenewals reads small and multi-chunk values until the token was renewed three times.
func throughRenewals(t *testing.T, client *opcua.Client, channel *Channel) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for n := 1; channel.Counters().Renewals < 3; n++ {
		<-pace.C
		items := 1
		if n%20 == 0 {
			items = 6000 // several chunks both ways
		}
		read(t, client, uint32(n), items)
		if raceDetector && n%25 == 0 {
			if err := client.SecureChannel().Renew(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// read reads one node many times in one request and checks the last value.
func read(t *testing.T, client *opcua.Client, n uint32, items int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request := &ua.ReadRequest{NodesToRead: make([]*ua.ReadValueID, items)}
	for i := range request.NodesToRead {
		request.NodesToRead[i] = &ua.ReadValueID{NodeID: ua.NewNumericNodeID(1, n), AttributeID: ua.AttributeIDValue, DataEncoding: &ua.QualifiedName{}}
	}
	response, err := client.Read(ctx, request)
	if err != nil {
		t.Fatalf("read %d: %v", n, err)
	}
	if got := response.Results[len(response.Results)-1].Value.Value(); len(response.Results) != items || got != n {
		t.Fatalf("read %d: %d results, the last is %v", n, len(response.Results), got)
	}
}
