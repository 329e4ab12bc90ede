package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"opcycle/bench"
	"opcycle/judge"
)

// namespaces makes two network namespaces joined by a veth pair, 10.99.7.1 and 10.99.7.2,
// and takes them away at the end. Nothing leaves them.
func namespaces(t *testing.T) (one, two string) {
	t.Helper()
	needs(t, os.Geteuid() == 0, "root, to make network namespaces")
	_, err := exec.LookPath("ip")
	needs(t, err == nil, "ip (iproute2)")
	one, two = fmt.Sprintf("opcycle-a-%d", os.Getpid()), fmt.Sprintf("opcycle-b-%d", os.Getpid())
	ip := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
		}
	}
	for _, ns := range []string{one, two} {
		ip("netns", "add", ns)
		t.Cleanup(func() { _ = exec.Command("ip", "netns", "del", ns).Run() })
	}
	ip("link", "add", "opc-a", "netns", one, "type", "veth", "peer", "name", "opc-b", "netns", two)
	for i, side := range []struct{ ns, dev string }{{one, "opc-a"}, {two, "opc-b"}} {
		ip("-n", side.ns, "addr", "add", fmt.Sprintf("10.99.7.%d/24", i+1), "dev", side.dev)
		ip("-n", side.ns, "link", "set", side.dev, "up")
		ip("-n", side.ns, "link", "set", "lo", "up")
	}
	return one, two
}

// TestTwoNodes: serve and measure in two network namespaces, joined by a veth pair. The
// server's series, abnormal cycles and causes travel to the client, and one report comes
// out; where the server runs in a time namespace of its own, what needs a common clock is
// n/a with that reason.
func TestTwoNodes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		before []string // of the server's command
		common bool
		host   bench.PLCHost
	}{
		{"one clock", nil, true, bench.HostServer},
		{"one clock, PLC in the client", nil, true, bench.HostClient},
		{"two clocks", []string{"unshare", "--time", "--monotonic", "100000"}, false, bench.HostServer},
		{"two clocks, PLC in the client", []string{"unshare", "--time", "--monotonic", "100000"}, false, bench.HostClient},
	} {
		t.Run(tc.name, func(t *testing.T) {
			alone(t)
			one, two := namespaces(t)
			inside := func(ns string, more []string, args ...string) *command {
				all := append(append([]string{"netns", "exec", ns}, more...), executable(t))
				return startBinary(t, "", "/usr/sbin/ip", append(all, args...)...)
			}
			server := inside(one, tc.before, "serve", "--listen", "opc.tcp://10.99.7.1:4840", profile(t,
				fmt.Sprintf("plc: {%s, host: %s}", relaxedPLC, tc.host), "opcua: {items: 3}"))
			server.says("opc.tcp://10.99.7.1:4840")
			out := filepath.Join(t.TempDir(), "out")
			client := inside(two, nil, "measure", "opc.tcp://10.99.7.1:4840", "--duration", "2s", "--warm-up", "500ms", "--out", out)
			code := client.code()
			server.signal(syscall.SIGINT)
			if got := server.code(); got != exitPass {
				t.Errorf("serve ended with %d", got)
			}
			f := result(t, out)
			if !f.Complete || len(f.Invalid) != 0 || len(f.Processes) != 2 {
				t.Fatalf("exit %d, complete %v, invalid %q, %d processes", code, f.Complete, f.Invalid, len(f.Processes))
			}
			if len(f.ServerFindings) < 15 {
				t.Errorf("%d findings of the server's machine", len(f.ServerFindings))
			}
			loop := judge.FindSeries(&f, "", "loop_time")
			if loop == nil || loop.Count < 10 || loop.Min == nil || *loop.Min <= 0 {
				t.Errorf("the loop time needs one clock only: %+v", loop)
			}
			e := judge.FindSeries(&f, "task", "execution_time")
			if e == nil || e.Count < 10 || len(e.Blocks) == 0 || e.Positive == "" {
				t.Errorf("execution time did not travel: %+v", e)
			}
			total, _, _, ok := judge.Lookup(f, "item", "packets", "total")
			missed, _, _, ok2 := judge.Lookup(f, "item", "packets", "missed")
			if !ok || !ok2 || total+missed != 40 {
				t.Errorf("%v received, %v missed of 40", total, missed)
			}
			clocked(t, f, tc.common, code)
		})
	}
}

// ahead is how far the time namespace of a test's server is, ns: with it the true offset of
// two clocks is known exactly.
const ahead = int64(100_000e9)

// clocked asserts what two ends may say of each other's time: all on one clock; on two what
// the bounded offset allows, and nothing beyond a tenth of the cycle.
func clocked(t *testing.T, f bench.File, common bool, code int) {
	t.Helper()
	if f.Nodes == nil || f.Nodes.Clock.Estimates < 2 {
		t.Fatalf("the clocks were not compared: %+v", f.Nodes)
	}
	c, want := f.Nodes.Clock, int64(0)
	if !common {
		want = ahead
	}
	for _, o := range c.Offsets {
		if d := o.NS - want; d > o.Bound || -d > o.Bound {
			t.Errorf("the offset is %d ns, the estimate %d ± %d", want, o.NS, o.Bound)
		}
	}
	placed := common || c.WorstBound != nil && *c.WorstBound <= f.Plan.Period()/10
	_, _, na, known := judge.Lookup(f, "item", "packets", "late")
	if known != placed || !known && !strings.Contains(na, "more than a tenth of the cycle") {
		t.Errorf("late is known: %v (%q), worst bound %v", known, na, c.WorstBound)
	}
	offset := judge.FindSeries(&f, "item", "arrival_offset")
	if placed != (offset.Count > 0) || !placed && !strings.Contains(offset.NA, "time namespaces") {
		t.Errorf("arrival offset: %d values, %q, placed %v", offset.Count, offset.NA, placed)
	}
	if offset.Min != nil && *offset.Min < -f.Plan.Period()/10 {
		t.Errorf("a value arrived %d ns before it was due", -*offset.Min)
	}
	if transmit := judge.FindSeries(&f, "item", "server_transmit_time"); !common && transmit.NA == "" {
		t.Errorf("the server's record of every message is not here: %+v", transmit)
	}
	jitter := judge.FindSeries(&f, "item", "server_transmit_jitter")
	if jitter.Count == 0 || !common && jitter.Avg != nil {
		t.Errorf("jitter needs no offset: %d residuals, average %v", jitter.Count, jitter.Avg)
	}
	if code == exitNotMeasured && placed {
		t.Errorf("exit %d, and late is known", code)
	}
}
