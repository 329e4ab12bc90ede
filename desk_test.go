package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"opcycle/bench"
)

// waiting starts serve without a plan.
func waiting(t *testing.T) (server *command, endpoint string) {
	t.Helper()
	endpoint = fmt.Sprintf("opc.tcp://127.0.0.1:%d", freePort(t))
	server = start(t, "", "serve", "--listen", endpoint)
	server.says("waits for a plan")
	return server, endpoint
}

// relaxed are flags of measure for a short run of a server that waits.
func relaxed(out string) []string {
	return []string{"--interval", "50ms", "--iterations", "200", "--duration", "1s", "--warm-up", "300ms", "--out", out}
}

// A server that waits is brought the plan, runs it, and waits again; meanwhile it is
// nobody else's, and a client that is killed gives it back.
func TestAServerThatWaitsForAPlan(t *testing.T) {
	alone(t)
	server, endpoint := waiting(t)
	contains(t, refused(t, "measure", endpoint, "--server-cpus", "4095"), "refuses Prepare", "placement.server_cpus 4095", "CPU 4095 is not online")
	contains(t, refused(t, "measure", endpoint, "--duration", "1ms"), "--duration", "no whole number of cycles")

	first := start(t, "", append([]string{"measure", endpoint, "single-node", "--items", "3", "--duration", "30s"}, relaxed(filepath.Join(t.TempDir(), "lost"))[:4]...)...)
	first.phase(bench.PhaseMeasure)
	contains(t, refused(t, "measure", endpoint), "another run is on", ":opcycle:measure at 127.0.0.1:", "since 20", "it ends with its client's session")
	first.signal(syscall.SIGKILL)
	server.says("its client is gone; executed")

	out := filepath.Join(t.TempDir(), "out")
	second := start(t, "", append([]string{"measure", endpoint, "--plc", "client"}, relaxed(out)...)...)
	code := second.code()
	f := identities(t, out)
	if code == exitNotMeasured || !f.Complete || len(f.Invalid) != 0 || f.Phase.N != 20 || f.Plan.Task.Host != bench.HostClient || f.Plan.Task.Iterations != 200 || len(f.Processes) != 2 {
		t.Errorf("exit %d, complete %v, invalid %q, %d cycles, host %s, %d iterations, %d processes",
			code, f.Complete, f.Invalid, f.Phase.N, f.Plan.Task.Host, f.Plan.Task.Iterations, len(f.Processes))
	}
	server.says("its client stopped it; executed")
	server.signal(syscall.SIGINT)
	if code := server.code(); code != exitPass {
		t.Errorf("serve ended with %d", code)
	}
	leftNothing(t, out)
}

// A server with a task of its own takes no other.
func TestAServerWithATaskTakesNoPlan(t *testing.T) {
	alone(t)
	endpoint := fmt.Sprintf("opc.tcp://127.0.0.1:%d", freePort(t))
	server := start(t, "", "serve", "--listen", endpoint, "--interval", "50ms", "--iterations", "0")
	server.says("Ctrl-C ends it")
	said := refused(t, "measure", endpoint, "quick")
	contains(t, said, "quick: the server at "+endpoint+" has a task of its own; leave the profile away")
	if strings.Contains(said, "waits") {
		t.Error(said)
	}
	server.signal(syscall.SIGINT)
	server.code()
}
