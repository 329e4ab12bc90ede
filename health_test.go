package main

import (
	"fmt"
	"net"
	"strings"
	"syscall"
	"testing"

	"github.com/gopcua/opcua/id"
	"github.com/gopcua/opcua/server"
	"github.com/gopcua/opcua/ua"
)

// A server that runs is healthy; the port of none, and of something else, is not.
func TestHealth(t *testing.T) {
	endpoint := fmt.Sprintf("opc.tcp://127.0.0.1:%d", freePort(t))
	alone(t)
	s := start(t, "", "serve", "--listen", endpoint, "--rt", "off", profile(t, "plc: {"+relaxedPLC+"}"))
	c := start(t, "", "health", endpoint, "--wait", "60s")
	if code := c.code(); code != exitPass || c.stdout.String() != endpoint+": Running\n" {
		t.Errorf("a server that runs: exit %d, %q", code, c.stdout.String())
	}
	s.signal(syscall.SIGINT)
	s.code()
	refusedBy(t, endpoint, "opcycle serve")

	l, err := net.Listen("tcp", "127.0.0.1:0") // it takes connections and says nothing
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	refusedBy(t, "opc.tcp://"+l.Addr().String(), "connect to")
	for _, bad := range []string{"127.0.0.1:4840", "opc.tcp://127.0.0.1:0", "http://127.0.0.1:4840", ""} {
		refusedBy(t, bad, "no endpoint")
	}
	if said := refused(t, "health", "--wait", "-1s"); !strings.Contains(said, "--wait -1s") {
		t.Errorf("said %q", said)
	}
}

func refusedBy(t *testing.T, endpoint, says string) {
	t.Helper()
	if said := refused(t, "health", endpoint); !strings.Contains(said, says) {
		t.Errorf("%q: said %q", endpoint, said)
	}
}

// A server that answers and does not run is unhealthy: exit 1.
func TestHealthOfAServerThatDoesNotRun(t *testing.T) {
	port := freePort(t)
	s := server.New(server.EnableSecurity("None", ua.MessageSecurityModeNone), server.EnableAuthMode(ua.UserTokenTypeAnonymous), server.EndPoint("127.0.0.1", port))
	s.Node(ua.NewNumericNodeID(0, id.Server_ServerStatus_State)).SetAttribute(ua.AttributeIDValue, server.DataValueFromValue(int32(ua.ServerStateSuspended)))
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := start(t, "", "health", fmt.Sprintf("opc.tcp://127.0.0.1:%d", port))
	if code := c.code(); code != exitFailed || !strings.HasSuffix(c.stdout.String(), ": Suspended\n") {
		t.Errorf("exit %d, %q", code, c.stdout.String())
	}
	contains(t, refused(t, "measure", fmt.Sprintf("opc.tcp://127.0.0.1:%d", port)), "it is not an opcycle server; measure needs `opcycle serve` at the other end")
}
