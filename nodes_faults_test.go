package main

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"opcycle/bench"
	"opcycle/judge"
)

// pair are serve and measure in two network namespaces on a veth pair, in the measuring
// phase of a run of 50 ms cycles.
type pair struct {
	t              *testing.T
	one, two       string // namespaces of server and client
	server, client *command
	out            string
}

func newPair(t *testing.T, duration string, serve ...string) *pair {
	t.Helper()
	if testing.Short() {
		t.Skip("a normally built binary, which the plain pass runs")
	}
	alone(t)
	p := &pair{t: t, out: filepath.Join(t.TempDir(), "out")}
	p.one, p.two = namespaces(t)
	p.server = p.serve(serve...)
	p.client = startBinary(t, "", "/usr/sbin/ip", append([]string{"netns", "exec", p.two, executable(t), "measure", "opc.tcp://10.99.7.1:4840", "--duration", duration}, p.task()...)...)
	p.client.phase(bench.PhaseMeasure)
	time.Sleep(1200 * time.Millisecond) // into the phase, which is announced ten cycles before it comes
	return p
}

func (p *pair) task() []string {
	return []string{"--interval", "50ms", "--iterations", "200", "--warm-up", "500ms", "--out", p.out}
}

// serve starts a server that waits, after the words of before.
func (p *pair) serve(before ...string) *command {
	p.t.Helper()
	args := append(append([]string{"netns", "exec", p.one}, before...), executable(p.t), "serve", "--listen", "opc.tcp://10.99.7.1:4840")
	c := startBinary(p.t, "", "/usr/sbin/ip", args...)
	c.says("waits for a plan")
	return c
}

// does runs a command of the network in a namespace.
func (p *pair) does(namespace string, args ...string) {
	p.t.Helper()
	if text, err := exec.Command("ip", append([]string{"netns", "exec", namespace}, args...)...).CombinedOutput(); err != nil {
		p.t.Fatalf("%s: %v: %s", strings.Join(args, " "), err, text)
	}
}

// ended waits for both ends; the counts of the result add up whatever was lost.
func (p *pair) ended() (code int, f bench.File, n counts) {
	p.t.Helper()
	code = p.client.code()
	p.server.signal(syscall.SIGINT)
	if got := p.server.code(); got != exitPass {
		p.t.Errorf("serve ended with %d", got)
	}
	f = result(p.t, p.out)
	n = counts{p.t, f}
	if total, missed, all := n.get("packets", "total"), n.get("packets", "missed"), n.get("packets", "expected"); total+missed != all || all != f.Phase.Ran {
		p.t.Errorf("%d received, %d missed of %d expected, %d ran", total, missed, all, f.Phase.Ran)
	}
	return code, f, n
}

// Packets that are lost on the wire for a while come again: the end that sent them counts
// it, and what was late for it bears that cause, on one clock and on two.
func TestLostPackets(t *testing.T) {
	_, err := exec.LookPath("iptables")
	needs(t, err == nil, "iptables")
	for name, before := range map[string][]string{"one clock": nil, "two clocks": {"unshare", "--time", "--monotonic", "100000"}} {
		t.Run(name, func(t *testing.T) {
			p := newPair(t, "2s", before...)
			drop := []string{"INPUT", "-p", "tcp", "--sport", "4840", "-j", "DROP"}
			p.does(p.two, append([]string{"iptables", "-A"}, drop...)...)
			time.Sleep(400 * time.Millisecond) // the loss itself
			p.does(p.two, append([]string{"iptables", "-D"}, drop...)...)
			code, f, n := p.ended()
			if code == exitPass || !f.Complete || len(f.Invalid) != 0 || f.Nodes == nil || f.Nodes.Server == nil || f.Nodes.Client == nil {
				t.Fatalf("exit %d, complete %v, invalid %q, nodes %+v", code, f.Complete, f.Invalid, f.Nodes)
			}
			server, _, _, ok := judge.Lookup(f, bench.ProcessServer, "tcp", "retransmissions")
			if !ok || server < 1 {
				t.Errorf("the server sent %v segments again (known: %v): %+v", server, ok, f.Nodes.Server)
			}
			if _, _, na, known := judge.Lookup(f, "item", "packets", "late"); !known {
				if before == nil || !strings.Contains(na, "more than a tenth of the cycle") { // a busy machine answers slowly
					t.Errorf("late: %s", na)
				}
				return
			}
			if late, again := n.get("packets", "late"), n.get("late", string(bench.LateRetransmission)); again < 1 || again+n.get("late", string(bench.LateTask)) < late {
				t.Errorf("%d of %d late by retransmission", again, late)
			}
			ends(t, &f)
		})
	}
}

// Delay, jitter and loss by the kernel's own emulation, where it has that: TestASlowLine and
// TestLostPackets prove the same of kernels that have not.
func TestNetem(t *testing.T) {
	needs(t, exec.Command("unshare", "-n", "true").Run() == nil, "root, to make network namespaces")
	_, err := exec.LookPath("tc")
	needs(t, err == nil, "tc (iproute2)")
	netem := []string{"root", "netem", "delay", "2ms", "1ms", "loss", "10%"}
	if text, err := exec.Command("unshare", append([]string{"-n", "tc", "qdisc", "add", "dev", "lo"}, netem...)...).CombinedOutput(); err != nil {
		t.Logf("this kernel has no netem: %s", text)
		return
	}
	p := newPair(t, "3s")
	p.does(p.one, append([]string{"tc", "qdisc", "add", "dev", "opc-a"}, netem...)...)
	_, f, _ := p.ended()
	if !f.Complete || f.Nodes == nil || f.Nodes.Server == nil {
		t.Fatalf("complete %v, invalid %q, nodes %+v", f.Complete, f.Invalid, f.Nodes)
	}
	c := f.Nodes.Server.Connections[0]
	if c.RTT < int64(time.Millisecond) || c.Total < 1 {
		t.Errorf("after a line of 2 ms that loses a tenth: %+v", c)
	}
}

// ends asserts what each end's kernel told of a veth pair.
func ends(t *testing.T, f *bench.File) {
	t.Helper()
	for name, e := range map[string]*bench.End{"server": f.Nodes.Server, "client": f.Nodes.Client} {
		if len(e.Connections) != 1 || e.Connections[0].NA != "" || e.Connections[0].RTO <= 0 || e.Connections[0].Local == "" {
			t.Errorf("%s: connections %+v", name, e.Connections)
		}
		if e.Card == nil || e.Card.Driver != "veth" || e.Card.IRQsNA == "" || len(e.Card.Offloads) == 0 || e.Card.EEE != nil {
			t.Errorf("%s: card %+v, %s", name, e.Card, e.CardNA)
		}
		if len(e.CPUs) == 0 || e.CPUs[0].Interrupts == nil || e.CPUs[0].Softirqs == nil || *e.CPUs[0].Interrupts < 1 {
			t.Errorf("%s: CPUs %+v", name, e.CPUs)
		}
	}
	if a, b := f.Nodes.Server.Connections[0], f.Nodes.Client.Connections[0]; a.Local != b.Peer || a.Peer != b.Local {
		t.Errorf("two connections: %+v, %+v", a, b)
	}
}

// A cable that is cut for 3 s loses no connection: what the queue could not hold is missed,
// what it held comes late, and no cycle without data is on time.
func TestACableThatIsCut(t *testing.T) {
	p := newPair(t, "5s")
	p.does(p.one, "ip", "link", "set", "opc-a", "down")
	time.Sleep(3 * time.Second) // the cut itself
	p.does(p.one, "ip", "link", "set", "opc-a", "up")
	code, f, n := p.ended()
	missed := n.get("packets", "missed")
	if code == exitPass || !f.Complete || missed < 40 || f.Phase.N != 100 { // 60 cycles, of which the queue holds 10
		t.Errorf("exit %d, complete %v, %d missed of %d", code, f.Complete, missed, f.Phase.N)
	}
	if lost := n.get("missed", string(bench.Reconnect)); lost > 0 && (code != exitNotMeasured || len(f.Invalid) == 0) || lost == 0 && n.get("missed", string(bench.QueueOverflow)) < 40 {
		t.Errorf("exit %d, invalid %q, %d missed, %d by reconnect", code, f.Invalid, missed, lost)
	}
	if late := n.get("packets", "late"); n.get("late", string(bench.LateRetransmission)) < 1 && len(f.Invalid) == 0 {
		t.Errorf("%d late, none by retransmission", late)
	}
}

// A serve that is killed and started again is another server: the run ends with what there
// is, and nothing of the other's cycles in it.
func TestAServerThatIsRestarted(t *testing.T) {
	p := newPair(t, "20s")
	child := p.server.child("server")
	p.server.signal(syscall.SIGKILL)
	p.server.code()
	for end := time.Now().Add(long); slices.ContainsFunc(processes(t), func(x process) bool { return x.id == child }); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the server process outlives its conductor, and keeps the port")
		}
	}
	p.server = p.serve()
	code, f, n := p.ended()
	if code != exitNotMeasured || f.Complete || !strings.Contains(strings.Join(f.Invalid, "\n"), "another server answers there now") {
		t.Errorf("exit %d, complete %v, invalid %q", code, f.Complete, f.Invalid)
	}
	if lost, late := n.get("missed", string(bench.Reconnect)), n.get("packets", "late"); lost < 1 || lost != n.get("packets", "missed") || late > n.get("packets", "total") {
		t.Errorf("%d missed by reconnect, %d late", lost, late)
	}
}

// A line that is slow one way makes the offset of the clocks wrong by half of that, and the
// bound says so: the true offset is within it, and late is not told beyond a tenth of the
// cycle.
func TestASlowLine(t *testing.T) {
	if testing.Short() {
		t.Skip("a normally built binary, which the plain pass runs")
	}
	alone(t)
	needs(t, exec.Command("unshare", "--time", "true").Run() == nil, "root, to make a time namespace")
	const back = 12 * time.Millisecond // of 50 ms; half of it is more than a tenth
	address := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	server := startBinary(t, "", "/usr/bin/unshare", "--time", "--monotonic", fmt.Sprint(ahead/1e9), executable(t), "serve", "--listen", "opc.tcp://"+address)
	server.says("waits for a plan")
	via := newRelay(t, address)
	via.back = func() time.Duration { return back + rand.N(2*time.Millisecond) }
	out := filepath.Join(t.TempDir(), "out")
	client := start(t, "", append([]string{"measure", via.endpoint()}, relaxed(out)...)...)
	if code := client.code(); code != exitNotMeasured {
		t.Errorf("exit %d, and late cannot be told", code)
	}
	server.signal(syscall.SIGINT)
	server.code()
	f := result(t, out)
	clocked(t, f, false, exitNotMeasured)
	for _, o := range f.Nodes.Clock.Offsets {
		if o.Bound < int64(back/2) || ahead-o.NS < int64(back/2)/2 {
			t.Errorf("the answer takes %s longer than the question: %d ± %d of %d", back, o.NS, o.Bound, ahead)
		}
	}
	if loop := judge.FindSeries(&f, "item", "loop_time"); loop == nil || loop.Count < 5 || *loop.Min < int64(back) {
		t.Errorf("loop time over a line of %s one way: %+v", back, loop)
	}
}

// delayed passes on what it reads after a while, in order.
func delayed(to, from net.Conn, wait func() time.Duration) {
	type piece struct {
		due time.Time
		b   []byte
	}
	line := make(chan piece, 1024)
	go func() {
		defer close(line)
		for {
			b := make([]byte, 64<<10)
			n, err := from.Read(b)
			if err != nil {
				return
			}
			line <- piece{time.Now().Add(wait()), b[:n]}
		}
	}()
	for p := range line {
		time.Sleep(time.Until(p.due))
		_, _ = to.Write(p.b) // a broken connection ends the reader, too
	}
}
