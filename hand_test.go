package main

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"opcycle/bench"
	"opcycle/judge"
)

// serve and measure, started by hand against each other, measure what the client's side
// can tell, and say n/a for the rest.
func TestServeAndMeasureByHand(t *testing.T) {
	for _, host := range []bench.PLCHost{bench.HostServer, bench.HostClient} {
		t.Run(string(host), func(t *testing.T) {
			alone(t)
			endpoint := fmt.Sprintf("opc.tcp://127.0.0.1:%d", freePort(t))
			server := start(t, "", "serve", "--listen", endpoint, profile(t,
				fmt.Sprintf("plc: {%s, host: %s}", relaxedPLC, host), "opcua: {items: 3}"))
			server.says(endpoint)
			out := filepath.Join(t.TempDir(), "out")
			client := start(t, "", "measure", endpoint, "--duration", "2s", "--warm-up", "500ms", "--out", out)
			code := client.code()
			server.signal(syscall.SIGINT)
			if got := server.code(); got != exitPass {
				t.Errorf("serve ended with %d", got)
			}
			leftNothing(t, out)
			var executed, skipped, sent int64
			line := lastLine(server.stdout.String())
			if _, err := fmt.Sscanf(line, "executed %d releases, skipped %d, sent %d notification messages", &executed, &skipped, &sent); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			f := identities(t, out)
			if !f.Complete || f.Phase.N != 40 || f.Plan.Task.Host != host || f.Plan.OPCUA.Items != 3 || len(f.Invalid) != 0 {
				t.Errorf("exit %d, complete %v, invalid %q, %d cycles, host %s, %d items", code, f.Complete, f.Invalid, f.Phase.N, f.Plan.Task.Host, f.Plan.OPCUA.Items)
			}
			n := counts{t, f}
			if m := n.get("packets", "messages"); executed < 40-skipped || sent < m {
				t.Errorf("served %d releases and %d messages, the client got %d messages", executed, sent, m)
			}
			// The server's own log is not here: nothing may pretend it was.
			for _, name := range []string{"server_transmit_time", "network_time"} {
				if s := judge.FindSeries(&f, "", name); s == nil || s.Count != 0 || s.NA == "" {
					t.Errorf("%s without the server's log: %+v", name, s)
				}
			}
			for _, name := range []string{"arrival_offset", "inter_arrival_deviation", "client_receive_time"} { // one clock
				if s := judge.FindSeries(&f, "", name); s == nil || s.Count < 10 {
					t.Errorf("%s: %+v", name, s)
				}
			}
			if host == bench.HostServer && strings.Contains(client.stdout.String(), "skipped_release") {
				t.Error("the client alone cannot know of a task's skipped releases elsewhere")
			}
			reportsTheSame(t, client, out, code)
			t.Run("ends well", func(t *testing.T) {
				if code != exitPass && code != exitFailed {
					t.Errorf("exit %d: %s", code, verdictLine(client.stdout.String()))
				}
			})
			t.Run("iterations of the server", func(t *testing.T) {
				if got := f.Plan.Task.Iterations; host == bench.HostServer && got != 200 {
					t.Errorf("the report says %d iterations, the server ran 200", got)
				}
			})
		})
	}
}

func lastLine(s string) string {
	s = strings.TrimRight(s, "\n")
	return s[strings.LastIndexByte(s, '\n')+1:]
}

func TestServeSaysThatThePortIsTaken(t *testing.T) {
	alone(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	contains(t, refused(t, "serve", "--listen", "opc.tcp://"+l.Addr().String()), "in use; another server has this port: end it, or take another port")
}

// Two measurements on one CPU would measure each other.
func TestASecondRunOnTheSameCPUIsRefused(t *testing.T) {
	alone(t)
	first := start(t, "", "serve", "--listen", "opc.tcp://127.0.0.1:0", profile(t, "plc: {"+relaxedPLC+"}"))
	first.says("Ctrl-C ends it")
	contains(t, refused(t, "run", "quick", "--out", "out"), "another opcycle process", "--server-cpus")
	first.signal(syscall.SIGTERM)
	if code := first.code(); code != exitPass {
		t.Errorf("exit %d", code)
	}
}

// The endpoint that serve takes is held to the rule of the profile's key, and a profile
// that names one is not overruled in silence.
func TestServeChecksItsEndpoint(t *testing.T) {
	t.Run("no endpoint", func(t *testing.T) {
		alone(t)
		contains(t, refused(t, "serve", "--listen", "nowhere"), "--listen", "nowhere", "opc.tcp://host:port")
	})
	t.Run("of the profile", func(t *testing.T) {
		alone(t)
		endpoint := "opc.tcp://127.0.0.1:" + strconv.Itoa(freePort(t))
		c := start(t, "", "serve", profile(t, "opcua: {endpoint: '"+endpoint+"'}", "plc: {"+relaxedPLC+"}"))
		c.says("Ctrl-C ends it")
		c.signal(syscall.SIGINT)
		c.code()
		contains(t, c.stdout.String(), endpoint)
	})
}
