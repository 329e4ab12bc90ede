package lmbench

import (
	"testing"

	"opcycle/rt"
)

// loops are the timed loops with something to work on, for a test and a benchmark each.
func loops(t testing.TB) map[string]func(n int64) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	zero, err := open("/dev/zero", rt.OpenReadOnly)
	must(err)
	null, err := open("/dev/null", rt.OpenWriteOnly)
	must(err)
	path := cString("/proc/self/exe")
	one := make([]byte, 1)
	ours, theirs, err := tcpPair()
	must(err)
	var set rt.FDSet
	set[ours/64] = 1 << (ours % 64)
	r, w, err := rt.RawPipe()
	must(err)
	datagramsFrom, datagramsTo, err := udpPair()
	must(err)
	rpcFrom, rpcTo, err := udpPair()
	must(err)
	listens, port, err := rt.RawListen(connectBacklog)
	must(err)
	accepted, err := rt.SharedCounter()
	must(err)
	var peers []peer
	for _, p := range []struct {
		body func(*wiring)
		w    wiring
	}{
		{datagramPeer, wiring{in: datagramsTo, buf: make([]byte, 4)}},
		{rpcDatagramPeer, wiring{in: rpcTo, buf: make([]byte, rpcCallBytes)}},
		{acceptPeer, wiring{in: listens, buf: make([]byte, 1), count: accepted}},
	} {
		made, err := spawn(p.body, &p.w, noCPU)
		must(err)
		peers = append(peers, made)
	}
	datagram, sequence := wiring{in: datagramsFrom, buf: make([]byte, 4)}, uint32(0)
	rpc := rpcClient{wiring: wiring{in: rpcFrom, out: rpcFrom, buf: make([]byte, rpcCallBytes)}}
	connect := connector{to: rt.LoopbackAddress(1, port), accepted: accepted}
	tiny, err := tinyProgram()
	must(err)
	path2, err := memoryFile("tiny", tiny)
	must(err)
	program := newProgram(path2, "tiny")
	t.Cleanup(func() {
		for _, p := range peers {
			if err := p.end(); err != nil {
				t.Error(err)
			}
		}
		for _, fd := range []int{datagramsFrom, datagramsTo, rpcFrom, rpcTo, listens, zero, null, ours, theirs, r, w} {
			rt.RawClose(fd)
		}
	})
	pipes := [][2]int{{r, w}}
	self := wiring{in: r, out: w, buf: make([]byte, tokenBytes), mem: make([]byte, 16<<10)}
	token := ring{wiring: self}
	own := rt.RawGetpid()
	call, reply := make([]byte, rpcCallBytes), make([]byte, rpcCallBytes)
	return map[string]func(n int64){
		"null call": func(n int64) { nullCalls(n) },
		"empty": func(n int64) {
			if emptyLoop(n) != 0 {
				t.Error("an empty loop failed")
			}
		},
		"read":    func(n int64) { readBytes(zero, one, n) },
		"write":   func(n int64) { writeBytes(null, one, n) },
		"stat":    func(n int64) { stats(path, n) },
		"open":    func(n int64) { opens(path, n) },
		"select":  func(n int64) { selects(ours+1, 1, &set, n) },
		"kill 0":  func(n int64) { kills(own, 0, n) },
		"fork":    func(n int64) { forks(n) },
		"hop":     func(n int64) { hop(&self, pipes, n) },
		"ring":    func(n int64) { token.rounds(n) }, // of one process: through its own pipe
		"trips":   func(n int64) { trips(&self, n) },
		"sockets": func(n int64) { sockets(n) },
		"sum":     func(n int64) { sum(self.mem) },
		"udp":     func(n int64) { datagrams(&datagram, &sequence, n) },
		"rpc":     func(n int64) { rpc.calls(n) },
		"connect": func(n int64) { connect.bursts(n) },
		"exec":    func(n int64) { program.clones(false, n) },
		"vfork":   func(n int64) { program.clones(true, n) },
		"rpc codec": func(n int64) {
			for range n {
				putCall(call, 1)
				copy(reply, call)
				putReply(reply)
				isReply(reply, 1)
			}
		},
	}
}

func TestLoopsDoNotAllocate(t *testing.T) {
	for name, loop := range loops(t) {
		if n := testing.AllocsPerRun(10, func() { loop(5) }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func BenchmarkLoops(b *testing.B) {
	for name, loop := range loops(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			loop(int64(b.N))
		})
	}
}
