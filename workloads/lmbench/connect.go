package lmbench

import (
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"opcycle/bench"
	"opcycle/rt"
)

// A connection that was closed holds its port for a minute (TIME_WAIT), and finding a free
// one gets ten times as dear when most are held: so many connections a repetition, over so
// many addresses of the loopback network, stay far below that.
const (
	connectsAtOnce   = 2000
	connectAddresses = 250
	connectBacklog   = 100
	connectBurst     = connectBacklog / 2
)

// serverLimit is how long the server may take for a burst.
const serverLimit = 2 * time.Second

// tcpConnect times socket, SO_REUSEADDR, connect and close against a server that accepts,
// waits for the end and closes, on another CPU where there is one. A connect over the
// loopback ends without the server having run. If it can't keep up, its queue fills, and
// the kernel waits a second before it tries again: not what is to be measured. So the
// connections come in bursts that the queue can hold, and between two, untimed, the server
// gets its turn.
func tcpConnect(b *bed) ([]bench.Reading, error) {
	l, port, err := rt.RawListen(connectBacklog)
	if err != nil {
		return nil, err
	}
	defer rt.RawClose(l)
	accepted, err := rt.SharedCounter()
	if err != nil {
		return nil, err
	}
	server, where := b.CPU, b.placement()
	if b.Other != noCPU {
		server, where = b.Other, fmt.Sprintf("CPU %d to %d", b.CPU, b.Other)
	}
	p, err := spawn(acceptPeer, &wiring{in: l, buf: make([]byte, 1), count: accepted}, server)
	if err != nil {
		return nil, err
	}
	c := connector{to: rt.LoopbackAddress(1, port), accepted: accepted}
	s, err := b.repeatAtMost(connectsAtOnce, c.bursts)
	if err = joined(err, p.end()); err != nil {
		return nil, err
	}
	alone, err := b.repeat(timed("socket", sockets))
	if err != nil {
		return nil, err
	}
	r := s.reading("socket, connect, close", median, micros)
	r.Placement = where
	remark(&r, fmt.Sprintf("bursts of %d, at most %d connects a repetition, over %d addresses; afterwards %s connections in TIME_WAIT",
		connectBurst, connectsAtOnce, connectAddresses, timeWait()))
	return []bench.Reading{r, alone.reading("socket, close alone (not subtracted)", median, micros)}, nil
}

// connector rotates the address that it connects to.
type connector struct {
	to       rt.RawAddress
	made     uint64
	accepted *uint64 // by the server, which had each connection to its end
}

// bursts makes n connections and says how long they took, without the server's turns.
func (c *connector) bursts(n int64) (int64, error) {
	var took int64
	for n > 0 {
		now := min(n, connectBurst)
		ns, err := timed("connect", c.connects)(now)
		if err != nil {
			return 0, err
		}
		took += ns
		n -= now
		for end := rt.Now() + int64(serverLimit); atomic.LoadUint64(c.accepted) < c.made; {
			if rt.Now() > end {
				return 0, fmt.Errorf("of %d connections the server had %d only", c.made, atomic.LoadUint64(c.accepted))
			}
			_ = rt.NanosleepUntil(rt.Now() + int64(20*time.Microsecond)) // not time.Sleep: see bed
		}
	}
	return took, nil
}

// hot.
//
//go:nosplit
func (c *connector) connects(n int64) syscall.Errno {
	for ; n > 0; n-- {
		if c.to[7]++; c.to[7] > connectAddresses {
			c.to[7] = 1
		}
		fd, errno := rt.RawSocket(true)
		if errno == 0 {
			errno = rt.RawSetSocketOption(fd, rt.SocketReuseAddress, 1)
		}
		if errno == 0 {
			errno = rt.RawConnect(fd, &c.to)
		}
		if errno == 0 {
			errno = rt.RawClose(fd)
		}
		if errno != 0 {
			return errno
		}
		c.made++
	}
	return 0
}

// hot.
//
//go:nosplit
func sockets(n int64) syscall.Errno {
	for ; n > 0; n-- {
		fd, errno := rt.RawSocket(true)
		if errno == 0 {
			errno = rt.RawClose(fd)
		}
		if errno != 0 {
			return errno
		}
	}
	return 0
}

// acceptPeer serves one connection after the other. hot.
//
//go:nosplit
func acceptPeer(w *wiring) {
	for {
		fd, errno := rt.RawAccept(w.in)
		if errno != 0 {
			return
		}
		for {
			if n, _ := rt.RawRead(fd, w.buf); n <= 0 {
				break
			}
		}
		rt.RawClose(fd)
		atomic.AddUint64(w.count, 1)
	}
}

// timeWait is how many connections hold their ports, by the kernel.
func timeWait() string {
	text, err := slurp("/proc/net/sockstat")
	if err != nil {
		return "an unknown number of"
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		for i := 1; i+1 < len(words) && words[0] == "TCP:"; i += 2 {
			if words[i] == "tw" {
				return words[i+1]
			}
		}
	}
	return "an unknown number of"
}
