package lmbench

import (
	"errors"
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
)

// tcpConnect times socket, SO_REUSEADDR, connect and close against a server that accepts,
// waits for the end and closes. The server has another CPU: a connect over the loopback
// ends without it having run, so that on one CPU its backlog would fill, and the kernel
// waits a second then.
func tcpConnect(b *bed) ([]bench.Reading, error) {
	if b.CPU != noCPU && b.Other == noCPU {
		return nil, errors.New("needs a second CPU for the server: on one its backlog fills, and the kernel waits a second")
	}
	l, port, err := rt.RawListen(connectBacklog)
	if err != nil {
		return nil, err
	}
	accepted, err := rt.SharedCounter()
	if err != nil {
		return nil, err
	}
	p, err := spawn(acceptPeer, &wiring{in: l, buf: make([]byte, 1), count: accepted}, b.Other)
	if err != nil {
		return nil, err
	}
	c := connector{to: rt.LoopbackAddress(1, port)}
	s, err := b.repeatAtMost(connectsAtOnce, timed("connect", c.connects))
	missed := c.missed(accepted)
	if err == nil && missed > c.made/10 {
		err = fmt.Errorf("of %d connections the server had %d only", c.made, c.made-missed)
	}
	if err = joined(err, p.end()); err != nil {
		return nil, err
	}
	alone, err := b.repeat(timed("socket", sockets))
	if err != nil {
		return nil, err
	}
	r := s.reading("socket, connect, close", median, micros)
	if b.CPU != noCPU {
		r.Placement = fmt.Sprintf("CPU %d to %d", b.CPU, b.Other)
	}
	remark(&r, fmt.Sprintf("at most %d connects a repetition, over %d addresses; afterwards %s connections in TIME_WAIT", connectsAtOnce, connectAddresses, timeWait()))
	if missed > 0 {
		remark(&r, fmt.Sprintf("the server's queue was full for %d of %d", missed, c.made))
	}
	return []bench.Reading{r, alone.reading("socket, close alone (not subtracted)", median, micros)}, nil
}

// connector rotates the address that it connects to.
type connector struct {
	to   rt.RawAddress
	made uint64
}

// missed waits until the server has had every connection, at most a second, and says how
// many it never had: one that comes while its queue is full is made for the client alone.
func (c *connector) missed(accepted *uint64) uint64 {
	for range 100 {
		if atomic.LoadUint64(accepted) == c.made {
			return 0
		}
		_ = rt.NanosleepUntil(rt.Now() + int64(10*time.Millisecond)) // not time.Sleep: see bed
	}
	return c.made - atomic.LoadUint64(accepted)
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
