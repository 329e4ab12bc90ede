package wire

import (
	"context"
	"testing"

	awcullen "github.com/awcullen/opcua/client"
	awua "github.com/awcullen/opcua/ua"
	"github.com/gopcua/opcua/ua"
)

// TestAwcullen connects the second, independent client.
func TestAwcullen(t *testing.T) {
	serverCert, serverKey := identity(t, "urn:wire:server", 2048)
	clientCert, clientKey := identity(t, "urn:wire:client", 2048)
	for _, s := range every() {
		name := s.PolicyURI[len(ua.SecurityPolicyURIPrefix):] + " " + s.Mode.String()
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cfg := testConfig()
			cfg.Security, cfg.Certificate, cfg.Key = every(), serverCert, serverKey
			address := serve(t, cfg, func(c *Channel) { answer(t, c) })
			ctx, cancel := context.WithTimeout(context.Background(), patience)
			defer cancel()
			client, err := awcullen.Dial(ctx, "opc.tcp://"+address, awcullen.WithInsecureSkipVerify(),
				awcullen.WithClientCertificate(clientCert, clientKey),
				awcullen.WithSecurityPolicyURI(s.PolicyURI, awua.MessageSecurityMode(s.Mode)))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close(ctx)
			response, err := client.Read(ctx, &awua.ReadRequest{NodesToRead: []awua.ReadValueID{
				{NodeID: awua.NewNodeIDNumeric(1, 7), AttributeID: awua.AttributeIDValue}}})
			if err != nil {
				t.Fatal(err)
			}
			if got := response.Results[0].Value; got != uint32(7) {
				t.Fatalf("read %v", got)
			}
		})
	}
}
