package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
)

// Flags that would do nothing are not there, and what is no endpoint is told what one is.
func TestServeAndMeasureRefuse(t *testing.T) {
	for _, tc := range []struct {
		args string
		want []string
	}{
		{"serve --duration 10s", []string{"--duration"}},
		{"serve --warm-up 1s", []string{"--warm-up"}},
		{"serve --out x", []string{"--out"}},
		{"serve --client-cpus 1", []string{"--client-cpus"}},
		{"serve --clients 2", []string{"--clients"}},
		{"serve --listen nowhere", []string{"--listen: ", `"nowhere" is no endpoint; write opc.tcp://host:port`}},
		{"serve --listen opc.tcp://127.0.0.1", []string{"--listen: ", "no endpoint"}},
		{"measure", []string{"measure: no server; write opcycle measure opc.tcp://HOST:4840"}},
		{"measure opc.tcp://a:1 quick more", []string{`measure: "more": one server and at most one profile`}},
		{"measure garbage", []string{`measure: "garbage" is no endpoint to connect to; write opc.tcp://host:port`}},
		{"measure opc.tcp://127.0.0.1:0", []string{"no endpoint to connect to"}},
		{"deploy podman --side client --server opc.tcp://plc-a", []string{`deploy --server: "opc.tcp://plc-a" is no endpoint to connect to`}},
		{"deploy quadlet --side client", []string{"--server opc.tcp://HOST:4840"}},
		{"measure http://127.0.0.1:4840", []string{"no endpoint to connect to"}},
	} {
		var out, err strings.Builder
		if code := execute(strings.Fields(tc.args), &out, &err); code != exitNotMeasured || out.Len() > 0 {
			t.Errorf("%s: exit %d, said %q", tc.args, code, out.String())
		}
		contains(t, err.String(), tc.want...)
	}
}

// The flag goes before the profile, the profile before the default; a cycle that does not
// divide a minute is no matter to a server.
func TestWhereServeListens(t *testing.T) {
	for _, tc := range []struct {
		name, listen string
		given        bool
		profile      []string
		want         string
	}{
		{"default", "", false, nil, defaultListen},
		{"profile", "", false, []string{"opcua: {endpoint: 'opc.tcp://127.0.0.1:7'}"}, "opc.tcp://127.0.0.1:7"},
		{"flag", "opc.tcp://127.0.0.1:8", true, nil, "opc.tcp://127.0.0.1:8"},
		{"flag and profile", "opc.tcp://127.0.0.1:8", true, []string{"opcua: {endpoint: 'opc.tcp://127.0.0.1:7'}"}, "opc.tcp://127.0.0.1:8"},
	} {
		file := "single-node"
		if tc.profile != nil {
			file = profile(t, tc.profile...)
		}
		_, plan, _, err := planWith(file, map[string]string{"interval": "7ms"}, served(tc.listen, tc.given))
		if err != nil || plan.OPCUA.Endpoint != tc.want {
			t.Errorf("%s: %q, %v", tc.name, plan.OPCUA.Endpoint, err)
		}
	}
}

// Two versions are two versions, and one that does not say its own is another.
func TestOtherVersion(t *testing.T) {
	own := tool()
	for _, tc := range []struct {
		server bench.Tool
		want   string
	}{
		{own, ""},
		{bench.Tool{Version: own.Version, Commit: "abc"}, " abc, this one is "},
		{bench.Tool{Version: "v0.0.1", Commit: own.Commit}, "the server is opcycle v0.0.1"},
		{bench.Tool{}, "does not say its version"},
	} {
		if got := otherVersion(tc.server); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
			t.Errorf("%+v: %q, want %q", tc.server, got, tc.want)
		}
	}
}

// The task is the server's; a client that hosts the program says what it calculates.
func TestTaskOfTheServer(t *testing.T) {
	own := bench.Task{Iterations: 7, Target: time.Second, Priority: 11, Workload: "FLOAT"}
	server := bench.Task{Host: bench.HostServer, Iterations: 200, Priority: 80, Workload: "MEMORY", ThiefAbove: 3, Spin: 4}
	client := server
	client.Host = bench.HostClient
	its := client
	its.Priority = 11
	both := its
	both.Iterations, both.Target = 7, time.Second
	for i, tc := range []struct {
		announced bench.Task
		given     map[string]string
		want      bench.Task
	}{
		{server, nil, server},
		{client, nil, its},
		{client, map[string]string{"iterations": "7"}, both},
	} {
		if got := taskOf(tc.announced, own, tc.given); got != tc.want {
			t.Errorf("%d: %+v, want %+v", i, got, tc.want)
		}
	}
}

// "auto" is found before the server announces its task, and the report says what it ran.
func TestServeFindsItsIterations(t *testing.T) {
	alone(t)
	endpoint := fmt.Sprintf("opc.tcp://127.0.0.1:%d", freePort(t))
	server := start(t, "", "serve", "--listen", endpoint, "--interval", "50ms", "--iterations", "auto")
	server.says("Ctrl-C ends it")
	said := server.stdout.String()
	var n int64
	if _, err := fmt.Sscanf(said[strings.Index(said, "FLOAT"):], "FLOAT %d iterations", &n); err != nil || n < 1 {
		t.Errorf("%d iterations, %v: %s", n, err, said)
	}
	contains(t, refused(t, "measure", endpoint, "--iterations", "5"), "--iterations is the server's to say; give it to opcycle serve")
	contains(t, refused(t, "measure", endpoint, "--items", "3"), "--items is the server's to say; give it to opcycle serve")
	out := filepath.Join(t.TempDir(), "out")
	client := start(t, "", "measure", endpoint, "--duration", "1s", "--warm-up", "300ms", "--out", out)
	client.code()
	server.signal(syscall.SIGINT)
	if code := server.code(); code != exitPass {
		t.Errorf("serve ended with %d: %s", code, server.stderr.String())
	}
	f := identities(t, out)
	if f.Plan.Task.Iterations != n || f.Attained.Iterations != n || f.Attained.IterationTime <= 0 {
		t.Errorf("the server ran %d iterations, the report says %d, attained %d of %v ns", n, f.Plan.Task.Iterations, f.Attained.Iterations, f.Attained.IterationTime)
	}
}
